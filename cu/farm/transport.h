/* cu/farm/transport.h – the interface for messages between rank 0 and the other processes of a
 * farm: ZeroMQ on real nodes, MPI on simulated clusters. One thread. */
#pragma once

#include "src/base.h"

enum transport_event_kind {
    TRANSPORT_NOTHING, /* timed out */
    TRANSPORT_MESSAGE,
    TRANSPORT_LOST,    /* the peer is gone or frozen; it may come back */
    TRANSPORT_RENEWED, /* the connection was lost and is back: a worker must ask again */
};

struct transport_event {
    enum transport_event_kind kind;
    int peer;         /* rank */
    const void *data; /* [bytes] owned by the transport, valid until the next receive() */
    size_t bytes;
};

struct transport_ops {
    const char *name;
    /* Does not wait for the peer to receive. EK_LOST: it is gone. */
    enum ek_status (*send)(void *st, int peer, const void *data, size_t bytes);
    /* The next event of any peer; waits at most `seconds`, less where a signal comes.
     * EK_UNAVAILABLE: out of memory. */
    enum ek_status (*receive)(void *st, double seconds, struct transport_event *e);
    double (*now)(void *st); /* seconds */
    void (*close)(void *st);
};

struct transport {
    const struct transport_ops *ops;
    void *st;
};
