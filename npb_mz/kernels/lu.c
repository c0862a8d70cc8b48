/* npb_mz/kernels/lu.c – LU's sweeps on devices where work-groups must not wait for one another.
 *
 * A work-item has a run: the interior points of one tile. Runs with tile + j + k = h depend only on
 * those of h-1 (h+1 in the upper sweep), so a launch computes one such hyperplane of all zones. In
 * comparison with single points that is about half as many launches, memory is read in whole
 * sectors, and contributions along x stay in registers. */
#include "npb_mz/kernels/lu.h"
#include "npb_mz/kernels/zone.h"

/* Doubles of a zone's boundary values in `carried`: west and east [k][j][m], then south and north
 * [m][k][i]. */
FN int lu_faces_size(struct zone z)
{
    return 10 * (z.nx + z.ny - 4) * (z.nz - 2);
}

/* mode 0: swaps the boundary values in u and `carried`; 1: copies those carried to u. Items are
 * those of ZONE_FACES; all zones have equal size. */
KERNEL(lu_faces, 64, 1, 1)
(GLOBAL double *restrict u, GLOBAL double *restrict carried,
 GLOBAL const struct zone_row *restrict rows, int zone0, int nzones, int mode)
{
    const struct zone z = zone_of(rows, zone0, nzones, ZONE_FACES);
    const int longest = (z.nx > z.ny ? z.nx : z.ny) - 2, point = z.item % longest;
    const int m = z.item / longest % 5, k = 1 + z.item / longest / 5;
    const int across = z.nz - 2;
    if (k > across)
        return;
    const long plane = 5 * z.first + m * z.field + k * z.plane;
    GLOBAL double *kept = carried + z.first / z.field * lu_faces_size(z);
    for (int side = 0; side < 4; side++) {
        const int in_y = side >> 1, along = (in_y ? z.nx : z.ny) - 2;
        const int step = in_y ? 1 : z.pitch, normal = in_y ? z.pitch : 1;
        const int row = side & 1 ? (in_y ? z.ny : z.nx) - 1 : 0;
        if (point < along) {
            const long at = plane + row * normal + (point + 1) * step;
            const int to =
                in_y ? (m * across + k - 1) * along + point : ((k - 1) * along + point) * 5 + m;
            const double old = kept[to];
            if (mode == 0)
                kept[to] = u[at];
            u[at] = old;
        }
        kept += 5 * along * across;
    }
}

/* A run: its first point (i,j,k) in the order of the sweep, that point's offset in w and in u, and
 * the number of points. */
struct lu_run {
    int at, in_u, points, i, j, k;
};

/* The run of a work-item on hyperplane h; points 0: it has none. */
FN struct lu_run lu_run(struct zone z, int sign, int h)
{
    struct lu_run r;
    const int runs = (z.nx - 2) / ZONE_TILE + 1, run = z.item % runs, from = run * ZONE_TILE;
    const int low = from > 0 ? from : 1;
    const int high = from + ZONE_TILE < z.nx - 1 ? from + ZONE_TILE : z.nx - 1;
    r.k = 1 + z.item / runs;
    r.j = h - run - r.k;
    r.points = r.k < z.nz - 1 && r.j > 0 && r.j < z.ny - 1 ? high - low : 0;
    r.i = sign > 0 ? low : high - 1;
    r.at = zone_tile(z, r.i, r.j, r.k);
    r.in_u = r.k * z.plane + r.j * z.pitch + r.i;
    return r;
}

/* A zone's fields and the sweep's direction. */
struct lu_field {
    GLOBAL double *w;
    GLOBAL const double *prim, *consts;
    int size, sign;
};

/* What the point at `at` contributes to its neighbour along axis d; 0 unless it is `inside`. */
FN struct five lu_share(struct lu_field f, int d, int at, int inside)
{
    struct five none;
    none.r = none.x = none.y = none.z = none.e = 0.0;
    if (!inside)
        return none;
    return lu_send(lu_axis(f.consts, d, f.sign), d, five_load(f.prim + at, f.size),
                   five_load(f.w + at, f.size));
}

