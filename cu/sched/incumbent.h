/* cu/sched/incumbent.h – the partition that has proved fastest. Predictions err where the model
 * does not fit the machine (for instance when busy neighbours slow one another), and then every new
 * partition may turn out slower than the one before. Measured steps decide: a partition that fails
 * gives way to the incumbent, and the next one must promise more. */
#pragma once

#include "cu/sched/partition.h"

struct incumbent {
    int *owner;                 /* [n] unit of each task in the fastest partition */
    double seconds;             /* seconds of a step when it last ran; INFINITY: it never has */
    double planned;             /* prediction for it at that time */
    struct exchange_cost faces; /* cost of faces in that prediction */
    double caution; /* factor on the gain that a new partition must promise; 1 at first */
    double took;    /* seconds of the last step with the present partition; INFINITY: unknown */
};

/* Nothing has run yet. Memory comes from the job's arena. */
void incumbent_open(struct incumbent *p, const struct sched_job *job);

/* After a step with partition owner [n], with the estimates updated. If the step was slower than
 * the incumbent by more than the share `doubt`, copies the incumbent to owner and returns true. One
 * thread. */
bool incumbent_judge(struct incumbent *p, struct partition *d, double doubt, int *owner);
