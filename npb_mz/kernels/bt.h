/* npb_mz/kernels/bt.h – BT's block-tridiagonal solves, one grid line per lane.
 *
 * The conserved variables of a frame that moves with velocity v are w = T(-v) u, where
 *   T(v) w = (w_r, w_m + v_m w_r, w_e + v.w_m + v.v/2 w_r),   T(a) T(b) = T(a+b):
 * a Galilean boost. In the frame of its own node a Jacobian is almost diagonal. With p the momentum
 * along the line, a and b those across it, e the internal energy per mass,
 *   T(-v) A T(v) = v_p I  +  (r,p) 1  +  (p,e) c2  +  (e,p) c1 e
 *   T(-v) N T(v) = c3c4/rho ( 0, 4/3 on p, 1 on a and b, 1.96 on e, and (e,r) -1.96 e )
 * So the solves work on w_s, each node s in its own frame; a neighbour's block is boosted only by
 * the difference of the velocities. The x, y and z solves use the same frames, as u does not change
 * in between, so the right-hand side is boosted once before x and the solution once after z.
 *
 * Elimination without pivoting: M_s = B_s - K_s X_(s-1), X_s = M_s^-1 C_s. M is inverted by its 2x2
 * blocks (r,p) and (a,b) and then e: a chain of three reciprocals instead of five. */
#ifndef NPB_MZ_KERNELS_BT_H
#define NPB_MZ_KERNELS_BT_H

#include "npb_mz/kernels/line.h"

/* A block's column or a vector: density, momentum along the line, two momenta across it, energy. Of
 * a node's derived variables: 1/rho, the three velocities likewise, internal energy per mass. */
struct bt_col {
    real r, p, a, b, e;
};

/* A line's axis: dt/(2h), dt D/h^2, dt c3c4/h^2; components of the momentum along it (p) and across
 * it (a, b). */
struct bt_axis {
    double tau2, spread, visc;
    int p, a, b;
};

/* consts is struct mz_consts. */
FN struct bt_axis bt_axis(GLOBAL const double *consts, int axis)
{
    struct bt_axis x;
    x.tau2 = consts[3 * axis];
    x.spread = consts[3 * axis + 1];
    x.visc = consts[3 * axis + 2];
    x.p = 1 + axis;
    x.a = 1 + (axis + 1) % 3;
    x.b = 1 + (axis + 2) % 3;
    return x;
}

FN struct bt_col bt_load(struct line_view v, struct bt_axis x, int s)
{
    struct bt_col c;
    c.r = LOAD(v.at, LINE_AT(v, s));
    c.p = LOAD(v.at, x.p * v.field + LINE_AT(v, s));
    c.a = LOAD(v.at, x.a * v.field + LINE_AT(v, s));
    c.b = LOAD(v.at, x.b * v.field + LINE_AT(v, s));
    c.e = LOAD(v.at, 4 * v.field + LINE_AT(v, s));
    return c;
}

FN void bt_store(struct line_view v, struct bt_axis x, int s, struct bt_col c)
{
    STORE(v.at, LINE_AT(v, s), c.r);
    STORE(v.at, x.p * v.field + LINE_AT(v, s), c.p);
    STORE(v.at, x.a * v.field + LINE_AT(v, s), c.a);
    STORE(v.at, x.b * v.field + LINE_AT(v, s), c.b);
    STORE(v.at, 4 * v.field + LINE_AT(v, s), c.e);
}

/* T(sign v) c: sign -1 into the moving frame, +1 out of it. */
FN struct bt_col bt_boost(struct bt_col c, struct bt_col n, double sign)
{
    struct bt_col o;
    real p = sign * n.p, a = sign * n.a, b = sign * n.b;
    o.r = c.r;
    o.p = c.p + p * c.r;
    o.a = c.a + a * c.r;
    o.b = c.b + b * c.r;
    o.e = c.e + p * c.p + a * c.a + b * c.b + 0.5 * (p * p + a * a + b * b) * c.r;
    return o;
}

/* Minus the sub-diagonal block K, in a form that bt_couple() multiplies with a column. */
struct bt_left {
    real r, p, a, e; /* diagonal before the boost; a serves a and b */
    real ep, er;     /* row e, less half the square of the boost */
    real dp, da, db; /* boost */
    double rp, pe;
};

