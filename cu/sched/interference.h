/* cu/sched/interference.h – busy units slow one another, and then fewer of them may do more: what
 * each busy neighbour costs a unit, learnt from what steps took beside what was declared of units
 * alone, and whom to leave out.
 *
 * seconds = those alone * (1 + share[kind][CU_CPU] * busy CPU units + share[kind][CU_DEVICE] * busy
 * devices) at each moment, the unit itself not counted. One step tells of a kind no more than the
 * sum: it is ascribed to all neighbours alike, until a step with other neighbours tells them apart.
 * Where it matters, estimates are those of units alone, but for their slowdowns. */
#pragma once

#include "cu/sched/estimate.h"

struct interference {
    bool learns;              /* all units are of one node, and what tasks take alone is declared */
    bool slow;                /* some kind is slowed by as much as matters */
    int units[2], *member[2]; /* of each kind, the fastest first */
    int work[2];              /* so many of them are not left out */
    double share[2][2];       /* [kind][kind of the neighbour] */
    double before[2][2];      /* busy neighbours of a kind in the last step */
    double slower[2];         /* by which it was slower then */
    double usual[2];          /* 1 + the shares of those, or of those to come */
    double sum[2][5];         /* xx, xz, zz, xy, zy of the steps: neighbours x, z, slower by y */
    double *busy, *seen, *alone; /* [ncu] of the last step: its end; tasks; declared for them */
    double *all;                 /* [ncu] seconds of all tasks on the unit alone, as known now */
};

/* For the units of the job, whose arena has its memory and is not checked. */
void interference_open(struct interference *f, const struct sched_job *job,
                       const struct estimate *e);

/* Before and after estimate_step(). */
void interference_learn(struct interference *f, struct estimate *e);
void interference_apply(struct interference *f, struct estimate *e);

/* How many times as long tasks on units of a kind take while all work as in the mean of a step. */
double interference_most(const struct interference *f, int kind);

/* When the last unit ends where tasks are divided so that units are busy for so long if neighbours
 * are as the slowdowns have it, load [ncu]. */
double interference_makespan(const struct interference *f, const struct estimate *e,
                             const double *load);

/* The number of CPU units that, with so many devices, do most in a second; *seconds is what all
 * tasks then take, if they can be divided at will. After interference_apply(). */
int interference_best(const struct interference *f, int devices, double *seconds);

/* Slowdowns as they would be if the fastest `work` of each kind worked and the others were left
 * out; and for good; or as in a partition, owner [n]. interference_apply() gives back those of
 * now. */
void interference_set(const struct interference *f, struct estimate *e, const int work[2]);
void interference_settle(struct interference *f, struct estimate *e, const int work[2]);
void interference_follow(struct interference *f, struct estimate *e, const int *owner);
