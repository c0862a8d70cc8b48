/* cu/sched/choice.h – decides which partition to use: the best one found, perhaps on fewer units
 * where busy neighbours slow one another; the present one unless the gain is worth moving for. */
#pragma once

#include "cu/sched/incumbent.h"
#include "cu/sched/interference.h"
#include "cu/sched/partition.h"

struct choice {
    struct estimate *estimate;
    struct partition *partition;
    struct interference *interference;
    const struct incumbent *incumbent;
    double tolerance;   /* least gain, as a share of a step, besides doubts about the estimates */
    double horizon;     /* steps within which moving tasks must pay off */
    int *other, *rival; /* [n] scratch partitions */
    long evaluations;   /* exchanges that the searches have tried so far, or moves worth as much */
};

/* Takes in the present estimates, homes and link. */
static inline void choice_refresh(struct choice *c)
{
    partition_begin(c->partition, c->horizon);
}

/* Searches for a better partition, unless none can be worth it, and writes it to owner [n] if its
 * predicted gain suffices, also over what the present one took when it last ran. present: owner
 * holds a partition; chosen: it came from a search. Returns whether owner has changed. */
bool choice_make(struct choice *c, bool present, bool chosen, int *owner);
