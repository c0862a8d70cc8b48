/* cu/farm/worker.h – a worker's side: reports batches and asks for others. One thread. */
#pragma once

#include "cu/farm/message.h"
#include "cu/farm/transport.h"

/* worker_begin() and worker_end() free what the last run has left. */
struct worker {
    struct transport transport;
    uint64_t job;
    struct farm_appetite appetite;
    int run;
    int asked;   /* questions without an answer */
    int in_hand; /* batches neither reported nor failed */
    bool over;   /* this run is */
    struct farm_worker is;
    char *text; /* of the last batch */
};

void worker_begin(struct worker *w, int run);
void worker_end(struct worker *w);

/* Reports a batch (empty: none; failed != 0: it failed so) with its result, and asks for as many
 * as there is room for. EK_LOST: rank 0 is gone; EK_UNAVAILABLE: out of memory. */
enum ek_status worker_report(struct worker *w, struct ek_range done, int failed, const void *result,
                             size_t bytes);

/* What the next message says, within `seconds`: *batch, empty if it said nothing of the kind.
 * EK_USAGE: rank 0 has another job or version; EK_LOST: it is gone, or has given us up. */
enum ek_status worker_hear(struct worker *w, double seconds, struct farm_batch *batch);
