/* cu/sched/policy/static.c – equal numbers of consecutive tasks, never changed (Gonzalez & Morancho
 * 2024, section 4.1): unit c of m gets tasks [c n/m, (c+1) n/m). */
#include "cu/sched/plan.h"

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct plan *p = st;
    TRY(plan_open(p, job));
    plan_set_static(p, NULL, job->ncu, (struct ek_range){0, job->n});
    return EK_OK;
}

const struct sched_ops sched_static = {
    .name = "static",
    .summary = "equal numbers of consecutive tasks, never changed",
    .begin = begin,
    PLAN_FIXED,
};
