/* mcsem/forward.c – exact mode on the host: kernels/exact.h with one wavenumber per lane. */
#include "mcsem/forward.h"

#include "mcsem/simd.h"
#include "mcsem/kernels/exact.h"

enum { VECTORS = PAIR_GROUP / LANES, FINEST = HANKEL_FILTERS - 1 };
_Static_assert(EXACT_STRANDS == PAIR_GROUP, "a group of wavenumbers has one for each strand");
#define GAIN 0.1 /* largest ratio of a filter's error to the next coarser one's */
#define COMMON                                                                                     \
    0.25 /* but neighbouring filters share part of their error where fields are static             \
          */
#define UNEVEN      2     /* what a filter omits may cancel in part */
#define LEAST_ERROR 1e-13 /* rounding of sums in double precision */
#define FINER                                                                                      \
    1e6 /* how much finer the twin's sum over the wire is, if there is room for the points */
#define UNLIKE 16 /* rounding may exceed the difference from one twin by this factor */
enum { TWINS = 15 };
#define DEVIATIONS 2.5 /* likely error of a mean, in its standard deviations */
#define HOPELESS   4   /* rounding above this multiple of the tolerance is not worth a mean */

struct forward {
    struct arena arena; /* owns the arrays below */
    int layers, nfreq;
    struct pair_plan plan;
    int level[PAIR_POINTS * EXACT_LEVEL]; /* of the plan */
    int *deepest;         /* [PAIR_WAVES / PAIR_GROUP] last layer of each group of wavenumbers */
    double *table;        /* [layers][4] struct line_layer */
    double *sum;          /* [VECTORS][1 + layers][2][LANES] */
    double *kept, *parts; /* [layers][4][2][LANES], the same for layers + 2 parts */
};

enum ek_status forward_open(int layers, int nfreq, struct forward **forward)
{
    NEW(struct forward, f, 1, "forward: out of memory");
    const size_t n = (size_t)layers;
    f->layers = layers;
    f->nfreq = nfreq;
    f->deepest = ARENA_NEW(&f->arena, PAIR_WAVES / PAIR_GROUP, int);
    f->table = ARENA_NEW(&f->arena, 4 * n, double);
    f->sum = ARENA_NEW(&f->arena, VECTORS * 2 * (1 + n) * LANES, double);
    f->kept = ARENA_NEW(&f->arena, 8 * n * LANES, double);
    f->parts = ARENA_NEW(&f->arena, 8 * (n + 2) * LANES, double);
    enum ek_status st = pair_open(layers, &f->plan);
    THEN(st, arena_check(&f->arena, "fields over %d layers", layers));
    return HAND_OUT(st, f, forward, forward_close);
}

void forward_close(struct forward *f)
{
    if (!f)
        return;
    pair_close(&f->plan);
    arena_free(&f->arena);
    free(f);
}

void forward_deepest(int layers, int base, const double *table, int nwaves, const double *wave,
                     double w, int *deepest)
{
    exact_deepest(layers, base, table, nwaves, wave, 1, w, deepest);
}

/* The plan as kernels/exact.h reads it, without copying. */
static struct exact_plan plan_of(struct forward *f)
{
    const struct pair_plan *plan = &f->plan;
    for (int n = 0; n < plan->nlevels; n++) {
        const struct pair_level *level = &plan->level[n];
        forward_level(level, (int)(level->view.part - plan->room),
                      (int)(level->weight - plan->room), f->level + EXACT_LEVEL * n);
    }
    return (struct exact_plan){.number = plan->room,
                               .weight = plan->room,
                               .level = f->level,
                               .nlevels = plan->nlevels,
                               .stride = PAIR_WAVES,
                               .base = plan->base,
                               .magnetic = plan->magnetic};
}

