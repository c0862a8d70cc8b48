/* mcsem/prior.c – rows of smoothness, bounds, and the files that control them. */
#include "mcsem/prior.h"
#include "mcsem/read_model.h"
#include "mcsem/seabed.h"
#include "src/file.h"
#include "src/sort.h"
#include "src/table.h"

#define MARGIN 1e-4 /* share of the transform's range that is out of reach */

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_row(struct prior *p, enum prior_kind kind, int n, size_t first, size_t stride,
                    const double *factor)
{
    struct prior_row *r = &p->row[p->nrows++];
    r->kind = kind;
    r->n = n;
    for (int i = 0; i < n; i++) {
        r->at[i] = (int)(first + (size_t)i * stride);
        r->factor[i] = factor[i];
    }
}

/* Number of unknowns in the vertical row that begins at a layer: fewer where it continues below the
 * last layer, 0 where there is none. cut [nz]: a horizon between a layer and the next. */
static int smooth_layers(const struct prior_options *o, int nz, int layer, const bool *cut)
{
    const int n = layer + o->differences < nz ? 1 + o->differences : nz - layer;
    for (int k = layer; k + 1 < layer + n; k++)
        if (cut[k])
            return 0;
    return n > o->differences || o->tied ? n : 0;
}

/* For a row that continues below the last layer: there the median replaces missing references. */
static void tie(const struct prior *p, struct prior_row *r)
{
    for (int i = 0; i < r->n; i++)
        r->median_factor += p->given[r->at[i]] ? 0 : r->factor[i];
}

/* cut [columns][nz] */
static void add_rows(struct prior *p, const struct earth *e, const struct prior_options *o,
                     const bool *cut)
{
    static const double factors[PRIOR_KINDS + 1][3] = {{1, -1}, {1, -1}, {1}, {1, -1}, {1, -2, 1}};
    const size_t nz = (size_t)e->nz, own = (size_t)earth_unknowns(e);
    for (int c = 0; c < earth_columns(e); c++)
        for (size_t k = 0; k < own; k++) {
            const size_t here = (size_t)c * own + k;
            const int n = smooth_layers(o, e->nz, (int)(k % nz), cut + (size_t)c * nz);
            if (n)
                add_row(p, PRIOR_VERTICAL, n, here, 1,
                        factors[o->differences > 1 ? PRIOR_KINDS : PRIOR_VERTICAL]);
            if (n && n <= o->differences)
                tie(p, &p->row[p->nrows - 1]);
            for (int axis = 0; axis < 2; axis++)
                if (earth_next(e, c, axis) >= 0)
                    add_row(p, PRIOR_LATERAL, 2, here,
                            ((size_t)earth_next(e, c, axis) - (size_t)c) * own,
                            factors[PRIOR_LATERAL]);
            add_row(p, PRIOR_PULL, 1, here, 1, factors[PRIOR_PULL]);
            if (k + nz < own)
                add_row(p, PRIOR_RATIO, 2, here, nz, factors[PRIOR_RATIO]);
        }
}

/* ---- horizons -------------------------------------------------------------------------------- */

/* Cuts at the interface nearest to a depth below the floor. */
static void cut_column(const struct earth *e, double depth, bool *cut)
{
    int best = -1;
    for (int k = 0; k + 1 < e->nz; k++)
        if (best < 0 || fabs(e->top[k + 1] - depth) < fabs(e->top[best + 1] - depth))
            best = k;
    if (best >= 0 && depth > 0.5 * e->top[1])
        cut[best] = true;
}

static enum ek_status cut_at(const struct earth *e, const char *word, double *depth, bool *cut)
{
    double below;
    const bool number = table_parse(word, &below);
    if (number && !(below > 0))
        FAIL(EK_USAGE, "--horizons: %g m is not a depth below the sea floor", below);
    if (!number)
        TRY(seabed_depths(word, e, depth));
    for (int c = 0; c < earth_columns(e); c++)
        cut_column(e, number ? below : depth[c] - e->seabed[c], cut + (size_t)c * (size_t)e->nz);
    return EK_OK;
}

