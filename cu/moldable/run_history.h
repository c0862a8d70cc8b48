/* cu/moldable/run_history.h – the state of each task while a job runs, its plans, and the journal
 * that outlives it. One thread at a time. */
#pragma once

#include "cu/moldable/job.h"

enum run_state { RUN_WAITS, RUN_RUNS, RUN_DONE, RUN_FAILED, RUN_SKIPPED };

/* A plan for the tasks that wait on the nodes that are left. A new one is made when a node is lost,
 * or when tasks take longer or shorter than planned. */
struct run_epoch {
    struct moldable_problem problem; /* names are borrowed from the job */
    struct moldable_plan plan;
    int *task, *node; /* the job's numbers of the problem's tasks and nodes */
    double *free;     /* storage of its nodes' member */
    struct arena arena;
    double begin; /* s after the start of the run */
};

struct run_entry {
    enum run_state state;
    const struct run_epoch *epoch;
    const struct moldable_placed *placed; /* of that epoch's plan */
    double start, finish;                 /* measured, s after the start of the run */
    double seconds;                       /* as found by "measure", else finish - start */
    int attempts, status;                 /* exit code of the last one, 128 + signal */
    bool before;                          /* done in a run before this one */
};

/* The idle part of a node. */
struct run_idle {
    int cores, gpus;
    double memory;
};

/* How long tasks of a kind took, against their law. */
struct run_measured {
    int left, n;               /* tasks not done; tasks measured */
    bool failed;               /* a task has failed, or was skipped after a failure */
    bool stranded;             /* waiting tasks fit no node that is left */
    double measured, expected; /* s: sums over the measured tasks */
};

struct run_history {
    const struct run_job *job;
    const struct moldable_method *method;
    const char *folder;            /* of the results */
    char token[40];                /* random, the content of folder/lock */
    struct run_entry *entry;       /* [ntasks] */
    struct run_idle *idle;         /* [nnodes] */
    struct run_measured *measured; /* [nkinds] */
    bool *lost;                    /* [nnodes] */
    struct run_epoch **epoch;
    int nepochs;
    size_t room;        /* of `epoch` */
    struct arena arena; /* of the other lists */
    int *queue;         /* [ntasks] tasks that wait or run, by node and planned start */
    int *first;         /* [nnodes+1] where each node's part of the queue begins */
    int *head;          /* [nnodes] no task of the node waits before this place of the queue */
    int lock, journal;  /* files */
    bool made;          /* this run has made the folder */
    double makespan;    /* measured: last finish */
};

/* Makes the folder, or reads its journal. EK_USAGE: it holds an unfinished run and `resume` is
 * false, or another job's; EK_UNAVAILABLE: another cu-run uses it, or it cannot be written. */
enum ek_status run_history_open(struct run_history *, const struct run_job *,
                                const struct moldable_method *, const char *folder, bool resume);
void run_history_close(struct run_history *);

/* The run cannot begin: removes the folder if it was made for this run. */
void run_history_discard(struct run_history *);

/* Adds a task that is done or has failed to the journal, on disk before it returns. */
enum ek_status run_history_note(struct run_history *, int task);

/* Plans all waiting tasks over the remaining nodes from `now` on, with laws corrected by the
 * measurements; running tasks keep their cores for their expected time. Tasks that fit no node that
 * is left, and those that need them, are left out. EK_UNAVAILABLE: no node is left. */
enum ek_status run_history_plan(struct run_history *, double now);

/* Do tasks of a waiting kind take 10 % more or less than the last plan assumes? */
bool run_history_off_plan(const struct run_history *);

/* The expected run time of a task where it is placed, corrected by the measurements, s. */
double run_history_expected(const struct run_history *, int task);

/* Takes the task's share of its nodes (take = 1) or gives it back (-1). */
void run_history_occupy(struct run_history *, int task, int take);
/* Is that share idle now? */
bool run_history_room(const struct run_history *, int task);

/* Are all tasks done that must be done before this one? */
bool run_history_ready(const struct run_history *, int task);

/* The job's number of the node of one of a task's parts. */
static inline int run_history_node(const struct run_entry *e, int part)
{
    return e->epoch->node[e->placed->part[part].node];
}
