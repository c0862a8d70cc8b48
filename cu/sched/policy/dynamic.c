/* cu/sched/policy/dynamic.c – an idle unit takes the next chunk from a shared counter; nothing is
 * kept between steps (Gonzalez & Morancho 2024, section 4.2). */
#include "cu/sched/take.h"
#include "src/opt.h"

struct options {
    int chunk;
};

struct state {
    struct take take;
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
    take_chunks(&s->take, job, (size_t)((const struct options *)job->options)->chunk);
    return EK_OK;
}

const struct sched_ops sched_dynamic = {
    .name = "dynamic",
    .summary = "an idle unit takes the next chunk; nothing is remembered",
    .opts = options,
    .opts_size = sizeof(struct options),
    .defaults = defaults,
    TAKE_POLICY(begin),
};
