/* cu/sched/exchange.h – what faces between memory nodes cost, learnt from timed exchanges; this may
 * well be ten times or a tenth of what the link suggests. */
#pragma once

#include "cu/sched/sched.h"

#include <math.h>
#include <stdbool.h>

/* Faces that cross between memory nodes, and their bytes; bytes of those that do not. */
struct exchange_load {
    double faces, bytes;
    double host, device; /* inside the host, inside the device with most */
};

/* What an exchange costs: each face that crosses, and the rest. */
struct exchange_cost {
    struct sched_link face;
    struct sched_exchange rest;
};

/* Seconds they take by the link. */
static inline double exchange_seconds(const struct sched_link *link, struct exchange_load load)
{
    return link->latency * load.faces + link->per_byte * load.bytes;
}

/* Load of the busiest device's link, and bytes that stay, when task t's data is in memory node
 * home[t] of nmemories. load [nmemories] receives the load of each memory node. */
struct exchange_load exchange_crossing(const struct sched_job *job, const int *home, int nmemories,
                                       const struct sched_link *link, struct exchange_load *load);

enum { EXCHANGE_LATEST = 3, EXCHANGE_SEEN = 8 };

/* Usual seconds of an exchange with some homes. */
struct exchange_seen {
    struct exchange_load load;
    double seconds;
};

struct exchange {
    struct exchange_load load;    /* for the tasks' present homes */
    double took[EXCHANGE_LATEST]; /* the latest exchanges with these homes */
    unsigned count;               /* number of all exchanges with these homes */
    double alone;                 /* least seconds of an exchange in which nothing crosses */
    struct exchange_load known;   /* faces whose cost was measured last, */
    double seconds;               /* and that cost; negative: never */
    struct exchange_seen seen[EXCHANGE_SEEN]; /* exchanges with the latest homes */
    unsigned homes;                           /* number of different homes so far */
    double fixed;                             /* seconds of any exchange */
    struct sched_exchange rest;               /* other parts than faces that cross */
    struct sched_link more;                   /* what these cost where the link is free, */
    bool fitted;                              /* if that has been told from other parts */
};

/* Nothing timed yet. */
#define EXCHANGE_UNTIMED ((struct exchange){.alone = 1e300, .seconds = -1, .rest.seconds = NAN})

/* Tasks have moved, and `load` crosses now. One thread, like everything here. */
void exchange_moved(struct exchange *x, struct exchange_load load);

/* An exchange took `seconds`. */
void exchange_note(struct exchange *x, const struct sched_link *link, double seconds);

/* Present estimate of what a face that crosses costs: as measured, in the proportion of latency to
 * bandwidth that the link has; by the link if nothing was. */
struct sched_link exchange_face(const struct exchange *x, const struct sched_link *link);

/* Whether the cost of faces has changed so much that tasks may lie in the wrong places. */
bool exchange_differs(const struct sched_job *job, const struct exchange_cost *now,
                      const struct exchange_cost *then);
