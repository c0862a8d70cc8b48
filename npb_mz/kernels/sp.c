/* npb_mz/kernels/sp.c – SP's right-hand side and line solves on devices. */
#include "npb_mz/kernels/point.h"
#include "npb_mz/kernels/sp.h"

/* Transforms an interior point's right-hand side to the characteristic variables of x. */
FN struct sp_five sp_right(struct five r, struct rhs_prim q, double speed)
{
    struct sp_five v;
    v.m0 = r.r;
    v.m1 = r.x;
    v.m2 = r.y;
    v.m3 = r.z;
    v.m4 = r.e;
    return sp_enter(v, q.ri, q.vx, q.vy, q.vz, q.e, speed);
}

/* Computes derived variables and the speed of sound of all points, and the right-hand side of the
 * interior ones in the characteristic variables of x; one item per point. consts is struct
 * mz_consts. */
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
    prim += ZONE_PRIMS * z.batch + p.tile;
    const struct five v = five_load(u, z.field);
    const struct rhs_prim q = point_prim(v);
    const double speed = sp_speed(q.e);
    point_keep(prim, z.field, q);
    prim[SP_A * z.field] = speed;
    if (!p.interior)
        return;
    struct five r = point_rhs(u, z, p.i, p.j, p.k, v, q, consts);
    r = five_add(r, 1.0, five_load(g + 5 * z.forced + p.at, z.field));
    sp_store(line_view(w + 5 * z.batch + p.tile, z.field, 0, 0), 0, sp_right(r, q, speed));
}

/* ---- the solves ------------------------------------------------------------------------------ */

/* A line to solve: w, replaced by the solution, and derived variables; the six multipliers of node
 * s are at scratch[(6*s + …)*step]. */
struct sp_line {
    struct line_view w, prim;
    GLOBAL double *scratch;
    int step, n;
};

/* What a node leaves to the next two: c and d of the three matrices (f, g, h), and the eliminated
 * right-hand side. */
struct sp_past {
    double fc, fd, gc, gd, hc, hd;
    struct sp_five y;
};

FN struct sp_past sp_nothing(void)
{
    struct sp_past p;
    p.fc = p.fd = p.gc = p.gd = p.hc = p.hd = 0.0;
    p.y.m0 = p.y.m1 = p.y.m2 = p.y.m3 = p.y.m4 = 0.0;
    return p;
}

FN void sp_keep(struct sp_line l, int s, struct sp_past p)
{
    GLOBAL double *k = l.scratch + 6 * s * l.step;
    sp_store(l.w, s, p.y);
    k[0] = p.fc;
    k[l.step] = p.fd;
    k[2 * l.step] = p.gc;
    k[3 * l.step] = p.gd;
    k[4 * l.step] = p.hc;
    k[5 * l.step] = p.hd;
}

FN double sp_prim(struct sp_line l, int m, int s)
{
    return l.prim.at[m * l.prim.field + LINE_AT(l.prim, s)];
}

/* Eliminates node s with what nodes s-1 and s-2 left. */
FN struct sp_past sp_forward(struct sp_axis x, struct sp_line l, int s, struct sp_past one,
                             struct sp_past two)
{
    const struct sp_row w = sp_row(x, s, l.n);
    const int v = SP_VX + x.d;
    const double before = -x.tau2 * sp_prim(l, v, s - 1) - x.heat * sp_prim(l, SP_RI, s - 1) + w.m1;
    const double after = x.tau2 * sp_prim(l, v, s + 1) - x.heat * sp_prim(l, SP_RI, s + 1) + w.p1;
    const double centre = 2.0 * x.heat * sp_prim(l, SP_RI, s) + w.c;
    const double a1 = x.tau2 * sp_prim(l, SP_A, s - 1), a2 = x.tau2 * sp_prim(l, SP_A, s + 1);
    const struct sp_factor f = sp_factor(w, before, centre, after, one.fc, one.fd, two.fc, two.fd);
    const struct sp_factor g =
        sp_factor(w, before - a1, centre, after + a2, one.gc, one.gd, two.gc, two.gd);
    const struct sp_factor h =
        sp_factor(w, before + a1, centre, after - a2, one.hc, one.hd, two.hc, two.hd);
    struct sp_past p;
    p.y = sp_load(l.w, s);
    p.y.m0 = (p.y.m0 - w.m2 * two.y.m0 - f.b1 * one.y.m0) * f.ip;
    p.y.m1 = (p.y.m1 - w.m2 * two.y.m1 - f.b1 * one.y.m1) * f.ip;
    p.y.m2 = (p.y.m2 - w.m2 * two.y.m2 - f.b1 * one.y.m2) * f.ip;
    p.y.m3 = (p.y.m3 - w.m2 * two.y.m3 - g.b1 * one.y.m3) * g.ip;
    p.y.m4 = (p.y.m4 - w.m2 * two.y.m4 - h.b1 * one.y.m4) * h.ip;
    p.fc = f.c, p.fd = f.d;
    p.gc = g.c, p.gd = g.d;
    p.hc = h.c, p.hd = h.d;
    return p;
}

