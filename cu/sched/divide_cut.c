/* cu/sched/divide_cut.c – one stretch of task numbers for each space, the spaces ending together.
 */
#include "cu/sched/divide.h"

#include <math.h>

/* Sums of the seconds that a whole space would take, its units sharing the work evenly. */
static void sum_seconds(struct divide *d)
{
    size_t n = d->job->n;
    for (int p = 0; p < d->nspaces; p++)
        for (size_t t = 0; t <= n; t++)
            d->sum[p][t] = 0;
    for (const struct divide_class *k = d->class; k < d->class + d->nclasses; k++) {
        const double *sec = d->e->of[k->kind].seconds;
        double *rate = d->sum[k->space] + 1, share = d->weight * k->capacity / k->units;
        for (size_t t = 0; t < n; t++)
            rate[t] +=
                k->capacity / divide_more(sec[t] + share * divide_toll(d, k->space, t), 1e-300);
    }
    for (int p = 0; p < d->nspaces; p++)
        for (size_t t = 1; t <= n; t++)
            d->sum[p][t] = d->sum[p][t - 1] + 1 / d->sum[p][t];
}

/* The last place up to which space p gets in `span` seconds from `begin` on. */
static size_t reach(const struct divide *d, int p, size_t begin, double span)
{
    const double *sum = d->sum[p];
    size_t low = begin, high = d->job->n;
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;
        if (sum[middle] - sum[begin] <= span)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Cuts at where the spaces are after `span` seconds, of which space p works for a share of use[p];
 * true if nothing is left. */
static bool cut_at(struct divide *d, const double *use, double span)
{
    size_t at = 0;
    for (int p = 0; p < d->nspaces; p++) {
        d->cut[p] = at;
        at = reach(d, p, at, span * use[p]);
    }
    d->cut[d->nspaces] = d->job->n;
    return at == d->job->n;
}

static void find_span(struct divide *d, const double *use)
{
    double low = 0, high = INFINITY;
    for (int p = 0; p < d->nspaces; p++)
        high = divide_less(high, d->sum[p][d->job->n] / use[p]);
    for (int i = 0; i < 40 && high - low > 1e-5 * high; i++) {
        double middle = (low + high) / 2;
        if (cut_at(d, use, middle))
            high = middle;
        else
            low = middle;
    }
    cut_at(d, use, high * (1 + 1e-9));
}

static void pick_stretches(struct divide *d)
{
    for (int p = 0; p < d->nspaces; p++)
        for (size_t t = d->cut[p]; t < d->cut[p + 1]; t++)
            d->pick[t] = p;
}

/* How long each space works, and how long it takes: whole tasks do not fit evenly. */
static bool learn_use(struct divide *d, double *use)
{
    bool changed = false;
    double *ends = d->link_s;
    for (int p = 0; p < d->nspaces; p++)
        ends[p] = 0;
    for (int c = 0; c < d->job->ncu; c++)
        ends[d->space[c]] =
            divide_more(ends[d->space[c]], d->load[c] + d->weight * (d->full[c] - d->load[c]));
    for (int p = 0; p < d->nspaces; p++) {
        double area = d->sum[p][d->cut[p + 1]] - d->sum[p][d->cut[p]];
        double now = ends[p] > 0 ? divide_less(1, area / ends[p]) : 1;
        changed |= fabs(now - use[p]) > 0.001;
        use[p] = divide_more(0.1, (use[p] + now) / 2);
    }
    return changed;
}

void divide_cut(struct divide *d)
{
    enum { TRIES = 3 };
    double *use = d->use;
    sum_seconds(d);
    for (int p = 0; p < d->nspaces; p++)
        use[p] = 1;
    for (int i = 0; i < TRIES; i++) {
        find_span(d, use);
        pick_stretches(d);
        if (d->nspaces == 1)
            return;
        divide_pack(d, DIVIDE_BY_SPACE, d->trial);
        divide_load(d, d->trial);
        if (!learn_use(d, use))
            return;
    }
}
