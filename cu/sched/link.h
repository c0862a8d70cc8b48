/* cu/sched/link.h – latency and bandwidth between the host and devices, learnt from the moves of a
 * run. */
#pragma once

#include "cu/sched/sched.h"

enum { LINK_MOVES = 64 };

/* The latest moves of one unit. Zeroed = none. */
struct link {
    struct link_move {
        double bytes, seconds; /* over one link */
    } move[LINK_MOVES];
    unsigned count; /* of all moves so far */
};

/* Records a move over `links` links (2 from one device to another). On the unit's own thread. */
void link_note(struct link *l, int links, double bytes, double seconds);

/* Fits latency + bytes * per_byte by a resistant line (cu/sched/line.h) through the latest moves of
 * n units, whose links lie `stride` bytes apart. With fewer than six moves *known stays as it is.
 * One thread, all units idle. EK_UNAVAILABLE: out of memory. */
enum ek_status link_learn(const struct link *first, int n, size_t stride, struct sched_link *known);
