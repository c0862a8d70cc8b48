/* cu/sched/policy/sorted_greedy.c – longest processing time first (LPT): tasks in order of
 * descending cost, each to the unit with the least total cost so far (Dagostini's thesis,
 * section 2.2.2). All units count as equally fast. */
#include "cu/sched/plan.h"

static enum ek_status assign(const struct sched_job *job, const size_t *order, int *owner)
{
    struct plan_heap heap;
    TRY(plan_heap_open(&heap, job));
    for (size_t i = 0; i < job->n; i++)
        owner[i] = plan_heap_add(&heap, job->cost ? job->cost[order[i]] : 1);
    return EK_OK;
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    return plan_by_cost(st, job, assign);
}

const struct sched_ops sched_sorted_greedy = {
    .name = "sorted-greedy",
    .summary = "by descending cost, each task to the unit with the least cost so far",
    .begin = begin,
    PLAN_FIXED,
};