/* x_s = y_s - c x_(s+1) - d x_(s+2) */
FN struct sp_five sp_back(struct sp_line l, int s, struct sp_five x1, struct sp_five x2)
{
    GLOBAL const double *k = l.scratch + 6 * s * l.step;
    const double c = k[0], d = k[l.step];
    struct sp_five y = sp_load(l.w, s);
    y.m0 -= c * x1.m0 + d * x2.m0;
    y.m1 -= c * x1.m1 + d * x2.m1;
    y.m2 -= c * x1.m2 + d * x2.m2;
    y.m3 -= k[2 * l.step] * x1.m3 + k[3 * l.step] * x2.m3;
    y.m4 -= k[4 * l.step] * x1.m4 + k[5 * l.step] * x2.m4;
    return y;
}

/* Stores the solution at node s in the variables of the next axis, or adds it to u. */
FN void sp_put(struct sp_line l, struct line_view u, int axis, int s, struct sp_five r)
{
    if (axis == 0)
        sp_store(l.w, s, sp_turn_y(r));
    else if (axis == 1)
        sp_store(l.w, s, sp_turn_z(r));
    else
        sp_add(u, s,
               sp_leave(r, u.at[LINE_AT(u, s)], sp_prim(l, SP_VX, s), sp_prim(l, SP_VY, s),
                        sp_prim(l, SP_VZ, s), sp_prim(l, SP_E, s), sp_prim(l, SP_A, s)),
               1);
}

/* Each item solves one line along `axis`. `scratch` has 6 doubles per point of the batch, which
 * begins with zone zone0. The z lines add their solution to u. */
KERNEL(sp_solve, 64, 1, 1)
(GLOBAL double *restrict u, GLOBAL double *restrict w, GLOBAL double *restrict prim,
 GLOBAL double *restrict scratch, GLOBAL const double *restrict consts,
 GLOBAL const struct zone_row *restrict rows, int zone0, int nzones, int axis)
{
    const struct zone z = zone_of(rows, zone0, nzones, ZONE_LINES_X + axis);
    const struct zone_line on = zone_line(z, axis);
    if (z.item >= on.lines)
        return;
    const struct sp_axis x = sp_axis(consts, axis);
    const struct line_view sum =
        line_view(u + 5 * z.first + on.first, z.field, on.plane, ZONE_TILE * on.plane);
    struct sp_line line;
    line.w = line_view(w + 5 * z.batch + on.at, z.field, on.step, on.tile);
    line.prim = line_view(prim + ZONE_PRIMS * z.batch + on.at, z.field, on.step, on.tile);
    line.scratch = scratch + 6 * z.batch + z.item;
    line.step = on.lines;
    line.n = on.points;
    struct sp_past one = sp_nothing(), two = one;
    for (int s = 1; s < on.points - 1; s++) {
        const struct sp_past here = sp_forward(x, line, s, one, two);
        sp_keep(line, s, here);
        two = one;
        one = here;
    }
    struct sp_five x1 = sp_nothing().y, x2 = x1;
    for (int s = on.points - 2; s > 0; s--) {
        const struct sp_five y = sp_back(line, s, x1, x2);
        sp_put(line, sum, axis, s, y);
        x2 = x1;
        x1 = y;
    }
}
