/* cu/sched/policy/gss.c – guided self-scheduling (Polychronopoulos & Kuck 1987): while R tasks are
 * left, an idle one of m units takes ceil(R / m). */
#include "cu/sched/take.h"

struct state {
    struct take take;
    size_t units;
};

static size_t size(const void *st, int cu, size_t taken)
{
    const struct state *s = st;
    (void)cu;
    return (s->take.n - taken + s->units - 1) / s->units;
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    take_begin(&s->take, job, size);
    s->units = (size_t)job->ncu;
    return EK_OK;
}

const struct sched_ops sched_gss = {
    .name = "gss",
    .summary = "guided self-scheduling: an idle unit takes its equal share of what is left",
    TAKE_POLICY(begin),
};
