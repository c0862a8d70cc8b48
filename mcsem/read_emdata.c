/* mcsem/read_emdata.c – builds pairs from the tables of a MARE2DEM file. */
#include "mcsem/emdata.h"
#include "mcsem/pair.h"
#include "mcsem/survey_file.h"
#include "src/sort.h"

#include <complex.h>

enum { MOST_FREQUENCIES = 64 };
#define LEVEL   0.1   /* sine of the dip up to which a receiver counts as level */
#define SPACING 500.0 /* spacing of columns if the file gives none, m */

/* ---- data types ------------------------------------------------------------------------------ */

enum part { REAL, IMAGINARY, AMPLITUDE, LOG_AMPLITUDE, PHASE, PARTS };

/* Data types first, first + step, first + 2 step are x, y, z of E; 10 more, of B. */
static const struct kind {
    int first, step;
    enum part part;
} kinds[] = {
    {1, 2, REAL}, {2, 2, IMAGINARY}, {21, 2, AMPLITUDE}, {22, 2, PHASE}, {27, 1, LOG_AMPLITUDE}};

/* A number of the file and where it belongs. */
struct entry {
    int transmitter, receiver, channel, freq; /* channel: axis, + 3 if magnetic */
    enum part part;
    const struct emdata_datum *datum;
};

static bool classify(const struct emdata_datum *d, struct entry *e)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int channel = 0; channel < 6; channel++)
            if (d->type == kinds[k].first + channel % 3 * kinds[k].step + channel / 3 * 10) {
                *e =
                    (struct entry){d->transmitter, d->receiver, channel, d->freq, kinds[k].part, d};
                return true;
            }
    return false;
}

SORT_BY(compare_pairs, struct entry, SORT_UP(transmitter) ?: SORT_UP(receiver) ?: SORT_UP(channel))

SORT_BY(compare_entries, struct entry,
        compare_pairs(x, y) ?: SORT_UP(freq) ?: SORT_UP(part) ?: SORT_UP(datum->line))

/* ---- pairs ------------------------------------------------------------------------------------*/

/* Direction of a receiver's channel `axis`: rotated by theta about z, then by alpha so that x dips,
 * then by beta about this x. */
static void channel_direction(const struct emdata_receiver *r, int axis, double u[3])
{
    const double theta = r->theta * EMDATA_DEGREE, alpha = r->alpha * EMDATA_DEGREE,
                 beta = r->beta * EMDATA_DEGREE;
    const double ct = pair_cosine(theta), st = pair_sine(theta), ca = pair_cosine(alpha),
                 sa = pair_sine(alpha), cb = pair_cosine(beta), sb = pair_sine(beta);
    const double x[3] = {ct * ca, st * ca, sa}, y[3] = {-st, ct, 0};
    const double z[3] = {-ct * sa, -st * sa, ca};
    for (int d = 0; d < 3; d++)
        u[d] = axis == 0 ? x[d] : axis == 1 ? cb * y[d] + sb * z[d] : cb * z[d] - sb * y[d];
}

static struct survey_pair make_pair(const struct emdata *e, const struct entry *entry)
{
    const struct emdata_transmitter *t = &e->transmitter[entry->transmitter];
    const struct emdata_receiver *r = &e->receiver[entry->receiver];
    struct survey_pair p = {.source = {t->x, t->y, t->z},
                            .azimuth = t->azimuth * EMDATA_DEGREE,
                            .dip = t->dip * EMDATA_DEGREE,
                            .length = t->loop ? 0 : t->length,
                            .loop = t->loop,
                            .receiver = {r->x, r->y, r->z},
                            .magnetic = entry->channel >= 3,
                            .source_id = entry->transmitter,
                            .receiver_id = entry->receiver,
                            .line = entry->datum->line};
    channel_direction(r, entry->channel % 3, p.direction);
    if (!p.magnetic && fabs(p.direction[2]) < LEVEL)
        p.span = r->length;
    return p;
}

/* A number and its error in field units: amplitudes without logarithm, phases in radians. An error
 * of 0 is that of --noise. */
struct number {
    double value, error;
    bool given;
};

static struct number number_of(const struct entry *e, double unit)
{
    const struct emdata_datum *d = e->datum;
    struct number n = {d->value / unit, d->error / unit, true};
    if (e->part == LOG_AMPLITUDE) {
        n.value = pow(10, d->value) / unit;
        n.error = n.value * log(10) * d->error;
    }
    if (e->part == PHASE) {
        n.value = d->value * EMDATA_DEGREE;
        n.error = d->error * EMDATA_DEGREE;
    }
    return n;
}

/* Combines two numbers into a datum of the root mean square of their errors. usual: their error if
 * they have none; NAN if both have none, so that survey_set_errors() decides about the datum. */
