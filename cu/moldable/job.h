/* cu/moldable/job.h – a job of cu-run, read from JSON: nodes, tasks as commands, how cores are
 * told.
 *
 *   {"nodes": "localhost" | "slurm" | {"hostfile": "FILE"} |
 *             [{"name": "cs1", "host": "cs1.example.org", "cores": 8, "factor": 1.0,
 *               "cluster": "all"}, …],
 *    "oversubscribe": false,
 *    "tasks": [{"name": "fem", "count": 10, "command": "ccx -i plate{id}",
 *               "time": "71.07/p^0.42+4.47" | [75, 52, 43], "cluster": false, "most_cores": 0,
 *               "measure": "Total time: *([0-9.]+)"}, …],
 *    "cores_in": ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"],
 *    "retries": 1}
 *
 * Needed are nodes and, of each task, command and (to plan and to run) time. In a command {cores},
 * {id}, {node}, {hosts} ("a:8,b:8" for mpirun --host) and {seconds} (the predicted run time) are
 * replaced. Without "host" a node is this machine, of which nodes take their cores one after the
 * other, unless the job may oversubscribe it. A hostfile is Open MPI's ("cs1 slots=8"). "measure"
 * is an extended regular expression whose group is the time in s that the program prints; without
 * it the whole run is timed. Environment variables named in "cores_in" are set to the number of
 * cores.
 */
#ifndef CU_RUN_JOB_H
#define CU_RUN_JOB_H

#include "cu/moldable/moldable.h"
#include <jansson.h>

enum run_reach { RUN_HERE, RUN_SSH, RUN_SLURM };

struct run_node {
    enum run_reach reach;
    char *host; /* RUN_SSH, RUN_SLURM */
    int *cpu;   /* [cores] of this machine, NULL = not bound */
};

struct run_command {
    const char *text;    /* borrowed from root */
    const char *measure; /* borrowed, NULL = whole run */
    bool timed;          /* has a run time */
};

struct run_job {
    const char *path;                /* borrowed */
    struct moldable_problem problem; /* kinds in the order of "tasks" */
    struct run_node *node;           /* [problem.nnodes] */
    struct run_command *command;     /* [problem.nkinds] */
    const char **cores_in;           /* ends with NULL */
    int retries;
    bool oversubscribe;
    json_t *root;
};

/* EK_USAGE: names the file and the key; EK_UNAVAILABLE: the nodes want more cores than this machine
 * has.
 */
enum ek_status run_job_open(struct run_job *, const char *path);
void run_job_close(struct run_job *);

/* EK_USAGE if a task has no run time yet; the line says how to get it. */
enum ek_status run_job_timed(const struct run_job *);

#endif
