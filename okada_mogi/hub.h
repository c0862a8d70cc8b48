/* okada_mogi/hub.h – serves the workers: takes their messages, asks the coordinator, and answers.
 * Workers that wait for a batch are remembered until there is one, or the run is over. */
#ifndef OKADA_MOGI_HUB_H
#define OKADA_MOGI_HUB_H

#include "okada_mogi/coordinator.h"
#include "okada_mogi/message.h"
#include "okada_mogi/transport.h"

/* What a worker has said of itself. */
struct hub_worker {
    double rate; /* trials/s of its units together, each by itself */
    int units;
    bool here;
};

struct hub_ops {
    /* The records of a batch, [n], ascending, that took so many evaluations; they count from now
     * on. On the hub's thread. */
    enum ek_status (*take)(void *arg, struct trial_range batch, const struct accepted_record *r,
                           size_t n, double evaluations);
    void *arg;
};

struct hub;

/* For ranks 1 .. size-1 of the transport, which is borrowed, and a job of this sum. */
enum ek_status hub_open(const struct transport *t, int size, uint64_t job,
                        const struct hub_ops *ops, struct hub **h);
void hub_close(struct hub *h);

/* Run number `run` begins with this coordinator (borrowed); NULL: it is over, for all who ask. Any
 * thread. */
void hub_begin(struct hub *h, int run, struct coordinator *c);

/* Serves for at least `seconds`, or until something came. On one thread, the transport's. EK_LACK:
 * out of memory, or as ops->take() says. */
enum ek_status hub_serve(struct hub *h, double seconds);

struct hub_worker hub_worker(struct hub *h, int rank); /* any thread */

#endif