static struct survey_datum combine(struct number a, struct number b, bool polar, bool lead,
                                   double usual)
{
    const double complex z = polar ? a.value * cexp(I * b.value) : a.value + I * b.value;
    const double first = a.error > 0 ? a.error : usual;
    const double second = b.error > 0 ? (polar ? a.value : 1) * b.error : usual;
    const bool given = a.error > 0 || b.error > 0;
    return (struct survey_datum){creal(z), lead ? cimag(z) : -cimag(z),
                                 given ? sqrt(0.5 * (first * first + second * second)) : NAN,
                                 SURVEY_BOTH};
}

static struct survey_datum single_number(struct number a, struct number b, bool polar, bool lead,
                                         enum survey_part part)
{
    struct survey_datum d = combine(a, b, polar, lead, 0);
    d.sigma *= sqrt(2);
    d.part = part;
    return d;
}

/* Combines the n numbers of one pair at one frequency; adds the number of those not used to
 * *unused. */
static enum ek_status fill_datum(const struct emdata *e, const struct entry *entry, size_t n,
                                 const struct survey_noise *noise, struct survey_datum *datum,
                                 size_t *unused)
{
    const bool magnetic = entry->channel >= 3;
    struct number part[PARTS] = {{0, 0, false}};
    for (size_t i = 0; i < n; i++) {
        if (part[entry[i].part].given)
            FAIL(EK_USAGE, "%s:%zu: line %zu has this number already", e->path,
                 entry[i].datum->line, entry[i - 1].datum->line);
        const double error = entry[i].datum->error;
        if (error < 0 || (error == 0 && !(noise->relative > 0)))
            FAIL(EK_USAGE,
                 "%s:%zu: standard error %g is not positive; those of 0, as in files of a forward "
                 "model, take --noise, if it is given",
                 e->path, entry[i].datum->line, error);
        if (entry[i].part == AMPLITUDE && entry[i].datum->value < 0)
            FAIL(EK_USAGE, "%s:%zu: amplitude %g is negative", e->path, entry[i].datum->line,
                 entry[i].datum->value);
        part[entry[i].part] = number_of(&entry[i], magnetic ? EMDATA_MU0 : 1);
    }
    const struct number amplitude = part[AMPLITUDE].given ? part[AMPLITUDE] : part[LOG_AMPLITUDE];
    const struct number none = {0, 0, false}, one = {1, 0, false};
    const bool field = part[REAL].given && part[IMAGINARY].given;
    const double size = field ? hypot(part[REAL].value, part[IMAGINARY].value) : amplitude.value;
    const double usual = survey_error(noise, magnetic, size);
    size_t used = 1;
    if (field && ++used)
        *datum = combine(part[REAL], part[IMAGINARY], false, e->lead, usual);
    else if (amplitude.given && part[PHASE].given && ++used)
        *datum = combine(amplitude, part[PHASE], true, e->lead, usual);
    else if (part[REAL].given)
        *datum = single_number(part[REAL], none, false, e->lead, SURVEY_REAL);
    else if (part[IMAGINARY].given)
        *datum = single_number(none, part[IMAGINARY], false, e->lead, SURVEY_IMAGINARY);
    else if (amplitude.given)
        *datum = single_number(amplitude, none, true, e->lead, SURVEY_AMPLITUDE);
    else
        *datum = single_number(one, part[PHASE], true, e->lead, SURVEY_PHASE);
    *unused += n - used;
    return EK_OK;
}

/* ---- the survey -------------------------------------------------------------------------------*/

static size_t count_pairs(const struct entry *entry, size_t n)
{
    size_t pairs = n > 0;
    for (size_t i = 1; i < n; i++)
        pairs += compare_pairs(&entry[i - 1], &entry[i]) != 0;
    return pairs;
}

/* Sorts the frequencies; place [k] is the index of the file's frequency k. */
static enum ek_status order_frequencies(const struct emdata *e, struct survey *s, int *place)
{
    for (int k = 0; k < s->nfreq; k++) {
        place[k] = 0;
        for (int j = 0; j < s->nfreq; j++) {
            place[k] += e->freq[j] < e->freq[k];
            if (j < k && e->freq[j] == e->freq[k])
                FAIL(EK_USAGE, "%s: frequency %g Hz is listed twice", e->path, e->freq[k]);
        }
        s->freq[place[k]] = e->freq[k];
    }
    return EK_OK;
}

