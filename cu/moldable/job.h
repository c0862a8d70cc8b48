/* cu/moldable/job.h – a job of cu-run, read from JSON: nodes, tasks as commands, how cores are
 * told.
 *
 *   {"nodes": "localhost" | "slurm" | {"hostfile": "FILE"} |
 *             [{"name": "cs1", "host": "cs1.example.org", "cores": 8, "factor": 1.0,
 *               "cluster": "all", "gpus": 0, "memory": 0}, …],
 *    "oversubscribe": false,
 *    "tasks": [{"name": "fem", "count": 10, "command": "ccx -i plate{id}",
 *               "time": "71.07/p^0.42+4.47" | [75, 52, 43], "interference": 0.2,
 *               "cluster": false, "least_cores": 0, "most_cores": 0, "gpus": 0, "memory": 0,
 *               "walltime": 0, "after": ["mesh", …], "sweep": {"x": [1, 2], "y": ["a", "b"]},
 *               "outputs": ["plate{id}.frd", …], "measure": "Total time: *([0-9.]+)"}, …] |
 *             {"swf": "TRACE", "scale": 1.0, "command": "sleep {seconds}"},
 *    "cores_in": ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"],
 *    "retries": 1, "walltime": 0}
 *
 * Needed are nodes and, of each task, command and (to plan and to run) time. In a command {cores},
 * {id}, {node}, {hosts} ("a:8,b:8" for mpirun --host), {seconds} (the predicted run time) and the
 * names of its sweep, all of whose combinations are tasks, `count` times each, are replaced.
 * Without "host" a node is this machine, of which nodes take their cores one after the other,
 * unless the job may oversubscribe it. A hostfile is Open MPI's ("cs1 slots=8"). "measure" is an
 * extended regular expression whose group is the time in s that the program prints: `calibrate`
 * fits its law to that and adds what a run takes besides; without it the whole run is timed.
 * Environment variables named in "cores_in" are set to the number of cores. "after" names tasks all
 * of which must be done before; "outputs" files without which a task is not done. A task's
 * "walltime" (s, or "[[h:]m:]s") ends it, the job's is what the allocation has: no task starts that
 * would not end in time. Memory is in any unit, the same for nodes and tasks. */
#pragma once

#include "cu/moldable/moldable.h"
#include <jansson.h>

enum run_reach { RUN_HERE, RUN_SSH, RUN_SLURM };

struct run_node {
    enum run_reach reach;
    char *host; /* RUN_SSH, RUN_SLURM */
    int *cpu;   /* [cores] of this machine, NULL = the agent takes its own */
};

struct run_command {
    const char *text;     /* borrowed from root */
    const char *measure;  /* borrowed, NULL = whole run */
    const json_t *sweep;  /* borrowed, NULL = none */
    const json_t *output; /* borrowed, NULL = none */
    double walltime;      /* s, 0 = none */
    int first;            /* number of the kind's first task */
    bool timed;           /* has a run time */
};

struct run_job {
    const char *path;                /* borrowed */
    struct moldable_problem problem; /* kinds in the order of "tasks" */
    struct run_node *node;           /* [problem.nnodes] */
    struct run_command *command;     /* [problem.nkinds] */
    const char **cores_in;           /* ends with NULL */
    int retries;
    double walltime; /* s, 0 = none */
    bool oversubscribe;
    json_t *root;
    struct arena arena; /* of the texts and lists above */
    size_t room;        /* of `node` */
};

/* EK_USAGE: names the file and the key; EK_UNAVAILABLE: the nodes want more cores than this machine
 * has. */
enum ek_status run_job_open(struct run_job *, const char *path);
void run_job_close(struct run_job *);

/* EK_USAGE if a task has no run time yet; the line says how to get it. */
enum ek_status run_job_timed(const struct run_job *);

/* `text` with the values of the task's sweep in place of their names, and its number in place of
 * {id}. Caller frees; NULL: out of memory. */
char *run_job_text(const struct run_job *, int task, const char *text);
