/* kirchhoff/job_node.h – the management process of a node: fetches microjobs and keeps compute
 * processes running. */
#ifndef KIRCHHOFF_JOB_NODE_H
#define KIRCHHOFF_JOB_NODE_H

#include "kirchhoff/job.h"

/* What managers tell the master, and what it answers. */
enum job_what { JOB_ASK, JOB_DONE, JOB_FAILED, JOB_WORK, JOB_WAIT, JOB_END };

struct job_word {
    int what, microjob;
    int code;       /* JOB_FAILED: exit code, or minus the signal */
    double seconds; /* JOB_DONE, JOB_FAILED */
};

/* Runs until ask() answers JOB_END and all is done here. ask(): tells the master and gives its
 * answer; JOB_ASK alone has one. After stop_request() the compute processes are ended, and no
 * new one is made. EK_LACK: no process can be made. */
enum ek_status job_node(const struct job *job, struct job_word (*ask)(void *arg, struct job_word),
                        void *arg);

#endif
