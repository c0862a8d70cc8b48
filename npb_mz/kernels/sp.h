/* npb_mz/kernels/sp.h – SP's diagonalised solves: scalar pentadiagonal systems, one grid line per
 * lane.
 *
 * Along an axis with velocity v the characteristic variables move with v (three of them), v + a and
 * v - a, a the speed of sound: five systems on three matrices per line. The transformations between
 * the characteristic variables of the axes are small and act on one node; each belongs to the pass
 * that has the node in registers anyway: the first one to sp_enter(), the others to the end of the
 * solve before.
 *
 * Derived variables are those of kernels/rhs.h, of which the pressure has made room for a. */
#ifndef NPB_MZ_KERNELS_SP_H
#define NPB_MZ_KERNELS_SP_H

#include "npb_mz/kernels/line.h"

#ifndef STORE_SOME /* the first `count` lanes */
#define STORE_SOME(p, at, x, count) ((void)(count), (p)[at] = (x))
#endif
#ifndef SQRT
#define SQRT(x) sqrt(x)
#endif

#define SP_ROOT 0.70710678118654752440 /* of 1/2 */

/* Places of the derived variables. */
enum { SP_RI, SP_VX, SP_VY, SP_VZ, SP_E, SP_A };

struct sp_five {
    real m0, m1, m2, m3, m4;
};

/* Node s, component m of a field along a line is at[m*field + LINE_AT(v, s)]. */
struct sp_view {
    GLOBAL double *at;
    int field;
    LINE_STEPS;
};

/* The line's direction: dt/(2h), dt D/h^2, 1.96 dt c3c4/h^2, dt dssp; 0, 1 or 2. */
struct sp_axis {
    double tau2, spread, heat, damping;
    int d;
};

FN struct sp_five sp_load(struct sp_view v, int s)
{
    struct sp_five c;
    c.m0 = LOAD(v.at, LINE_AT(v, s));
    c.m1 = LOAD(v.at, v.field + LINE_AT(v, s));
    c.m2 = LOAD(v.at, 2 * v.field + LINE_AT(v, s));
    c.m3 = LOAD(v.at, 3 * v.field + LINE_AT(v, s));
    c.m4 = LOAD(v.at, 4 * v.field + LINE_AT(v, s));
    return c;
}

/* v += c in the first `count` lanes */
FN void sp_add(struct sp_view v, int s, struct sp_five c, int count)
{
    STORE_SOME(v.at, LINE_AT(v, s), LOAD(v.at, LINE_AT(v, s)) + c.m0, count);
    STORE_SOME(v.at, v.field + LINE_AT(v, s), LOAD(v.at, v.field + LINE_AT(v, s)) + c.m1, count);
    STORE_SOME(v.at, 2 * v.field + LINE_AT(v, s), LOAD(v.at, 2 * v.field + LINE_AT(v, s)) + c.m2,
               count);
    STORE_SOME(v.at, 3 * v.field + LINE_AT(v, s), LOAD(v.at, 3 * v.field + LINE_AT(v, s)) + c.m3,
               count);
    STORE_SOME(v.at, 4 * v.field + LINE_AT(v, s), LOAD(v.at, 4 * v.field + LINE_AT(v, s)) + c.m4,
               count);
}

FN void sp_store(struct sp_view v, int s, struct sp_five c)
{
    STORE(v.at, LINE_AT(v, s), c.m0);
    STORE(v.at, v.field + LINE_AT(v, s), c.m1);
    STORE(v.at, 2 * v.field + LINE_AT(v, s), c.m2);
    STORE(v.at, 3 * v.field + LINE_AT(v, s), c.m3);
    STORE(v.at, 4 * v.field + LINE_AT(v, s), c.m4);
}

/* Speed of sound from the internal energy per mass: a^2 = 1.4 * 0.4 e. */
FN real sp_speed(real e)
{
    return SQRT(0.56 * e);
}

/* ---- the transformations between sets of characteristic variables ---------------------------- */

/* From the conserved variables to the characteristic ones of x. */
FN struct sp_five sp_enter(struct sp_five r, real ri, real vx, real vy, real vz, real e, real a)
{
    struct sp_five o;
    real q = 0.5 * (vx * vx + vy * vy + vz * vz);
    real p = 0.4 * (q * r.m0 - vx * r.m1 - vy * r.m2 - vz * r.m3 + r.m4);
    real t1 = p / (0.56 * e), b = SP_ROOT * ri, t2 = b * (vx * r.m0 - r.m1), t3 = b * a * t1;
    o.m0 = r.m0 - t1;
    o.m1 = ri * (r.m3 - vz * r.m0);
    o.m2 = ri * (vy * r.m0 - r.m2);
    o.m3 = t3 - t2;
    o.m4 = t2 + t3;
    return o;
}

