/* cu/sched/interference.h – busy units slow one another, so that fewer of them may do more. Learns
 * how much each busy neighbour costs a unit, by comparing steps with the declared times of units
 * that work alone, and decides which units to leave out.
 *
 * seconds = seconds alone * (1 + share[kind][CU_CPU] * busy CPU units + share[kind][CU_DEVICE] *
 * busy devices) at each moment, the unit itself not counted. One step yields only one equation per
 * kind: the slowdown is ascribed to all neighbours alike until a step with other neighbours tells
 * them apart. Where interference matters, estimates hold times of units alone; slowdowns hold the
 * rest. */
#pragma once

#include "cu/sched/estimate.h"

struct interference {
    bool learns; /* still learning: all units share a node, and times alone are declared */
    bool slow;   /* some kind of unit is slowed noticeably */
    int units[2], *member[2]; /* units of each kind, fastest first */
    int work[2];              /* how many of them work; the others are left out */
    double share[2][2];       /* [kind][kind of the busy neighbour] */
    double before[2][2];      /* mean number of busy neighbours in the last step */
    double slower[2];         /* measured slowdown - 1 in that step */
    double usual[2];          /* 1 + shares of the usual neighbours of a kind */
    double sum[2][5]; /* sums of xx, xz, zz, xy, zy over steps: neighbours x and z, slowdown y */
    double *busy, *seen,
        *alone;  /* [ncu] last step: busy seconds; seconds of tasks; declared for them */
    double *all; /* [ncu] estimated seconds of all tasks on the unit, alone */
};

/* Opens for the job's units. Memory comes from the job's arena, which the caller checks. */
void interference_open(struct interference *f, const struct sched_job *job,
                       const struct estimate *e);

/* Before and after estimate_step(). */
void interference_learn(struct interference *f, struct estimate *e);
void interference_apply(struct interference *f, struct estimate *e);

/* Slowdown of units of a kind while all work, relative to the mean of a step. */
double interference_most(const struct interference *f, int kind);

/* Share of the time of a kind's units that goes when those of the other kind have ended. */
double interference_fades(const struct interference *f, int kind);

/* Predicted makespan when units are busy for load [ncu] seconds at their present slowdowns:
 * neighbours that end early no longer slow the others. */
double interference_makespan(const struct interference *f, const struct estimate *e,
                             const double *load);

/* The number of CPU units, at most most_cpus, that do most per second beside so many devices;
 * *seconds is what all tasks then take if they can be divided at will. After interference_apply().
 */
int interference_best(const struct interference *f, int devices, int most_cpus, double *seconds);

/* Sets the slowdowns as if the fastest `work` units of each kind worked and the others were left
 * out: _set for a trial (interference_apply() restores them), _settle for good, _follow as in
 * partition owner [n]. */
void interference_set(const struct interference *f, struct estimate *e, const int work[2]);
void interference_settle(struct interference *f, struct estimate *e, const int work[2]);
void interference_follow(struct interference *f, struct estimate *e, const int *owner);
