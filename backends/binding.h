/* backends/binding.h – controls on which cpus the threads of driver libraries run.
 *
 * A thread inherits the affinity of the thread that starts it. With OMP_PROC_BIND set, libgomp has
 * bound the initial thread to its first place before main() runs, so a driver opened from there
 * would crowd all its threads into that place. Therefore the affinity is widened to all places
 * while a driver library is first used, and the worker threads of a cpu device move to the place of
 * the thread that opens the device. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

enum { BINDING_SETS = 16 }; /* cpu_set_t holds 1024 cpus; machines may have more */

struct binding {
    cpu_set_t set[BINDING_SETS];
};

/* Gets the affinity of thread `tid` (0: the calling one); false if it cannot be read. */
bool binding_get(pid_t tid, struct binding *b);
/* Binds thread `tid` of this process (0: the calling one); does nothing if that is forbidden. */
void binding_set(pid_t tid, const struct binding *b);
int binding_cpus(const struct binding *b);

/* Lets the calling thread run on all OpenMP places; *saved is for restoring with binding_set(0, …).
 * Without places, the thread may already run wherever the process may, and nothing changes. */
bool binding_widen(struct binding *saved);

/* Number of cpus of the largest OpenMP place; 0 if threads are not bound to places. */
int binding_widest_place(void);

/* The threads of this process in order of creation, at most `max`; returns their number. */
int binding_threads(pid_t *tids, int max);
