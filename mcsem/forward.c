/* mcsem/forward.c – exact mode on the host: kernels/exact.h with one wavenumber a lane. */
#include "mcsem/forward.h"

#include "mcsem/simd.h"
#include "mcsem/kernels/exact.h"

#include <stdlib.h>
#include <string.h>

enum { VECTORS = PAIR_GROUP / LANES };
_Static_assert(EXACT_STRANDS == PAIR_GROUP, "a group of wavenumbers has one for each strand");
/* What lies below so many nepers there and back is not seen: exp(-46) = 1e-20. */
#define DEEP  46.0
#define STEEP 0.3
/* Of the finest filter, relative to the field; 1e-12 in a whole space. */
#define FINEST_ERROR 1e-10
#define GAIN         0.1   /* a filter's error over the coarser one's, at most */
#define COMMON       0.25  /* but neighbours share some of theirs where fields are static */
#define LOST_E       8e-26 /* what cancellation leaves of small fields, at least; 1/m^2 for H */
#define LOST_H       8e-23
#define ROUNDING     1.1e-16
#define LEAST_ERROR  1e-13 /* of sums in double precision */

struct forward {
    int layers, nfreq;
    struct pair_plan plan;
    int level[PAIR_POINTS * EXACT_LEVEL]; /* of the plan */
    int *deepest;         /* [PAIR_WAVES / PAIR_GROUP] last layer of each group of wavenumbers */
    double *table;        /* [layers][4] struct line_layer */
    double *sum;          /* [VECTORS][1 + layers][2][LANES] */
    double *kept, *parts; /* [layers][4][2][LANES], the same for layers + 2 parts */
};

static double *vectors(size_t n)
{
    return aligned_alloc(64, (n * LANES * sizeof(double) + 63) / 64 * 64);
}

enum ek_status forward_open(int layers, int nfreq, struct forward **forward)
{
    struct forward *f = calloc(1, sizeof *f);
    if (!f)
        FAIL(EK_UNAVAILABLE, "forward: out of memory");
    const size_t n = (size_t)layers;
    f->layers = layers;
    f->nfreq = nfreq;
    f->deepest = calloc(PAIR_WAVES / PAIR_GROUP, sizeof *f->deepest);
    f->table = calloc(4 * n, sizeof *f->table);
    f->sum = vectors(VECTORS * 2 * (1 + n));
    f->kept = vectors(8 * n);
    f->parts = vectors(8 * (n + 2));
    enum ek_status st = pair_open(layers, &f->plan);
    if (!st && (!f->deepest || !f->table || !f->sum || !f->kept || !f->parts))
        st = status_fail(EK_UNAVAILABLE, "forward: out of memory for %d layers", layers);
    if (st)
        forward_close(f);
    else
        *forward = f;
    return st;
}

void forward_close(struct forward *f)
{
    if (!f)
        return;
    pair_close(&f->plan);
    free(f->deepest);
    free(f->table);
    free(f->sum);
    free(f->kept);
    free(f->parts);
    free(f);
}

double forward_line(double freq)
{
    return 8e-7 * acos(-1) * acos(-1) * freq;
}

void forward_layers(const struct earth_layers *layers, double *table)
{
    for (int k = 0; k < layers->n; k++) {
        double *row = table + 4 * k;
        row[0] = layers->rho_h[k];
        row[1] = 1 / layers->rho_h[k];
        row[2] = layers->rho_v[k] / layers->rho_h[k];
        row[3] = k && k < layers->n - 1 ? layers->z[k] - layers->z[k - 1] : 0;
    }
}

