/* cu/deal.c – the unit that would be idle first asks first. */
#include "cu/deal.h"

#include <math.h>
#include <stdlib.h>

/* The unit that is free first and may still ask; -1: none. */
static int first_free(const double *free_at, int n)
{
    int first = -1;
    for (int c = 0; c < n; c++)
        if (isfinite(free_at[c]) && (first < 0 || free_at[c] < free_at[first]))
            first = c;
    return first;
}

enum ek_status deal_tasks(const char *schedule, const struct sched_job *job, int *owner)
{
    struct sched *s;
    double *free_at = calloc((size_t)job->ncu, sizeof *free_at);
    if (!free_at)
        FAIL(EK_LACK, "schedule %s: out of memory for %d units", schedule, job->ncu);
    enum ek_status st = sched_open(schedule, job, &s);
    if (st) {
        free(free_at);
        return st;
    }
    for (int c; (c = first_free(free_at, job->ncu)) >= 0;) {
        const struct ek_range r = sched_next(s, c);
        const double speed = job->unit[c].speed > 0 ? job->unit[c].speed : 1;
        if (r.begin == r.end)
            free_at[c] = INFINITY;
        for (size_t t = r.begin; t < r.end; t++) {
            owner[t] = c;
            free_at[c] += (job->cost ? job->cost[t] : 1) / speed;
        }
    }
    sched_close(s);
    free(free_at);
    return EK_OK;
}
