/* cu/farm/server.h – rank 0's side of the messages: receives them, asks the coordinator, answers.
 * Unanswered requests are kept until there is a batch or the run is over. */
#pragma once

#include "cu/farm/coordinator.h"
#include "cu/farm/message.h"
#include "cu/farm/transport.h"

struct server_ops {
    /* Fills batch->brief and ->text for batch->tasks; NULL: the task numbers say enough. Called on
     * the server's thread. */
    void (*brief)(void *arg, struct farm_batch *batch);
    /* Accepts the result [bytes] of a rank's batch, aligned for any type, or its failure (failed
     * != 0). Called on the server's thread. */
    enum ek_status (*take)(void *arg, int rank, const struct farm_batch *batch, int failed,
                           const void *result, size_t bytes);
    void *arg;
    /* Seconds for which an unreachable worker keeps its batches, in case only the network failed,
     * and all messages of both arrive in the end (transport_lasting.h; workers set it, too); after
     * them it is retired for good. 0: it loses them at once and may come back. */
    double grace;
};

struct server;

/* For ranks 1 .. size-1 of the transport, which is borrowed, and a job with this checksum. */
enum ek_status server_open(const struct transport *t, int size, uint64_t job,
                           const struct server_ops *ops, struct server **s);
void server_close(struct server *s);

/* Begins run number `run` with this coordinator (borrowed); NULL: the run is over, which all who
 * ask are told. Any thread. */
void server_begin(struct server *s, int run, struct coordinator *c);

/* Handles the next message, waiting for it at most `seconds`. Always on the same thread.
 * EK_UNAVAILABLE: out of memory, or what ops->take() returns. */
enum ek_status server_serve(struct server *s, double seconds);

/* The launcher has seen the rank's process end: no grace once its connection is down. Any thread.
 */
void server_ended(struct server *s, int rank);

struct farm_worker server_worker(struct server *s, int rank); /* any thread */

/* Kills frozen workers on this host, which would keep the launcher from ending. */
void server_end_frozen(struct server *s);