void forward_deepest(int layers, int base, const double *table, int nwaves, const double *wave,
                     double w, int *deepest)
{
    double by_wave = 0, by_loss = 0;
    int seen = base; /* layers base .. seen-1 lie within by_wave, by_loss */
    for (int g = nwaves / PAIR_GROUP - 1; g >= 0; g--) {
        const double least = wave[g * PAIR_GROUP];
        while (seen < layers - 1 && least * by_wave < DEEP && by_loss < DEEP) {
            const double *row = table + 4 * seen++;
            by_wave += 2 * row[3] * fmin(1, sqrt(row[2]));
            by_loss += 2 * row[3] * sqrt(0.5 * w * row[1]);
        }
        deepest[g] = seen;
    }
}

void forward_level(const struct pair_level *level, int parts, int weights, int *row)
{
    const struct pair_view *v = &level->view;
    row[EXACT_BELOW] = v->below;
    row[EXACT_BETWEEN] = v->between;
    row[EXACT_ABOVE] = v->above;
    row[EXACT_SWAPPED] = v->swapped;
    row[EXACT_LOWER] = v->lower;
    row[EXACT_UPPER] = v->upper;
    row[EXACT_IN_LOWER] = (int)level->in_lower;
    row[EXACT_IN_UPPER] = (int)level->in_upper;
    row[EXACT_PARTS] = parts;
    row[EXACT_WEIGHTS] = weights;
}

/* The plan as kernels/exact.h reads it: where it is. */
static struct exact_plan plan_of(struct forward *f)
{
    const struct pair_plan *plan = &f->plan;
    for (int n = 0; n < plan->nlevels; n++) {
        const struct pair_level *level = &plan->level[n];
        forward_level(level, (int)(level->view.part - plan->room),
                      (int)(level->weight - plan->room), f->level + EXACT_LEVEL * n);
    }
    return (struct exact_plan){.number = plan->room,
                               .level = f->level,
                               .nlevels = plan->nlevels,
                               .stride = PAIR_WAVES,
                               .base = plan->base,
                               .magnetic = plan->magnetic};
}

/* The strands of a sum, added in a fixed order. */
static double strands(const struct forward *f, int number)
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

int forward_derive(enum forward_derivatives derivatives)
{
    static const int wanted[] = {FIELD_NONE, FIELD_BASE, FIELD_ALL, FIELD_ALL};
    return wanted[derivatives];
}

static void sum_frequency(struct forward *f, double freq, enum forward_derivatives derivatives)
{
    const size_t sums = 2 * (size_t)(1 + f->plan.layers) * LANES;
    const struct exact_plan plan = plan_of(f);
    struct line_field at = {.w = forward_line(freq), .alone = derivatives == FORWARD_HORIZONTAL};
    forward_deepest(f->plan.layers, f->plan.base, f->table, f->plan.nwaves, f->plan.wave, at.w,
                    f->deepest);
    memset(f->sum, 0, VECTORS * sums * sizeof *f->sum);
    for (int k = 0; k < f->plan.nwaves; k += LANES) {
        const struct field_room room = {.sum = f->sum + (size_t)(k / LANES % VECTORS) * sums,
                                        .kept = f->kept,
                                        .part = f->parts,
                                        .stride = LANES,
                                        .derive = forward_derive(derivatives)};
        const lanes wave = LOAD(f->plan.wave, k);
        at.l2 = wave * wave;
        exact_wave(at, f->table, plan, k, f->deepest[k / PAIR_GROUP], room);
    }
}

/* Where the receiver is almost below the wire, at a horizontal distance r and a vertical one d, the
 * integrand reaches down to l r = r / d: coarser filters begin above that. */
int forward_filter(const struct survey_pair *p, int which)
{
    const double x = p->receiver[0] - p->source[0], y = p->receiver[1] - p->source[1];
    const double along = x * cos(p->azimuth) + y * sin(p->azimuth);
    const double across = y * cos(p->azimuth) - x * sin(p->azimuth);
    const double flat = 0.5 * p->length * cos(p->dip), rise = 0.5 * p->length * fabs(sin(p->dip));
    const double r = hypot(across, fmax(0, fabs(along) - flat));
    const double d = fabs(p->receiver[2] - p->source[2]) + rise;
    return r < STEEP * d ? HANKEL_FILTERS - 1 : which;
}

