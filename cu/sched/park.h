/* cu/sched/park.h – which units had better not work: those that slow the others down by more than
 * they add. A unit that is merely slow is no such case, it gets few tasks or none; but cores that
 * share a memory, or feed a device, may be faster together with some of them idle. */
#ifndef CU_PARK_H
#define CU_PARK_H

#include "cu/sched/estimate.h"

struct park {
    bool *off;          /* [ncu] the units that are parked */
    bool *trial;        /* [ncu] those that were before; room for a choice */
    double *all;        /* [kinds], room for ncu: seconds of all tasks on one unit */
    int *unit, members; /* [ncu] those of one node and kind, the fastest first */
};

/* Nobody is parked. EK_UNAVAILABLE: out of memory; park_close() frees, also then. One thread, all
 * of it.
 */
enum ek_status park_open(struct park *p, int ncu);
void park_close(struct park *p);

/* Chooses anew by the tasks per second of all units together, as the estimates have them. It
 * changes only where that gains a fiftieth: less is within the errors. True if it changed. Sets the
 * pace of the units accordingly (estimate_park) in any case. */
bool park_choose(struct park *p, struct estimate *e);
/* Back to the choice before the last one. */
void park_undo(struct park *p, struct estimate *e);

#endif
