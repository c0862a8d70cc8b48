/* cu/sched/policy/guided_runtime.c – a chunk of consecutive tasks for each unit; between steps the
 * ends move so that the seconds measured in the step before would have been equal. Gonzalez &
 * Morancho 2024, section 4.4. */
#include "cu/sched/plan.h"

#include <stdlib.h>

struct state {
    struct plan plan;
    int ncu;
    size_t grain;       /* tasks are measured by so many at most */
    const double *cost; /* the job's */
    double *seconds;    /* [n] of each task in this step */
};

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    double *seconds = calloc(job->n ? job->n : 1, sizeof *seconds);
    if (!seconds)
        FAIL(EK_UNAVAILABLE, "guided-runtime: out of memory for %zu tasks", job->n);
    *s =
        (struct state){.ncu = job->ncu, .grain = job->grain, .cost = job->cost, .seconds = seconds};
    enum ek_status status = plan_open(&s->plan, job->n, job->ncu);
    if (status)
        free(seconds);
    else
        plan_set_static(&s->plan, NULL, job->ncu, (struct ek_range){0, job->n});
    return status;
}

static struct ek_range next(void *st, int cu)
{
    struct state *s = st;
    return plan_next(&s->plan, cu, s->grain);
}

static void done(void *st, int cu, struct ek_range r, double sec, const double *each)
{
    struct state *s = st;
    (void)cu;
    plan_divide(s->cost, r, sec, each, s->seconds);
}

static void step(void *st)
{
    struct state *s = st;
    plan_walk(&s->plan, NULL, s->ncu, s->seconds);
    plan_rewind(&s->plan);
}

static void end(void *st)
{
    struct state *s = st;
    free(s->seconds);
    plan_close(&s->plan);
}

const struct sched_ops sched_guided_runtime = {
    .name = "guided-runtime",
    .summary = "consecutive tasks, equal sums of the seconds measured last",
    .state_size = sizeof(struct state),
    .begin = begin,
    .next = next,
    .done = done,
    .step = step,
    .end = end,
};
