/* cu/farm/transport_zmq.h – messages over ZeroMQ (TCP, IPv4 and IPv6, encrypted by CURVE with a key
 * made for this run) between the ranks of a cu/rank/family.h. A rank that dies is seen at once, one
 * that is frozen within two seconds, as its heartbeat stops; either may come back. */
#pragma once

#include "cu/farm/transport.h"
#include "cu/rank/family.h"

/* Rank 0 answers calls from now on, on the socket family->listens, which becomes the transport's;
 * the others call rank 0. *gone: it has ended, nobody listens there any more; *t is not set then.
 * EK_UNAVAILABLE: it cannot be reached, or out of memory. Contexts do not survive fork(). */
enum ek_status transport_zmq_open(const struct family *family, struct transport *t, bool *gone);
