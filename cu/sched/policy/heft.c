/* cu/sched/policy/heft.c – earliest finish time: tasks in order of descending cost, each to the
 * unit on which it ends first, by known, measured or predicted seconds (Topcuoglu, Hariri & Wu 2002
 * without precedence; Dagostini's thesis, section 2.2.4). */
#include "cu/sched/learn.h"

#include <math.h>

static void assign(void *policy)
{
    struct learn *l = policy;
    const struct estimate *e = &l->estimate;
    for (int c = 0; c < e->ncu; c++)
        l->load[c] = 0;
    for (size_t i = 0; i < e->n; i++) {
        int best = 0;
        double first = INFINITY;
        for (int c = 0; c < e->ncu; c++) {
            double finish = l->load[c] + estimate_seconds(e, c, e->order[i]);
            if (finish < first) {
                first = finish;
                best = c;
            }
        }
        l->load[best] = first;
        l->owner[i] = best;
    }
    learn_assign(l);
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    return learn_begin(st, job, assign);
}

const struct sched_ops sched_heft = {
    .name = "heft",
    .summary = "by descending cost, each task where it ends first by known or measured times",
    .state_size = sizeof(struct learn),
    .begin = begin,
    LEARN_POLICY,
};
