/* cu/sched/incumbent.h – the partition that has proved to be the fastest: predictions err where a
 * model does not fit the machine (busy neighbours slow one another), and then every new partition
 * can turn out slower than the one before. What a step took decides: a partition that fails gives
 * way to the incumbent, and the next one must promise more. */
#pragma once

#include "cu/sched/partition.h"

struct incumbent {
    int *owner;     /* [n] unit of each task in the fastest partition */
    double seconds; /* what a step took with it, when it was last run; INFINITY: none was run */
    double planned; /* what was predicted of it by what was known then */
    struct sched_link face; /* and what faces cost by that */
    double caution;         /* by how much more than usual a new one must promise: 1 at first */
    double took;            /* the last step with the present one; INFINITY: none yet */
};

/* Nothing has run yet; memory is the job's arena's. */
void incumbent_open(struct incumbent *p, const struct sched_job *job);

/* After a step of the partition owner [n], with the estimates as they are now. True if it was
 * slower than the incumbent by more than `doubt`, a share: then owner is the incumbent. One
 * thread. */
bool incumbent_judge(struct incumbent *p, struct partition *d, double doubt, int *owner);
