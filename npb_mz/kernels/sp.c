/* npb_mz/kernels/sp.c – SP's right-hand side and line solves on devices. */
#include "npb_mz/kernels/point.h"
#include "npb_mz/kernels/sp.h"

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
    five_store(w + 5 * z.batch + p.tile, z.field, sp_enter(r, q.ri, q.vx, q.vy, q.vz, q.e, speed));
}

/* ---- the solves ------------------------------------------------------------------------------ */

/* A line to solve. The right-hand side is read from w; what elimination leaves is kept in
 * `scratch`, SP_KEPT numbers a node, number m of node s at scratch[(SP_KEPT*s + m)*step], and the
 * solution goes to w or, along z, is added to u. */
struct sp_line {
    struct line_view w, prim, u;
    GLOBAL double *scratch;
    int step, n;
};

enum { SP_KEPT = 11 };

/* What the operators read of a node: 1/rho, the velocity along the line, the speed of sound. */
struct sp_flow {
    double ri, v, a;
};

/* What a node leaves to the next two and to back substitution: c and d of the three matrices (f, g,
 * h), and the eliminated right-hand side. */
struct sp_past {
    double fc, fd, gc, gd, hc, hd;
    struct five y;
};

FN struct sp_past sp_nothing(void)
{
    struct sp_past p;
    p.fc = p.fd = p.gc = p.gd = p.hc = p.hd = 0.0;
    p.y.r = p.y.x = p.y.y = p.y.z = p.y.e = 0.0;
    return p;
}

FN void sp_keep(struct sp_line l, int s, struct sp_past p)
{
    GLOBAL double *k = l.scratch + SP_KEPT * s * l.step;
    k[0] = p.fc;
    k[l.step] = p.fd;
    k[2 * l.step] = p.gc;
    k[3 * l.step] = p.gd;
    k[4 * l.step] = p.hc;
    k[5 * l.step] = p.hd;
    five_store(k + 6 * l.step, l.step, p.y);
}

FN struct sp_past sp_kept(struct sp_line l, int s)
{
    GLOBAL const double *k = l.scratch + SP_KEPT * s * l.step;
    struct sp_past p;
    p.fc = k[0];
    p.fd = k[l.step];
    p.gc = k[2 * l.step];
    p.gd = k[3 * l.step];
    p.hc = k[4 * l.step];
    p.hd = k[5 * l.step];
    p.y = five_load(k + 6 * l.step, l.step);
    return p;
}

FN struct five sp_load(struct line_view v, int s)
{
    return five_load(v.at + LINE_AT(v, s), v.field);
}

FN void sp_store(struct line_view v, int s, struct five c)
{
    five_store(v.at + LINE_AT(v, s), v.field, c);
}

FN double sp_prim(struct sp_line l, int m, int s)
{
    return l.prim.at[m * l.prim.field + LINE_AT(l.prim, s)];
}

FN struct sp_flow sp_flow(struct sp_axis x, struct sp_line l, int s)
{
    struct sp_flow f;
    f.ri = sp_prim(l, SP_RI, s);
    f.v = sp_prim(l, SP_VX + x.d, s);
    f.a = sp_prim(l, SP_A, s);
    return f;
}

/* Eliminates node s, `here`, with right-hand side r and what nodes s-1 and s-2 left. */
FN struct sp_past sp_forward(struct sp_axis x, struct sp_row w, struct sp_flow b,
                             struct sp_flow here, struct sp_flow e, struct five r,
                             struct sp_past one, struct sp_past two)
{
    const double before = -x.tau2 * b.v - x.heat * b.ri + w.m1;
    const double after = x.tau2 * e.v - x.heat * e.ri + w.p1;
    const double centre = 2.0 * x.heat * here.ri + w.c;
    const double a1 = x.tau2 * b.a, a2 = x.tau2 * e.a;
    const struct sp_factor f = sp_factor(w, before, centre, after, one.fc, one.fd, two.fc, two.fd);
    const struct sp_factor g =
        sp_factor(w, before - a1, centre, after + a2, one.gc, one.gd, two.gc, two.gd);
    const struct sp_factor h =
        sp_factor(w, before + a1, centre, after - a2, one.hc, one.hd, two.hc, two.hd);
    struct sp_past p;
    p.y.r = (r.r - w.m2 * two.y.r - f.b1 * one.y.r) * f.ip;
    p.y.x = (r.x - w.m2 * two.y.x - f.b1 * one.y.x) * f.ip;
    p.y.y = (r.y - w.m2 * two.y.y - f.b1 * one.y.y) * f.ip;
    p.y.z = (r.z - w.m2 * two.y.z - g.b1 * one.y.z) * g.ip;
    p.y.e = (r.e - w.m2 * two.y.e - h.b1 * one.y.e) * h.ip;
    p.fc = f.c, p.fd = f.d;
    p.gc = g.c, p.gd = g.d;
    p.hc = h.c, p.hd = h.d;
    return p;
}

