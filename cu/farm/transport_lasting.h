/* cu/farm/transport_lasting.h – a transport over another one whose messages survive a connection
 * that ends and comes back, as where a process or a network stood still: each side keeps what the
 * other has not confirmed, and repeats it when they hear from one another again. */
#pragma once

#include "cu/farm/transport.h"

/* Wraps *t, which has `peers` ranks, on both sides of each connection. It is rank 0 that hears when
 * a connection was lost and renewed, not the worker. EK_UNAVAILABLE: out of memory. */
enum ek_status transport_lasting_open(struct transport *t, int peers);