/* Sums and results of one filter. */
static enum ek_status run(struct forward *f, const struct earth_layers *layers,
                          const struct survey_pair *pair, int nfreq, const double *freq, int which,
                          enum forward_derivatives derivatives, double complex *field,
                          double complex *derivative)
{
    const struct hankel *filter;
    TRY(hankel_open(forward_filter(pair, which), &filter));
    TRY(pair_make(layers, pair, filter, FORWARD_TOLERANCE, &f->plan));
    forward_layers(layers, f->table);
    for (int q = 0; q < nfreq; q++) {
        sum_frequency(f, freq[q], derivatives);
        field[q] = strands(f, 0) + I * strands(f, 1);
        for (int k = 0; k < layers->n && derivatives != FORWARD_FIELD; k++)
            derivative[q * layers->n + k] = strands(f, 2 + 2 * k) + I * strands(f, 3 + 2 * k);
    }
    return EK_OK;
}

enum ek_status forward_pair(struct forward *f, const struct earth_layers *layers,
                            const struct survey_pair *pair, int nfreq, const double *freq,
                            int which, enum forward_derivatives derivatives, double complex *field,
                            double complex *derivative)
{
    return run(f, layers, pair, nfreq, freq, which, derivatives, field, derivative);
}

/* What cancellation leaves of the pair's small fields: rounding of its primary field, which over a
 * survey's distances is less than the least. */
static double lost(const struct survey_pair *p, double freq)
{
    const double *a = p->source, *b = p->receiver, four_pi = 4 * acos(-1);
    const double r = fmax(1e-3, hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
    return p->magnetic ? fmax(LOST_H, ROUNDING / (four_pi * r * r))
                       : fmax(LOST_E, 0.1 * ROUNDING * forward_line(freq) / (four_pi * r));
}

/* Largest difference of the two, relative to max(|field|, floor). */
static double difference(int n, const double complex *a, const double complex *b, double floor)
{
    double worst = 0;
    for (int q = 0; q < n; q++)
        worst = fmax(worst, cabs(a[q] - b[q]) / fmax(cabs(b[q]), floor));
    return worst;
}

enum ek_status forward_choose(struct forward *f, const struct earth_layers *layers,
                              const struct survey_pair *pair, int nfreq, const double *freq,
                              const struct forward_control *control, int *which, double *error)
{
    double complex *field[2] = {calloc((size_t)nfreq, sizeof **field),
                                calloc((size_t)nfreq, sizeof **field)};
    enum ek_status st = EK_OK;
    double worst = INFINITY, rounding = LEAST_ERROR;
    const double limit = (error ? COMMON : 1) * control->tolerance;
    int k = 0;
    if (!field[0] || !field[1])
        st = status_fail(EK_UNAVAILABLE, "forward: out of memory for %d frequencies", nfreq);
    if (!st)
        st = run(f, layers, pair, nfreq, freq, 0, FORWARD_FIELD, field[0], NULL);
    while (!st && k < HANKEL_FILTERS - 1 && worst > limit) {
        k++;
        st = run(f, layers, pair, nfreq, freq, k, FORWARD_FIELD, field[k % 2], NULL);
        worst = difference(nfreq, field[(k + 1) % 2], field[k % 2], control->floor);
        for (int q = 0; q < nfreq; q++)
            rounding =
                fmax(rounding, lost(pair, freq[q]) / fmax(cabs(field[k % 2][q]), control->floor));
    }
    free(field[0]);
    free(field[1]);
    if (st)
        return st;
    *which = k;
    if (forward_filter(pair, 0) == HANKEL_FILTERS - 1)
        worst = FINEST_ERROR / GAIN; /* one filter, whichever was asked for */
    if (error)
        *error = fmax(GAIN * worst, rounding);
    return EK_OK;
}
