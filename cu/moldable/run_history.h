/* cu/moldable/run_history.h – what is known of each task while a job runs, and the journal that
 * outlives it. One thread at a time. */
#pragma once

#include "cu/moldable/job.h"

enum run_state { RUN_WAITS, RUN_RUNS, RUN_DONE, RUN_FAILED, RUN_SKIPPED };

/* A plan for some of the tasks on some of the nodes; a new one is made when a node was lost, or
 * tasks take longer or shorter than they should. */
struct run_epoch {
    struct moldable_problem problem; /* its names are those of the job */
    struct moldable_plan plan;
    int *task, *node; /* which task, which node of the job its own are */
    double *free;     /* storage of its nodes' member */
    struct arena arena;
    double begin; /* s after the start of the run */
};

struct run_entry {
    enum run_state state;
    const struct run_epoch *epoch;
    const struct moldable_placed *placed; /* of that epoch's plan */
    double start, finish;                 /* measured, s after the start of the run */
    double seconds;                       /* of the program, as "measure" says */
    int attempts, status;                 /* exit status of the last one, 128 + signal */
    bool before;                          /* done in a run before this one */
};

/* What of a node is idle. */
struct run_idle {
    int cores, gpus;
    double memory;
};

/* How long tasks of a kind took, against their law. */
struct run_measured {
    int left, n;               /* tasks not done; tasks measured */
    double measured, expected; /* s, of those */
};

struct run_history {
    const struct run_job *job;
    const struct moldable_method *method;
    const char *folder;            /* of the results */
    char token[40];                /* of this run; stands in folder/lock */
    struct run_entry *entry;       /* [ntasks] */
    struct run_idle *idle;         /* [nnodes] */
    struct run_measured *measured; /* [nkinds] */
    bool *lost;                    /* [nnodes] */
    struct run_epoch **epoch;
    int nepochs;
    size_t room;        /* of `epoch` */
    struct arena arena; /* of the other lists */
    int *queue;        /* [ntasks] waiting tasks by node, in the order in which they are to start */
    int *first;        /* [nnodes+1] of each node in the queue */
    int *head;         /* [nnodes] the first that may still wait */
    int lock, journal; /* files */
    bool made;         /* this run has made the folder */
    double makespan;   /* measured: last finish */
};

/* Makes or enters the folder. EK_USAGE: it holds a run already and `resume` is false, or that of
 * another job; EK_UNAVAILABLE: another cu-run works there, or it cannot be written. */
enum ek_status run_history_open(struct run_history *, const struct run_job *,
                                const struct moldable_method *, const char *folder, bool resume);
void run_history_close(struct run_history *);

/* The run cannot begin: removes the folder that was made for it. */
void run_history_discard(struct run_history *);

/* Adds a task that is done or has failed to the journal, on disk before it returns. */
enum ek_status run_history_note(struct run_history *, int task);

/* Plans all tasks that wait, over the nodes that are left, from `now` on, by what was measured of
 * their kinds; what runs keeps its cores as long as it is expected to. EK_UNAVAILABLE: no node is
 * left, or a task fits none of them. */
enum ek_status run_history_plan(struct run_history *, double now);

/* Do the kinds of what waits take 10 % more or less than the last plan has it? */
bool run_history_off_plan(const struct run_history *);

/* Seconds that a task may be expected to run where it is placed, by what was measured. */
double run_history_expected(const struct run_history *, int task);

/* Takes the task's share of its nodes (take < 0: gives it back). */
void run_history_occupy(struct run_history *, int task, int take);
/* Is there room for it now? */
bool run_history_room(const struct run_history *, int task);

/* All that must be done before this task is. */
bool run_history_ready(const struct run_history *, int task);

/* The job's number of node k of a task's parts. */
static inline int run_history_node(const struct run_entry *e, int part)
{
    return e->epoch->node[e->placed->part[part].node];
}
