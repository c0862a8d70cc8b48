/* cu/sched/static.c – equal numbers of consecutive tasks, for ever.
 * Gonzalez & Morancho 2024, section 4.1: unit c of m gets tasks [c n/m, (c+1) n/m). */
#include "cu/plan.h"

struct state {
    struct plan plan;
};

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    TRY(plan_open(&s->plan, job->n, job->ncu));
    plan_set_static(&s->plan, NULL, job->ncu, (struct ek_range){0, job->n});
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

/* The name that applications with blocks of tasks use. */
const struct sched_ops sched_block = {
    .name = "block",
    .summary = "the same as static",
    .state_size = sizeof(struct state),
    .begin = begin,
    .next = next,
    .step = step,
    .end = end,
};

const struct sched_ops sched_static = {
    .name = "static",
    .summary = "equal numbers of consecutive tasks, never changed",
    .state_size = sizeof(struct state),
    .begin = begin,
    .next = next,
    .step = step,
    .end = end,
};
