/* cu/moldable/agent.h – cu-run's worker on a node, and what it and the master say to one another.
 *
 * `cu-run agent` is started once a node, through ssh or srun or here, reads one line of JSON from
 * its standard input (agent_start_json()), calls the master back (cu/farm/), and then starts and
 * ends tasks as they come. It chooses the cpus and GPUs of each: those of its node that are idle.
 * When the master is out of reach for AGENT_LEASE seconds it ends its tasks and leaves; before the
 * master gives them to others, therefore. */
#pragma once

#include "cu/moldable/job.h"
#include "cu/rank/family.h"
#include <stdint.h>

/* Seconds: see above; and until the master gives up an agent that is out of reach. */
enum { AGENT_LEASE = 30, AGENT_GRACE = 40 };

/* Exit codes of an agent that never was: no folder, no program, no ssh; see sh(1), ssh(1). */
enum { AGENT_NO_FOLDER = 126, AGENT_NO_PROGRAM = 127, AGENT_NO_SSH = 255 };

/* What is common to all agents of a run. */
struct agent_run {
    const struct run_job *job;
    const struct family *family; /* of the master */
    const char *folder;          /* of the results, absolute */
    const char *token;           /* stands in folder/lock: who reads it there writes there */
};

/* The line for an agent of rank `node + 1`. New reference; NULL: out of memory. */
json_t *agent_start_json(const struct agent_run *, int node);

/* What a task is to the agent, as the text of a batch. */
struct agent_task {
    int task, kind;
    int cores, all_cores; /* of this node; of all nodes of a cluster task */
    int nnodes;
    const char *node;
    const char *hosts, *nodelist, *tasks_per_node; /* "a:8,b:8", "a,b", "8,8" */
    double seconds;                                /* predicted */
};
/* For the agent of `node`. Caller frees; NULL: out of memory. */
char *agent_task_text(const struct run_job *, const struct agent_task *, int node);

/* What becomes of it; the task's output follows where the agent does not see the folder. */
struct agent_report {
    int32_t code;         /* 0: done */
    int32_t carried;      /* its output follows */
    double wall, seconds; /* s; of the program itself, as "measure" says */
    uint64_t out, err;    /* bytes that follow */
};
