/* cu/moldable/exact.c – branch and bound over the tasks in the order of their starts, each on the
 * cores that are free first. Some optimal schedule has this form: a task that starts later may have
 * any of the cores that are free by then. */
#include "cu/moldable/exact.h"
#include "cu/moldable/packing.h"
#include "src/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 128 };

struct exact {
    const struct timeline *timeline;
    const struct moldable_problem *p;
    double free[EXACT_CORES]; /* ascending in each node */
    bool placed[EXACT_TASKS];
    double work[EXACT_TASKS], quickest[EXACT_TASKS]; /* least p t(p); least t(p) of any node */
    double best;
    struct moldable_choice trial[EXACT_TASKS], *choice;
    long steps;
};

struct place {
    int task, node, width;
    double start, finish;
};

bool exact_applies(const struct moldable_problem *p)
{
    int cores = 0;
    for (int j = 0; j < p->nnodes && cores <= EXACT_CORES; j++)
        cores += p->node[j].cores;
    return p->ntasks <= EXACT_TASKS && cores <= EXACT_CORES && packing_applies(p);
}

static const double *seconds_of(const struct exact *x, int task)
{
    return x->timeline->seconds + (size_t)x->p->kind[task] * (size_t)x->timeline->widest;
}

SORT_BY(earlier_finish, struct place, finish)

/* A lower bound for all schedules that continue this one: the remaining work spread over all cores
 * from `since` on, and the longest remaining task. */
static double least_end(const struct exact *x, double since)
{
    double work = 0, end = 0, until = 0;
    for (int i = 0; i < x->p->ntasks; i++)
        if (!x->placed[i]) {
            work += x->work[i];
            end = fmax(end, since + x->quickest[i]);
        }
    for (int j = 0; j < x->p->nnodes; j++)
        for (int c = 0; c < x->p->node[j].cores; c++)
            until += x->p->node[j].factor * fmax(since, x->free[x->timeline->first[j] + c]);
    return fmax(end, (until + work) / x->timeline->power);
}

/* Appends the places of the task, which starts no earlier than those before it. */
static int list_places(const struct exact *x, int task, double since, struct place *place, int n)
{
    const struct moldable_kind *k = &x->p->kinds[x->p->kind[task]];
    const double *seconds = seconds_of(x, task);
    for (int j = 0; j < x->p->nnodes; j++) {
        const double *free = x->free + x->timeline->first[j];
        const int cores = x->p->node[j].cores, most = k->most && k->most < cores ? k->most : cores;
        for (int w = k->least > 1 ? k->least : 1; w <= most && n < MOST_PLACES; w++) {
            const double start = fmax(since, free[w - 1]);
            const double finish = start + seconds[w - 1] / x->p->node[j].factor;
            if (finish < x->best * (1 - 1e-9))
                place[n++] = (struct place){task, j, w, start, finish};
        }
    }
    return n;
}

static void descend(struct exact *x, int depth, double since, double makespan);

static void try_place(struct exact *x, const struct place *at, int depth, double makespan)
{
    double *free = x->free + x->timeline->first[at->node], saved[EXACT_CORES];
    const int n = x->p->node[at->node].cores;
    memcpy(saved, free, (size_t)n * sizeof *free);
    timeline_take(free, n, at->width, at->finish);
    x->placed[at->task] = true;
    x->trial[depth] = (struct moldable_choice){at->task, at->node, at->width, at->width - 1};
    descend(x, depth + 1, at->start, fmax(makespan, at->finish));
    x->placed[at->task] = false;
    memcpy(free, saved, (size_t)n * sizeof *free);
}

/* Is the task the first of its kind that is left? The others need not be tried in its place. */
static bool stands_for_others(const struct exact *x, int task)
{
    for (int i = 0; i < task; i++)
        if (!x->placed[i] && x->p->kind[i] == x->p->kind[task])
            return false;
    return !x->placed[task];
}

static void descend(struct exact *x, int depth, double since, double makespan)
{
    struct place place[MOST_PLACES];
    int n = 0;
    if (fmax(makespan, least_end(x, since)) >= x->best * (1 - 1e-9) || x->steps-- < 0)
        return;
    if (depth == x->p->ntasks) {
        x->best = makespan;
        memcpy(x->choice, x->trial, (size_t)depth * sizeof *x->choice);
        return;
    }
    for (int i = 0; i < x->p->ntasks; i++)
        if (stands_for_others(x, i))
            n = list_places(x, i, since, place, n);
    qsort(place, (size_t)n, sizeof *place, earlier_finish);
    for (int i = 0; i < n; i++)
        try_place(x, &place[i], depth, makespan);
}

void exact_search(const struct timeline *timeline, double *best, struct moldable_choice *choice,
                  long steps)
{
    struct exact x = {.timeline = timeline,
                      .p = timeline->problem,
                      .best = *best,
                      .choice = choice,
                      .steps = steps};
    for (int i = 0; i < x.p->ntasks; i++) {
        const struct moldable_kind *k = &x.p->kinds[x.p->kind[i]];
        x.work[i] = x.quickest[i] = INFINITY;
        for (int j = 0; j < x.p->nnodes; j++)
            for (int w = k->least > 1 ? k->least : 1;
                 w <= x.p->node[j].cores && (!k->most || w <= k->most); w++) {
                const double t = seconds_of(&x, i)[w - 1];
                x.work[i] = fmin(x.work[i], w * t);
                x.quickest[i] = fmin(x.quickest[i], t / x.p->node[j].factor);
            }
    }
    descend(&x, 0, 0, 0);
    *best = x.best;
}
