/* kirchhoff/geometry.h – what the places of sources and receivers say of a survey: how far apart
 * they stand, how much of the surface each receiver speaks for, and whether it can be true. */
#pragma once

#include "kirchhoff/segy.h"

/* What a receiver stands for: nothing; its area; on a line along x, its length. */
enum geometry_share { GEOMETRY_NONE, GEOMETRY_AREA, GEOMETRY_LENGTH };

struct geometry {
    size_t shots;      /* different sources */
    double spacing[2]; /* m: of a source, of a receiver of a shot to its nearest neighbour, median;
                          INFINITY: there is none */
    double area;       /* m2, or m: of a receiver among those of its shot, median; 0: none */
    float *share;      /* [segy->n] each trace's part of such an area; NULL: not asked for */
    size_t repeated;   /* traces with the source and receiver of another one */
    long records;      /* different field records */
    bool one_receiver; /* all receivers stand at one place */
};

/* Of traces order[n]. The area of a receiver is its Voronoi cell; where it stands at the edge, the
 * cell that is symmetric about it; on a line, a square. Its length reaches
 * half of the way to the next ones. Receivers at one place share theirs.
 * EK_UNAVAILABLE: memory. Free with geometry_close(), which is fine after a failed call. */
enum ek_status geometry_find(const struct segy *segy, const uint32_t *order, size_t n,
                             enum geometry_share share, struct geometry *g);
void geometry_close(struct geometry *g);

/* EK_UNVERIFIED: these places cannot be true (the line says why). */
enum ek_status geometry_check(const struct segy *segy, size_t n, const struct geometry *g);
