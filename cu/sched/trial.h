/* cu/sched/trial.h – a unit once judged so slow that it got no task may have recovered: now and
 * then it is tried again with the shortest task. Faces may cost less than the link says: where
 * nothing crosses because of that, it is tried once with the task whose faces cost least. */
#pragma once

#include "cu/sched/steal.h"

struct trial {
    double *credit; /* [ncu] seconds that trying a unit again may cost */
    int unit;       /* that is tried in this step; -1: none */
    bool crossed;   /* what faces cost has been tried, or need not be */
};

static inline void trial_open(struct trial *t, const struct sched_job *job)
{
    *t = (struct trial){.credit = ARENA_NEW(job->arena, job->ncu, double), .unit = -1};
}

/* Before each step of a partition that is expected to take what s->expected says: chooses, and
 * plans the step's lists anew where that changes them; owner [n] is s->owner. */
void trial_choose(struct trial *t, struct steal *s, int *owner);

/* The unit that was tried has shown to be as fast as others. */
static inline bool trial_succeeds(const struct trial *t, const struct estimate *e)
{
    return t->unit >= 0 && e->factor[t->unit] < ESTIMATE_SLOW;
}
