/* cu/sched/estimate_fit.c – a kind's seconds: medians of samples, a line over costs, and whether
 * tasks deviate from the lines of several kinds alike. */
#include "cu/sched/estimate_internal.h"
#include "cu/sched/line.h"

#include <math.h>
#include <string.h>

static double median_sample(const struct estimate_kind *k, size_t t)
{
    const struct estimate_sample *s = k->sample[t]; /* without launches */
    const double a = s[0].sec, b = s[1].sec, c = s[2].sec, low = a < b ? a : b,
                 high = a < b ? b : a;
    switch (k->count[t]) {
    case 1:
        return a;
    case 2:
        return fabs(a - b) < 0.3 * a ? (a + b) / 2 : low;
    default:
        return c < low ? low : c > high ? high : c;
    }
}

void estimate_take_medians(const struct estimate *e, struct estimate_kind *k)
{
    for (size_t t = 0; t < e->n; t++)
        if (k->count[t])
            k->seconds[t] = median_sample(k, t);
}

/* Nothing but tasks of zero cost says nothing about others. */
void estimate_fit(struct estimate *e, int j, bool raw, bool proportional)
{
    struct estimate_kind *k = &e->of[j];
    size_t m = 0;
    bool tells = !e->n || !(estimate_cost(e, e->order[0]) > 0);
    for (size_t i = 0; i < e->n; i++) {
        size_t t = e->order[i];
        bool here = raw ? e->seconds[t] >= 0 && e->kind[e->owner[t]] == j : k->count[t] > 0;
        if (!here)
            continue;
        e->x[m] = estimate_cost(e, t);
        tells |= e->x[m] > 0;
        e->y[m++] = raw ? fmax(0, estimate_normal(e, t) - k->inside * e->range[t]) : k->seconds[t];
    }
    if (m == 0 || !tells)
        return;
    k->one_size = e->x[0] == e->x[m - 1];
    k->line =
        proportional ? line_through_origin(e->x, e->y, m) : line_fit(e->x, e->y, e->scratch, m);
    k->tried = true;
}

double estimate_deviation(const struct estimate *e, const struct estimate_kind *k, size_t t)
{
    const double usual = estimate_on_line(e, k, t);
    const bool own =
        k->tried && k->count[t] && (k->kind == CU_CPU || k->sample[t][k->count[t] - 1].part == 1);
    return own && usual > 0 && k->seconds[t] > 0 ? log(k->seconds[t] / usual) : NAN;
}

/* That kinds deviate alike, because costs are declared wrong, is expected with this standard
 * deviation; least noise of a time. */
static const double DOUBT = 0.5, LEAST_NOISE = 0.02;

/* Subtracts from the deviations on a kind their mean over tasks that have run on several, because
 * lines are free to shift, and adds them to each task's sum. */
static void centre(struct estimate *e, struct estimate_kind *k, const double *kinds, double *sum)
{
    double m = 0, mean = 0;
    for (size_t t = 0; t < e->n; t++)
        if (!isnan(k->deviation[t]) && kinds[t] > 1)
            mean += (k->deviation[t] - mean) / ++m;
    for (size_t t = 0; t < e->n; t++)
        if (!isnan(k->deviation[t]))
            sum[t] += k->deviation[t] -= mean;
}

/* Least squares of each task's deviations on other kinds over that on this kind, drawn to 1. */
void estimate_compare(struct estimate *e, double scatter)
{
    const double noise = fmax(LEAST_NOISE, scatter) / DOUBT, prior = 2 * noise * noise;
    double *sum = e->x, *kinds = e->y; /* of each task's deviations; on how many kinds it has run */
    struct estimate_kind *end = e->of + e->nkinds;
    memset(sum, 0, e->n * sizeof *sum);
    memset(kinds, 0, e->n * sizeof *kinds);
    for (struct estimate_kind *k = e->of; k < end; k++)
        for (size_t t = 0; t < e->n; t++) {
            k->deviation[t] = estimate_deviation(e, k, t);
            kinds[t] += !isnan(k->deviation[t]);
        }
    for (struct estimate_kind *k = e->of; k < end; k++)
        centre(e, k, kinds, sum);
    for (struct estimate_kind *k = e->of; k < end; k++) {
        double xx = 0, xy = 0;
        for (size_t t = 0; t < e->n; t++) {
            const double here = k->deviation[t];
            if (isnan(here))
                continue;
            xx += (kinds[t] - 1) * here * here;
            xy += here * (sum[t] - here);
        }
        k->alike = WITHOUT(ALIKE) ? 1 : fmin(1, fmax(0, (xy + prior) / (xx + prior)));
        k->told = xx / (xx + prior);
    }
}
