/* kirchhoff/fill.h – from a front to the nodes of a table: tetrahedra between two times.
 *
 * In a tetrahedron with barycentric weights w_i: T(x) = sum w_i [T_i + p_i.(x - x_i) / 2], exact
 * where T is quadratic; caustics those of the nearest corner. Along a column of nodes T is a
 * parabola, and the nodes inside are an interval. With T, a node of a triangle's way has its place
 * in the triangle at that time: there p and L are linear, which follows the rays, as weights in a
 * tetrahedron do not. */
#pragma once

#include "kirchhoff/front.h"
#include "kirchhoff/ttable.h"

struct fill_corner {
    double x[3], p[3]; /* m, s/m */
    double time, spread;
    int kmah;
};

/* A part of the table that one thread writes, rows of y. Where several arrivals come, a node keeps
 * that of least L. */
struct fill {
    struct ttable *table;
    int begin, end; /* rows begin .. end-1 */
};

/* Nodes within `time` s of the source, by the closed form with v and its gradient there. */
void fill_source(const struct fill *f, double speed, const double gradient[3], double time);

/* A triangle's way: its corners before, then now, in the same order. */
struct fill_way {
    struct fill_corner corner[6];
    double u[6][3]; /* their places in steps of the grid */
};

/* way: of which the tetrahedron is a part; NULL: p and L are linear in it. */
void fill_tetrahedron(const struct fill *f, const struct fill_corner *const corner[4],
                      const struct fill_way *way);

/* All triangles' ways from the step before, at time `before`, to now; all slivers, now. */
void fill_step(const struct fill *f, const struct front *front, double before, double now);
void fill_slivers(const struct fill *f, const struct front *front,
                  const struct front_slivers *slivers, double now);
