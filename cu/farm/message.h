/* cu/farm/message.h – what coordinator and workers say to one another, as plain bytes: all nodes of
 * a run are of one kind and run one program, which the first message proves. */
#pragma once

#include "cu/farm/coordinator.h"
#include <stdint.h>

enum { MESSAGE_VERSION = 3, FARM_BRIEF = 32 };

/* Tasks, and what rank 0 says of them. */
struct farm_batch {
    struct ek_range tasks; /* empty: none */
    unsigned char brief[FARM_BRIEF];
    const char *text; /* more of it; NULL: none. Its owner's until the next batch */
};

/* What a worker is. */
struct farm_worker {
    double rate; /* work/s of its units together, by themselves */
    int units;
    bool here;
};

/* A worker says what became of a batch, whose result of so many bytes follows, and asks for more of
 * them. Every question has one answer. */
struct message_ask {
    uint32_t version, run; /* run: number of the farm_begin(), from 0 */
    uint64_t job;          /* sum of all that must be equal on all nodes */
    struct ek_range done;  /* empty: none */
    int32_t failed;        /* not 0: it failed */
    uint32_t questions, units;
    struct farm_appetite appetite;
    int32_t pid, guard; /* processes, on this host: */
    uint64_t host;
    double rate;
    uint64_t bytes;
};

enum message_kind { MESSAGE_BATCH, MESSAGE_END, MESSAGE_REFUSED, MESSAGE_RETIRED };

/* The coordinator's answer, behind which batch.text follows with its NUL, if it has one. END: this
 * run is over, ask for the next. REFUSED: another job or version. RETIRED: too late, others do its
 * tasks. */
struct message_answer {
    uint32_t kind, run;
    struct farm_batch batch;
};
