/* src/process.h – other processes of this node, and the environment of new ones. */
#pragma once

#include "src/base.h"
#include <sys/types.h>

/* This process's environment, without variables that begin with one of out[n], for a new process: a
 * list ending in NULL with room for one more entry. The strings are borrowed; the caller frees the
 * list. NULL: no memory. */
char **process_environment(const char *const *out, size_t n);

/* How many of `wanted` threads with stacks of `stack` bytes (0: the usual size) can exist in
 * addition to those that run; starts them to find out. */
int process_startable(int wanted, size_t stack);

/* Identifies the processes that kill() reaches: those of this boot and of this container. Not
 * gethostid(): Debian's nodes share one, and it asks the name server. */
uint64_t process_space(void);

/* Whether the process is stopped, as by SIGSTOP; false if it does not exist. Any thread, and the
 * child of a process with threads, because it allocates nothing. */
bool process_is_frozen(pid_t pid);
/* A stopped process among `top` and its descendants, 0 if there is none. Looks at every process of
 * the node: not to be called often. */
pid_t process_frozen_below(pid_t top);
/* Whether `top` has descendants without children of their own that died and were not waited for,
 * and none of the kind is still alive. Costs as much. */
bool process_outlives_all_below(pid_t top);