/* From those of x to those of y. */
FN struct sp_five sp_turn_y(struct sp_five r)
{
    struct sp_five o;
    real t1 = SP_ROOT * r.m2, t2 = 0.5 * (r.m3 + r.m4);
    o.m0 = -r.m1;
    o.m1 = r.m0;
    o.m2 = SP_ROOT * (r.m3 - r.m4);
    o.m3 = t2 - t1;
    o.m4 = t1 + t2;
    return o;
}

/* From those of y to those of z. */
FN struct sp_five sp_turn_z(struct sp_five r)
{
    struct sp_five o;
    real t1 = SP_ROOT * r.m0, t2 = 0.5 * (r.m3 + r.m4);
    o.m0 = SP_ROOT * (r.m3 - r.m4);
    o.m1 = -r.m2;
    o.m2 = r.m1;
    o.m3 = t2 - t1;
    o.m4 = t1 + t2;
    return o;
}

/* From those of z back to the conserved variables. */
FN struct sp_five sp_leave(struct sp_five r, real rho, real vx, real vy, real vz, real e, real a)
{
    struct sp_five o;
    real q = 0.5 * (vx * vx + vy * vy + vz * vz), b = SP_ROOT * rho;
    real t1 = b * (r.m3 + r.m4) / a, t2 = r.m2 + t1, t3 = b * (r.m3 - r.m4);
    real along = rho * r.m0, across = rho * r.m1;
    o.m0 = t2;
    o.m1 = vx * t2 - across;
    o.m2 = vy * t2 + along;
    o.m3 = vz * t2 + t3;
    o.m4 = vy * along - vx * across + q * t2 + 1.4 * e * t1 + vz * t3;
    return o;
}

/* ---- the solves ------------------------------------------------------------------------------ */

/* Row s of the line's operators but for what depends on the node: 1 - spread * second difference +
 * damping * fourth difference, which never reads the nodes 0 and n-1. */
struct sp_row {
    double m2, m1, c, p1, p2;
};

FN struct sp_row sp_row(struct sp_axis x, int s, int n)
{
    struct sp_row w;
    w.m2 = s > 2 ? x.damping : 0.0;
    w.m1 = -x.spread - (s > 1 ? 4.0 * x.damping : 0.0);
    w.c = 1.0 + 2.0 * x.spread + (s == 1 || s == n - 2 ? 5.0 : 6.0) * x.damping;
    w.p1 = -x.spread - (s < n - 2 ? 4.0 * x.damping : 0.0);
    w.p2 = s < n - 3 ? x.damping : 0.0;
    return w;
}

/* A line to solve, nodes 1 .. n-2, 0 at both ends: right-hand side from `in`, eliminated to `mid`;
 * the solution, transformed, to `out` (z: added to it, which is u). All three may be the same but
 * u. The speed of sound at node s is speed[s*prim.step]. Six numbers a node in
 * scratch[(6*s + …)*step]. */
struct sp_line {
    struct sp_view in, mid, out, prim;
    GLOBAL double *speed, *scratch;
    int step;
    int n, lines; /* lines: lanes that are lines of the zone (u keeps the others) */
};

FN real sp_prim(struct sp_line l, int m, int s)
{
    return LOAD(l.prim.at, m * l.prim.field + LINE_AT(l.prim, s));
}

FN real sp_sound(struct sp_line l, int s)
{
    return LOAD(l.speed, LINE_AT(l.prim, s));
}

/* Two multipliers of a node's successors, x_s = y_s - c x_(s+1) - d x_(s+2), and 1/pivot. */
struct sp_factor {
    real b1, c, d, ip;
};

/* One matrix at one row: entries m1, c, p1 here, m2 and p2 from `w`; C1, D1 of node s-1, C2, D2 of
 * node s-2. */
FN struct sp_factor sp_factor(struct sp_row w, real m1, real c, real p1, real c1, real d1, real c2,
                              real d2)
{
    struct sp_factor f;
    f.b1 = m1 - w.m2 * c2;
    f.ip = 1.0 / (c - w.m2 * d2 - f.b1 * c1);
    f.c = (p1 - f.b1 * d1) * f.ip;
    f.d = w.p2 * f.ip;
    return f;
}

/* What a node leaves to the next two: multipliers of the three matrices, eliminated right-hand
 * side. */
struct sp_past {
    real fc, fd, gc, gd, hc, hd;
    struct sp_five y;
};

