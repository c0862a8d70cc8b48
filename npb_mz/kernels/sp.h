/* npb_mz/kernels/sp.h – SP's diagonalised solves: scalar pentadiagonal systems, one grid line per
 * lane.
 *
 * Along an axis three of the characteristic variables move with the velocity v along it, one with v
 * + a and one with v - a, where a is the speed of sound: five systems with three matrices per line.
 * The transformations between the characteristic variables of the axes act on single nodes. Each is
 * done in the pass that has the node in registers anyway: the first one with the right-hand side,
 * the others at the end of the solve before.
 *
 * Derived variables are those of kernels/rhs.h with a in place of the pressure. Characteristic
 * variables are a struct five, whatever the names of its members: three of v, v + a, v - a. */
#ifndef NPB_MZ_KERNELS_SP_H
#define NPB_MZ_KERNELS_SP_H

#include "npb_mz/kernels/five.h"
#include "npb_mz/kernels/line.h"

#ifndef STORE_SOME /* the first `count` lanes */
#define STORE_SOME(p, at, x, count) ((void)(count), (p)[at] = (x))
#endif
#ifndef SQRT
#define SQRT(x) sqrt(x)
#endif

#define SP_ROOT 0.70710678118654752440 /* sqrt(1/2) */

/* Components of the derived variables. */
enum { SP_RI, SP_VX, SP_VY, SP_VZ, SP_E, SP_A };

/* A line's axis d (0, 1, 2): dt/(2h), dt D/h^2, 1.96 dt c3c4/h^2, dt dssp. */
struct sp_axis {
    double tau2, spread, heat, damping;
    int d;
};

/* consts is struct mz_consts. */
FN struct sp_axis sp_axis(GLOBAL const double *consts, int axis)
{
    struct sp_axis x;
    x.tau2 = consts[3 * axis];
    x.spread = consts[3 * axis + 1];
    x.heat = 1.96 * consts[3 * axis + 2];
    x.damping = consts[9];
    x.d = axis;
    return x;
}

/* v += c in the first `count` lanes */
FN void sp_add(struct line_view v, int s, struct five c, int count)
{
    STORE_SOME(v.at, LINE_AT(v, s), LOAD(v.at, LINE_AT(v, s)) + c.r, count);
    STORE_SOME(v.at, v.field + LINE_AT(v, s), LOAD(v.at, v.field + LINE_AT(v, s)) + c.x, count);
    STORE_SOME(v.at, 2 * v.field + LINE_AT(v, s), LOAD(v.at, 2 * v.field + LINE_AT(v, s)) + c.y,
               count);
    STORE_SOME(v.at, 3 * v.field + LINE_AT(v, s), LOAD(v.at, 3 * v.field + LINE_AT(v, s)) + c.z,
               count);
    STORE_SOME(v.at, 4 * v.field + LINE_AT(v, s), LOAD(v.at, 4 * v.field + LINE_AT(v, s)) + c.e,
               count);
}

/* Speed of sound from the internal energy per mass: a^2 = 1.4 * 0.4 e. */
FN real sp_speed(real e)
{
    return SQRT(0.56 * e);
}

/* ---- the transformations between sets of characteristic variables ---------------------------- */

/* From conserved variables to the characteristic ones of x. */
FN struct five sp_enter(struct five r, real ri, real vx, real vy, real vz, real e, real a)
{
    struct five o;
    real q = 0.5 * (vx * vx + vy * vy + vz * vz);
    real p = 0.4 * (q * r.r - vx * r.x - vy * r.y - vz * r.z + r.e);
    real t1 = p / (0.56 * e), b = SP_ROOT * ri, t2 = b * (vx * r.r - r.x), t3 = b * a * t1;
    o.r = r.r - t1;
    o.x = ri * (r.z - vz * r.r);
    o.y = ri * (vy * r.r - r.y);
    o.z = t3 - t2;
    o.e = t2 + t3;
    return o;
}

/* From those of x to those of y. */
FN struct five sp_turn_y(struct five r)
{
    struct five o;
    real t1 = SP_ROOT * r.y, t2 = 0.5 * (r.z + r.e);
    o.r = -r.x;
    o.x = r.r;
    o.y = SP_ROOT * (r.z - r.e);
    o.z = t2 - t1;
    o.e = t1 + t2;
    return o;
}

/* From those of y to those of z. */
FN struct five sp_turn_z(struct five r)
{
    struct five o;
    real t1 = SP_ROOT * r.r, t2 = 0.5 * (r.z + r.e);
    o.r = SP_ROOT * (r.z - r.e);
    o.x = -r.y;
    o.y = r.x;
    o.z = t2 - t1;
    o.e = t1 + t2;
    return o;
}

/* From those of z back to the conserved variables. */
FN struct five sp_leave(struct five r, real rho, real vx, real vy, real vz, real e, real a)
{
    struct five o;
    real q = 0.5 * (vx * vx + vy * vy + vz * vz), b = SP_ROOT * rho;
    real t1 = b * (r.z + r.e) / a, t2 = r.y + t1, t3 = b * (r.z - r.e);
    real along = rho * r.r, across = rho * r.x;
    o.r = t2;
    o.x = vx * t2 - across;
    o.y = vy * t2 + along;
    o.z = vz * t2 + t3;
    o.e = vy * along - vx * across + q * t2 + 1.4 * e * t1 + vz * t3;
    return o;
}

/* ---- the solves ------------------------------------------------------------------------------ */

/* The part of row s of a line's operators that does not depend on u: 1 - spread * second difference
 * + damping * fourth difference, which never reads the nodes 0 and n-1. */
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

/* A node after elimination: x_s = y_s - c x_(s+1) - d x_(s+2), and 1/pivot; b1 is what remains of
 * the entry of node s-1. */
struct sp_factor {
    real b1, c, d, ip;
};

/* Eliminates one row: entries m1, c, p1, and m2, p2 from `w`; c1, d1 are those of node s-1, c2, d2
 * of node s-2. */
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

#endif
