/* cu/crowd.h – how much units slow one another down that are busy at the same time (memory
 * bandwidth, shared cores): learnt from tasks that ran again beside more or fewer neighbours.
 *
 * The model is seconds = seconds alone * (1 + share * neighbours). Two runs of one task with
 * different numbers of neighbours tell `share` free of the task's own time; many such pairs are put
 * together by least squares of ln(ratio) on the difference. */
#ifndef CU_CROWD_H
#define CU_CROWD_H

#include <stddef.h>

/* Zeroed = nothing seen. One thread, like all of it. */
struct crowd {
    double pairs, xx, xy, yy; /* sums over pairs: x neighbours more, y = ln(seconds' ratio) */
    double level;             /* sum of xx times the mean neighbours of a pair */
};

/* The same task on the same unit, or on one of the same kind whose speed is taken out. */
struct crowd_sample {
    double seconds;
    int neighbours; /* other units that were busy; negative: not known */
};

void crowd_add(struct crowd *c, struct crowd_sample before, struct crowd_sample now);
/* Adds what another one has seen. */
void crowd_join(struct crowd *c, const struct crowd *other);
/* What was seen so far counts `share` as much from now on. */
void crowd_fade(struct crowd *c, double share);

/* The share by which one busy neighbour slows a unit; 0 while that is not certain. */
double crowd_share(const struct crowd *c);

#endif
