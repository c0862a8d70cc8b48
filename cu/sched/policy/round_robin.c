/* cu/sched/policy/round_robin.c – tasks in order of descending cost go to the units in turn,
 * whatever their load: task i to unit i mod m (Dagostini's thesis, section 2.2.1; its program sorts
 * the cells first, too). */
#include "cu/sched/plan.h"

static enum ek_status assign(const struct sched_job *job, const size_t *order, int *owner)
{
    (void)order;
    for (size_t i = 0; i < job->n; i++)
        owner[i] = (int)(i % (size_t)job->ncu);
    return EK_OK;
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    return plan_by_cost(st, job, assign);
}

const struct sched_ops sched_round_robin = {
    .name = "round-robin",
    .summary = "by descending cost, one task to each unit in turn",
    .begin = begin,
    PLAN_FIXED,
};
