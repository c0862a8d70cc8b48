/* cu/farm/server.h – rank 0's ear: takes the workers' messages, asks the coordinator, and answers.
 * Workers that wait for a batch are remembered until there is one, or the run is over. */
#pragma once

#include "cu/farm/coordinator.h"
#include "cu/farm/message.h"
#include "cu/farm/transport.h"

struct server_ops {
    /* Fills batch->brief and ->text for batch->tasks; NULL: numbers say all. On the server's
     * thread. */
    void (*brief)(void *arg, struct farm_batch *batch);
    /* The result [bytes] of a rank's batch, aligned for anything, which counts from now on; with
     * failed != 0 it failed so. On the server's thread. */
    enum ek_status (*take)(void *arg, int rank, const struct farm_batch *batch, int failed,
                           const void *result, size_t bytes);
    void *arg;
    /* Seconds for which a worker that is out of reach keeps its batches: it may only be its line.
     * After that it is retired for good. 0: it loses them at once, and may come back. */
    double grace;
};

struct server;

/* For ranks 1 .. size-1 of the transport, which is borrowed, and a job of this sum. */
enum ek_status server_open(const struct transport *t, int size, uint64_t job,
                           const struct server_ops *ops, struct server **s);
void server_close(struct server *s);

/* Run number `run` begins with this coordinator (borrowed); NULL: it is over, for all who ask. Any
 * thread. */
void server_begin(struct server *s, int run, struct coordinator *c);

/* Serves for at least `seconds`, or until something came. On one thread, the transport's.
 * EK_UNAVAILABLE: out of memory, or as ops->take() says. */
enum ek_status server_serve(struct server *s, double seconds);

/* The rank's process has ended, as its launcher says: no grace where its line is down. Any
 * thread. */
void server_ended(struct server *s, int rank);

struct farm_worker server_worker(struct server *s, int rank); /* any thread */

/* Ends the processes of workers on this host that have not left: frozen ones would keep the
 * launcher from ending. */
void server_end_frozen(struct server *s);
