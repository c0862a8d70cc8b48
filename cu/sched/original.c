/* cu/sched/original.c – what an application does that divides first and thinks later: n/m tasks for
 * each unit and all of the remainder for the last one (the inversion code of the thesis, ch. 4). */
#include "cu/plan.h"

struct state {
    struct plan plan;
};

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    size_t share = job->n / (size_t)job->ncu;
    TRY(plan_open(&s->plan, job->n, job->ncu));
    for (int c = 0; c < job->ncu; c++) {
        size_t first = (size_t)c * share;
        plan_set_chunk(&s->plan, c,
                       (struct ek_range){first, c + 1 < job->ncu ? first + share : job->n});
    }
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

const struct sched_ops sched_original = {
    .name = "original",
    .summary = "n/m consecutive tasks each, the whole remainder to the last unit",
    .state_size = sizeof(struct state),
    .begin = begin,
    .next = next,
    .step = step,
    .end = end,
};
