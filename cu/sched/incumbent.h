/* cu/sched/incumbent.h – the division that has proved to be the fastest: predictions may err where
 * a model does not fit the machine (busy neighbours slow one another), and then every new division
 * can turn out slower than the one before. What a step took decides: a division that fails gives
 * way to the incumbent, and the next one must promise more. */
#ifndef CU_INCUMBENT_H
#define CU_INCUMBENT_H

#include "src/status.h"
#include <stdbool.h>
#include <stddef.h>

struct incumbent {
    size_t n;
    int *owner;     /* [n] unit of each task in the fastest division */
    double seconds; /* what a step took with it, when it was last run; INFINITY: none was run */
    double planned; /* what was predicted of it by what was known then */
    double caution; /* by how much more than usual a new one must promise: 1 at first */
};

/* Nothing has run yet. EK_UNAVAILABLE: out of memory; incumbent_close() frees, also then. One
 * thread. */
enum ek_status incumbent_open(struct incumbent *p, size_t n);
void incumbent_close(struct incumbent *p);

/* Units have changed since: the incumbent is predicted to take so many seconds now. */
void incumbent_renew(struct incumbent *p, double planned);

/* A step in which owner [n] did the tasks took `seconds`; by what is known now it is predicted to
 * take `planned`. True if it was slower than the incumbent by more than `doubt`, a share. */
bool incumbent_judge(struct incumbent *p, double seconds, double planned, double doubt,
                     const int *owner);

#endif
