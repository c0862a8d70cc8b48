/* cu/sched/guided_sizes.c – a chunk of consecutive tasks for each unit with the same sum of
 * declared costs, as near as the order allows. Gonzalez & Morancho 2024, section 4.4: it knows no
 * speeds. */
#include "cu/plan.h"

struct state {
    struct plan plan;
};

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    TRY(plan_open(&s->plan, job->n, job->ncu));
    plan_set_static(&s->plan, NULL, job->ncu, (struct ek_range){0, job->n});
    if (job->cost) /* else static is even already */
        plan_walk(&s->plan, NULL, job->ncu, job->cost);
    return EK_OK;
}

static struct ek_range next(void *st, int cu)
{
    struct state *s = st;
    return plan_next(&s->plan, cu, s->plan.n);
}

static void step(void *st)
{
    struct state *s = st;
    plan_rewind(&s->plan);
}

static void end(void *st)
{
    struct state *s = st;
    plan_close(&s->plan);
}

const struct sched_ops sched_guided_sizes = {
    .name = "guided-sizes",
    .summary = "consecutive tasks, equal sums of declared cost",
    .state_size = sizeof(struct state),
    .begin = begin,
    .next = next,
    .step = step,
    .end = end,
};
