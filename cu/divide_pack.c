/* cu/divide_pack.c – tasks to the units of a space: the longest first, then exchanges. */
#include "cu/divide.h"

#include <math.h>

static const size_t NONE = (size_t)-1;

/* ---- longest task first, to where it ends first -----------------------------------------------*/
static bool alike(const struct divide *d, int a, int b)
{
    const struct estimate *e = d->e;
    return d->space[a] == d->space[b] && e->kind[a] == e->kind[b] && e->factor[a] == e->factor[b];
}

void divide_sort_units(struct divide *d)
{
    int ncu = d->job->ncu, placed = 0;
    d->ngroups = 0;
    for (int c = 0; c < ncu; c++) {
        int earlier = 0;
        while (!alike(d, earlier, c))
            earlier++;
        if (earlier < c) /* not the first of its group */
            continue;
        struct divide_group *g = &d->group[d->ngroups++];
        *g = (struct divide_group){.first = c, .space = d->space[c], .unit = d->member + placed};
        g->heap.top = d->heaps.top + placed;
        for (int u = c; u < ncu; u++)
            if (alike(d, u, c))
                g->unit[g->units++] = u;
        placed += g->units;
    }
}

double divide_pack(struct divide *d, int space, size_t begin, size_t end, int *owner)
{
    double longest = 0;
    for (struct divide_group *g = d->group; g < d->group + d->ngroups; g++)
        plan_heap_fill(&g->heap, g->unit, g->units);
    for (size_t i = 0; i < d->job->n; i++) {
        size_t t = d->order[i];
        struct divide_group *best = NULL;
        double finish = INFINITY, added = 0;
        if (d->at[t] < begin || d->at[t] >= end)
            continue;
        for (struct divide_group *g = d->group; g < d->group + d->ngroups; g++) {
            if (space != DIVIDE_ALL && g->space != space)
                continue;
            double sec = estimate_seconds(d->e, g->first, t);
            if (g->heap.top->load + sec < finish || !best) {
                best = g;
                added = sec;
                finish = g->heap.top->load + sec;
            }
        }
        int unit = plan_heap_add(&best->heap, added);
        longest = fmax(longest, finish);
        if (owner)
            owner[t] = unit;
    }
    return longest;
}

/* ---- exchanges between the unit that ends last and others -------------------------------------*/
struct offer {
    size_t give, take; /* task of the last unit, task of the other one or NONE */
    int unit;
    double gives, takes; /* change of the loads of the last unit and of the other one */
    double ends;         /* when the later of both would end */
};

static void unlink_task(struct divide *d, int unit, size_t task)
{
    size_t *p = &d->head[unit];
    while (*p != task)
        p = &d->follow[*p];
    *p = d->follow[task];
}

static void hand_over(struct divide *d, int *owner, int from, int to, size_t task)
{
    unlink_task(d, from, task);
    d->follow[task] = d->head[to];
    d->head[to] = task;
    owner[task] = to;
}

/* The units that end last and first. */
static void extremes(const struct divide *d, int *last, int *first)
{
    *last = *first = 0;
    for (int c = 1; c < d->job->ncu; c++) {
        *last = d->load[c] > d->load[*last] ? c : *last;
        *first = d->load[c] < d->load[*first] ? c : *first;
    }
}

/* Both ending at the same time is as good as it gets; this near to it, looking on is not worth it.
 */
static double perfect(const struct divide *d, int last, int other)
{
    return (d->load[last] + d->load[other]) / 2 * (1 + 5e-4);
}

/* The best offer of the last unit to another one; looks at no more than *looks of them. */
static void bargain(const struct divide *d, int last, int other, struct offer *best, long *looks)
{
    const struct estimate *e = d->e;
    const double *here = e->of[e->kind[last]].seconds, *there = e->of[e->kind[other]].seconds;
    double my = e->factor[last], your = e->factor[other], enough = perfect(d, last, other);
    for (size_t give = d->head[last]; give != NONE; give = d->follow[give]) {
        double left = d->load[last] - my * here[give], grown = d->load[other] + your * there[give];
        if (left >= best->ends) /* not even for nothing in return */
            continue;
        for (size_t take = NONE;;) { /* nothing at first, then each of the other's tasks */
            double back = take == NONE ? 0 : my * here[take];
            double gone = take == NONE ? 0 : your * there[take];
            double ends = fmax(left + back, grown - gone);
            if (ends < best->ends)
                *best = (struct offer){.give = give,
                                       .take = take,
                                       .unit = other,
                                       .gives = left + back - d->load[last],
                                       .takes = grown - gone - d->load[other],
                                       .ends = ends};
            --*looks;
            take = take == NONE ? d->head[other] : d->follow[take];
            if (take == NONE)
                break;
        }
        if (best->ends <= enough || *looks <= 0)
            return;
    }
}

static void list_tasks(struct divide *d, const int *owner)
{
    for (int c = 0; c < d->job->ncu; c++)
        d->head[c] = NONE;
    for (size_t t = d->job->n; t-- > 0;) {
        d->follow[t] = d->head[owner[t]];
        d->head[owner[t]] = t;
    }
}

void divide_improve(struct divide *d, int *owner, bool anywhere)
{
    long looks = d->nspaces > 1 ? d->looks / 2 : d->looks; /* what comes later wants to look, too */
    d->looks -= looks;
    divide_load(d, owner);
    list_tasks(d, owner);
    while (looks > 0) {
        int last, first;
        extremes(d, &last, &first);
        struct offer best = {.ends = d->load[last] * (1 - 1e-4), .unit = -1};
        double enough = perfect(d, last, first);
        for (int c = 0; c < d->job->ncu && looks > 0 && best.ends > enough; c++)
            if (c != last && (anywhere || d->space[c] == d->space[last]))
                bargain(d, last, c, &best, &looks);
        if (best.unit < 0)
            return;
        hand_over(d, owner, last, best.unit, best.give);
        if (best.take != NONE)
            hand_over(d, owner, best.unit, last, best.take);
        d->load[last] += best.gives;
        d->load[best.unit] += best.takes;
    }
}
