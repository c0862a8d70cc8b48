/* cu/sched/estimate_fit.c – a kind's seconds: medians of samples, a line over costs, and whether
 * tasks deviate from the lines of several kinds alike. */
#include "cu/sched/estimate_internal.h"
#include "cu/sched/line.h"

#include <math.h>
#include <string.h>

static double median_sample(const struct estimate_kind *k, size_t t)
{
    const struct estimate_sample *s = k->sample[t]; /* without launches */
    const double a = s[0].sec, b = s[1].sec;
    switch (k->count[t]) {
    case 1:
        return a;
    case 2:
        return fabs(a - b) < 0.3 * a ? (a + b) / 2 : fmin(a, b);
    default:
        return line_median_of_3(a, b, s[2].sec);
    }
}

size_t estimate_list(const struct estimate *e, int j, bool now)
{
    const unsigned char *count = e->of[j].count;
    size_t m = 0;
    for (const size_t *t = e->order; now && t < e->order + e->n; t++) {
        e->chosen[m] = *t;
        m += (e->seconds[*t] >= 0) & (e->kind[e->owner[*t]] == j);
    }
    for (const size_t *t = e->order; !now && t < e->order + e->n; t++) {
        e->chosen[m] = *t;
        m += count[*t] > 0;
    }
    return m;
}

void estimate_take_medians(const struct estimate *e, struct estimate_kind *k, size_t m)
{
    for (size_t i = 0; i < m; i++)
        k->seconds[e->chosen[i]] = median_sample(k, e->chosen[i]);
}

void estimate_fit(struct estimate *e, int j, size_t m, bool now, bool proportional)
{
    struct estimate_kind *k = &e->of[j];
    for (size_t i = 0; i < m; i++) {
        const size_t t = e->chosen[i];
        e->x[i] = estimate_cost(e, t);
        const double sec = now ? estimate_normal(e, t) - k->inside * e->range[t] : k->seconds[t];
        e->y[i] = sec > 0 ? sec : 0;
    }
    if (!m || (!(e->x[0] > 0) && estimate_cost(e, e->order[0]) > 0))
        return; /* tasks of zero cost say nothing about others */
    k->one_size = e->x[0] == e->x[m - 1];
    k->line =
        proportional ? line_through_origin(e->x, e->y, m) : line_fit(e->x, e->y, e->scratch, m);
    k->tried = true;
}

double estimate_off_line(const struct estimate *e, const struct estimate_kind *k, size_t t)
{
    const double usual = estimate_on_line(e, k, t);
    const bool own =
        k->tried && k->count[t] && (k->kind == CU_CPU || k->sample[t][k->count[t] - 1].part == 1);
    return own && usual > 0 && k->seconds[t] > 0 ? k->seconds[t] / usual : NAN;
}

/* That kinds deviate alike, because costs are declared wrong, is expected with this standard
 * deviation; least noise of a time. */
static const double DOUBT = 0.5, LEAST_NOISE = 0.02;

/* Counts in e->before the kinds on which each task has run; true: some have run on several. Others
 * tell nothing. */
static bool count_kinds(struct estimate *e)
{
    int *kinds = e->before, most = 0;
    memset(kinds, 0, e->n * sizeof *kinds);
    for (const struct estimate_kind *k = e->of; k < e->of + e->nkinds; k++)
        for (size_t t = 0; t < e->n; t++)
            kinds[t] += k->count[t] > 0;
    for (size_t t = 0; t < e->n; t++)
        most = kinds[t] > most ? kinds[t] : most;
    return most > 1;
}

/* The deviations on a kind of the tasks that have run on several; adds up on how many they are
 * known. */
static void find_deviations(const struct estimate *e, struct estimate_kind *k, double *kinds)
{
    size_t m = 0;
    for (size_t t = 0; t < e->n; t++) {
        k->deviation[t] = NAN;
        e->chosen[m] = t;
        m += (k->count[t] > 0) & (e->before[t] > 1);
    }
    for (size_t i = 0; i < m; i++) {
        const size_t t = e->chosen[i];
        k->deviation[t] = log(estimate_off_line(e, k, t));
        kinds[t] += !isnan(k->deviation[t]);
    }
}

/* Subtracts from the n deviations on a kind their mean over tasks for which they are known on
 * several, because lines are free to shift, and adds them to each task's sum. */
static void centre(struct estimate_kind *k, size_t n, const double *kinds, double *sum)
{
    double tasks = 0, all = 0;
#pragma omp simd reduction(+ : tasks, all)
    for (size_t t = 0; t < n; t++) {
        const double here = k->deviation[t], counts = here == here && kinds[t] > 1 ? 1 : 0;
        tasks += counts;
        all += counts > 0 ? here : 0;
    }
    const double mean = tasks > 0 ? all / tasks : 0;
    for (size_t t = 0; t < n; t++) {
        const double here = k->deviation[t] - mean;
        k->deviation[t] = here;
        sum[t] += here == here ? here : 0;
    }
}

/* Least squares of each task's deviations on other kinds over that on this kind, drawn to 1. */
void estimate_compare(struct estimate *e, double scatter)
{
    const double noise = fmax(LEAST_NOISE, scatter) / DOUBT, prior = 2 * noise * noise;
    double *sum = e->x, *kinds = e->y; /* of each task's deviations; on how many kinds they are */
    const size_t n = e->nkinds > 1 && count_kinds(e) ? e->n : 0;
    struct estimate_kind *end = e->of + e->nkinds;
    memset(sum, 0, n * sizeof *sum);
    memset(kinds, 0, n * sizeof *kinds);
    for (struct estimate_kind *k = e->of; n && k < end; k++)
        find_deviations(e, k, kinds);
    for (struct estimate_kind *k = e->of; k < end; k++)
        centre(k, n, kinds, sum);
    for (struct estimate_kind *k = e->of; k < end; k++) {
        double xx = 0, xy = 0;
#pragma omp simd reduction(+ : xx, xy)
        for (size_t t = 0; t < n; t++) {
            const double known = k->deviation[t], here = known == known ? known : 0;
            xx += (kinds[t] - 1) * here * here;
            xy += here * (sum[t] - here);
        }
        k->alike = WITHOUT(ALIKE) ? 1 : fmin(1, fmax(0, (xy + prior) / (xx + prior)));
        k->told = xx / (xx + prior);
    }
}
