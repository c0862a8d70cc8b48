/* cu/sched/exchange.h – what faces that cross between memory nodes cost, learnt from the exchanges
 * of a run: those may well take ten times as long as the link says of their bytes, or a tenth. */
#pragma once

#include "cu/sched/sched.h"

#include <stdbool.h>

/* Faces that cross, and what they carry. */
struct exchange_load {
    double faces, bytes;
};

/* What the link says they take. */
static inline double exchange_seconds(const struct sched_link *link, struct exchange_load load)
{
    return link->latency * load.faces + link->per_byte * load.bytes;
}

/* What crosses on the link of the device that is busiest with it, with task t's data in memory node
 * home[t] of nmemories. load [nmemories] becomes what crosses at each memory node. */
struct exchange_load exchange_crossing(const struct sched_job *job, const int *home, int nmemories,
                                       const struct sched_link *link, struct exchange_load *load);

enum { EXCHANGE_LATEST = 3 };

struct exchange {
    struct exchange_load load;    /* as tasks lie now */
    double took[EXCHANGE_LATEST]; /* the latest exchanges, as tasks lie now */
    unsigned count;               /* of all of those */
    double alone;                 /* seconds of an exchange in which nothing crosses, the least */
    double scale;                 /* faces take so many times what the link says, */
    double more;                  /* and each so much where it says nothing */
};

/* Nothing has been timed yet. */
#define EXCHANGE_UNTIMED ((struct exchange){.alone = 1e300, .scale = 1})

/* Tasks lie elsewhere now, and this crosses. One thread, like all of it. */
void exchange_moved(struct exchange *x, struct exchange_load load);

/* An exchange took `seconds`. */
void exchange_note(struct exchange *x, const struct sched_link *link, double seconds);

/* What a face that crosses takes, by what is known now. */
static inline struct sched_link exchange_face(const struct exchange *x,
                                              const struct sched_link *link)
{
    return (struct sched_link){x->scale * link->latency + x->more, x->scale * link->per_byte};
}

/* Whether faces cost so much more or less than they did that where tasks lie may be wrong. */
bool exchange_differs(const struct sched_job *job, struct sched_link now, struct sched_link then);
