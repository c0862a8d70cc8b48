/* okada_mogi/message.h – what coordinator and workers say to one another, as plain bytes: all nodes
 * of a run are of one kind and run one program, which the first message proves. */
#ifndef OKADA_MOGI_MESSAGE_H
#define OKADA_MOGI_MESSAGE_H

#include "okada_mogi/accepted.h"
#include <stdint.h>

enum { MESSAGE_VERSION = 1 };

/* A worker asks for a batch, and says what the last one brought: `records` struct accepted_record
 * follow. It asks for the next one before it begins with the one that it has. Every question has
 * one answer, in order. */
struct message_ask {
    uint32_t version, run;   /* run: number of the search, from 0 */
    uint64_t job;            /* sum of the job, see job_sum() */
    struct trial_range done; /* count 0: none */
    double evaluations;      /* since the last report */
    double rate;             /* trials/s of the worker's units together, by themselves */
    uint64_t units, records;
};

enum message_kind { MESSAGE_BATCH, MESSAGE_END, MESSAGE_REFUSED };

/* The coordinator's answer. END: this run is over, ask for the next. REFUSED: another job or
 * version. */
struct message_answer {
    uint32_t kind, run;
    struct trial_range batch;
};

#endif