/* Eliminates all nodes. What the next node needs is loaded before this one is computed: otherwise
 * each would wait for memory. */
FN void sp_eliminate(struct sp_axis x, struct sp_line l)
{
    struct sp_past one = sp_nothing(), two = one;
    struct sp_flow before = sp_flow(x, l, 0), here = sp_flow(x, l, 1), after = sp_flow(x, l, 2);
    struct five r = sp_load(l.w, 1);
    for (int s = 1; s < l.n - 1; s++) {
        const struct sp_flow next = sp_flow(x, l, s + 2 < l.n ? s + 2 : s);
        const struct five next_r = sp_load(l.w, s + 2 < l.n ? s + 1 : s);
        const struct sp_past p = sp_forward(x, sp_row(x, s, l.n), before, here, after, r, one, two);
        sp_keep(l, s, p);
        two = one;
        one = p;
        before = here;
        here = after;
        after = next;
        r = next_r;
    }
}

/* x_s = y_s - c x_(s+1) - d x_(s+2) */
FN struct five sp_back(struct sp_past k, struct five x1, struct five x2)
{
    struct five y = k.y;
    y.r -= k.fc * x1.r + k.fd * x2.r;
    y.x -= k.fc * x1.x + k.fd * x2.x;
    y.y -= k.fc * x1.y + k.fd * x2.y;
    y.z -= k.gc * x1.z + k.gd * x2.z;
    y.e -= k.hc * x1.e + k.hd * x2.e;
    return y;
}

/* Substitutes back along x or y; stores the solution in the variables of the next axis. */
FN void sp_substitute(struct sp_line l, int axis)
{
    struct five x1 = sp_nothing().y, x2 = x1;
    struct sp_past k = sp_kept(l, l.n - 2);
    for (int s = l.n - 2; s > 0; s--) {
        const struct sp_past next = sp_kept(l, s > 1 ? s - 1 : s);
        const struct five y = sp_back(k, x1, x2);
        sp_store(l.w, s, axis == 0 ? sp_turn_y(y) : sp_turn_z(y));
        x2 = x1;
        x1 = y;
        k = next;
    }
}

/* A node's u and derived variables. */
struct sp_state {
    struct five u;
    double vx, vy, vz, e, a;
};

FN struct sp_state sp_state(struct sp_line l, int s)
{
    struct sp_state n;
    n.u = sp_load(l.u, s);
    n.vx = sp_prim(l, SP_VX, s);
    n.vy = sp_prim(l, SP_VY, s);
    n.vz = sp_prim(l, SP_VZ, s);
    n.e = sp_prim(l, SP_E, s);
    n.a = sp_prim(l, SP_A, s);
    return n;
}

/* Substitutes back along z; adds the solution to u. */
FN void sp_finish(struct sp_line l)
{
    struct five x1 = sp_nothing().y, x2 = x1;
    struct sp_past k = sp_kept(l, l.n - 2);
    struct sp_state at = sp_state(l, l.n - 2);
    for (int s = l.n - 2; s > 0; s--) {
        const struct sp_past next = sp_kept(l, s > 1 ? s - 1 : s);
        const struct sp_state next_at = sp_state(l, s > 1 ? s - 1 : s);
        const struct five y = sp_back(k, x1, x2);
        const struct five r = sp_leave(y, at.u.r, at.vx, at.vy, at.vz, at.e, at.a);
        sp_store(l.u, s, five_sum(at.u, r));
        x2 = x1;
        x1 = y;
        k = next;
        at = next_at;
    }
}

/* Each item solves one line along `axis`. `scratch` has SP_KEPT doubles per point of the batch,
 * which begins with zone zone0. The z lines add their solution to u. */
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
    struct sp_line line;
    line.u = line_view(u + 5 * z.first + on.first, z.field, on.plane, ZONE_TILE * on.plane);
    line.w = line_view(w + 5 * z.batch + on.at, z.field, on.step, on.tile);
    line.prim = line_view(prim + ZONE_PRIMS * z.batch + on.at, z.field, on.step, on.tile);
    line.scratch = scratch + SP_KEPT * z.batch + z.item;
    line.step = on.stride;
    line.n = on.points;
    sp_eliminate(x, line);
    if (axis < 2)
        sp_substitute(line, axis);
    else
        sp_finish(line);
}
