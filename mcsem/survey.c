/* mcsem/survey.c – pairs, their data and their cells. */
#include "mcsem/survey.h"
#include "mcsem/pair.h"
#include "mcsem/shared_table.h"
#include "mcsem/survey_columns.h"
#include "src/sort.h"

/* Limits of coordinates, m; beyond them there is a mistake. */
#define FARTHEST    1e8
#define DEEPEST     1e5
#define MOST_OFFSET 1e6

const char *const survey_parts[] = {"both", "real", "imaginary", "amplitude", "phase", NULL};

enum ek_status survey_open(size_t npairs, int nfreq, struct survey **survey)
{
    const size_t pairs = npairs ? npairs : 1, data = pairs * (size_t)(nfreq > 0 ? nfreq : 1);
    NEW(struct survey, s, 1, "out of memory for a survey");
    s->npairs = npairs;
    s->nfreq = nfreq;
    s->freq = calloc((size_t)(nfreq > 0 ? nfreq : 1), sizeof *s->freq);
    s->pair = calloc(pairs, sizeof *s->pair);
    s->datum = calloc(data, sizeof *s->datum);
    if (!s->freq || !s->pair || !s->datum) {
        survey_close(s);
        FAIL(EK_UNAVAILABLE, "out of memory for %zu pairs at %d frequencies", npairs, nfreq);
    }
    for (size_t i = 0; i < data; i++)
        s->datum[i].sigma = INFINITY;
    *survey = s;
    return EK_OK;
}

