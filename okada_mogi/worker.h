/* okada_mogi/worker.h – a worker's side: reports batches and asks for others. */
#ifndef OKADA_MOGI_WORKER_H
#define OKADA_MOGI_WORKER_H

#include "okada_mogi/message.h"
#include "okada_mogi/transport.h"

struct worker {
    struct transport transport;
    int asked; /* questions without an answer */
};

/* Sends a question with ask->records records. EK_LOST: the coordinator is gone; EK_LACK: out of
 * memory. */
enum ek_status worker_ask(struct worker *w, const struct message_ask *ask,
                          const struct accepted_record *record);

/* The answer to the oldest question, for as long as stop() (or NULL) is false; what belongs to
 * runs before `run` is passed over. *batch: count 0 = this run is over, or stop() says so.
 * EK_USAGE: the coordinator has another job or version; EK_LOST: it is gone. */
enum ek_status worker_hear(struct worker *w, uint32_t run, bool (*stop)(void),
                           struct trial_range *batch);

#endif