/* Adds the strands of a sum in a fixed order. */
static double sum_strands(const struct forward *f, int number)
{
    double s[PAIR_GROUP];
    for (int v = 0; v < VECTORS; v++)
        memcpy(s + v * LANES,
               f->sum + ((size_t)v * 2 * (size_t)(1 + f->plan.layers) + (size_t)number) * LANES,
               LANES * sizeof *s);
    for (int half = PAIR_GROUP / 2; half; half /= 2)
        for (int k = 0; k < half; k++)
            s[k] += s[k + half];
    return s[0];
}

static void sum_frequency(struct forward *f, double freq, bool alone, int derive)
{
    const size_t sums = 2 * (size_t)(1 + f->plan.layers) * LANES;
    const struct exact_plan plan = plan_of(f);
    struct line_field at = {.w = forward_line(freq), .alone = alone};
    forward_deepest(f->plan.layers, f->plan.base, f->table, f->plan.nwaves, f->plan.wave, at.w,
                    f->deepest);
    memset(f->sum, 0, VECTORS * sums * sizeof *f->sum);
    for (int k = 0; k < f->plan.nwaves; k += LANES) {
        const struct field_room room = {.sum = f->sum + (size_t)(k / LANES % VECTORS) * sums,
                                        .kept = f->kept,
                                        .part = f->parts,
                                        .stride = LANES,
                                        .derive = derive};
        const lanes wave = LOAD(f->plan.wave, k);
        at.l2 = wave * wave;
        exact_wave(at, f->table, plan, k, f->deepest[k / PAIR_GROUP], room);
    }
}

/* Computes a pair with one filter; the tolerance of the sum over the wire is divided by `finer`. */
static enum ek_status compute(struct forward *f, const struct earth_layers *layers,
                              const struct survey_pair *pair, int nfreq, const double *freq,
                              int which, enum forward_derivatives derivatives, double finer,
                              double complex *field, double complex *derivative)
{
    const struct survey_pair seen = pair_reciprocal(pair);
    const struct hankel *filter;
    TRY(hankel_open(forward_filter(&seen, which), &filter));
    TRY(pair_make(layers, &seen, filter, forward_wire(layers, &seen, nfreq, freq) / finer,
                  &f->plan));
    forward_layers(layers, f->table);
    const int derive = forward_derive(layers, &f->plan, derivatives);
    for (int q = 0; q < nfreq; q++) {
        sum_frequency(f, freq[q], derivatives == FORWARD_HORIZONTAL, derive);
        field[q] = sum_strands(f, 0) + I * sum_strands(f, 1);
        for (int k = 0; k < layers->n && derivatives != FORWARD_FIELD; k++)
            derivative[q * layers->n + k] =
                sum_strands(f, 2 + 2 * k) + I * sum_strands(f, 3 + 2 * k);
        pair_scale_loop(pair, forward_line(freq[q]), 1, field + q);
        if (derivatives != FORWARD_FIELD)
            pair_scale_loop(pair, forward_line(freq[q]), (size_t)layers->n,
                            derivative + q * layers->n);
    }
    return EK_OK;
}

enum ek_status forward_pair(struct forward *f, const struct earth_layers *layers,
                            const struct survey_pair *pair, int nfreq, const double *freq,
                            int which, enum forward_derivatives derivatives, double complex *field,
                            double complex *derivative)
{
    return compute(f, layers, pair, nfreq, freq, which, derivatives, 1, field, derivative);
}

/* State of forward_choose(). */
struct choice {
    struct forward *forward;
    const struct earth_layers *layers;
    const struct survey_pair *pair;
    int nfreq;
    const double *freq;
    struct forward_control control;
    double complex *field[2]; /* [nfreq] fields of the last two filters */
    double *slow;             /* [nfreq] frequencies of the twin */
    double complex *sum;      /* [nfreq] of twins less the fields, */
    double *square;           /* [nfreq] and of their squares */
};

static enum ek_status try_filter(struct choice *c, int which)
{
    double complex *before = c->field[0];
    c->field[0] = c->field[1];
    c->field[1] = before;
    return compute(c->forward, c->layers, c->pair, c->nfreq, c->freq, which, FORWARD_FIELD, 1,
                   before, NULL);
}

