/* cu/sched/sorted_greedy.c – tasks in order of descending cost, each to the unit with the least
 * cost so far (LPT; the thesis, section 2.2.2): all units count as equally fast. */
#include "cu/plan.h"

#include <stdlib.h>

struct state {
    struct plan plan;
};

static void deal(struct plan *p, const double *cost, struct plan_heap *heap, size_t *order,
                 int *owner)
{
    plan_sort(cost, p->n, order);
    plan_heap_fill(heap, NULL, p->ncu);
    for (size_t i = 0; i < p->n; i++)
        owner[i] = plan_heap_add(heap, cost ? cost[order[i]] : 1);
    plan_assign(p, owner, order);
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    size_t room = job->n ? job->n : 1;
    struct plan_heap heap;
    TRY(plan_heap_open(&heap, job->ncu));
    size_t *order = calloc(room, sizeof *order);
    int *owner = calloc(room, sizeof *owner);
    enum ek_status status = EK_OK;
    if (!order || !owner)
        status = status_fail(EK_LACK, "sorted-greedy: out of memory for %zu tasks", job->n);
    else
        status = plan_open(&s->plan, job->n, job->ncu);
    if (!status)
        deal(&s->plan, job->cost, &heap, order, owner);
    plan_heap_close(&heap);
    free(order);
    free(owner);
    return status;
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

const struct sched_ops sched_sorted_greedy = {
    .name = "sorted-greedy",
    .summary = "by descending cost, each task to the unit with the least cost so far",
    .state_size = sizeof(struct state),
    .begin = begin,
    .next = next,
    .step = step,
    .end = end,
};