FN struct bt_left bt_left(struct bt_axis x, struct bt_col from, struct bt_col to)
{
    struct bt_left l;
    real n = x.visc * from.r, heat = 1.96 * n;
    l.r = x.tau2 * from.p + x.spread;
    l.a = l.r + n;
    l.p = l.r + (4.0 / 3.0) * n;
    l.e = l.r + heat;
    l.rp = x.tau2;
    l.pe = 0.4 * x.tau2;
    l.dp = from.p - to.p;
    l.da = from.a - to.a;
    l.db = from.b - to.b;
    real kin = 0.5 * (l.dp * l.dp + l.da * l.da + l.db * l.db);
    l.ep = x.tau2 * (1.4 * from.e - kin);
    l.er = -heat * from.e - kin * l.r;
    return l;
}

/* -K x */
FN struct bt_col bt_couple(struct bt_left l, struct bt_col x)
{
    struct bt_col c;
    c.r = l.r * x.r + l.rp * x.p;
    c.p = l.p * x.p + l.pe * x.e + l.dp * c.r;
    c.a = l.a * x.a + l.da * c.r;
    c.b = l.a * x.b + l.db * c.r;
    c.e = l.e * x.e + l.ep * x.p + l.er * x.r + l.dp * c.p + l.da * c.a + l.db * c.b;
    return c;
}

FN struct bt_col bt_sum(struct bt_col x, struct bt_col y)
{
    x.r += y.r;
    x.p += y.p;
    x.a += y.a;
    x.b += y.b;
    x.e += y.e;
    return x;
}

/* M as a lower block triangular matrix times a unit upper one: inverses of the diagonal blocks, the
 * blocks below them, and minus the normalised blocks above them. */
struct bt_factor {
    real irr, irp, ipr, ipp;     /* inverse of block (r,p) */
    real ar, ap, br, bp, er, ep; /* below it */
    real ra, rb, re, pa, pb, pe; /* above, normalised, negative */
    real iaa, iab, iba, ibb;     /* inverse of block (a,b) */
    real ea, eb;                 /* below it */
    real ae, be;                 /* above, normalised, negative */
    real ie;
};

/* Eliminates (r,p) from a later column of M. */
FN struct bt_col bt_reduce(struct bt_factor f, struct bt_col c)
{
    real r = -(f.irr * c.r + f.irp * c.p), p = -(f.ipr * c.r + f.ipp * c.p);
    c.a += f.ar * r + f.ap * p;
    c.b += f.br * r + f.bp * p;
    c.e += f.er * r + f.ep * p;
    c.r = r;
    c.p = p;
    return c;
}

FN struct bt_factor bt_factor(struct bt_col r, struct bt_col p, struct bt_col a, struct bt_col b,
                              struct bt_col e)
{
    struct bt_factor f;
    real det = 1.0 / (r.r * p.p - r.p * p.r), minus = -det;
    f.irr = p.p * det;
    f.irp = p.r * minus;
    f.ipr = r.p * minus;
    f.ipp = r.r * det;
    f.ar = r.a, f.br = r.b, f.er = r.e;
    f.ap = p.a, f.bp = p.b, f.ep = p.e;

    a = bt_reduce(f, a);
    b = bt_reduce(f, b);
    e = bt_reduce(f, e);
    f.ra = a.r, f.pa = a.p;
    f.rb = b.r, f.pb = b.p;
    f.re = e.r, f.pe = e.p;

    det = 1.0 / (a.a * b.b - a.b * b.a);
    minus = -det;
    f.iaa = b.b * det;
    f.iab = b.a * minus;
    f.iba = a.b * minus;
    f.ibb = a.a * det;
    f.ea = a.e, f.eb = b.e;
    f.ae = -(f.iaa * e.a + f.iab * e.b);
    f.be = -(f.iba * e.a + f.ibb * e.b);
    f.ie = 1.0 / (e.e + f.ea * f.ae + f.eb * f.be);
    return f;
}

