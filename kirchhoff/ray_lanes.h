/* kirchhoff/ray_lanes.h – the medium for a vector of rays: each lane's cell has its own place, and
 * there v and grad v lie together, so that a lane's four numbers are one vector. */
#ifndef KIRCHHOFF_RAY_LANES_H
#define KIRCHHOFF_RAY_LANES_H

#include "src/lanes_math.h"
#include <stddef.h>
#include <string.h>

struct ray_medium;
struct ray_speed;
FN struct ray_speed ray_cube(struct ray_medium m, const float *node, lanes x, lanes y, lanes z);

#define RAY_TOGETHER 2
#include "kirchhoff/kernels/ray.h"

typedef int ray_places __attribute__((vector_size(4 * LANES)));
typedef float ray_shares __attribute__((vector_size(4 * LANES)));
typedef float ray_four __attribute__((vector_size(16)));
typedef int ray_numbers __attribute__((vector_size(16)));
/* A node's four numbers and those of the node below it. */
typedef float ray_two __attribute__((vector_size(32), aligned(4), may_alias));

/* Place along an axis in steps, within the grid. */
FN lanes ray_along(lanes x, double origin, double inverse, double last)
{
    lanes u = (x - origin) * inverse;
    u = SELECT(u > 0.0, u, REAL(0.0)); /* what is no number goes to the first node */
    return SELECT(u < last, u, REAL(last));
}

FN ray_places ray_cells(lanes u, double last)
{
    const double most = last > 1.0 ? last - 1.0 : 0.0;
    return __builtin_convertvector(SELECT(u < most, u, REAL(most)), ray_places);
}

/* The same place in the rows that a cell's four vertical edges lie in. */
struct ray_rows {
    const float *row[4];
};

FN struct ray_rows ray_rows_of(const struct ray_medium *m, const float *node)
{
    const ptrdiff_t x = 4 * (ptrdiff_t)m->sx, y = 4 * (ptrdiff_t)m->sy;
    const struct ray_rows r = {{node, node + y, node + x, node + x + y}};
    return r;
}

FN ray_two ray_load(const float *row, uint32_t at)
{
    return *(const ray_two *)&row[at];
}

/* The four numbers of one lane: in float, which has the digits that the nodes have. */
FN ray_four ray_lane(struct ray_rows r, uint32_t at, float tx, float ty, float tz)
{
    const ray_two a = ray_load(r.row[0], at), b = ray_load(r.row[1], at);
    const ray_two c = ray_load(r.row[2], at), d = ray_load(r.row[3], at);
    const ray_two ab = a + ty * (b - a), cd = c + ty * (d - c);
    const ray_two both = ab + tx * (cd - ab);
    ray_four level[2]; /* above, below */
    memcpy(level, &both, sizeof level);
    return level[0] + tz * (level[1] - level[0]);
}

/* Four lanes' numbers to numbers' lanes. */
FN void ray_turn_four(const ray_four n[4], ray_four row[4])
{
    const ray_four a = SHUFFLE(ray_numbers, n[0], n[1], 0, 4, 1, 5);
    const ray_four b = SHUFFLE(ray_numbers, n[2], n[3], 0, 4, 1, 5);
    const ray_four c = SHUFFLE(ray_numbers, n[0], n[1], 2, 6, 3, 7);
    const ray_four d = SHUFFLE(ray_numbers, n[2], n[3], 2, 6, 3, 7);
    row[0] = SHUFFLE(ray_numbers, a, b, 0, 1, 4, 5);
    row[1] = SHUFFLE(ray_numbers, a, b, 2, 3, 6, 7);
    row[2] = SHUFFLE(ray_numbers, c, d, 0, 1, 4, 5);
    row[3] = SHUFFLE(ray_numbers, c, d, 2, 3, 6, 7);
}

/* The same for all lanes. */
FN struct ray_speed ray_turn(const ray_four n[LANES])
{
    enum { FOURS = (LANES + 3) / 4 };
    ray_four part[FOURS][4];
    ray_shares row[4];
    for (int h = 0; h < FOURS; h++) {
        const ray_four *four = n + 4 * h;
        ray_turn_four(LANES < 4 ? (ray_four[4]){four[0]} : four, part[h]);
    }
    for (int c = 0; c < 4; c++) {
        ray_four of[FOURS];
        for (int h = 0; h < FOURS; h++)
            of[h] = part[h][c];
        memcpy(&row[c], of, sizeof row[c]);
    }
    const struct ray_speed w = {
        __builtin_convertvector(row[0], lanes), __builtin_convertvector(row[1], lanes),
        __builtin_convertvector(row[2], lanes), __builtin_convertvector(row[3], lanes)};
    return w;
}

FN ray_shares ray_share(lanes u, ray_places cell)
{
    return __builtin_convertvector(u - __builtin_convertvector(cell, lanes), ray_shares);
}

FN struct ray_speed ray_cube(struct ray_medium m, const float *node, lanes x, lanes y, lanes z)
{
    const lanes ux = ray_along(x, m.ox, m.ix, m.lx), uy = ray_along(y, m.oy, m.iy, m.ly);
    const lanes uz = ray_along(z, m.oz, m.iz, m.lz);
    const ray_places i = ray_cells(ux, m.lx), j = ray_cells(uy, m.ly), k = ray_cells(uz, m.lz);
    const ray_places at = i * (4 * m.sx) + j * (4 * m.sy) + k * 4;
    const struct ray_rows rows = ray_rows_of(&m, node);
    const ray_shares tx = ray_share(ux, i), ty = ray_share(uy, j), tz = ray_share(uz, k);
    ray_four number[LANES];
    for (int l = 0; l < LANES; l++)
        number[l] = ray_lane(rows, (uint32_t)at[l], tx[l], ty[l], tz[l]);
    return ray_turn(number);
}

#endif
