/* cu/sched/bootstrap.h – late binding: what to do in a step before anything is known of the units
 * but their kinds. Idle units help themselves.
 *
 * Largest first: an idle unit takes the task of the largest declared cost that is left. Only what
 * would keep a CPU unit busy for half of the step or more is left to the devices while smaller
 * tasks last (a device counts as ESTIMATE_DEVICE CPU units there), and of that at least half, as
 * long as some device has not come yet to ask for it.
 *
 * Or together: where tasks exchange faces and are small, it matters more that the tasks of one
 * memory node are neighbours. CPU units take them one by one from the first on, devices from the
 * last on, in stretches that grow. */
#ifndef CU_BOOTSTRAP_H
#define CU_BOOTSTRAP_H

#include "cu/sched/sched.h"
#include <stdatomic.h>
#include <stdint.h>

struct bootstrap_unit {
    _Alignas(64) size_t stretch; /* of its next range; 0: has not asked yet */
};

/* Places in the order: [0, large) from the front for devices and from the back for CPU units that
 * find nothing else, [large, n) for all. */
struct bootstrap {
    _Alignas(64) atomic_size_t small;    /* next place of the common part */
    _Alignas(64) _Atomic uint64_t large; /* what is left of the other part: first << 32 | end */
    _Alignas(64) atomic_int absent;      /* devices that have not asked yet */
    _Alignas(64) const struct sched_job *job;
    const size_t *order; /* NULL: by number, the last task first */
    size_t reserve;      /* of the large ones, for absent devices */
    int devices;
    struct bootstrap_unit *unit; /* [ncu] */
};

/* order [n]: tasks by descending cost; job and order are borrowed. EK_UNAVAILABLE: out of memory;
 * bootstrap_close() frees, also then. One thread. */
enum ek_status bootstrap_open(struct bootstrap *l, const struct sched_job *job,
                              const size_t *order);
void bootstrap_close(struct bootstrap *l);

/* The next tasks for unit cu. Any thread, concurrently. */
struct ek_range bootstrap_next(struct bootstrap *l, int cu);

#endif