/* Contributions to the point at `at` of a run from along y and z, of the hyperplane before. */
FN struct five lu_aside(struct lu_field f, struct zone z, struct lu_run r, int at)
{
    const int j = r.j - f.sign, k = r.k - f.sign;
    return five_sum(lu_share(f, 1, at - f.sign * ZONE_TILE, j > 0 && j < z.ny - 1),
                    lu_share(f, 2, at - f.sign * z.plane, k > 0 && k < z.nz - 1));
}

/* Contribution to a run's first point from along x. */
FN struct five lu_ahead(struct lu_field f, struct zone z, struct lu_run r)
{
    const int i = r.i - f.sign;
    return lu_share(f, 0, zone_tile(z, i, r.j, r.k), i > 0 && i < z.nx - 1);
}

FN struct lu_field lu_field(GLOBAL double *w, GLOBAL const double *prim,
                            GLOBAL const double *consts, struct zone z, int sign)
{
    struct lu_field f;
    f.w = w + 5 * z.batch;
    f.prim = prim + ZONE_PRIMS * z.batch;
    f.consts = consts;
    f.size = z.field;
    f.sign = sign;
    return f;
}

/* The lower sweep on hyperplane h, one item per run: turns w = dt (R(u) + g) into a correction in
 * the nodes' frames. What does not depend on the point before is loaded and added first. */
KERNEL(lu_lower, 64, 1, 1)
(GLOBAL double *restrict w, GLOBAL const double *restrict prim,
 GLOBAL const double *restrict consts, GLOBAL const struct zone_row *restrict rows, int zone0,
 int nzones, int h)
{
    const struct zone z = zone_of(rows, zone0, nzones, ZONE_RUNS);
    const struct lu_run r = lu_run(z, 1, h);
    const struct lu_field f = lu_field(w, prim, consts, z, 1);
    const struct lu_diagonal g = lu_diagonal(consts);
    const struct lu_axis x = lu_axis(consts, 0, 1.0);
    struct five sum[ZONE_TILE], share;
    struct five n[ZONE_TILE];
    if (r.points == 0)
        return;
    UNROLL
    for (int t = 0; t < ZONE_TILE; t++) {
        const int at = r.at + (t < r.points ? t : 0);
        n[t] = five_load(f.prim + at, f.size);
        sum[t] = five_sum(five_load(f.w + at, f.size), lu_aside(f, z, r, at));
    }
    share = lu_ahead(f, z, r);
    UNROLL
    for (int t = 0; t < ZONE_TILE; t++) {
        const struct five v = lu_relax(g, n[t], five_sum(sum[t], share));
        if (t < r.points)
            five_store(f.w + r.at + t, f.size, v);
        share = lu_send(x, 0, n[t], v);
    }
}

/* The upper sweep on hyperplane h, and u += w / (omega (2 - omega)). */
KERNEL(lu_upper, 64, 1, 1)
(GLOBAL double *restrict u, GLOBAL double *restrict w, GLOBAL const double *restrict prim,
 GLOBAL const double *restrict consts, GLOBAL const struct zone_row *restrict rows, int zone0,
 int nzones, int h)
{
    const struct zone z = zone_of(rows, zone0, nzones, ZONE_RUNS);
    const struct lu_run r = lu_run(z, -1, h);
    const struct lu_field f = lu_field(w, prim, consts, z, -1);
    const struct lu_diagonal g = lu_diagonal(consts);
    const struct lu_axis x = lu_axis(consts, 0, -1.0);
    GLOBAL double *v = u + 5 * z.first;
    struct five sum[ZONE_TILE], here[ZONE_TILE], share;
    struct five n[ZONE_TILE];
    if (r.points == 0)
        return;
    UNROLL
    for (int t = 0; t < ZONE_TILE; t++) {
        const int at = r.at - (t < r.points ? t : 0);
        n[t] = five_load(f.prim + at, f.size);
        here[t] = five_load(f.w + at, f.size);
        sum[t] = lu_aside(f, z, r, at);
    }
    share = lu_ahead(f, z, r);
    UNROLL
    for (int t = 0; t < ZONE_TILE; t++) {
        const struct five c = five_sum(here[t], lu_relax(g, n[t], five_sum(sum[t], share)));
        if (t < r.points) {
            five_store(f.w + r.at - t, f.size, c);
            five_store(v + r.in_u - t, f.size,
                       five_add(five_load(v + r.in_u - t, f.size), LU_FACTOR, lu_rest(n[t], c)));
        }
        share = lu_send(x, 0, n[t], c);
    }
}
