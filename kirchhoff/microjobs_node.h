/* kirchhoff/microjobs_node.h – the management process of a node: fetches microjobs and keeps
 * compute processes running. */
#ifndef KIRCHHOFF_MICROJOBS_NODE_H
#define KIRCHHOFF_MICROJOBS_NODE_H

#include "kirchhoff/microjobs.h"

/* What managers tell the master, and what it answers. */
enum microjobs_what {
    MICROJOBS_ASK,
    MICROJOBS_DONE,
    MICROJOBS_FAILED,
    MICROJOBS_WORK,
    MICROJOBS_WAIT,
    MICROJOBS_END
};

struct microjobs_word {
    int what, microjob;
    int code;       /* MICROJOBS_FAILED: exit code, or minus the signal */
    double seconds; /* MICROJOBS_DONE, MICROJOBS_FAILED */
};

/* Runs until ask() answers MICROJOBS_END and all is done here. ask(): tells the master and gives
 * its answer; MICROJOBS_ASK alone has one. After stop_request() the compute processes are ended,
 * and no new one is made. EK_LACK: no process can be made. */
enum ek_status microjobs_node(const struct microjobs *job,
                              struct microjobs_word (*ask)(void *arg, struct microjobs_word),
                              void *arg);

#endif
