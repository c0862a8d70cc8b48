/* cu/team/task_history.h – what a team keeps of each task: where its data lives and how long it
 * took. */
#pragma once

#include "cu/team/samples.h"
#include "cu/sched/sched.h"
#include "src/arena.h"

struct task_history {
    size_t n, all;               /* tasks here, and of all ranks */
    int *home;                   /* [n] memory node */
    int *number;                 /* [n] of each among those of all ranks */
    double *seconds;             /* [n] of this step */
    struct samples (*sample)[2]; /* [n][kind] the latest computations */
    struct samples (*past)[2];   /* [all] of tasks that have left for other ranks; NULL: none */
    double *known[2];   /* [kind][n] what policies may know after task_history_renumber() */
    struct arena arena; /* of all but `past` */
};

/* All tasks at home on the host, nothing known. EK_UNAVAILABLE: out of memory. close frees, also
 * after a failed open. One thread. */
enum ek_status task_history_open(struct task_history *b, const struct sched_job *job);
void task_history_close(struct task_history *b);

/* The tasks of the range have run on this kind in seconds[task] each; returns the sum. On their
 * unit's thread. */
double task_history_note(struct task_history *b, struct ek_range r, enum cu_kind kind);

/* Other tasks from now on: task t of *job was task was[t], or is new on the host (was[t] < 0). What
 * is known of those that stay or come back is kept; known[kind] = the median seconds of each task
 * on that kind, for the others by declared cost, NULL where no task has run. One thread.
 * EK_UNAVAILABLE: out of memory, the history is as it was. */
enum ek_status task_history_renumber(struct task_history *b, const struct sched_job *job,
                                     const int *was);