/* From scratch and `mid`, where sp_forward() has put it. */
FN struct sp_past sp_left_by(struct sp_line l, int s)
{
    GLOBAL const double *k = l.scratch + 6 * s * l.step;
    struct sp_past p;
    p.fc = LOAD(k, 0);
    p.fd = LOAD(k, l.step);
    p.gc = LOAD(k, 2 * l.step);
    p.gd = LOAD(k, 3 * l.step);
    p.hc = LOAD(k, 4 * l.step);
    p.hd = LOAD(k, 5 * l.step);
    p.y = sp_load(l.mid, s);
    return p;
}

FN void sp_keep(struct sp_line l, int s, struct sp_past p)
{
    GLOBAL double *k = l.scratch + 6 * s * l.step;
    sp_store(l.mid, s, p.y);
    STORE(k, 0, p.fc);
    STORE(k, l.step, p.fd);
    STORE(k, 2 * l.step, p.gc);
    STORE(k, 3 * l.step, p.gd);
    STORE(k, 4 * l.step, p.hc);
    STORE(k, 5 * l.step, p.hd);
}

/* Eliminates node s with what nodes s-1 and s-2 left, and keeps what it leaves itself. */
FN struct sp_past sp_forward(struct sp_axis x, struct sp_line l, int s, struct sp_past one,
                             struct sp_past two)
{
    const struct sp_row w = sp_row(x, s, l.n);
    const int v = SP_VX + x.d;
    const real before = -x.tau2 * sp_prim(l, v, s - 1) - x.heat * sp_prim(l, SP_RI, s - 1) + w.m1;
    const real after = x.tau2 * sp_prim(l, v, s + 1) - x.heat * sp_prim(l, SP_RI, s + 1) + w.p1;
    const real centre = (2.0 * x.heat) * sp_prim(l, SP_RI, s) + w.c;
    const real a1 = x.tau2 * sp_sound(l, s - 1), a2 = x.tau2 * sp_sound(l, s + 1);
    struct sp_factor f = sp_factor(w, before, centre, after, one.fc, one.fd, two.fc, two.fd);
    struct sp_factor g =
        sp_factor(w, before - a1, centre, after + a2, one.gc, one.gd, two.gc, two.gd);
    struct sp_factor h =
        sp_factor(w, before + a1, centre, after - a2, one.hc, one.hd, two.hc, two.hd);
    struct sp_past p;
    p.y = sp_load(l.in, s);
    p.y.m0 = (p.y.m0 - w.m2 * two.y.m0 - f.b1 * one.y.m0) * f.ip;
    p.y.m1 = (p.y.m1 - w.m2 * two.y.m1 - f.b1 * one.y.m1) * f.ip;
    p.y.m2 = (p.y.m2 - w.m2 * two.y.m2 - f.b1 * one.y.m2) * f.ip;
    p.y.m3 = (p.y.m3 - w.m2 * two.y.m3 - g.b1 * one.y.m3) * g.ip;
    p.y.m4 = (p.y.m4 - w.m2 * two.y.m4 - h.b1 * one.y.m4) * h.ip;
    p.fc = f.c, p.fd = f.d;
    p.gc = g.c, p.gd = g.d;
    p.hc = h.c, p.hd = h.d;
    sp_keep(l, s, p);
    return p;
}

/* x_s = y_s - c x_(s+1) - d x_(s+2) */
FN struct sp_five sp_back(struct sp_line l, struct sp_five x1, struct sp_five x2, int s)
{
    const struct sp_past p = sp_left_by(l, s);
    struct sp_five y = p.y;
    y.m0 -= p.fc * x1.m0 + p.fd * x2.m0;
    y.m1 -= p.fc * x1.m1 + p.fd * x2.m1;
    y.m2 -= p.fc * x1.m2 + p.fd * x2.m2;
    y.m3 -= p.gc * x1.m3 + p.gd * x2.m3;
    y.m4 -= p.hc * x1.m4 + p.hd * x2.m4;
    return y;
}

/* Solution at node s to `out`, in the variables that come after axis d. */
FN void sp_put(struct sp_line l, int d, int s, struct sp_five r)
{
    if (d == 0) {
        sp_store(l.out, s, sp_turn_y(r));
    } else if (d == 1) {
        sp_store(l.out, s, sp_turn_z(r));
    } else {
        r = sp_leave(r, LOAD(l.out.at, LINE_AT(l.out, s)), sp_prim(l, SP_VX, s),
                     sp_prim(l, SP_VY, s), sp_prim(l, SP_VZ, s), sp_prim(l, SP_E, s),
                     sp_sound(l, s));
        sp_add(l.out, s, r, l.lines);
    }
}

#endif