/* The larger one; NaN counts as infinite. */
static double worse(double a, double b)
{
    return isnan(b) ? INFINITY : fmax(a, b);
}

static double size_of(const struct choice *c, int q)
{
    return fmax(cabs(c->field[1][q]), c->control.floor);
}

/* Difference of the last two filters. */
static double difference(const struct choice *c)
{
    return forward_difference(c->field[0], c->field[1], (size_t)c->nfreq, c->control.floor);
}

/* Twin k of a pair, whose rounding differs: all lengths are scaled, and but for the first twin the
 * filter's wavenumbers shifted by a part of its step. */
struct twin {
    double scale, lead;
};
static struct twin twin_of(int k)
{
    return k ? (struct twin){1 + k / 16.3, fmod(0.618 * k, 1)} : (struct twin){8 / 7.0, 0};
}

/* Computes a twin's fields, in the pair's units: scaling all lengths by s and frequencies by s^-2
 * scales E by s^-3 and H by s^-2 (loops: one power more), except for rounding and for the error of
 * the sum over the wire. */
static enum ek_status compute_twin(struct choice *c, int which, int k, double complex *twin)
{
    const struct twin t = twin_of(k);
    const double size =
        t.scale * t.scale * (c->pair->magnetic ? 1 : t.scale) * (c->pair->loop ? t.scale : 1);
    struct earth_layers l = *c->layers;
    struct survey_pair p = *c->pair;
    for (int i = 0; i < l.n - 1; i++)
        l.z[i] *= t.scale;
    for (int d = 0; d < 3; d++) {
        p.source[d] *= t.scale;
        p.receiver[d] *= t.scale;
    }
    p.length *= t.scale;
    p.span *= t.scale;
    for (int q = 0; q < c->nfreq; q++)
        c->slow[q] = c->freq[q] / (t.scale * t.scale);
    c->forward->plan.lead = t.lead;
    enum ek_status st = EK_UNAVAILABLE;
    if (p.length + p.span != 0)
        st = MUTED(compute(c->forward, &l, &p, c->nfreq, c->slow, which, FORWARD_FIELD, FINER, twin,
                           NULL));
    if (st)
        st = compute(c->forward, &l, &p, c->nfreq, c->slow, which, FORWARD_FIELD, 1, twin, NULL);
    c->forward->plan.lead = 0;
    for (int q = 0; q < c->nfreq; q++)
        twin[q] *= size;
    return st;
}

/* Adds up twins 1 .. TWINS-1 to the sums of the fields and of the squares of their differences from
 * the pair's own; both begin with the first twin. */
static enum ek_status add_twins(struct choice *c, int which, double complex *sum, double *square)
{
    for (int k = 1; k < TWINS; k++) {
        TRY(compute_twin(c, which, k, c->field[0]));
        for (int q = 0; q < c->nfreq; q++) {
            const double complex d = c->field[0][q] - c->field[1][q];
            sum[q] += d;
            square[q] += creal(d) * creal(d) + cimag(d) * cimag(d);
        }
    }
    return EK_OK;
}

/* Estimates the rounding of the last fields by a twin. Rounding is random, and may by chance be
 * nearly that of one twin: where it might matter, more twins are computed, whose mean with the
 * fields replaces these, with an error that the twins' spread tells. */
