/* cu/sched/link.h – what the way between the host and devices costs, learnt from the moves of a
 * run. */
#pragma once

#include "cu/sched/sched.h"

enum { LINK_MOVES = 64 };

/* The latest moves of one unit. Zeroed = none. */
struct link {
    struct link_move {
        double bytes, seconds; /* over one link */
    } move[LINK_MOVES];
    unsigned count; /* of all there ever were */
};

/* A move over `links` links (2 from one device to another). On the unit's own thread. */
void link_note(struct link *l, int links, double bytes, double seconds);

/* latency + bytes * per_byte by a resistant line (cu/sched/line.h) through the latest moves of n
 * units, whose links lie `stride` bytes apart; *known stays what it is while there are fewer than
 * six. One thread, all units idle. EK_UNAVAILABLE: out of memory. */
enum ek_status link_learn(const struct link *first, int n, size_t stride, struct sched_link *known);
