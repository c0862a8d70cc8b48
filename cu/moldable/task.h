/* cu/moldable/task.h – the processes of one task on this node.
 *
 * Each task runs under a supervisor, a small process that adopts whatever the task leaves behind.
 * When the task is over, its time is up, or the agent is gone, the supervisor ends all of the
 * task's processes and then itself. */
#pragma once

#include "src/base.h"
#include <signal.h>
#include <sys/types.h>

struct task_start {
    const char *command; /* for sh -c */
    char *const *env;    /* ends with NULL */
    int ncpus;           /* 0: not bound */
    const int *cpu;      /* [ncpus] as Linux numbers them */
    double walltime;     /* s; 0: no limit */
    double lease;        /* s that the calling process may be stopped (SIGSTOP) until it is ended */
    const char *out, *err;
    int lock; /* a file that all processes of the task keep open */
};

/* Exit codes beside the command's own: its walltime was up; ended by signal n: 128 + n. And the
 * signal by which a supervisor ends after its lease. */
enum { TASK_TIMED_OUT = 124, TASK_SIGNALLED = 128, TASK_LEASE_OVER = SIGALRM };

/* *pid: the supervisor, a child of this thread; on SIGTERM it ends the task. EK_UNAVAILABLE: a
 * process or a file cannot be made. */
enum ek_status task_start(const struct task_start *, pid_t *pid);

/* Kills the children of this thread, but not those for which keeps(arg, pid); NULL: all. */
void task_kill_children(bool (*keeps)(void *arg, pid_t pid), void *arg);

/* Exit code of a task whose supervisor ended with this status of waitpid(). */
int task_exit_code(int status);

/* The last number that the regular expression's group finds in the file. EK_USAGE: there is
 * none. */
enum ek_status task_measured(const char *measure, const char *out, double *seconds);
