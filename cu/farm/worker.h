/* cu/farm/worker.h – the worker's side: reports batches and asks for more. One thread. */
#pragma once

#include "cu/farm/message.h"
#include "cu/farm/transport.h"

struct worker {
    struct transport transport;
    uint64_t job;
    struct farm_capacity capacity;
    int run;
    uint64_t space; /* process_space() */
    int asked;      /* questions without an answer */
    int in_hand;    /* batches neither reported nor failed */
    bool over;      /* this run is over */
    struct farm_worker is;
    char *text; /* of the last batch */
};

/* Both free the text of the previous batch. */
void worker_begin(struct worker *w, int run);
void worker_end(struct worker *w);

/* Reports a batch (empty: none) with its result or its failure (failed != 0), and asks for as many
 * more as there is room for. EK_LOST: rank 0 is gone; EK_UNAVAILABLE: out of memory. */
enum ek_status worker_report(struct worker *w, struct ek_range done, int failed, const void *result,
                             size_t bytes);

/* Waits at most `seconds` for the next message: *batch, empty if it brought none. EK_USAGE: rank 0
 * has another job or version; EK_LOST: it is gone, or has given this worker up. */
enum ek_status worker_hear(struct worker *w, double seconds, struct farm_batch *batch);
