/* cu/sim_bound.c – the lower bound of a simulated step. */
#include "cu/bound.h"
#include "cu/sim.h"

#include <math.h>
#include <stdlib.h>

/* More numbers than this are not worth the memory: the bound is then unknown. */
static const size_t MOST_TIMES = (size_t)1 << 26;

static double factor_of(const double *factor, int u)
{
    return factor ? factor[u] : 1;
}

/* ---- units that differ in speed alone ---------------------------------------------------------*/
static bool speeds_tell_all(const struct sim_case *c)
{
    for (int u = 0; u < c->ncu; u++)
        if (c->unit[u].seconds || c->unit[u].fixed > 0)
            return false;
    return true;
}

static double by_speed(const struct sim_case *c, const double *factor)
{
    size_t n = c->job.n;
    double *speed = calloc((size_t)c->ncu, sizeof *speed), bound = NAN;
    double *cost = malloc((n ? n : 1) * sizeof *cost);
    int living = 0;
    for (size_t t = 0; cost && t < n; t++)
        cost[t] = c->job.cost ? c->job.cost[t] : 1;
    for (int u = 0; speed && u < c->ncu; u++)
        if (factor_of(factor, u) > 0)
            speed[living++] = c->unit[u].speed * factor_of(factor, u);
    if (speed && cost && living)
        bound = bound_uniform(n, cost, living, speed);
    free(speed);
    free(cost);
    return bound;
}

/* ---- any units --------------------------------------------------------------------------------*/
struct kinds {
    int count, *first, *units; /* [ncu] a unit of each kind, how many there are */
};

static void sort_kinds(const struct sim_case *c, const double *factor, struct kinds *k)
{
    for (int u = 0; u < c->ncu; u++) {
        if (!(factor_of(factor, u) > 0))
            continue;
        int j = 0;
        while (j < k->count && !(sim_alike(&c->unit[u], &c->unit[k->first[j]]) &&
                                 factor_of(factor, u) == factor_of(factor, k->first[j])))
            j++;
        if (j == k->count)
            k->first[k->count++] = u;
        k->units[j]++;
    }
}

static double by_kind(const struct sim_case *c, const double *factor, const struct kinds *k)
{
    size_t n = c->job.n;
    if (n && (size_t)k->count > MOST_TIMES / n)
        return NAN;
    double *sec = malloc((n * (size_t)k->count + 1) * sizeof *sec), bound = NAN;
    const double **row = malloc(((size_t)k->count + 1) * sizeof *row);
    for (int j = 0; sec && row && j < k->count; j++) {
        double *times = sec + (size_t)j * n;
        for (size_t t = 0; t < n; t++)
            times[t] = sim_seconds(c, &c->unit[k->first[j]], t) / factor_of(factor, k->first[j]);
        row[j] = times;
    }
    if (sec && row)
        bound = bound_step(n, k->count, k->units, row);
    free(sec);
    free(row);
    return bound;
}

double sim_bound(const struct sim_case *c, const double *factor)
{
    if (speeds_tell_all(c))
        return by_speed(c, factor);
    struct kinds k = {0};
    double bound = NAN;
    k.first = calloc((size_t)c->ncu, sizeof *k.first);
    k.units = calloc((size_t)c->ncu, sizeof *k.units);
    if (k.first && k.units) {
        sort_kinds(c, factor, &k);
        bound = by_kind(c, factor, &k);
    }
    free(k.first);
    free(k.units);
    return bound;
}
