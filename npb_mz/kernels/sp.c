/* npb_mz/kernels/sp.c – SP's right-hand side and line solves on devices. */
#include "npb_mz/kernels/point.h"
#include "npb_mz/kernels/sp.h"

FN struct sp_view sp_view(GLOBAL double *at, int field, int step, int tile)
{
    struct sp_view v;
    v.at = at;
    v.field = field;
    v.step = step;
    v.tile = tile;
    return v;
}

/* dt (R(u) + g) of an interior point in the characteristic variables of x. */
FN struct sp_five sp_right(struct rhs_five r, GLOBAL const double *g, long field, struct rhs_prim q,
                           double speed)
{
    struct sp_five v;
    v.m0 = g[0] + r.m0;
    v.m1 = g[field] + r.m1;
    v.m2 = g[2 * field] + r.m2;
    v.m3 = g[3 * field] + r.m3;
    v.m4 = g[4 * field] + r.m4;
    return sp_enter(v, q.ri, q.vx, q.vy, q.vz, q.e, speed);
}

/* Derived variables and the speed of sound of all points, and the right-hand side of the interior
 * ones in the characteristic variables of x; over the points. consts is struct mz_consts. */
KERNEL(sp_points, 64, 1, 1)
(GLOBAL const double *restrict u, GLOBAL double *restrict prim, GLOBAL const double *restrict g,
 GLOBAL double *restrict w, GLOBAL const double *restrict consts,
 GLOBAL const struct zone_row *restrict rows, int zone0, int nzones)
{
    const struct zone z = zone_of(rows, zone0, nzones, ZONE_POINTS);
    const struct zone_point p = zone_point(z);
    if (p.outside)
        return;
    u += 5 * z.first + p.at;
    prim += ZONE_PRIMS * z.first + p.tile;
    const struct rhs_five v = point_load(u, z.field);
    const struct rhs_prim q = point_prim(v);
    const double speed = sp_speed(q.e);
    point_keep(prim, z.field, q);
    prim[SP_A * z.field] = speed;
    if (!p.interior)
        return;
    const struct rhs_five r = point_rhs(u, z, p.i, p.j, p.k, v, q, consts);
    sp_store(sp_view(w + 5 * z.first + p.tile, z.field, 0, 0), 0,
             sp_right(r, g + 5 * z.first + p.at, z.field, q, speed));
}

/* Each item solves a line along `axis`; over the lines of that axis. `scratch` holds 6 doubles a
 * point of the batch, which begins at the zone zone0. The z lines add their solution to u. */
KERNEL(sp_solve, 64, 1, 1)
(GLOBAL double *restrict u, GLOBAL double *restrict w, GLOBAL double *restrict prim,
 GLOBAL double *restrict scratch, GLOBAL const double *restrict consts,
 GLOBAL const struct zone_row *restrict rows, int zone0, int nzones, int axis)
{
    const struct zone z = zone_of(rows, zone0, nzones, ZONE_LINES_X + axis);
    const struct zone_line on = zone_line(z, axis);
    if (z.item >= on.lines)
        return;
    struct sp_axis x;
    x.tau2 = consts[3 * axis];
    x.spread = consts[3 * axis + 1];
    x.heat = 1.96 * consts[3 * axis + 2];
    x.damping = consts[9];
    x.d = axis;
    struct sp_line line;
    line.in = line.mid = sp_view(w + 5 * z.first + on.at, z.field, on.step, on.tile);
    line.out = line.in;
    if (axis == 2)
        line.out = sp_view(u + 5 * z.first + on.first, z.field, on.plane, ZONE_TILE * on.plane);
    line.prim = sp_view(prim + ZONE_PRIMS * z.first + on.at, z.field, on.step, on.tile);
    line.speed = line.prim.at + SP_A * z.field;
    line.scratch = scratch + 6 * (z.first - rows[zone0].first) + z.item;
    line.step = on.lines;
    line.n = on.points;
    line.lines = 1;
    struct sp_past one, two;
    one.fc = one.fd = one.gc = one.gd = one.hc = one.hd = 0.0;
    one.y.m0 = one.y.m1 = one.y.m2 = one.y.m3 = one.y.m4 = 0.0;
    two = one;
    struct sp_five x1 = one.y, x2 = one.y;
    for (int s = 1; s < on.points - 1; s++) {
        const struct sp_past here = sp_forward(x, line, s, one, two);
        two = one;
        one = here;
    }
    for (int s = on.points - 2; s > 0; s--) {
        const struct sp_five y = sp_back(line, x1, x2, s);
        sp_put(line, axis, s, y);
        x2 = x1;
        x1 = y;
    }
}
