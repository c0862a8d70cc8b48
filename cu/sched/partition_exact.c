/* cu/sched/partition_exact.c – few tasks: all partitions, by depth-first search with a bound. */
#include "cu/sched/partition.h"

#include <math.h>
#include <string.h>

/* Up to this many tasks and units, all partitions are tried, as far as EXACT_BUDGET nodes of the
 * search tree go. */
enum { EXACT_TASKS = 14, EXACT_UNITS = 16, EXACT_BUDGET = 20000 };

struct descent {
    struct partition *d;
    int unit[EXACT_UNITS], units;
    double *best;                                       /* mean step of the best partition so far */
    void (*found)(struct partition *d, void *argument); /* may lessen it */
    void *argument;
    double *rest; /* [n + 1] least cost of the tasks from the i-th on, at the prices */
    double worth; /* price of a second of all units */
    long budget;
};

/* The previous unit is of the same kind and idle, too: beginning on either is the same. */
static bool has_twin(const struct descent *x, int i)
{
    const struct partition *d = x->d;
    int c = x->unit[i], b = i ? x->unit[i - 1] : -1;
    return i && d->load[c] == 0 && d->load[b] == 0 && !d->bound && !d->job->first &&
           partition_alike(d, b, c) && d->e->launch[b] == d->e->launch[c];
}

/* Branches over tasks in natural order, in which launches can be counted; `spent` is the price of
 * the loads so far. */
static void descend(struct descent *x, size_t t, double longest, double spent)
{
    struct partition *d = x->d;
    double least = partition_more(longest, (spent + x->rest[t]) / x->worth);
    if (least >= *x->best * (1 - 1e-9) || x->budget-- <= 0)
        return;
    if (t == d->job->n) {
        x->found(d, x->argument); /* recomputes the same loads */
        return;
    }
    for (int i = 0; i < x->units; i++) {
        int c = x->unit[i];
        double before = d->load[c], sec = estimate_seconds(d->e, c, t);
        if (has_twin(x, i))
            continue;
        if (t == 0 || d->trial[t - 1] != c)
            sec += estimate_launch(d->e, c);
        d->load[c] += sec;
        d->trial[t] = c;
        descend(x, t + 1, partition_more(longest, d->load[c]),
                spent + sec * partition_unit_price(d, c));
        d->load[c] = before;
    }
}

/* Of many units, those on which the longest task takes least. */
static void choose_units(struct descent *x)
{
    struct partition *d = x->d;
    double *sec = d->full, most = INFINITY;
    for (int m = 0; m < d->nmembers; m++)
        sec[m] = estimate_seconds(d->e, d->member[m], *d->order);
    if (d->nmembers > EXACT_UNITS) {
        memcpy(d->load, sec, (size_t)d->nmembers * sizeof *sec);
        most = line_select(d->load, (size_t)d->nmembers, EXACT_UNITS - 1);
    }
    for (int m = 0; m < d->nmembers && x->units < EXACT_UNITS; m++)
        if (sec[m] <= most)
            x->unit[x->units++] = d->member[m];
}

bool partition_try_all(struct partition *d, double *best,
                       void (*found)(struct partition *d, void *argument), void *argument)
{
    struct descent x = {.d = d,
                        .best = best,
                        .found = found,
                        .argument = argument,
                        .rest = d->scratch,
                        .budget = EXACT_BUDGET};
    if (d->job->n > EXACT_TASKS)
        return false;
    choose_units(&x);
    for (int i = 0; i < x.units; i++)
        x.worth += partition_unit_price(d, x.unit[i]);
    x.rest[d->job->n] = 0;
    for (size_t t = d->job->n; t-- > 0;) {
        double cheapest = INFINITY;
        for (int i = 0; i < x.units; i++)
            cheapest = partition_less(cheapest, partition_unit_price(d, x.unit[i]) *
                                                    estimate_seconds(d->e, x.unit[i], t));
        x.rest[t] = x.rest[t + 1] + cheapest;
    }
    memset(d->load, 0, (size_t)d->job->ncu * sizeof *d->load);
    descend(&x, 0, 0, 0);
    return x.budget > 0 && x.units == d->nmembers;
}
