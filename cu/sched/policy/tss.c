/* cu/sched/policy/tss.c – trapezoid self-scheduling (Tzen & Ni 1993): chunks shrink by a constant D
 * from F = n / (2 m) tasks to 1. The first k chunks hold k F - D k (k-1) / 2 tasks, and chunk k
 * holds F - k D; `size` inverts the sum to find the chunk that begins at `taken`. */
#include "cu/sched/take.h"

#include <math.h>

struct state {
    struct take take;
    double first, less; /* F, and D */
};

static size_t size(const void *st, int cu, size_t taken)
{
    const struct state *s = st;
    (void)cu;
    if (s->less <= 0)
        return (size_t)s->first;
    double half = s->first + s->less / 2;
    double root = half * half - 2 * s->less * (double)taken;
    return root > 0 ? (size_t)fmax(rint(sqrt(root) - s->less / 2), 1) : 1;
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    take_begin(&s->take, job, size);
    double n = (double)job->n;
    s->first = fmax(ceil(n / (2. * job->ncu)), 1);
    double pieces = ceil(2 * n / (s->first + 1));
    s->less = pieces > 1 ? (s->first - 1) / (pieces - 1) : 0;
    return EK_OK;
}

const struct sched_ops sched_tss = {
    .name = "tss",
    .summary = "trapezoid self-scheduling: chunks shrink linearly",
    TAKE_POLICY(begin),
};
