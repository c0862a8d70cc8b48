/* cu/sched/crowd.h – how much units slow one another down that are busy at the same time (memory
 * bandwidth, shared cores): learnt from tasks that ran again beside more or fewer neighbours.
 *
 * The model is seconds = seconds alone * (1 + sum over kinds of share[kind] * busy neighbours of
 * that kind). Two runs of one task beside different neighbours tell the shares free of the task's
 * own time; many such pairs are put together by least squares of ln(ratio) on the differences. */
#ifndef CU_CROWD_H
#define CU_CROWD_H

#include "cu/unit/cu.h"

/* How many other units of the node were busy on the mean, per cu_kind; busy[0] < 0: not known. */
struct crowd_near {
    float busy[2];
};

/* The same task on the same unit, or on one of the same kind whose speed is taken out. */
struct crowd_sample {
    double seconds;
    struct crowd_near near;
};

/* Sums over pairs of samples: x neighbours more, y = ln(ratio of the seconds). Zeroed = nothing
 * seen. One thread, like all of it. */
struct crowd {
    double pairs, xx[2][2], xy[2], yy;
    double level[2]; /* of xx[0][0] + xx[1][1] times the mean neighbours of the pair */
};

void crowd_add(struct crowd *c, struct crowd_sample before, struct crowd_sample now);
/* Adds what another one has seen. */
void crowd_join(struct crowd *c, const struct crowd *other);
/* What was seen so far counts `share` as much from now on. */
void crowd_fade(struct crowd *c, double share);

/* The shares by which one busy neighbour of each kind slows a unit; 0 while that is not certain. */
void crowd_shares(const struct crowd *c, double share[2]);

/* 1 + what so many neighbours add; 1 where they are not known. */
static inline double crowd_at(const double share[2], struct crowd_near near)
{
    if (near.busy[0] < 0)
        return 1;
    return 1 + share[CU_CPU] * near.busy[CU_CPU] + share[CU_DEVICE] * near.busy[CU_DEVICE];
}

#endif
