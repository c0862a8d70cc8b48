/* kirchhoff/chunks.h – the traces of a migration in the order in which they are worked on.
 *
 * Traces whose sources lie in the same block of surface cells, and whose receivers do, need the
 * same tables: they are a *chunk*. Chunks follow one another along a Morton curve through the four
 * coordinates of source and receiver blocks, so that neighbours in time share tables whatever the
 * memory holds; a block is the smallest square of 2^b cells that gives chunks of the wanted
 * size. */
#pragma once

#include "kirchhoff/geometry.h"
#include "kirchhoff/segy.h"
#include "kirchhoff/traveltime_cache.h"
#include <stdint.h>

/* Offset classes: number floor((offset - first) / width); one class takes all offsets where width
 * is 0. */
struct chunks_classes {
    int n;
    double first, width; /* m */
    double most;         /* m: larger offsets are of no class; 0: any */
};

struct chunks_options {
    struct chunks_classes classes;
    double reach;     /* largest distance from a trace's midpoint to the image, m; INFINITY: any */
    double box[2][2]; /* the image's least and largest x and y, m */
    long chunk;       /* traces that a chunk should have at least; 0: by their number */
    enum geometry_share share;
};

/* Why traces are left out. */
enum chunks_reason { CHUNKS_USED, CHUNKS_OFFSET, CHUNKS_FAR, CHUNKS_REASONS };

struct chunks {
    const struct segy *segy; /* borrowed */
    size_t n;                /* traces used */
    uint32_t *order;         /* [n] their numbers in the index, chunk by chunk */
    size_t nchunks;
    size_t *first; /* [nchunks + 1] in order */
    int cells;     /* of a block's side */
    size_t count[CHUNKS_REASONS];
    struct geometry geometry; /* of the traces used */
};

/* EK_USAGE: a source or receiver outside the tables' surface nodes (trace and place are named), or
 * no trace left; EK_UNAVAILABLE: memory. Caller owns *s; close accepts NULL. */
enum ek_status chunks_open(const struct segy *segy, const struct traveltime_cache *travel,
                           const struct chunks_options *o, struct chunks **s);
void chunks_close(struct chunks *s);

/* A trace's class, -1: none. */
int chunks_class(const struct chunks_classes *c, const struct segy_trace *t);
