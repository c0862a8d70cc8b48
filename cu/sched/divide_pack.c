/* cu/sched/divide_pack.c – the longest task first, to the unit on which it ends first. */
#include "cu/sched/divide.h"

#include <math.h>
#include <string.h>

static bool suits(const struct divide_class *k, enum divide_by by, int pick)
{
    return pick == DIVIDE_ANY || pick == (by == DIVIDE_BY_SPACE ? k->space : k->kind);
}

/* The group of a class in which the task ends first; *first is when, if that is before *first. */
static int end_in(const struct divide *d, const struct divide_class *k, size_t t, int best,
                  double *first)
{
    double sec = d->e->of[k->kind].seconds[t], end = INFINITY;
    double toll = d->weight * divide_toll(d, k->space, t);
    for (int g = k->first; g < k->end; g++)
        end = divide_less(end, d->top[g] + d->pace[g] * sec);
    if (!(end + toll < *first))
        return best;
    *first = end + toll;
    best = k->first; /* both loops may round differently */
    while (best + 1 < k->end && d->top[best] + d->pace[best] * sec > end * (1 + 1e-12))
        best++;
    return best;
}

/* The task to where it ends first among what it may go to. */
static int place(struct divide *d, enum divide_by by, size_t t)
{
    double first = INFINITY;
    int best = -1;
    for (const struct divide_class *k = d->class; k < d->class + d->nclasses; k++)
        if (suits(k, by, d->pick[t]))
            best = end_in(d, k, t, best, &first);
    struct divide_group *g = &d->group[best];
    double sec = estimate_seconds(d->e, g->first, t);
    int unit = plan_heap_add(&g->heap, sec + d->weight * divide_toll(d, g->space, t));
    d->top[best] = g->heap.top->load;
    return unit;
}

/* Those that may go anywhere come last, to fill what the others leave. */
void divide_pack(struct divide *d, enum divide_by by, int *owner)
{
    for (struct divide_group *g = d->group; g < d->group + d->ngroups; g++)
        plan_heap_fill(&g->heap, g->unit, g->units);
    memset(d->top, 0, (size_t)d->ngroups * sizeof *d->top);
    d->looks -= (long)d->job->n * (4 + d->ngroups) / 16;
    for (int free = 0; free <= 1; free++)
        for (size_t i = 0; i < d->job->n; i++) {
            size_t t = d->order[i];
            if ((d->pick[t] == DIVIDE_ANY) == free)
                owner[t] = place(d, by, t);
        }
}
