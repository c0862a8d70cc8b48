/* okada_mogi/worker.h – a worker's side: reports a batch and asks for the next one. */
#ifndef OKADA_MOGI_WORKER_H
#define OKADA_MOGI_WORKER_H

#include "okada_mogi/message.h"
#include "okada_mogi/transport.h"

/* Reports `ask` with ask->records records and asks for what is next, for as long as stop() (or
 * NULL) is false. *batch: count 0 = this run is over, or stop() says so. EK_USAGE: the coordinator
 * has another job or version; EK_LOST: it is gone. */
enum ek_status worker_ask(const struct transport *t, const struct message_ask *ask,
                          const struct accepted_record *record, bool (*stop)(void),
                          struct trial_range *batch);

#endif
