/* cu/sched/policy/tss.c – trapezoid self-scheduling: pieces shrink by the same step from n / (2 m)
 * to 1 (Tzen & Ni 1993). The piece at which `taken` tasks are gone follows from the sum of those
 * before. */
#include "cu/sched/take.h"

#include <math.h>

struct state {
    struct take take;
    double first, less; /* tasks of the first piece, and by how many each is smaller */
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

/* After k pieces k F - D k (k-1) / 2 tasks are gone: the size of piece k is F - k D. */
const struct sched_ops sched_tss = {
    .name = "tss",
    .summary = "trapezoid self-scheduling: pieces shrink linearly",
    TAKE_POLICY(begin),
};
