/* cu/farm/transport_zmq.h – messages over ZeroMQ (TCP, IPv4 and IPv6, encrypted by CURVE with a key
 * made for this run) between the ranks of a cu/rank/family.h. A dead rank is noticed at once, a
 * frozen one within two seconds because its heartbeat stops; either may come back. */
#pragma once

#include "cu/farm/transport.h"
#include "cu/rank/family.h"

/* Rank 0 takes over the socket family->listens and accepts connections; the others connect to it.
 * *gone: rank 0 has ended (nobody listens there any more); *t is not set then. EK_UNAVAILABLE: it
 * cannot be reached, or out of memory. ZeroMQ's contexts do not survive fork(). */
enum ek_status transport_zmq_open(const struct family *family, struct transport *t, bool *gone);
