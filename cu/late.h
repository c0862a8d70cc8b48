/* cu/late.h – late binding, largest first: what to do in a step before anything is known of the
 * units but their kinds. An idle unit takes the task of the largest declared cost that is left.
 * Only what would keep a CPU unit busy for half of the step or more is left to the devices while
 * smaller tasks last: a device counts as LATE_DEVICE CPU units there. */
#ifndef CU_LATE_H
#define CU_LATE_H

#include "cu/sched.h"
#include <stdatomic.h>
#include <stdint.h>

enum { LATE_DEVICE = 8 };

/* Places in the order: [0, large) from the front for devices and from the back for CPU units that
 * find nothing else, [large, n) for all. */
struct late {
    _Alignas(64) atomic_size_t small;    /* next place of the common part */
    _Alignas(64) _Atomic uint64_t large; /* what is left of the other part: first << 32 | end */
    _Alignas(64) const struct sched_job *job;
    const size_t *order;
};

/* order [n]: tasks by descending cost; job and order are borrowed. One thread. */
void late_begin(struct late *l, const struct sched_job *job, const size_t *order);

/* The next task for unit cu. Any thread, concurrently. */
struct ek_range late_next(struct late *l, int cu);

#endif
