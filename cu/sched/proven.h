/* cu/sched/proven.h – the division that has proved to be the fastest: predictions may err where a
 * model does not fit the machine, and then every new division can turn out slower than the one
 * before. What a step took decides: a division that fails gives way to the one that was proven, and
 * the next one must promise more. */
#ifndef CU_PROVEN_H
#define CU_PROVEN_H

#include "src/status.h"
#include <stdbool.h>
#include <stddef.h>

struct proven {
    size_t n;
    int ncu;
    int *owner;     /* [n] unit of each task in the fastest division */
    bool *off;      /* [ncu] units that were parked in it */
    double seconds; /* what a step took with it, when it was last run; INFINITY: none was run */
    bool present;   /* it is the one that runs now */
    double caution; /* by how much more than usual a new one must promise: 1 at first */
};

/* Nothing is proven yet. EK_UNAVAILABLE: out of memory; proven_close() frees, also then. One
 * thread. */
enum ek_status proven_open(struct proven *p, size_t n, int ncu);
void proven_close(struct proven *p);

/* A step took `seconds` with this division, owner [n] and off [ncu]. True if it was slower than the
 * proven one by more than `doubt`, a share: owner and off are that one again. */
bool proven_judge(struct proven *p, double seconds, double doubt, int *owner, bool *off);

/* Another division is going to run. */
static inline void proven_leave(struct proven *p)
{
    p->present = false;
}

#endif
