/* cu/sched/policy/dynamic.c – an idle unit takes the next chunk; nothing is kept between steps.
 * Gonzalez & Morancho 2024, section 4.2. */
#include "cu/sched/plan.h"
#include "src/opt.h"

struct options {
    int chunk;
};

struct state {
    struct plan_counter counter;
};

static const struct opt options[] = {
    {"chunk", OPT_INT, offsetof(struct options, chunk), "N", "consecutive tasks at a time (1)",
     .min = 1, .max = 1e9},
    OPT_END,
};

static void defaults(void *opts)
{
    ((struct options *)opts)->chunk = 1;
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    plan_counter_begin(&s->counter, job, ((const struct options *)job->options)->chunk);
    return EK_OK;
}

static struct ek_range next(void *st, int cu)
{
    struct state *s = st;
    (void)cu;
    return plan_counter_next(&s->counter);
}

static void step(void *st)
{
    struct state *s = st;
    plan_counter_rewind(&s->counter);
}

const struct sched_ops sched_dynamic = {
    .name = "dynamic",
    .summary = "an idle unit takes the next chunk; nothing is remembered",
    .state_size = sizeof(struct state),
    .opts = options,
    .opts_size = sizeof(struct options),
    .defaults = defaults,
    .begin = begin,
    .next = next,
    .step = step,
};