void survey_close(struct survey *s)
{
    if (!s)
        return;
    free(s->freq);
    free(s->pair);
    free(s->datum);
    free(s->first);
    free(s);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool finite_numbers(const double *x, int n)
{
    for (int k = 0; k < n; k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

enum ek_status survey_check_pair(const struct survey_pair *p, const char *path)
{
    const double *u = p->direction;
    const double length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    const double rise = 0.5 * p->length * fabs(sin(p->dip));
    if (!finite_numbers(p->source, 3) || !finite_numbers(p->receiver, 3) || !finite_numbers(u, 3) ||
        !isfinite(p->azimuth + p->dip + p->length))
        FAIL(EK_USAGE, "%s:%zu: a position or direction is not a finite number", path, p->line);
    for (int d = 0; d < 3; d++)
        if (fmax(fabs(p->source[d]), fabs(p->receiver[d])) > (d < 2 ? FARTHEST : DEEPEST))
            FAIL(EK_USAGE, "%s:%zu: a coordinate of %g m: x and y may be up to %g, z up to %g",
                 path, p->line, fmax(fabs(p->source[d]), fabs(p->receiver[d])), FARTHEST, DEEPEST);
    if (survey_offset(p) > MOST_OFFSET || p->length > MOST_OFFSET)
        FAIL(EK_USAGE, "%s:%zu: an offset or a source longer than %g m", path, p->line,
             MOST_OFFSET);
    if (p->length < 0)
        FAIL(EK_USAGE, "%s:%zu: the source is %g m long, which is negative", path, p->line,
             p->length);
    if (!(p->span >= 0 && p->span <= MOST_OFFSET))
        FAIL(EK_USAGE, "%s:%zu: a receiver %g m long", path, p->line, p->span);
    if (p->span > 0 && (p->magnetic || fabs(p->direction[2]) > 0.5))
        FAIL(EK_USAGE, "%s:%zu: a receiver %g m long: those of H, and upright ones, are points",
             path, p->line, p->span);
    if (p->loop && p->length != 0)
        FAIL(EK_USAGE, "%s:%zu: a magnetic source is a dipole of length 0, not %g m", path, p->line,
             p->length);
    if (p->receiver[2] < 0)
        FAIL(EK_USAGE, "%s:%zu: the receiver is %g m above the sea surface (z is positive down)",
             path, p->line, -p->receiver[2]);
    if (p->source[2] - rise < 0)
        FAIL(EK_USAGE, "%s:%zu: the source reaches %g m above the sea surface (z is positive down)",
             path, p->line, rise - p->source[2]);
    if (fabs(length - 1) > 1e-6)
        FAIL(EK_USAGE, "%s:%zu: the receiver's direction has length %g, not 1", path, p->line,
             length);
    return EK_OK;
}

/* Squares of residuals, and their sum, stay finite. */
#define MOST_ERRORS 1e100

static enum ek_status check_data(const struct survey *s, size_t pair, const char *path)
{
    for (int q = 0; q < s->nfreq; q++) {
        const struct survey_datum *d = survey_at(s, pair, q);
        if (!(d->sigma > 0))
            FAIL(EK_USAGE, "%s:%zu: standard error %g at %g Hz is not positive", path,
                 s->pair[pair].line, d->sigma, s->freq[q]);
        if (isfinite(d->sigma) && !(hypot(d->re, d->im) / d->sigma <= MOST_ERRORS))
            FAIL(EK_USAGE, "%s:%zu: the field at %g Hz is %g times its standard error", path,
                 s->pair[pair].line, s->freq[q], hypot(d->re, d->im) / d->sigma);
    }
    return EK_OK;
}

enum ek_status survey_check(const struct survey *s, const char *path)
{
    for (int q = 0; q < s->nfreq; q++) {
        TRY(survey_check_freq(s->freq[q], path, s->npairs ? s->pair[0].line : 0));
        if (q && s->freq[q] <= s->freq[q - 1])
            FAIL(EK_USAGE, "%s: frequency %g Hz is not above the one before it", path, s->freq[q]);
    }
    if (!s->npairs || s->nfreq < 1)
        FAIL(EK_USAGE, "%s: there are no data", path);
    for (size_t i = 0; i < s->npairs; i++) {
        TRY(survey_check_pair(&s->pair[i], path));
        TRY(pair_check(&s->pair[i], SHARED_WIRE_TOLERANCE, path)); /* the loosest of all modes */
        TRY(check_data(s, i, path));
    }
    return EK_OK;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* A pair's cell, offset and index before sorting. */
struct place {
    int cell;
    double offset;
    size_t was;
};

SORT_BY(compare_places, struct place, SORT_UP(cell) ?: SORT_UP(offset) ?: SORT_UP(was))

/* Fills in the places of the pairs that have a cell; returns their number. */
static size_t find_places(const struct survey *s, const struct earth *earth, bool clip,
                          struct place *place)
{
    size_t found = 0;
    for (size_t i = 0; i < s->npairs; i++) {
        const double *a = s->pair[i].source, *b = s->pair[i].receiver;
        const int cell = earth_find(earth, 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), clip);
        if (cell >= 0)
            place[found++] = (struct place){cell, survey_offset(&s->pair[i]), i};
    }
    return found;
}

/* Moves pairs and data to new arrays, in the order of `place`. */
static enum ek_status move_pairs(struct survey *s, const struct place *place, size_t left)
{
    const size_t nfreq = (size_t)s->nfreq;
    struct survey_pair *pair = calloc(left, sizeof *pair);
    struct survey_datum *datum = calloc(left * nfreq, sizeof *datum);
    if (!pair || !datum) {
        free(pair);
        free(datum);
        FAIL(EK_UNAVAILABLE, "out of memory to sort %zu pairs by cell", left);
    }
    for (size_t i = 0; i < left; i++) {
        pair[i] = s->pair[place[i].was];
        memcpy(datum + i * nfreq, s->datum + place[i].was * nfreq, nfreq * sizeof *datum);
    }
    free(s->pair);
    free(s->datum);
    s->pair = pair;
    s->datum = datum;
    s->ndropped += s->npairs - left;
    s->npairs = left;
    return EK_OK;
}

static void count_cells(const struct place *place, size_t n, int cells, size_t *first)
{
    for (size_t i = 0; i < n; i++)
        first[place[i].cell + 1]++;
    for (int c = 0; c < cells; c++)
        first[c + 1] += first[c];
}

enum ek_status survey_bin(struct survey *s, const struct earth *earth, bool clip)
{
    const int cells = earth_columns(earth);
    OWNED_MEMORY struct place *place = calloc(s->npairs + 1, sizeof *place);
    size_t *first = calloc((size_t)cells + 1, sizeof *first);
    enum ek_status st = EK_OK;
    if (!place || !first)
        st = status_fail(EK_UNAVAILABLE, "out of memory to sort %zu pairs by cell", s->npairs);
    const size_t left = st ? 0 : find_places(s, earth, clip, place);
    if (!st && !left)
        st = status_fail(EK_USAGE, "no pair's midpoint lies in the grid of %d x %d cells",
                         earth->nx, earth->ny);
    if (!st) {
        qsort(place, left, sizeof *place, compare_places);
        count_cells(place, left, cells, first);
        st = move_pairs(s, place, left);
    }
    TRY_OR(st, free(first));
    free(s->first);
    s->first = first;
    s->ncells = cells;
    return EK_OK;
}

double survey_error(const struct survey_noise *noise, bool magnetic, double size)
{
    return hypot((noise->relative > 0 ? noise->relative : SURVEY_NOISE) * size,
                 magnetic ? noise->floor_h : noise->floor_e);
}

void survey_set_errors(struct survey *s, const struct survey_noise *noise)
{
    for (size_t i = 0; i < s->npairs; i++) {
        const bool magnetic = s->pair[i].magnetic;
        const double least = noise->reject * (magnetic ? noise->floor_h : noise->floor_e);
        for (int q = 0; q < s->nfreq; q++) {
            struct survey_datum *d = survey_at(s, i, q);
            const double size = hypot(d->re, d->im);
            if (isnan(d->sigma))
                d->sigma = size < least ? INFINITY : survey_error(noise, magnetic, size);
        }
    }
}

void survey_select_part(struct survey *s, enum survey_part part)
{
    for (size_t i = 0; part && i < s->npairs * (size_t)s->nfreq; i++) {
        struct survey_datum *d = &s->datum[i];
        const double size = hypot(d->re, d->im);
        if (survey_numbers(d) < 2 || (part >= SURVEY_AMPLITUDE && size == 0))
            continue;
        d->part = part;
        if (part == SURVEY_AMPLITUDE)
            *d = (struct survey_datum){size, 0, d->sigma, part};
        if (part == SURVEY_PHASE)
            *d = (struct survey_datum){d->re / size, d->im / size, d->sigma / size, part};
    }
}

double complex survey_residual(const struct survey_datum *d, double complex field)
{
    const double complex data = d->re + I * d->im, apart = (data - field) / d->sigma;
    if (!survey_numbers(d))
        return 0;
    switch (d->part) {
    case SURVEY_REAL:
        return creal(apart);
    case SURVEY_IMAGINARY:
        return I * cimag(apart);
    case SURVEY_AMPLITUDE:
        return (d->re - cabs(field)) / d->sigma;
    case SURVEY_PHASE:
        return I * carg(data * conj(field)) / d->sigma;
    default:
        return apart;
    }
}

/* ---- minimum errors -------------------------------------------------------------------------- */

enum { FREQUENCY, REC_X, REC_Y, RELATIVE, FLOOR, NUMBERS };

/* Whether a row applies to a pair at a frequency. */
static bool rule_applies(const struct survey_pair *p, double freq, const double *x,
                         const char *name)
{
    return (isnan(x[FREQUENCY]) || fabs(x[FREQUENCY] - freq) < 1e-6 * freq) &&
           (isnan(x[REC_X]) || fabs(x[REC_X] - p->receiver[0]) < 0.5) &&
           (isnan(x[REC_Y]) || fabs(x[REC_Y] - p->receiver[1]) < 0.5) &&
           (!*name || !strcmp(name, survey_columns_component(p)));
}

/* Stores the row's rule for each datum that it applies to. */
static void apply_rule(const struct survey *s, const double *x, const char *name, double (*rule)[2])
{
    for (size_t i = 0; i < s->npairs * (size_t)s->nfreq; i++)
        if (rule_applies(&s->pair[i / (size_t)s->nfreq], s->freq[i % (size_t)s->nfreq], x, name)) {
            rule[i][0] = isnan(x[RELATIVE]) ? 0 : x[RELATIVE];
            rule[i][1] = isnan(x[FLOOR]) ? 0 : x[FLOOR];
        }
}

static enum ek_status read_rules(const struct table *t, const struct survey *s, double (*rule)[2])
{
    static const char *const names[NUMBERS] = {"freq_hz", "rec_x", "rec_y", "relative", "floor"};
    const int component = table_find(t, "component");
    int at[NUMBERS];
    for (int k = 0; k < NUMBERS; k++)
        at[k] = table_find(t, names[k]);
    if (at[RELATIVE] < 0 && at[FLOOR] < 0)
        FAIL(EK_USAGE, "%s: there is neither a column 'relative' nor 'floor'", t->path);
    for (size_t row = 0; row < t->nrows; row++) {
        double x[NUMBERS];
        for (int k = 0; k < NUMBERS; k++) {
            x[k] = NAN;
            if (at[k] >= 0)
                TRY(table_optional(t, row, at[k], &x[k]));
            if (k >= RELATIVE && x[k] < 0)
                FAIL(EK_USAGE, "%s:%zu: %s %g is negative", t->path, t->line[row], names[k], x[k]);
        }
        apply_rule(s, x, component < 0 ? "" : table_text(t, row, component), rule);
    }
    return EK_OK;
}

enum ek_status survey_raise_errors(struct survey *s, const char *path)
{
    const size_t data = s->npairs * (size_t)s->nfreq;
    OWNED(arena_free) struct arena room = {0};
    OWNED(owned_table_close) struct table *t = NULL;
    TRY(table_open(path, NULL, &t));
    double(*rule)[2] = arena_take(&room, data, sizeof *rule);
    TRY(arena_check(&room, "the errors of %zu data", data));
    TRY(read_rules(t, s, rule));
    for (size_t i = 0; i < data; i++) {
        struct survey_datum *d = &s->datum[i];
        const double floor = d->part == SURVEY_PHASE ? 0 : rule[i][1];
        d->sigma = fmax(d->sigma, hypot(rule[i][0] * hypot(d->re, d->im), floor));
    }
    return EK_OK;
}

double survey_rms(const struct survey *s, const double complex *response, int freq, int cell)
{
    const size_t begin_pair = cell < 0 ? 0 : s->first[cell];
    const size_t end_pair = cell < 0 ? s->npairs : s->first[cell + 1];
    double sum = 0, n = 0;
    for (size_t i = begin_pair; i < end_pair; i++)
        for (int q = freq < 0 ? 0 : freq; q < (freq < 0 ? s->nfreq : freq + 1); q++) {
            const size_t at = i * (size_t)s->nfreq + (size_t)q;
            const double size = cabs(survey_residual(&s->datum[at], response[at]));
            sum += size * size;
            n += survey_numbers(&s->datum[at]);
        }
    return n > 0 ? sqrt(sum / n) : NAN;
}
