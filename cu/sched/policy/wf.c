/* cu/sched/policy/wf.c – factoring: each round hands out half of the remaining tasks, one chunk per
 * unit (Hummel, Schonberg & Flynn 1992, `fac`); in weighted factoring a unit's chunk is
 * proportional to its speed (Hummel et al. 1996, `wf`). */
#include "cu/sched/take.h"
#include "src/arena.h"

#include <math.h>

struct state {
    struct take take;
    double *share; /* [ncu] a unit's share of a round; they add up to 1 */
};

/* Rounds hold n/2, n/4, … tasks; the tasks left tell which round this is. */
static size_t size(const void *st, int cu, size_t taken)
{
    const struct state *s = st;
    size_t round = s->take.n, left = s->take.n - taken;
    while (round - round / 2 >= left && round > 1)
        round -= round / 2;
    return (size_t)ceil((double)(round - round / 2) * s->share[cu]);
}

static enum ek_status begin_shares(struct state *s, const struct sched_job *job, bool weighted)
{
    double sum = 0;
    bool known = weighted;
    take_begin(&s->take, job, size);
    s->share = ARENA_NEW(job->arena, job->ncu, double);
    TRY(arena_check(job->arena, "%d units", job->ncu));
    for (int c = 0; c < job->ncu; c++)
        known &= job->unit[c].speed > 0;
    for (int c = 0; c < job->ncu; c++)
        sum += s->share[c] = known ? job->unit[c].speed : weighted ? job->unit[c].width : 1;
    for (int c = 0; c < job->ncu; c++)
        s->share[c] /= sum;
    return EK_OK;
}

static enum ek_status begin_equal(void *st, const struct sched_job *job)
{
    return begin_shares(st, job, false);
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    return begin_shares(st, job, true);
}

const struct sched_ops sched_fac = {
    .name = "fac",
    .summary = "factoring: each round hands out half of what is left in equal chunks",
    TAKE_POLICY(begin_equal),
};

const struct sched_ops sched_wf = {
    .name = "wf",
    .summary = "weighted factoring: chunks in proportion to speed, or to cores if unknown",
    TAKE_POLICY(begin),
};