static enum ek_status reduce_rounding(struct choice *c, int which, struct forward_error *rounding)
{
    const double tolerance = c->control.tolerance;
    double seen = 0, spread = 0;
    TRY(compute_twin(c, which, 0, c->field[0]));
    for (int q = 0; q < c->nfreq; q++) {
        const double complex d = c->field[0][q] - c->field[1][q];
        c->sum[q] = d;
        c->square[q] = creal(d) * creal(d) + cimag(d) * cimag(d);
        seen = worse(seen, cabs(d) / size_of(c, q));
    }
    *rounding = (struct forward_error){fmax(LEAST_ERROR, seen), fmax(LEAST_ERROR, UNLIKE * seen)};
    if (seen > HOPELESS * tolerance || UNLIKE * seen <= tolerance)
        return EK_OK;
    TRY(add_twins(c, which, c->sum, c->square));
    for (int q = 0; q < c->nfreq; q++) {
        const double complex mean = c->sum[q] / (TWINS + 1);
        const double variance =
            c->square[q] / TWINS - (TWINS + 1.0) / TWINS * cabs(mean) * cabs(mean);
        c->field[1][q] += mean;
        spread = worse(spread, sqrt(fmax(variance, 0) / (TWINS + 1)) / size_of(c, q));
    }
    *rounding = (struct forward_error){DEVIATIONS * spread, 4 * DEVIATIONS * spread};
    return EK_OK;
}

/* What the extrapolation of the last filter omits, by one of the same step or a finer one that does
 * without. */
static enum ek_status see_omission(struct choice *c, double *omitted)
{
    double complex *chosen;
    TRY(try_filter(c, HANKEL_LOW_FINE));
    *omitted = difference(c);
    chosen = c->field[0];
    c->field[0] = c->field[1];
    c->field[1] = chosen;
    return EK_OK;
}

/* The finest filter, which omits nothing. */
static enum ek_status choose_finest(struct choice *c, int *which, double *error)
{
    TRY(try_filter(c, HANKEL_LOW_FINE));
    TRY(try_filter(c, *which = FINEST));
    *error = GAIN * difference(c);
    return EK_OK;
}

/* Tries finer and finer filters until two agree to `limit`; *error is the estimated error. All but
 * the finest filter extrapolate from wavenumbers of a hundredth of 1 / offset to 0; `careful`
 * checks this, as it fails where layers or skin depths are very large, or straight above the wire.
 * The coarsest filter tells it cheaply, but what it omits may vanish by chance: where it might
 * matter, the chosen one is asked. */
static enum ek_status choose(struct choice *c, bool careful, double limit, int *which,
                             double *error)
{
    double low = 0, worst = INFINITY;
    if (careful)
        TRY(try_filter(c, HANKEL_LOW));
    TRY(try_filter(c, *which = 0));
    if (careful)
        low = difference(c);
    if (!(low <= limit))
        return choose_finest(c, which, error);
    while (*which < FINEST && !(worst <= limit)) {
        TRY(try_filter(c, ++*which));
        worst = difference(c);
    }
    if (*which == FINEST)
        low = 0;
    else if (UNLIKE * low > limit)
        TRY(see_omission(c, &low));
    *error = fmax(GAIN * worst, UNEVEN * low);
    return low <= limit ? EK_OK : choose_finest(c, which, error);
}

enum ek_status forward_choose(struct forward *f, const struct earth_layers *layers,
                              const struct survey_pair *pair, int nfreq, const double *freq,
                              const struct forward_control *control, int *which,
                              double complex *field, struct forward_error *error)
{
    const size_t n = (size_t)nfreq;
    OWNED_MEMORY NEW(double complex, room, 5 * n, "forward: out of memory for %d frequencies",
                     nfreq);
    struct choice c = {f,
                       layers,
                       pair,
                       nfreq,
                       freq,
                       *control,
                       {room, room + n},
                       (double *)(room + 2 * n),
                       room + 3 * n,
                       (double *)(room + 4 * n)};
    struct forward_error rounding = {0, 0};
    double differs = 0;
    int found = 0;
    TRY(choose(&c, error, (error ? COMMON : 1) * control->tolerance, &found, &differs));
    if (error) {
        TRY(reduce_rounding(&c, found, &rounding));
        memcpy(field, c.field[1], n * sizeof *field);
        *error =
            (struct forward_error){fmax(differs, rounding.likely), fmax(differs, rounding.most)};
    }
    *which = found;
    return EK_OK;
}
