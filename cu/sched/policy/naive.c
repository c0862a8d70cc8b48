/* cu/sched/policy/naive.c – floor(n/m) consecutive tasks for each unit and the whole remainder for
 * the last, as the original inversion code divided its cells (Dagostini's thesis, chapter 4). */
#include "cu/sched/plan.h"

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct plan *p = st;
    size_t share = job->n / (size_t)job->ncu;
    TRY(plan_open(p, job));
    for (int c = 0; c < job->ncu; c++) {
        size_t first = (size_t)c * share;
        plan_set_chunk(p, c, (struct ek_range){first, c + 1 < job->ncu ? first + share : job->n});
    }
    return EK_OK;
}

const struct sched_ops sched_naive = {
    .name = "naive",
    .summary = "n/m consecutive tasks each, the whole remainder to the last unit",
    .begin = begin,
    PLAN_FIXED,
};
