/* cu/sched/choice.h – which partition to take: the best that is found, on fewer units where busy
 * neighbours slow one another, and the present one unless another is worth moving for. */
#pragma once

#include "cu/sched/incumbent.h"
#include "cu/sched/interference.h"
#include "cu/sched/partition.h"

struct choice {
    struct estimate *estimate;
    struct partition *partition;
    struct interference *interference;
    const struct incumbent *incumbent;
    double tolerance;   /* share of a step that is worth another partition, beside doubts */
    double horizon;     /* steps in which moving tasks must pay off */
    int *other, *rival; /* [n] room */
    long looks;         /* exchanges tried so far */
};

/* Estimates, homes and link are those of now. */
static inline void choice_look(struct choice *c)
{
    partition_begin(c->partition, c->horizon);
}

/* Searches for a partition, unless none can be worth it, and writes it to owner [n] if it is:
 * better than the one there is predicted, and better than that one was when it last ran. present:
 * there is one; chosen: it was somebody's choice. True: there is another one now. */
bool choice_make(struct choice *c, bool present, bool chosen, int *owner);
