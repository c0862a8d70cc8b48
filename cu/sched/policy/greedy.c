/* cu/sched/policy/greedy.c – an idle device takes a batch of tasks, an idle CPU unit a single one,
 * then looks again: the greedy switching between host and device published for Kirchhoff migration
 * on GPU nodes. */
#include "cu/sched/take.h"
#include "src/opt.h"

struct options {
    int batch;
};

struct state {
    struct take take;
    const struct sched_unit *unit;
    size_t batch;
};

static const struct opt options[] = {
    {"batch", OPT_INT, offsetof(struct options, batch), "N",
     "tasks that a device takes at a time, fewer near the end (16)", .min = 1, .max = 1e9},
    OPT_END,
};

static void defaults(void *opts)
{
    ((struct options *)opts)->batch = 16;
}

/* At most half of what is left, so that the last batch does not outlast the other units. */
static size_t size(const void *policy, int cu, size_t taken)
{
    const struct state *s = policy;
    const size_t half = (s->take.n - taken) / 2;
    if (s->unit[cu].kind == CU_CPU)
        return 1;
    return half < s->batch ? half : s->batch;
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    s->unit = job->unit;
    s->batch = (size_t)((const struct options *)job->options)->batch;
    take_begin(&s->take, job, size);
    return EK_OK;
}

const struct sched_ops sched_greedy = {
    .name = "greedy",
    .summary = "a device takes a batch, a CPU unit one task, whenever they are idle",
    .opts = options,
    .opts_size = sizeof(struct options),
    .defaults = defaults,
    TAKE_POLICY(begin),
};
