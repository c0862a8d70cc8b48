/* kirchhoff/fill.h – fills the nodes of a table from a front: tetrahedra between two times.
 *
 * In a tetrahedron with barycentric weights w_i, T(x) = sum w_i [T_i + p_i.(x - x_i) / 2], exact
 * where T is quadratic; the caustics are the nearest corner's. Along a column of nodes T is a
 * parabola, and the nodes inside are an interval. T tells when a triangle's way passes a node, and
 * so the node's place in the triangle at that time; p and L are linear there, which follows the
 * rays, as weights in a tetrahedron do not. */
#pragma once

#include "kirchhoff/front.h"
#include "kirchhoff/ttable.h"

struct fill_corner {
    double x[3], p[3]; /* m, s/m */
    double time, spread;
    int kmah;
};

/* One thread's rows of y of a table. Of several arrivals a node keeps that of least L. */
struct fill {
    struct ttable *table;
    int begin, end; /* rows begin .. end-1 */
};

/* Fills nodes within `time` s of the source, by the closed form with v and its gradient there. */
void fill_source(const struct fill *f, double speed, const double gradient[3], double time);

/* A triangle's way in one step: its corners before, then now, in the same order. */
struct fill_way {
    struct fill_corner corner[6];
    double u[6][3]; /* their places, in grid steps from its origin */
};

/* way: the one that the tetrahedron is part of; NULL: p and L are linear in the tetrahedron. */
void fill_tetrahedron(const struct fill *f, const struct fill_corner *const corner[4],
                      const struct fill_way *way);

/* Fill all triangles' ways, from time `before` of the previous step to now; all slivers, now. */
void fill_step(const struct fill *f, const struct front *front, double before, double now);
void fill_slivers(const struct fill *f, const struct front *front,
                  const struct front_slivers *slivers, double now);
