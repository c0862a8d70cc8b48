/* cu/sched/partition_fit.c – multifit (Coffman, Garey & Johnson, SIAM J. Computing 7, 1978; for
 * units of different speeds Friesen & Langston, SIAM J. Computing 12, 1983): the least makespan,
 * by bisection, within which the longest task first, each on the first unit with room, all fit.
 * Where each unit has few tasks, this leaves less room unused than lists do. */
#include "cu/sched/partition.h"
#include "src/sort.h"

#include <string.h>

/* Bisections of the makespan. */
enum { TURNS = 8 };

/* Units, the slowest first, are the leaves of a tree whose nodes have the most room below them, in
 * seconds of the first unit's kind. */
struct fit {
    struct partition *d;
    const double *seconds; /* [n] of each task on that kind */
    size_t leaves;         /* a power of two */
};

/* How many times longer than on that kind tasks take on each unit: d->load. */
static void find_rates(const struct fit *x)
{
    const struct partition *d = x->d;
    const double all = line_sum(x->seconds, d->job->n);
    for (int c = 0; c < d->job->ncu; c++) {
        const double *own = d->e->of[d->e->kind[c]].seconds;
        d->load[c] = d->e->slowdown[c];
        if (own != x->seconds)
            d->load[c] *= line_sum(own, d->job->n) / all;
    }
}

static void clear(const struct fit *x, double limit)
{
    const struct partition *d = x->d;
    double *room = d->room;
    for (size_t i = 0; i < x->leaves; i++)
        room[x->leaves + i] = i < (size_t)d->job->ncu ? limit / d->load[d->by_end[i]] : -1;
    for (size_t i = x->leaves; --i > 0;)
        room[i] = partition_more(room[2 * i], room[2 * i + 1]);
}

/* Whether all fit; into d->pick. */
static bool fits(const struct fit *x, double limit)
{
    const struct partition *d = x->d;
    double *room = d->room;
    clear(x, limit);
    for (size_t k = 0; k < d->job->n; k++) {
        const size_t t = d->order[k];
        size_t i = 1;
        if (room[1] < x->seconds[t])
            return false;
        while (i < x->leaves)
            i = 2 * i + (room[2 * i] < x->seconds[t]);
        d->pick[t] = (int)d->by_end[i - x->leaves];
        room[i] -= x->seconds[t];
        while (i /= 2)
            room[i] = partition_more(room[2 * i], room[2 * i + 1]);
    }
    return true;
}

bool partition_fit(struct partition *d, double makespan, int *owner)
{
    struct fit x = {d, d->e->of[d->e->kind[0]].seconds, 1};
    double low = d->least, high = makespan;
    const size_t ncu = (size_t)d->job->ncu;
    while (x.leaves < ncu)
        x.leaves *= 2;
    find_rates(&x);
    for (size_t i = 0; i < ncu; i++)
        d->by_end[i] = i;
    qsort_r(d->by_end, ncu, sizeof *d->by_end, sort_places_down, d->load);
    for (int turn = 0; turn < TURNS; turn++) {
        const double limit = (low + high) / 2;
        if (fits(&x, limit)) {
            memcpy(owner, d->pick, d->job->n * sizeof *owner);
            high = limit;
        } else
            low = limit;
    }
    return high < makespan;
}
