/* cu/moldable/run_history.h – what is known of each task while a job runs, and the journal that
 * outlives it. */
#ifndef CU_RUN_BOOK_H
#define CU_RUN_BOOK_H

#include "cu/moldable/job.h"
#include <sys/types.h>

enum run_state { RUN_WAITS, RUN_RUNS, RUN_DONE, RUN_FAILED };

/* A plan for some of the tasks on some of the nodes; there are several once a node was lost. */
struct run_epoch {
    struct moldable_problem problem; /* its names are those of the job */
    struct moldable_plan plan;
    int *task, *node; /* which task, which node of the job its own are */
    double begin;     /* s after the start of the run */
};

struct run_entry {
    enum run_state state;
    const struct run_epoch *epoch;
    const struct moldable_placed *placed; /* of that epoch's plan */
    double start, finish;                 /* measured, s after the start of the run */
    double seconds;                       /* of the program, as "measure" says */
    int attempts, status;                 /* exit status of the last one, 128 + signal */
    bool before;                          /* done in a run before this one */
    pid_t pid;
};

struct run_history {
    const struct run_job *job;
    const struct moldable_method *method;
    const char *folder;      /* of the results */
    struct run_entry *entry; /* [ntasks] */
    int **busy;              /* [nnodes][cores] the task that runs there, -1 = none */
    bool *lost;              /* [nnodes] */
    struct run_epoch **epoch;
    int nepochs;
    int lock, journal; /* files */
    double makespan;   /* measured: last finish */
};

/* Makes or enters the folder. EK_USAGE: it holds a run already and `resume` is false, or that of
 * another job; EK_UNAVAILABLE: another cu-run works there, or it cannot be written. */
enum ek_status run_history_open(struct run_history *, const struct run_job *,
                                const struct moldable_method *, const char *folder, bool resume);
void run_history_close(struct run_history *);

/* Adds a finished task to the journal, on disk before it returns. */
enum ek_status run_history_note(struct run_history *, int task);

/* Plans all tasks that wait, over the nodes that are left, from `now` on. EK_UNAVAILABLE: no node
 * is left, or a task fits none of them. */
enum ek_status run_history_plan(struct run_history *, double now);

/* The job's number of node k of a task's parts. */
static inline int run_history_node(const struct run_entry *e, int part)
{
    return e->epoch->node[e->placed->part[part].node];
}

#endif
