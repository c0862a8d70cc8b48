/* cu/sched/exchange.h – what faces between memory nodes cost, learnt from timed exchanges; this may
 * well be ten times or a tenth of what the link suggests. */
#pragma once

#include "cu/sched/sched.h"

#include <stdbool.h>

/* Faces that cross between memory nodes, and their bytes. */
struct exchange_load {
    double faces, bytes;
};

/* Seconds they take by the link. */
static inline double exchange_seconds(const struct sched_link *link, struct exchange_load load)
{
    return link->latency * load.faces + link->per_byte * load.bytes;
}

/* Load of the busiest device's link when task t's data is in memory node home[t] of nmemories. load
 * [nmemories] receives the load of each memory node. */
struct exchange_load exchange_crossing(const struct sched_job *job, const int *home, int nmemories,
                                       const struct sched_link *link, struct exchange_load *load);

enum { EXCHANGE_LATEST = 3 };

struct exchange {
    struct exchange_load load;    /* for the tasks' present homes */
    double took[EXCHANGE_LATEST]; /* the latest exchanges with these homes */
    unsigned count;               /* number of all exchanges with these homes */
    double alone;                 /* least seconds of an exchange in which nothing crosses */
    struct exchange_load known;   /* faces whose cost was measured last, */
    double seconds;               /* and that cost; negative: never */
};

/* Nothing timed yet. */
#define EXCHANGE_UNTIMED ((struct exchange){.alone = 1e300, .seconds = -1})

/* Tasks have moved, and `load` crosses now. One thread, like everything here. */
void exchange_moved(struct exchange *x, struct exchange_load load);

/* An exchange took `seconds`. */
void exchange_note(struct exchange *x, const struct sched_link *link, double seconds);

/* Present estimate of what a face that crosses costs: as measured, in the proportion of latency to
 * bandwidth that the link has; by the link if nothing was. */
struct sched_link exchange_face(const struct exchange *x, const struct sched_link *link);

/* Whether the cost of faces has changed so much that tasks may lie in the wrong places. */
bool exchange_differs(const struct sched_job *job, struct sched_link now, struct sched_link then);
