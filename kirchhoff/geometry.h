/* kirchhoff/geometry.h – what source and receiver positions tell of a survey: how far apart they
 * are, how much of the surface each receiver represents, whether they are plausible. */
#pragma once

#include "kirchhoff/segy.h"

/* What a receiver represents: nothing; an area; on a line along x, a length. */
enum geometry_share { GEOMETRY_NONE, GEOMETRY_AREA, GEOMETRY_LENGTH };

struct geometry {
    size_t shots;      /* distinct sources */
    double spacing[2]; /* m: median distance of sources, and of receivers of a shot, to their
                          nearest neighbours; INFINITY: none */
    double area;       /* m2, or m: of a receiver among its shot's, median; 0: none */
    float *share;      /* [segy->n] of each trace's receiver, over `area`; NULL: not wanted */
    size_t repeated;   /* traces with the same source and receiver as another */
    long records;      /* distinct field records */
    bool one_receiver; /* all receivers are at one place */
};

/* For traces order[n]. The area of a receiver is its Voronoi cell; at the edge, a cell symmetric
 * about it; on a line, a square. Its length reaches halfway to its neighbours. Receivers at one
 * place share theirs. EK_UNAVAILABLE: memory. Free with geometry_close(), which is fine after a
 * failed call. */
enum ek_status geometry_find(const struct segy *segy, const uint32_t *order, size_t n,
                             enum geometry_share share, struct geometry *g);
void geometry_close(struct geometry *g);

/* EK_UNVERIFIED: the positions are not plausible (the message says why). */
enum ek_status geometry_check(const struct segy *segy, size_t n, const struct geometry *g);

/* Moves bit i of x to bit by * i, for Morton curves. */
uint64_t geometry_spread(uint32_t x, int by);
