/* cu/sim/sim_bound.c – the lower bound of a simulated step, and what it says of lost time. */
#include "cu/sim/bound.h"
#include "cu/sim/sim.h"

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

/* The times of all tasks on each kind: row [count][n]. False: too many, or out of memory. */
struct times {
    double *seconds;
    const double **row;
};

static bool times_open(struct times *m, const struct sim_case *c, const double *factor,
                       const struct kinds *k)
{
    const size_t n = c->job.n;
    *m = (struct times){NULL, NULL};
    if (n && (size_t)k->count > MOST_TIMES / n)
        return false;
    m->seconds = malloc((n * (size_t)k->count + 1) * sizeof *m->seconds);
    m->row = malloc(((size_t)k->count + 1) * sizeof *m->row);
    for (int j = 0; m->seconds && m->row && j < k->count; j++) {
        double *times = m->seconds + (size_t)j * n;
        for (size_t t = 0; t < n; t++)
            times[t] = sim_seconds(c, &c->unit[k->first[j]], t) / factor_of(factor, k->first[j]);
        m->row[j] = times;
    }
    return m->seconds && m->row;
}

static void times_close(struct times *m)
{
    free(m->seconds);
    free(m->row);
}

static bool kinds_open(struct kinds *k, const struct sim_case *c, const double *factor)
{
    *k = (struct kinds){.first = calloc((size_t)c->ncu, sizeof *k->first),
                        .units = calloc((size_t)c->ncu, sizeof *k->units)};
    if (k->first && k->units)
        sort_kinds(c, factor, k);
    return k->first && k->units;
}

static void kinds_close(struct kinds *k)
{
    free(k->first);
    free(k->units);
}

double sim_bound(const struct sim_case *c, const double *factor)
{
    if (speeds_tell_all(c))
        return by_speed(c, factor);
    struct kinds k;
    struct times m = {NULL, NULL};
    double bound = NAN;
    if (kinds_open(&k, c, factor) && times_open(&m, c, factor, &k))
        bound = bound_step(c->job.n, k.count, k.units, m.row);
    times_close(&m);
    kinds_close(&k);
    return bound;
}

/* ---- prices -----------------------------------------------------------------------------------*/
static bool prices_by_speed(const struct sim_case *c, const double *factor, double *price)
{
    double sum = 0;
    for (int u = 0; u < c->ncu; u++)
        sum += price[u] = c->unit[u].speed * factor_of(factor, u);
    for (int u = 0; u < c->ncu; u++)
        price[u] /= sum;
    return sum > 0;
}

static void spread_prices(const struct sim_case *c, const double *factor, const struct kinds *k,
                          const double *of_kind, double *price)
{
    for (int u = 0; u < c->ncu; u++) {
        price[u] = 0;
        for (int j = 0; factor_of(factor, u) > 0 && j < k->count; j++)
            if (sim_alike(&c->unit[u], &c->unit[k->first[j]]) &&
                factor_of(factor, u) == factor_of(factor, k->first[j]))
                price[u] = of_kind[j];
    }
}

bool sim_prices(const struct sim_case *c, const double *factor, double *price)
{
    if (speeds_tell_all(c))
        return prices_by_speed(c, factor, price);
    struct kinds k;
    struct times m = {NULL, NULL};
    double *of_kind = calloc((size_t)c->ncu, sizeof *of_kind);
    bool known = of_kind && kinds_open(&k, c, factor) && times_open(&m, c, factor, &k) &&
                 !isnan(bound_prices(c->job.n, k.count, k.units, m.row, of_kind));
    if (known)
        spread_prices(c, factor, &k, of_kind, price);
    times_close(&m);
    if (of_kind)
        kinds_close(&k);
    free(of_kind);
    return known;
}

struct loss sim_loss(const struct sim_case *c, const double *factor, const struct sim_result *r,
                     struct loss_share *did)
{
    double *price = calloc((size_t)c->ncu, sizeof *price), bound = NAN;
    if (price && sim_prices(c, factor, price))
        bound = c->steps * r->lower_bound;
    for (int u = 0; price && u < c->ncu; u++)
        did[u].price = price[u];
    free(price);
    return loss_of(r->computation, r->communication, bound, c->ncu, did);
}
