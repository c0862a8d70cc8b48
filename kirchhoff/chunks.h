/* kirchhoff/chunks.h – the traces of a migration in working order.
 *
 * Traces that share a block of surface cells for their sources, and one for their receivers, need
 * the same tables: they form a *chunk*. Chunks follow a Morton curve through the four coordinates
 * of source and receiver blocks, so that consecutive ones share tables whatever fits in memory. A
 * block is the smallest square, 2^b cells wide, that gives chunks of the wanted size. */
#pragma once

#include "kirchhoff/geometry.h"
#include "kirchhoff/segy.h"
#include "kirchhoff/traveltime_cache.h"

/* Offset classes: class floor((offset - first) / width); width 0: one class for all offsets. */
struct chunks_classes {
    int n;
    double first, width; /* m */
    double most;         /* m: larger offsets are in no class; 0: no limit */
};

struct chunks_options {
    struct chunks_classes classes;
    double reach;     /* largest distance from midpoint to image, m; INFINITY: no limit */
    double box[2][2]; /* the image's least and largest x and y, m */
    long chunk;       /* least traces of a chunk; 0: by the number of all traces */
    enum geometry_share share;
};

/* Why traces are left out. */
enum chunks_reason { CHUNKS_USED, CHUNKS_OFFSET, CHUNKS_FAR, CHUNKS_REASONS };

struct chunks {
    const struct segy *segy; /* borrowed */
    size_t n;                /* traces used */
    uint32_t *order;         /* [n] trace numbers in the index, chunk by chunk */
    size_t nchunks;
    size_t *first; /* [nchunks + 1] positions in order */
    int cells;     /* along a block's side */
    size_t count[CHUNKS_REASONS];
    struct geometry geometry; /* of the traces used */
};

/* EK_USAGE: a source or receiver lies outside the tables' surface nodes (the message names trace
 * and place), or no trace is left; EK_UNAVAILABLE: memory. Caller owns *s; close accepts NULL. */
enum ek_status chunks_open(const struct segy *segy, const struct traveltime_cache *travel,
                           const struct chunks_options *o, struct chunks **s);
void chunks_close(struct chunks *s);

/* A trace's offset class; -1: none. */
int chunks_class(const struct chunks_classes *c, const struct segy_trace *t);
