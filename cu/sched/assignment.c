/* cu/sched/assignment.c – the virtual clock: the unit that is idle first asks first. */
#include "cu/sched/assignment.h"
#include "src/arena.h"
#include "src/owned.h"

#include <math.h>
#include <string.h>

/* A policy has settled when its assignment stayed the same for SETTLED steps; one that never does
 * is cut off. */
enum { SETTLED = 8, MOST_STEPS = 128 };

struct game {
    const struct sched_job *job;
    double *free_at;   /* [ncu] */
    int *now, *before; /* [n] assignment of this step, of the previous one */
};

static double seconds(const struct sched_job *job, size_t task, int unit)
{
    const double speed = job->unit[unit].speed;
    return (job->cost ? job->cost[task] : 1) / (speed > 0 ? speed : 1);
}

/* The unit that is free first and may still ask; -1: none. */
static int first_free(const struct game *d)
{
    int first = -1;
    for (int c = 0; c < d->job->ncu; c++)
        if (isfinite(d->free_at[c]) && (first < 0 || d->free_at[c] < d->free_at[first]))
            first = c;
    return first;
}

static void one_step(struct game *d, struct sched *s)
{
    memset(d->free_at, 0, (size_t)d->job->ncu * sizeof *d->free_at);
    for (int c; (c = first_free(d)) >= 0;) {
        const struct ek_range r = sched_next(s, c);
        double sum = 0;
        for (size_t t = r.begin; t < r.end; t++) {
            d->now[t] = c;
            sum += seconds(d->job, t, c);
        }
        d->free_at[c] += sum;
        if (r.begin == r.end)
            d->free_at[c] = INFINITY;
        else
            sched_done(s, c, r, sum, NULL);
    }
}

static enum ek_status play(struct game *d, struct sched *s, int *owner)
{
    const size_t bytes = d->job->n * sizeof *owner;
    double best = INFINITY;
    for (int step = 0, same = 0; step < MOST_STEPS && same < SETTLED; step++) {
        one_step(d, s);
        const double span = assignment_span(d->job, d->now, d->free_at);
        if (span < best) {
            memcpy(owner, d->now, bytes);
            best = span;
        }
        same = step && !memcmp(d->now, d->before, bytes) ? same + 1 : 0;
        memcpy(d->before, d->now, bytes);
        TRY(sched_step(s));
    }
    return EK_OK;
}

enum ek_status assignment_find(const char *schedule, const struct sched_job *job, int *owner)
{
    OWNED(arena_free) struct arena arena = {0};
    struct game d = {.job = job,
                     .free_at = ARENA_NEW(&arena, job->ncu, double),
                     .now = ARENA_NEW(&arena, job->n, int),
                     .before = ARENA_NEW(&arena, job->n, int)};
    struct sched *s = NULL;
    TRY(arena_check(&arena, "schedule %s: %zu tasks", schedule, job->n));
    TRY(sched_open(schedule, job, &s));
    const enum ek_status st = play(&d, s, owner);
    sched_close(s);
    return st;
}

double assignment_span(const struct sched_job *job, const int *owner, double *busy)
{
    double longest = 0;
    memset(busy, 0, (size_t)job->ncu * sizeof *busy);
    for (size_t t = 0; t < job->n; t++)
        longest = fmax(longest, busy[owner[t]] += seconds(job, t, owner[t]));
    return longest;
}
