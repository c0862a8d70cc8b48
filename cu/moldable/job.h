/* cu/moldable/job.h – a job of cu-run, read from JSON: nodes, and tasks as shell commands.
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
 * Required are nodes, and the command and (to plan and to run) the time of each task. Commands and
 * outputs may contain {id} and the names of the task's sweep, commands also {cores}, {node},
 * {hosts} ("a:8,b:8" for mpirun --host) and {seconds} (the predicted run time). A sweep makes
 * `count` tasks of each combination of its values. A node without "host" is part of this machine;
 * such nodes divide its cpus among them, unless the job may oversubscribe it. A hostfile has Open
 * MPI's format ("cs1 slots=8"). "measure" is an extended regular expression whose one group matches
 * the time in s that the program prints: `calibrate` fits the law to it and adds the rest of the
 * run as a constant; without it the whole run is timed. Environment variables named in "cores_in"
 * are set to the number of cores. "after" names tasks that must be done first, "outputs" the files
 * that a finished task must have left. A task is killed after its "walltime" (s, or "[[h:]m:]s");
 * the job's is the length of the allocation, and no task starts that would not end within it.
 * Memory may have any unit, as long as nodes and tasks use the same. */
#pragma once

#include "cu/moldable/moldable.h"
#include <jansson.h>

enum run_reach { RUN_HERE, RUN_SSH, RUN_SLURM };

struct run_node {
    enum run_reach reach;
    char *host; /* RUN_SSH, RUN_SLURM */
    int *cpu;   /* [cores] cpus of this machine; NULL: the agent finds them */
};

/* The part of a kind of tasks that planning does not need. Pointers are borrowed from root. */
struct run_command {
    const char *text;
    const char *measure;  /* NULL = the whole run */
    const json_t *sweep;  /* NULL = none */
    const json_t *output; /* NULL = none */
    double walltime;      /* s, 0 = none */
    int first;            /* number of the kind's first task */
    bool timed;           /* its law is known */
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

/* EK_USAGE: the message names the file and the key; EK_UNAVAILABLE: the nodes have more cores than
 * this machine. */
enum ek_status run_job_open(struct run_job *, const char *path);
void run_job_close(struct run_job *);

/* EK_USAGE if a task has no run time yet; the message says how to get it. */
enum ek_status run_job_timed(const struct run_job *);

/* Tasks of a kind. */
static inline int run_job_count(const struct run_job *j, int kind)
{
    const bool last = kind + 1 == j->problem.nkinds;
    return (last ? j->problem.ntasks : j->command[kind + 1].first) - j->command[kind].first;
}

/* What stands for {name} in a text. */
struct run_word {
    const char *name, *text;
};

/* `text` with the task's number in place of {id}, the values of its sweep in place of their names,
 * and `more` words, of which the last has no name; NULL: none. Caller frees; NULL: out of memory.
 */
char *run_job_text(const struct run_job *, int task, const struct run_word *more, const char *text);
