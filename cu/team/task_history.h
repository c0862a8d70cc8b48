/* cu/team/task_history.h – where each task's data lives, and how long it has taken. */
#pragma once

#include "cu/team/samples.h"
#include "cu/sched/sched.h"
#include "src/base.h"

struct task_history {
    size_t n, all;               /* tasks of this rank, and of all ranks */
    int *home;                   /* [n] memory node of the data */
    int *number;                 /* [n] number among the tasks of all ranks, -1: unnumbered */
    double *seconds;             /* [n] in this step */
    struct samples (*sample)[2]; /* [n][kind] latest times */
    struct samples (*past)[2];   /* [all] of tasks that have left for other ranks; NULL: none */
    double *known[2];   /* [kind][n] times known to policies after task_history_renumber() */
    struct arena arena; /* memory of all but `past` */
};

/* All tasks live on the host, no times are known. EK_UNAVAILABLE: out of memory. Call close also
 * after a failed open. One thread. */
enum ek_status task_history_open(struct task_history *b, const struct sched_job *job);
void task_history_close(struct task_history *b);

/* Records that the range's tasks have run on this kind in seconds[task] each; returns their sum. On
 * the unit's thread. */
double task_history_note(struct task_history *b, struct ek_range r, enum cu_kind kind);

/* Changes to the tasks of *job: its task t was task was[t], or is new on the host (was[t] < 0).
 * Keeps the times of tasks that stay or return. Sets known[kind] to the median seconds of each task
 * on that kind, estimated from the declared cost if it has not run there; NULL if none has. One
 * thread. EK_UNAVAILABLE: out of memory, nothing has changed. */
enum ek_status task_history_renumber(struct task_history *b, const struct sched_job *job,
                                     const int *was);