/* M^-1 (0, 0, a, b, e). */
FN struct bt_col bt_tail(struct bt_factor f, real a, real b, real e)
{
    struct bt_col c;
    real a1 = f.iaa * a + f.iab * b, b1 = f.iba * a + f.ibb * b;
    c.e = (e - f.ea * a1 - f.eb * b1) * f.ie;
    c.a = a1 + f.ae * c.e;
    c.b = b1 + f.be * c.e;
    c.r = f.ra * c.a + f.rb * c.b + f.re * c.e;
    c.p = f.pa * c.a + f.pb * c.b + f.pe * c.e;
    return c;
}

/* M^-1 c, given r and p already multiplied by the inverse of block (r,p). */
FN struct bt_col bt_finish(struct bt_factor f, real r, real p, real a, real b, real e)
{
    struct bt_col c;
    real a0 = a - f.ar * r - f.ap * p, b0 = b - f.br * r - f.bp * p, e0 = e - f.er * r - f.ep * p;
    real a1 = f.iaa * a0 + f.iab * b0, b1 = f.iba * a0 + f.ibb * b0;
    c.e = (e0 - f.ea * a1 - f.eb * b1) * f.ie;
    c.a = a1 + f.ae * c.e;
    c.b = b1 + f.be * c.e;
    c.r = r + f.ra * c.a + f.rb * c.b + f.re * c.e;
    c.p = p + f.pa * c.a + f.pb * c.b + f.pe * c.e;
    return c;
}

/* M^-1 c */
FN struct bt_col bt_solve_col(struct bt_factor f, struct bt_col c)
{
    return bt_finish(f, f.irr * c.r + f.irp * c.p, f.ipr * c.r + f.ipp * c.p, c.a, c.b, c.e);
}

/* Stores column m (0 .. 4) of X_s at X[(5*m + row)*step], where X = scratch + 25*s*step. */
FN void bt_keep(GLOBAL double *X, int step, int m, struct bt_col c)
{
    STORE(X, (5 * m) * step, c.r);
    STORE(X, (5 * m + 1) * step, c.p);
    STORE(X, (5 * m + 2) * step, c.a);
    STORE(X, (5 * m + 3) * step, c.b);
    STORE(X, (5 * m + 4) * step, c.e);
}

FN struct bt_col bt_kept(GLOBAL const double *X, int step, int m)
{
    struct bt_col c;
    c.r = LOAD(X, (5 * m) * step);
    c.p = LOAD(X, (5 * m + 1) * step);
    c.a = LOAD(X, (5 * m + 2) * step);
    c.b = LOAD(X, (5 * m + 3) * step);
    c.e = LOAD(X, (5 * m + 4) * step);
    return c;
}

/* The columns of X_s. */
struct bt_block {
    struct bt_col r, p, a, b, e;
};

FN struct bt_block bt_kept_block(GLOBAL const double *X, int step)
{
    struct bt_block k;
    k.r = bt_kept(X, step, 0);
    k.p = bt_kept(X, step, 1);
    k.a = bt_kept(X, step, 2);
    k.b = bt_kept(X, step, 3);
    k.e = bt_kept(X, step, 4);
    return k;
}

/* c - x * col */
FN struct bt_col bt_less(struct bt_col c, real x, struct bt_col col)
{
    c.r -= x * col.r;
    c.p -= x * col.p;
    c.a -= x * col.a;
    c.b -= x * col.b;
    c.e -= x * col.e;
    return c;
}

/* w_s = y_s - X_s w_(s+1) */
FN struct bt_col bt_substitute(struct bt_col y, struct bt_block X, struct bt_col w)
{
    y = bt_less(y, w.r, X.r);
    y = bt_less(y, w.p, X.p);
    y = bt_less(y, w.a, X.a);
    y = bt_less(y, w.b, X.b);
    return bt_less(y, w.e, X.e);
}

/* X = M^-1 C, with `keep` also stored in scratch; C is the super-diagonal block of node `from`,
 * boosted to the frame of node `to`. */