static enum ek_status read_horizons(const char *list, const struct earth *e, bool *cut)
{
    if (!list)
        return EK_OK;
    OWNED(arena_free) struct arena room = {0};
    char *text = ARENA_NEW(&room, strlen(list) + 1, char), *rest;
    double *depth = ARENA_NEW(&room, earth_columns(e), double);
    TRY(arena_check(&room, "horizons"));
    for (char *w = strtok_r(strcpy(text, list), ",", &rest); w; w = strtok_r(NULL, ",", &rest))
        TRY(cut_at(e, w, depth, cut));
    return EK_OK;
}

/* ---- controls -------------------------------------------------------------------------------- */

enum { COLUMN, LAYER, FIXED, LOW, HIGH, REFERENCE, CONTROLS };
static const char *const controls[CONTROLS] = {"column",  "layer",   "fixed",
                                               "rho_min", "rho_max", "reference_ohmm"};

static enum ek_status read_control(const struct table *t, size_t row, const int *at, double *x)
{
    for (int k = 0; k < CONTROLS; k++) {
        x[k] = NAN;
        if (at[k] >= 0)
            TRY(table_optional(t, row, at[k], &x[k]));
        if (k >= LOW && x[k] <= 0)
            FAIL(EK_USAGE, "%s:%zu: %s %g is not positive", t->path, t->line[row], controls[k],
                 x[k]);
    }
    return EK_OK;
}

/* Applies one row to the columns and layers that it names, or to all if it names none. */
static enum ek_status control(const struct table *t, size_t row, const double *x,
                              const struct earth *e, struct prior *p)
{
    const int size[2] = {earth_columns(e), e->nz}, own = earth_unknowns(e);
    for (int k = 0; k < 2; k++)
        if (!isnan(x[k]) && (x[k] < 0 || x[k] >= size[k] || x[k] != floor(x[k])))
            FAIL(EK_USAGE, "%s:%zu: there is no %s %g", t->path, t->line[row], controls[k], x[k]);
    for (int i = 0; i < size[0] * own; i++) {
        if ((!isnan(x[COLUMN]) && i / own != (int)x[COLUMN]) ||
            (!isnan(x[LAYER]) && i % own % e->nz != (int)x[LAYER]))
            continue;
        p->fixed[i] = isnan(x[FIXED]) ? p->fixed[i] : x[FIXED] != 0;
        p->low[i] = isnan(x[LOW]) ? p->low[i] : log(x[LOW]);
        p->high[i] = isnan(x[HIGH]) ? p->high[i] : log(x[HIGH]);
        if (!isnan(x[REFERENCE])) {
            p->given[i] = true;
            p->reference[i] =
                log(x[REFERENCE]) + (i % own >= e->nz ? log(e->anisotropy[i % e->nz]) : 0);
        }
        if (!(p->low[i] < p->high[i]))
            FAIL(EK_USAGE, "%s:%zu: column %d, layer %d: rho_min %g is not below rho_max %g",
                 t->path, t->line[row], i / own, i % own % e->nz, exp(p->low[i]), exp(p->high[i]));
    }
    return EK_OK;
}

