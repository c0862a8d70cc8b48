/* cu/moldable/task.h – the processes of one task on this node.
 *
 * Each task runs under a supervisor, a small process that outlives neither the task nor us: it
 * adopts whatever the task leaves behind, and when the task is over, its time is up, or we are
 * gone, all of it is ended. */
#pragma once

#include "src/status.h"
#include <sys/types.h>

struct task_start {
    const char *command; /* for sh -c */
    char *const *env;    /* ends with NULL */
    int ncpus;           /* 0: not bound */
    const int *cpu;      /* [ncpus] as Linux numbers them */
    double walltime;     /* s; 0: no limit */
    const char *out, *err;
    int lock; /* file that is open as long as one of its processes lives */
};

/* Exit codes that say more than the command's own: its time was up; ended by signal n: 128 + n. */
enum { TASK_TIMED_OUT = 124, TASK_SIGNALLED = 128 };

/* *pid: the supervisor, a child of this thread; SIGTERM makes it end the task. EK_UNAVAILABLE: no
 * process, no files. */
enum ek_status task_start(const struct task_start *, pid_t *pid);

/* Exit code of a task whose supervisor ended with this status of waitpid(). */
int task_exit_code(int status);

/* The last number that the regular expression's group finds in the file. EK_USAGE: there is
 * none. */
enum ek_status task_measured(const char *measure, const char *out, double *seconds);