static enum ek_status fill_survey(const struct emdata *e, const struct entry *entry, size_t n,
                                  const struct survey_noise *noise, struct survey *s,
                                  size_t *unused)
{
    int place[MOST_FREQUENCIES];
    size_t pair = 0;
    TRY(order_frequencies(e, s, place));
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && entry[end].freq == entry[i].freq; end++)
            if (compare_pairs(&entry[i], &entry[end]))
                break;
        pair += i && compare_pairs(&entry[i - 1], &entry[i]);
        s->pair[pair] = make_pair(e, &entry[i]);
        TRY(fill_datum(e, entry + i, end - i, noise,
                       &s->datum[pair * (size_t)s->nfreq + (size_t)place[entry[i].freq]], unused));
    }
    s->nsources = e->ntransmitters;
    s->nreceivers = e->nreceivers;
    return EK_OK;
}

static void warn_of_losses(const struct emdata *e, size_t others, size_t unused)
{
    size_t loops = 0;
    for (size_t i = 0; i < e->ntransmitters; i++)
        loops += e->transmitter[i].loop && e->transmitter[i].length > 0;
    if (loops)
        status_warn("%s: %zu magnetic sources have a length; they are taken as points", e->path,
                    loops);
    if (others)
        status_warn("%s: %zu data are of kinds that are not inverted; left out", e->path, others);
    if (unused)
        status_warn("%s: %zu numbers repeat others of the same datum (real and imaginary "
                    "part, or amplitude and phase); left out",
                    e->path, unused);
}

static void warn_of_points(const struct emdata *e, const struct survey *s)
{
    size_t points = 0;
    for (size_t i = 0; i < s->npairs; i++)
        points += !s->pair[i].magnetic && s->pair[i].span == 0 &&
                  e->receiver[s->pair[i].receiver_id].length > 0;
    if (points)
        status_warn("%s: %zu pairs have channels of E that have a length and are not level; they "
                    "are taken as points",
                    e->path, points);
}

static enum ek_status make_survey(const struct emdata *e, const struct survey_noise *noise,
                                  struct entry *entry, struct survey **survey)
{
    struct survey *s;
    size_t n = 0, unused = 0;
    for (size_t i = 0; i < e->ndata; i++)
        n += classify(&e->datum[i], &entry[n]);
    if (e->nfreq > MOST_FREQUENCIES)
        FAIL(EK_USAGE, "%s: %zu frequencies, more than %d", e->path, e->nfreq, MOST_FREQUENCIES);
    qsort(entry, n, sizeof *entry, compare_entries);
    TRY(survey_open(count_pairs(entry, n), (int)e->nfreq, &s));
    enum ek_status st = fill_survey(e, entry, n, noise, s, &unused);
    if (!st) {
        warn_of_losses(e, e->nothers + e->ndata - n, unused);
        warn_of_points(e, s);
        survey_set_errors(s, noise);
        st = survey_check(s, e->path);
    }
    return HAND_OUT(st, s, survey, survey_close);
}

/* ---- the earth --------------------------------------------------------------------------------*/

/* A grid with columns SPACING apart below all midpoints. */
static void derive_earth(const struct survey *s, struct earth_list *list)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < s->npairs; i++) {
        const struct survey_pair *p = &s->pair[i];
        for (int d = 0; d < 2; d++) {
            low[d] = fmin(low[d], 0.5 * (p->source[d] + p->receiver[d]));
            high[d] = fmax(high[d], 0.5 * (p->source[d] + p->receiver[d]));
        }
    }
    list->x0 = low[0];
    list->y0 = low[1];
    list->dx = list->dy = SPACING;
    list->nx = 1 + (int)ceil((high[0] - low[0]) / SPACING);
    list->ny = 1 + (int)ceil((high[1] - low[1]) / SPACING);
}

static enum ek_status describe_earth(const struct emdata *e, const struct survey *s,
                                     struct earth_list *list)
{
    char where[4200];
    snprintf(where, sizeof where, "%s: comment '! earth' or '! sea'", e->path);
    derive_earth(s, list);
    if (e->floor)
        snprintf(list->floor, sizeof list->floor, "%s", e->floor);
    if (e->earth)
        TRY(earth_list_read(where, e->earth, list));
    return e->sea ? earth_list_read_sea(where, e->sea, list) : EK_OK;
}

enum ek_status read_emdata(const char *path, const struct survey_noise *noise,
                           struct survey **survey, struct earth_list *list)
{
    struct emdata *e;
    struct survey *s = NULL;
    TRY(emdata_open(path, &e));
    OWNED_MEMORY struct entry *entry = calloc(e->ndata + 1, sizeof *entry);
    enum ek_status st =
        entry ? make_survey(e, noise, entry, &s)
              : status_fail(EK_UNAVAILABLE, "%s: out of memory for %zu data", path, e->ndata);
    THEN(st, describe_earth(e, s, list));
    emdata_close(e);
    return HAND_OUT(st, s, survey, survey_close);
}
