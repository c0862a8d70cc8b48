/* cu/sched/policy/guided_sizes.c – one chunk of consecutive tasks per unit, with sums of declared
 * cost as equal as the order allows (Gonzalez & Morancho 2024, section 4.4). Speeds are not
 * considered. */
#include "cu/sched/plan.h"

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct plan *p = st;
    TRY(plan_open(p, job));
    plan_set_static(p, NULL, job->ncu, (struct ek_range){0, job->n});
    if (job->cost) /* without costs, `static` is balanced already */
        plan_walk(p, NULL, job->ncu, job->cost);
    return EK_OK;
}

const struct sched_ops sched_guided_sizes = {
    .name = "guided-sizes",
    .summary = "consecutive tasks, equal sums of declared cost",
    .begin = begin,
    PLAN_FIXED,
};
