/* cu/sched/estimate_fit.c – a kind's seconds as a line over costs, and whether tasks
 * deviate from the lines of several kinds alike. */
#include "cu/sched/estimate_internal.h"
#include "cu/sched/line.h"

#include <math.h>

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

double estimate_deviation(const struct estimate *e, int kind, size_t t)
{
    const struct estimate_kind *k = &e->of[kind];
    const double usual = estimate_on_line(e, k, t);
    const bool own =
        k->tried && k->count[t] && (k->kind == CU_CPU || k->sample[t][k->count[t] - 1].part == 1);
    return own && usual > 0 && k->seconds[t] > 0 ? log(k->seconds[t] / usual) : NAN;
}

/* That kinds deviate alike, because costs are declared wrong, is expected with this standard
 * deviation; least noise of a time. */
static const double DOUBT = 0.5, LEAST_NOISE = 0.02;

/* Least squares of deviations on other kinds over those on kind j, drawn to 1. Each kind's line is
 * free to shift. */
void estimate_compare(struct estimate *e, int j, double scatter)
{
    const double noise = fmax(LEAST_NOISE, scatter) / DOUBT, prior = 2 * noise * noise;
    double xx = 0, xy = 0;
    size_t own = 0; /* few tasks have run on each of many kinds */
    for (size_t t = 0; t < e->n; t++)
        if (!isnan(e->of[j].deviation[t]))
            e->chosen[own++] = t;
    for (int k = 0; own && k < e->nkinds; k++) {
        double m = 0, x = 0, y = 0; /* means so far */
        for (size_t i = 0; k != j && e->of[k].tried && i < own; i++) {
            const size_t t = e->chosen[i];
            const double here = e->of[j].deviation[t], there = e->of[k].deviation[t];
            if (isnan(there))
                continue;
            m++;
            xx += (here - x) * (here - x) * (m - 1) / m;
            xy += (here - x) * (there - y) * (m - 1) / m;
            x += (here - x) / m;
            y += (there - y) / m;
        }
    }
    e->of[j].alike = WITHOUT(ALIKE) ? 1 : fmin(1, fmax(0, (xy + prior) / (xx + prior)));
    e->of[j].told = xx / (xx + prior);
}
