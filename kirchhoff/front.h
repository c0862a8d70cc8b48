/* kirchhoff/front.h – a wavefront: a mesh of triangles whose corners are rays from one source, all
 * at the same time.
 *
 * Triangles keep their corners while the front moves. The mesh is refined by halving edges, and
 * each new corner is a ray of its own, traced from the source in the mean take-off direction of the
 * edge's ends: nothing is interpolated, so no error accumulates. In take-off directions, corners
 * run anticlockwise as seen from outside. */
#pragma once

#include "src/base.h"

struct front {
    size_t n, room;     /* rays; room is a multiple of RAY_LANES */
    double *state;      /* [6][room] x y z px py pz now */
    double *was;        /* [6][room] the same at the end of the previous step */
    double *takeoff;    /* [3][room] unit vectors */
    double *spread[2];  /* [room] L, m: at the end of the previous step, now */
    uint8_t *kmah[2];   /* [room] caustics passed, likewise */
    uint8_t *side;      /* [room] 1: the front is turned over there, as after one caustic */
    double *scratch[2]; /* [room] areas being summed */
    size_t ntriangles, triangle_room;
    int (*triangle)[3]; /* [ntriangles] corners */
    double source_speed;
};

/* When an edge is too long. */
struct front_limits {
    double edge;  /* m */
    double angle; /* between the directions of its two rays, radians */
    double least; /* m: shorter edges are never halved, as no node would notice */
    double tear;  /* m per radian at the source: longer edges are torn, not halved */
    size_t most;  /* rays of the front */
};

/* A front at the source: an icosahedron of directions with its edges halved `level` times.
 * EK_UNAVAILABLE: memory. close is fine after a failed open. */
enum ek_status front_open(struct front *f, const double source[3], double speed, int level);
void front_close(struct front *f);

/* Finds L and caustics of every ray, from the front's area per unit of take-off solid angle. time:
 * of the front, s. */
void front_measure(struct front *f, double time);

/* Saves state, L and caustics as the previous step's; call it before the front moves. */
void front_remember(struct front *f);

/* Tetrahedra between a halved triangle and its halves, by their corners. */
struct front_slivers {
    size_t n, room;
    int (*corner)[4];
};

/* Halves every edge that is too long, once, in all triangles that share it. The new rays are the
 * front's last ones and still at the source. If there would be more than limits->most rays, edge
 * and angle are raised by a quarter until there are not; *raised counts how often. EK_UNAVAILABLE:
 * memory. */
enum ek_status front_split(struct front *f, const double source[3], struct front_limits *limits,
                           struct front_slivers *slivers, size_t *added, int *raised);

/* Whether a triangle has a torn edge: no ray can be put in between. */
bool front_torn(const struct front *f, const struct front_limits *l, const int triangle[3]);

/* Drops the triangles marked in `gone`, then the rays that no triangle needs. */
void front_drop(struct front *f, const bool *gone);
