/* cu/moldable/launch.h – starts one task's process: here, over ssh, or in a Slurm allocation. */
#ifndef CU_RUN_LAUNCH_H
#define CU_RUN_LAUNCH_H

#include "cu/moldable/job.h"
#include <sys/types.h>

struct run_start {
    int task, kind;
    int node;           /* the first one of a cluster task */
    int cores;          /* of all nodes */
    int ncore;          /* of this node */
    const int *core;    /* [ncore] */
    const char *hosts;  /* {hosts} */
    double seconds;     /* predicted */
    const char *folder; /* of its files: <id>.out, <id>.err, <id>.lock */
};

/* Starts it as a process group of its own, bound to its cores, its output in files. The lock is
 * held by the task and all that it starts, for as long as one of them lives. EK_UNAVAILABLE: no
 * process.
 */
enum ek_status run_launch(const struct run_job *, const struct run_start *, pid_t *pid);

/* Ends what an earlier cu-run may have left of the task: whoever still holds its lock. */
enum ek_status run_reap_orphan(const char *folder, int task);

/* Seconds that the finished task says it took (job's "measure"), or `wall`. EK_USAGE: its output
 * has no such line. */
enum ek_status run_measured(const struct run_job *, int kind, const char *folder, int task,
                            double wall, double *seconds);

/* Can the node be reached, and does it have the command? EK_UNAVAILABLE: says what is missing
 * where. */
enum ek_status run_probe_node(const struct run_job *, int node);
/* Are all nodes there, and the commands on them? Several at a time. */
enum ek_status run_probe(const struct run_job *);

/* Exit status by which ssh says that it lost the host. */
enum { RUN_HOST_LOST = 255 };

#endif
