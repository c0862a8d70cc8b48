/* src/process.h – other processes of this node, and what a new one gets. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* This process's environment without what begins as one of out[n], for a new one: NULL ends it, as
 * after one more that there is room for. Its texts are the environment's own; the caller frees the
 * list. NULL: no memory. */
char **process_environment(const char *const *out, size_t n);

/* Is it stopped, as by SIGSTOP? False where there is no such process. Any thread. */
bool process_is_frozen(pid_t pid);
/* The same of all that `top` has begun, and what they have, and itself: one that is stopped, 0
 * where there is none. Looks at every process of the node: not to be called all the time. */
pid_t process_frozen_below(pid_t top);
/* Has `top` begun some, of whom it has not heard that they are dead, and does none of them live any
 * more that has begun no others itself? The same cost. */
bool process_outlives_all_below(pid_t top);
