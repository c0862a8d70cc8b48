/* cu/moldable/agent.h – cu-run's worker on a node, and its messages to and from the master.
 *
 * One `cu-run agent` per node is started through ssh or srun or as a child process. It reads one
 * line of JSON from its standard input (agent_start_json()), connects to the master (cu/farm/), and
 * then runs the tasks it is sent, each on idle cpus and GPUs of its node. If the master is out of
 * reach for AGENT_LEASE seconds, the agent ends its tasks and exits, which is before the master
 * gives them to other nodes. */
#pragma once

#include "cu/moldable/job.h"
#include "cu/rank/family.h"

/* Seconds: see above; until the master gives up an agent that is out of reach. */
enum { AGENT_LEASE = 30, AGENT_GRACE = 40 };

/* Exit codes where no agent could be started: no folder, no program, no ssh; see sh(1), ssh(1). */
enum { AGENT_NO_FOLDER = 126, AGENT_NO_PROGRAM = 127, AGENT_NO_SSH = 255 };

/* Common to all agents of a run. */
struct agent_run {
    const struct run_job *job;
    const struct family *family; /* of the master */
    const char *folder;          /* of the results, absolute */
    const char
        *token; /* the content of folder/lock: an agent that reads it there shares the folder */
};

/* The line for the agent of a node, which has rank `node + 1`. New reference; NULL: out of memory.
 */
json_t *agent_start_json(const struct agent_run *, int node);

/* The parts of a task's text that only the plan knows. */
struct agent_task {
    int task, kind;
    int cores, all_cores; /* of this node; of all nodes of a cluster task */
    int nnodes;
    const char *node;
    const char *hosts, *nodelist, *tasks_per_node; /* "a:8,b:8", "a,b", "8,8" */
    double seconds;                                /* predicted */
};
/* The task as JSON for the agent of `node`: the text of a batch. Caller frees; NULL: out of
 * memory. */
char *agent_task_text(const struct run_job *, const struct agent_task *, int node);

/* The result of a batch. */
struct agent_report {
    int32_t code;         /* 0: done */
    int32_t carried;      /* its output follows, because the agent does not see the folder */
    double wall, seconds; /* s: start to end; as found by "measure", else the same */
    uint64_t out, err;    /* bytes of its standard output and error that follow */
};
