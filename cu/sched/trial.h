/* cu/sched/trial.h – cheap experiments. A unit that was too slow to get tasks may have recovered:
 * it is tried again from time to time with the shortest task. Faces may cost less than the link
 * suggests: where nothing crosses for that reason, the cheapest task is moved across once. */
#pragma once

#include "cu/sched/steal.h"

struct trial {
    double *credit; /* [ncu] seconds that may be spent on trying each unit again */
    int unit;       /* under trial in this step; -1: none */
    bool crossed;   /* the cost of faces has been tried, or need not be */
};

static inline void trial_open(struct trial *t, const struct sched_job *job)
{
    *t = (struct trial){.credit = ARENA_NEW(job->arena, job->ncu, double), .unit = -1};
}

/* Before each step: chooses a trial, and makes the step's lists again if that changes them. owner
 * [n] is s->owner; s->expected holds the partition's predicted busy times. */
void trial_choose(struct trial *t, struct steal *s, int *owner);

/* The unit under trial has proved to be as fast as others. */
static inline bool trial_succeeds(const struct trial *t, const struct estimate *e)
{
    return t->unit >= 0 && e->factor[t->unit] < ESTIMATE_SLOW;
}
