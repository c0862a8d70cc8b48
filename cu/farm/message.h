/* cu/farm/message.h – the messages between rank 0 and the workers, sent as plain structs: all nodes
 * of a run have the same architecture and program, which `version` and `job` confirm. */
#pragma once

#include "cu/farm/coordinator.h"

enum { MESSAGE_VERSION = 4, FARM_BRIEF = 32 };

/* Tasks, and the program's description of them. */
struct farm_batch {
    struct ek_range tasks; /* empty: none */
    unsigned char brief[FARM_BRIEF];
    const char *text; /* longer description, NULL: none; valid until the next batch */
};

/* What rank 0 knows of a worker. */
struct farm_worker {
    double rate; /* sum over its units of work per second of busy time */
    int units;
    bool here; /* its connection is up */
};

/* From a worker: reports a batch, whose result of `bytes` bytes follows, and asks for `questions`
 * more. Each question gets one answer. */
struct message_ask {
    uint32_t version, run; /* run: how many farm_begin() came before this run's */
    uint64_t job;          /* checksum of everything that must be equal on all nodes */
    struct ek_range done;  /* the batch, empty: none */
    int32_t failed;        /* not 0: it failed */
    uint32_t questions, units;
    struct farm_capacity capacity;
    int32_t pid, guard; /* this process and its guard */
    uint64_t space;     /* where: process_space() */
    double rate;
    uint64_t bytes;
};

enum message_kind { MESSAGE_BATCH, MESSAGE_END, MESSAGE_REFUSED, MESSAGE_RETIRED };

/* From rank 0; batch.text, if any, follows with its NUL. END: this run is over, ask again in the
 * next. REFUSED: another job or version. RETIRED: the worker was given up, others do its tasks. */
struct message_answer {
    uint32_t kind, run;
    struct farm_batch batch;
};