static enum ek_status read_controls(const char *path, const struct earth *e, struct prior *p)
{
    OWNED(owned_table_close) struct table *t = NULL;
    int at[CONTROLS];
    if (!path)
        return EK_OK;
    file_input(path);
    TRY(table_open(path, NULL, &t));
    for (int k = 0; k < CONTROLS; k++) {
        at[k] = table_find(t, controls[k]);
        if (k <= LAYER)
            TRY(table_need(t, controls[k], &at[k]));
    }
    for (size_t row = 0; row < t->nrows; row++) {
        double x[CONTROLS];
        TRY(read_control(t, row, at, x));
        TRY(control(t, row, x, e, p));
    }
    return EK_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

static enum ek_status read_reference(const char *path, const struct earth *e, struct prior *p)
{
    OWNED(owned_earth_close) struct earth *reference = NULL;
    if (!path)
        return EK_OK;
    file_input(path);
    TRY(earth_copy(e, &reference));
    TRY(read_model(path, reference));
    memcpy(p->reference, reference->m, p->n * sizeof *p->reference);
    memset(p->given, true, p->n * sizeof *p->given);
    return EK_OK;
}

static enum ek_status fill(struct prior *p, const struct earth *e, const struct prior_options *o,
                           bool *cut)
{
    const size_t own = (size_t)earth_unknowns(e), nz = (size_t)e->nz;
    if (!(o->rho_min < o->rho_max))
        FAIL(EK_USAGE, "--rho-min %g is not below --rho-max %g", o->rho_min, o->rho_max);
    p->transform = o->transform;
    p->nz = e->nz;
    p->own = own;
    for (size_t i = 0; i < p->n; i++) {
        p->low[i] = log(o->rho_min);
        p->high[i] = log(o->rho_max);
        p->reference[i] = i % own >= nz ? log(e->anisotropy[i % nz]) : 0;
    }
    TRY(read_reference(o->reference, e, p));
    TRY(read_controls(o->controls, e, p));
    TRY(read_horizons(o->horizons, e, cut));
    add_rows(p, e, o, cut);
    return EK_OK;
}

enum ek_status prior_open(const struct earth *e, const struct prior_options *o,
                          struct prior **prior)
{
    const size_t n = earth_size(e);
    OWNED(arena_free) struct arena room = {0};
    NEW(struct prior, p, 1, "out of memory for the prior");
    p->n = n;
    p->row = ARENA_NEW(&p->arena, 5 * n, struct prior_row);
    p->reference = ARENA_NEW(&p->arena, n, double);
    p->low = ARENA_NEW(&p->arena, n, double);
    p->high = ARENA_NEW(&p->arena, n, double);
    p->sorted = ARENA_NEW(&p->arena, n, double);
    p->fixed = ARENA_NEW(&p->arena, n, bool);
    p->given = ARENA_NEW(&p->arena, n, bool);
    bool *cut = ARENA_NEW(&room, n, bool);
    enum ek_status st = arena_check(&p->arena, "the prior of %zu unknowns", n);
    THEN(st, arena_check(&room, "horizons of %zu unknowns", n));
    THEN(st, fill(p, e, o, cut));
    return HAND_OUT(st, p, prior, prior_close);
}

ARENA_CLOSE(prior_close, struct prior)

/* ---- what it says ---------------------------------------------------------------------------- */

void prior_update_median(struct prior *p, const double *m)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (i % p->own < (size_t)p->nz)
            p->sorted[n++] = m[i];
    p->median = sort_median(p->sorted, n);
}

double prior_row_value(const struct prior *p, const struct prior_row *r, const double *m)
{
    double sum = -r->median_factor * p->median;
    for (int i = 0; i < r->n; i++)
        sum += r->factor[i] * (m[r->at[i]] - p->reference[r->at[i]]);
    return sum;
}

double prior_square(const struct prior *p, enum prior_kind kind, const double *m)
{
    double sum = 0;
    for (size_t r = 0; r < p->nrows; r++)
        if (p->row[r].kind == kind)
            sum += pow(prior_row_value(p, &p->row[r], m), 2);
    return sum;
}

double prior_change(const struct prior *p, size_t i, double m, double step)
{
    double low = p->low[i], high = p->high[i];
    const double margin = p->transform ? MARGIN * (high - low) : 0;
    const double from = fmax(low + margin, fmin(high - margin, m));
    double to = fmax(low + margin, fmin(high - margin, m + step));
    if (p->fixed[i])
        return 0;
    if (p->transform && to != from) {
        const double slope = (from - low) * (high - from) / (high - low);
        const double x = log((from - low) / (high - from)) + step / slope;
        const double mapped = low + (high - low) / (1 + exp(-x));
        to = fabs(mapped - from) < fabs(to - from) ? mapped : to;
    }
    return to - m;
}
