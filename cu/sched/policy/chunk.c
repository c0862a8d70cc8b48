/* cu/sched/policy/chunk.c – chunk self-scheduling: an idle unit takes the next `size` tasks
 * (Kruskal & Weiss 1985). */
#include "cu/sched/take.h"
#include "src/opt.h"

struct options {
    int size;
};

struct state {
    struct take take;
};

static const struct opt options[] = {
    {"size", OPT_INT, offsetof(struct options, size), "N",
     "tasks at a time (0: a 32nd of a unit's equal share)", .min = 0, .max = 1e9},
    OPT_END,
};

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    size_t own = (size_t)((const struct options *)job->options)->size;
    take_chunks(&s->take, job, own ? own : job->n / (32 * (size_t)job->ncu) + 1);
    return EK_OK;
}

const struct sched_ops sched_chunk = {
    .name = "chunk",
    .summary = "an idle unit takes the next chunk of one fixed size",
    .opts = options,
    .opts_size = sizeof(struct options),
    TAKE_POLICY(begin),
};
