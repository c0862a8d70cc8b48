/* cu/sched/policy/guided_runtime.c – one chunk of consecutive tasks per unit; between steps the
 * ends of the chunks move so that the seconds measured in the previous step would have been
 * balanced (Gonzalez & Morancho 2024, section 4.4). */
#include "cu/sched/plan.h"

struct state {
    struct plan plan;
    size_t grain;       /* most tasks in a range, so that single tasks are timed */
    const double *cost; /* the job's */
    double *seconds;    /* [n] of each task in this step */
};

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    *s = (struct state){
        .grain = job->grain, .cost = job->cost, .seconds = ARENA_NEW(job->arena, job->n, double)};
    TRY(plan_open(&s->plan, job));
    plan_set_static(&s->plan, NULL, job->ncu, (struct ek_range){0, job->n});
    return EK_OK;
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
    plan_walk(&s->plan, NULL, s->plan.ncu, s->seconds);
    plan_rewind(&s->plan);
}

const struct sched_ops sched_guided_runtime = {
    .name = "guided-runtime",
    .summary = "consecutive tasks, equal sums of the seconds measured in the last step",
    .state_size = sizeof(struct state),
    .begin = begin,
    .next = next,
    .done = done,
    .step = step,
};