FN struct bt_block bt_super(struct bt_factor f, struct bt_axis x, struct bt_col from,
                            struct bt_col to, GLOBAL double *X, int step, int keep)
{
    struct bt_block k;
    struct bt_col c;
    const double pe = 0.4 * x.tau2;
    real n = x.visc * from.r, heat = 1.96 * n;
    real r = x.tau2 * from.p - x.spread, p = r - (4.0 / 3.0) * n, a = r - n;
    real dp = from.p - to.p, da = from.a - to.a, db = from.b - to.b;
    real kin = 0.5 * (dp * dp + da * da + db * db);

    c.r = r;
    c.p = dp * r;
    c.a = da * r;
    c.b = db * r;
    c.e = heat * from.e + kin * r;
    k.r = bt_solve_col(f, c);
    if (keep)
        bt_keep(X, step, 0, k.r);

    c.r = REAL(x.tau2);
    c.p = p + x.tau2 * dp;
    c.a = x.tau2 * da;
    c.b = x.tau2 * db;
    c.e = dp * p + x.tau2 * (1.4 * from.e + kin);
    k.p = bt_solve_col(f, c);
    if (keep)
        bt_keep(X, step, 1, k.p);

    k.a = bt_tail(f, a, REAL(0.0), da * a);
    if (keep)
        bt_keep(X, step, 2, k.a);
    k.b = bt_tail(f, REAL(0.0), a, db * a);
    if (keep)
        bt_keep(X, step, 3, k.b);
    k.e = bt_finish(f, f.irp * pe, f.ipp * pe, REAL(0.0), REAL(0.0), r - heat + pe * dp);
    if (keep)
        bt_keep(X, step, 4, k.e);
    return k;
}

/* Factors M_s, the diagonal block minus the sub-diagonal one times X_(s-1). */
FN struct bt_factor bt_pivot(struct bt_axis x, struct bt_left l, struct bt_col n, struct bt_block X)
{
    struct bt_col r = bt_couple(l, X.r), p = bt_couple(l, X.p), a = bt_couple(l, X.a),
                  b = bt_couple(l, X.b), e = bt_couple(l, X.e);
    double unit = 1.0 + 2.0 * x.spread;
    real visc = 2.0 * x.visc * n.r;
    r.r += unit;
    r.e -= 1.96 * visc * n.e;
    p.p += unit + (4.0 / 3.0) * visc;
    a.a += unit + visc;
    b.b += unit + visc;
    e.e += unit + 1.96 * visc;
    return bt_factor(r, p, a, b, e);
}

/* A line to solve, nodes 1 .. n-2: the right-hand side is read from `in`; y_s and the solution go
 * to `out`, which may be the same. X_s is at scratch[(25*s + …)*step]. boost: +1 the right-hand
 * side must be boosted to the nodes' frames first; -1 the solution goes back to the frame at rest;
 * 0 neither. */
struct bt_line {
    struct line_view in, out, prim;
    GLOBAL double *scratch;
    int step;
    int n, boost;
};

/* What a node leaves to the next one: X_s and y_s. */
struct bt_past {
    struct bt_block X;
    struct bt_col y;
};

/* Eliminates node s: factors M_s, stores X_s in scratch and y_s in `out`. */
FN struct bt_past bt_forward(struct bt_axis x, struct bt_line l, int s, struct bt_past past)
{
    struct bt_col here = bt_load(l.prim, x, s);
    struct bt_left left = bt_left(x, bt_load(l.prim, x, s - 1), here);
    struct bt_factor f = bt_pivot(x, left, here, past.X);
    struct bt_col c = bt_load(l.in, x, s);
    if (l.boost > 0)
        c = bt_boost(c, here, -1.0);
    c = bt_sum(c, bt_couple(left, past.y));
    past.X =
        bt_super(f, x, bt_load(l.prim, x, s + 1), here, l.scratch + 25 * s * l.step, l.step, 1);
    past.y = bt_solve_col(f, c);
    bt_store(l.out, x, s, past.y);
    return past;
}

/* Node s of back substitution, by what bt_forward() has stored. */
FN struct bt_col bt_back(struct bt_axis x, struct bt_line l, struct bt_col w, int s)
{
    return bt_substitute(bt_load(l.out, x, s), bt_kept_block(l.scratch + 25 * s * l.step, l.step),
                         w);
}

#endif
