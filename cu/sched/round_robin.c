/* cu/sched/round_robin.c – tasks in order of descending cost go to one unit after another, however
 * loaded it is (the thesis, section 2.2.1, with the cells sorted as its program does). */
#include "cu/plan.h"

#include <stdlib.h>

struct state {
    struct plan plan;
};

static void deal(struct plan *p, const double *cost, size_t *order, int *owner)
{
    plan_sort(cost, p->n, order);
    for (size_t i = 0; i < p->n; i++)
        owner[i] = (int)(i % (size_t)p->ncu);
    plan_assign(p, owner, order);
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    size_t room = job->n ? job->n : 1;
    size_t *order = calloc(room, sizeof *order);
    int *owner = calloc(room, sizeof *owner);
    enum ek_status status = EK_OK;
    if (!order || !owner)
        status = status_fail(EK_LACK, "round-robin: out of memory for %zu tasks", job->n);
    else
        status = plan_open(&s->plan, job->n, job->ncu);
    if (!status)
        deal(&s->plan, job->cost, order, owner);
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

const struct sched_ops sched_round_robin = {
    .name = "round-robin",
    .summary = "by descending cost, one task to each unit in turn",
    .state_size = sizeof(struct state),
    .begin = begin,
    .next = next,
    .step = step,
    .end = end,
};
