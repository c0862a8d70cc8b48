/* kirchhoff/front.h – a wavefront: a net of triangles whose corners are rays from one source, all
 * at the same time.
 *
 * Triangles keep their corners while the front moves; the front is made finer by halving edges, and
 * each new corner is a ray of its own, traced anew from the source in the mean take-off direction
 * of the edge's ends: nothing is interpolated, no error adds up. Corners look from outside
 * anticlockwise in the take-off directions. */
#pragma once

#include "src/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct front {
    size_t n, room;     /* rays; room is a multiple of RAY_LANES */
    double *state;      /* [6][room] x y z px py pz now */
    double *was;        /* [6][room] the same at the end of the step before */
    double *takeoff;    /* [3][room] unit vectors */
    double *spread[2];  /* [room] L, m: at the end of the step before, now */
    uint8_t *kmah[2];   /* [room] caustics passed, likewise */
    uint8_t *side;      /* [room] 1: the front lies turned over there, as after one caustic */
    double *scratch[2]; /* [room] areas while they are added up */
    size_t ntriangles, triangle_room;
    int (*triangle)[3]; /* [ntriangles] corners */
    double source_speed;
};

/* What makes an edge too long. */
struct front_limits {
    double edge;  /* m */
    double angle; /* between the directions of its two rays, radians */
    double least; /* m: shorter edges are never halved, no node would see it */
    double tear;  /* m per radian at the source: edges longer than that are torn, not halved */
    size_t most;  /* rays */
};

/* A sphere of directions, as even as halving an icosahedron's edges `level` times makes it, all at
 * the source. EK_UNAVAILABLE: memory. close is fine after a failed open. */
enum ek_status front_open(struct front *f, const double source[3], double speed, int level);
void front_close(struct front *f);

/* Areas of all triangles at their corners: L and caustics of every ray from the area of the front
 * per unit of take-off solid angle. time: of the front, s. */
void front_measure(struct front *f, double time);

/* Keeps state, L and caustics as those of the step before; before the front moves. */
void front_remember(struct front *f);

/* Corners of tetrahedra between a halved triangle and its halves, [4] each. */
struct front_slivers {
    size_t n, room;
    int (*corner)[4];
};

/* Halves every edge that is too long, once, in all triangles that have it. The new rays stand at
 * the source, the last ones of the front. Where there would be more than limits->most rays, edge
 * and angle are raised by a quarter until there are not: *raised counts how often.
 * EK_UNAVAILABLE: memory. */
enum ek_status front_split(struct front *f, const double source[3], struct front_limits *limits,
                           struct front_slivers *slivers, size_t *added, int *raised);

/* Whether a triangle has an edge that is too long and torn: no ray goes between. */
bool front_torn(const struct front *f, const struct front_limits *l, const int triangle[3]);

/* Drops the triangles that `gone` says, then the rays that no triangle needs. */
void front_drop(struct front *f, const bool *gone);
