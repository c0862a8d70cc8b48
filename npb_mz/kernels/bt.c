/* npb_mz/kernels/bt.c – BT's block-tridiagonal solves, one grid line per lane.
 *
 * The conserved variables of a frame that moves with velocity v are w = T(-v) u, where
 *   T(v) w = (w_r, w_m + v_m w_r, w_e + v.w_m + v.v/2 w_r),   T(a) T(b) = T(a+b):
 * a Galilean boost. In the frame of its own node a Jacobian is almost diagonal. With p the momentum
 * along the line, a and b those across it, e the internal energy per mass,
 *   T(-v) A T(v) = v_p I  +  (r,p) 1  +  (p,e) c2  +  (e,p) c1 e
 *   T(-v) N T(v) = c3c4/rho ( 0, 4/3 on p, 1 on a and b, 1.96 on e, and (e,r) -1.96 e )
 * So the solves work on w_s, each node s in its own frame; a neighbour's block is boosted by the
 * difference of the velocities only. As x, y and z solves use the same frames (u is frozen during a
 * step) the right-hand side is boosted once before x and the solution once after z.
 *
 * Elimination without pivoting: M_s = B_s - K_s X_(s-1), X_s = M_s^-1 C_s, in which M is inverted
 * by the 2x2 blocks (r,p) and (a,b) and then e: three reciprocals in the chain instead of five. */
#ifndef LOAD
#define LOAD(p, at)     ((p)[at])
#define STORE(p, at, x) ((p)[at] = (x))
#define REAL(x)         (x)
#endif

/* A block's column or a vector: density, momentum along, across, across, energy. */
struct bt_col {
    real r, p, a, b, e;
};

/* 1/rho, velocity along the line and across it, internal energy per mass. */
struct bt_node {
    real ri, p, a, b, e;
};

/* The line's direction: dt/(2h), dt D/h^2, dt c3c4/h^2; momenta along and across (1, 2, 3). */
struct bt_axis {
    double tau2, spread, visc;
    int p, a, b;
};

/* Node s, component m of a field along a line is at[m*field + s*step]. */
struct bt_view {
    GLOBAL double *at;
    long field, step;
};

FN struct bt_col bt_load(struct bt_view v, struct bt_axis x, int s)
{
    struct bt_col c;
    c.r = LOAD(v.at, s * v.step);
    c.p = LOAD(v.at, x.p * v.field + s * v.step);
    c.a = LOAD(v.at, x.a * v.field + s * v.step);
    c.b = LOAD(v.at, x.b * v.field + s * v.step);
    c.e = LOAD(v.at, 4 * v.field + s * v.step);
    return c;
}

FN void bt_store(struct bt_view v, struct bt_axis x, int s, struct bt_col c)
{
    STORE(v.at, s * v.step, c.r);
    STORE(v.at, x.p * v.field + s * v.step, c.p);
    STORE(v.at, x.a * v.field + s * v.step, c.a);
    STORE(v.at, x.b * v.field + s * v.step, c.b);
    STORE(v.at, 4 * v.field + s * v.step, c.e);
}

FN struct bt_node bt_node(struct bt_view prim, struct bt_axis x, int s)
{
    struct bt_col c = bt_load(prim, x, s);
    struct bt_node n;
    n.ri = c.r;
    n.p = c.p;
    n.a = c.a;
    n.b = c.b;
    n.e = c.e;
    return n;
}

/* T(sign v) c: sign -1 into the moving frame, +1 out of it. */
FN struct bt_col bt_boost(struct bt_col c, struct bt_node n, double sign)
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

/* Minus the sub-diagonal block K: its action on a column is bt_couple(). */
struct bt_left {
    real r, p, a, e; /* diagonal before the boost, a for both a and b */
    real ep, er;     /* row e, less half the boost's square */
    real dp, da, db; /* boost */
    double rp, pe;
};

FN struct bt_left bt_left(struct bt_axis x, struct bt_node from, struct bt_node to)
{
    struct bt_left l;
    real n = x.visc * from.ri, heat = 1.96 * n;
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

/* M = lower-block-triangular times unit-upper: inverses of the diagonal blocks, the blocks below
 * them, and minus the normalised blocks above them. */
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
    real det = 1.0 / (r.r * p.p - r.p * p.r);
    f.irr = p.p * det;
    f.irp = -p.r * det;
    f.ipr = -r.p * det;
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
    f.iaa = b.b * det;
    f.iab = -b.a * det;
    f.iba = -a.b * det;
    f.ibb = a.a * det;
    f.ea = a.e, f.eb = b.e;
    f.ae = -(f.iaa * e.a + f.iab * e.b);
    f.be = -(f.iba * e.a + f.ibb * e.b);
    f.ie = 1.0 / (e.e + f.ea * f.ae + f.eb * f.be);
    return f;
}

/* Solves for a, b, e once (r,p) are eliminated; r, p of the answer are what these add to them. */
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

/* M^-1 c */
FN struct bt_col bt_solve_col(struct bt_factor f, struct bt_col c)
{
    real r = f.irr * c.r + f.irp * c.p, p = f.ipr * c.r + f.ipp * c.p;
    struct bt_col o =
        bt_tail(f, c.a - f.ar * r - f.ap * p, c.b - f.br * r - f.bp * p, c.e - f.er * r - f.ep * p);
    o.r += r;
    o.p += p;
    return o;
}

/* M^-1 (0, p, 0, 0, e) */
FN struct bt_col bt_solve_pe(struct bt_factor f, double cp, real ce)
{
    real r = f.irp * cp, p = f.ipp * cp;
    struct bt_col o =
        bt_tail(f, -f.ar * r - f.ap * p, -f.br * r - f.bp * p, ce - f.er * r - f.ep * p);
    o.r += r;
    o.p += p;
    return o;
}

struct bt_block {
    struct bt_col r, p, a, b, e; /* columns */
};

/* X = M^-1 C with C the super-diagonal block from node `from`, boosted to node `to`. */
FN struct bt_block bt_super(struct bt_factor f, struct bt_axis x, struct bt_node from,
                            struct bt_node to)
{
    struct bt_block o;
    struct bt_col c;
    real n = x.visc * from.ri, heat = 1.96 * n;
    real r = x.tau2 * from.p - x.spread, p = r - (4.0 / 3.0) * n, a = r - n;
    real dp = from.p - to.p, da = from.a - to.a, db = from.b - to.b;
    real kin = 0.5 * (dp * dp + da * da + db * db);

    c.r = r;
    c.p = dp * r;
    c.a = da * r;
    c.b = db * r;
    c.e = heat * from.e + kin * r;
    o.r = bt_solve_col(f, c);

    c.r = REAL(x.tau2);
    c.p = p + x.tau2 * dp;
    c.a = x.tau2 * da;
    c.b = x.tau2 * db;
    c.e = dp * p + x.tau2 * (1.4 * from.e + kin);
    o.p = bt_solve_col(f, c);

    o.a = bt_tail(f, a, REAL(0.0), da * a);
    o.b = bt_tail(f, REAL(0.0), a, db * a);
    o.e = bt_solve_pe(f, 0.4 * x.tau2, r - heat + (0.4 * x.tau2) * dp);
    return o;
}

/* M_s from the diagonal block and the sub-diagonal one times X_(s-1). */
FN struct bt_factor bt_pivot(struct bt_axis x, struct bt_left l, struct bt_node n,
                             struct bt_block X)
{
    struct bt_col r = bt_couple(l, X.r), p = bt_couple(l, X.p), a = bt_couple(l, X.a),
                  b = bt_couple(l, X.b), e = bt_couple(l, X.e);
    double unit = 1.0 + 2.0 * x.spread;
    real visc = 2.0 * x.visc * n.ri;
    r.r += unit;
    r.e -= 1.96 * visc * n.e;
    p.p += unit + (4.0 / 3.0) * visc;
    a.a += unit + visc;
    b.b += unit + visc;
    e.e += unit + 1.96 * visc;
    return bt_factor(r, p, a, b, e);
}

/* Column m (0 .. 4) of X_s is kept at scratch[(5*(5*s + m) + row)*step]. */
FN void bt_keep(GLOBAL double *scratch, long step, int m, struct bt_col c)
{
    STORE(scratch, (5 * m) * step, c.r);
    STORE(scratch, (5 * m + 1) * step, c.p);
    STORE(scratch, (5 * m + 2) * step, c.a);
    STORE(scratch, (5 * m + 3) * step, c.b);
    STORE(scratch, (5 * m + 4) * step, c.e);
}

/* c - x * (column m of X) */
FN struct bt_col bt_take(GLOBAL const double *scratch, long step, int m, real x, struct bt_col c)
{
    c.r -= x * LOAD(scratch, (5 * m) * step);
    c.p -= x * LOAD(scratch, (5 * m + 1) * step);
    c.a -= x * LOAD(scratch, (5 * m + 2) * step);
    c.b -= x * LOAD(scratch, (5 * m + 3) * step);
    c.e -= x * LOAD(scratch, (5 * m + 4) * step);
    return c;
}

/* Solves nodes 1 .. n-2 of a line: right-hand side from `in`, solution (the correction is 0 at both
 * ends) to `out`, which may be the same. boost: +1 takes `in` into the moving frames first, -1
 * takes `out` back to the frame at rest, 0 neither. */
FN void bt_line(struct bt_axis x, struct bt_view in, struct bt_view out, struct bt_view prim,
                GLOBAL double *scratch, long step, int n, int boost)
{
    struct bt_node before = bt_node(prim, x, 0), here = bt_node(prim, x, 1);
    struct bt_col y;
    y.r = y.p = y.a = y.b = y.e = REAL(0.0);
    struct bt_block X;
    X.r = X.p = X.a = X.b = X.e = y;
    for (int s = 1; s < n - 1; s++) {
        struct bt_node next = bt_node(prim, x, s + 1);
        struct bt_left l = bt_left(x, before, here);
        struct bt_factor f = bt_pivot(x, l, here, X);
        struct bt_col c = bt_load(in, x, s);
        if (boost > 0)
            c = bt_boost(c, here, -1.0);
        y = bt_solve_col(f, bt_sum(c, bt_couple(l, y)));
        bt_store(out, x, s, y);
        X = bt_super(f, x, next, here);
        GLOBAL double *keep = scratch + 25 * s * step;
        bt_keep(keep, step, 0, X.r);
        bt_keep(keep, step, 1, X.p);
        bt_keep(keep, step, 2, X.a);
        bt_keep(keep, step, 3, X.b);
        bt_keep(keep, step, 4, X.e);
        before = here;
        here = next;
    }
    for (int s = n - 2; s > 0; s--) {
        if (s < n - 2) {
            GLOBAL const double *keep = scratch + 25 * s * step;
            struct bt_col w = y;
            y = bt_load(out, x, s);
            y = bt_take(keep, step, 0, w.r, y);
            y = bt_take(keep, step, 1, w.p, y);
            y = bt_take(keep, step, 2, w.a, y);
            y = bt_take(keep, step, 3, w.b, y);
            y = bt_take(keep, step, 4, w.e, y);
        }
        bt_store(out, x, s, boost < 0 ? bt_boost(y, bt_node(prim, x, s), 1.0) : y);
    }
}

#ifndef KERNEL_LANES
/* As in kernels/rhs.c: five longs a zone (nx ny nz pitch first), consts is struct mz_consts. */
struct bt_zone {
    int nx, ny, nz;
    long first, pitch, plane, field;
};

FN struct bt_zone bt_zone(GLOBAL const long *zones, int number)
{
    struct bt_zone z;
    z.nx = (int)zones[5 * number];
    z.ny = (int)zones[5 * number + 1];
    z.nz = (int)zones[5 * number + 2];
    z.pitch = zones[5 * number + 3];
    z.first = zones[5 * number + 4];
    z.plane = z.pitch * z.ny;
    z.field = z.plane * z.nz;
    return z;
}

/* One item solves the line along `axis` through interior point (GID(0), GID(1)) of the other two
 * axes, in their order; over their largest interior sizes and the zones. `scratch` holds 25 doubles
 * a point of the batch, which begins at the zone zone0. */
KERNEL(bt_solve, 64, 1, 1)
(GLOBAL double *w, GLOBAL double *prim, GLOBAL double *scratch, GLOBAL const double *consts,
 GLOBAL const long *zones, int zone0, int nzones, int axis)
{
    if (GID(2) >= nzones)
        return;
    struct bt_zone z = bt_zone(zones, zone0 + GID(2));
    const int n = axis == 0 ? z.nx : axis == 1 ? z.ny : z.nz;
    const int n0 = (axis == 0 ? z.ny : z.nx) - 2, n1 = (axis == 2 ? z.ny : z.nz) - 2;
    if (GID(0) >= n0 || GID(1) >= n1)
        return;
    const long step = axis == 0 ? 1 : axis == 1 ? z.pitch : z.plane;
    const long at =
        (GID(0) + 1) * (axis == 0 ? z.pitch : 1) + (GID(1) + 1) * (axis == 2 ? z.pitch : z.plane);
    struct bt_axis x;
    x.tau2 = consts[3 * axis];
    x.spread = consts[3 * axis + 1];
    x.visc = consts[3 * axis + 2];
    x.p = 1 + axis;
    x.a = 1 + (axis + 1) % 3;
    x.b = 1 + (axis + 2) % 3;
    struct bt_view in, from;
    in.at = w + 5 * z.first + at;
    in.field = from.field = z.field;
    in.step = from.step = step;
    from.at = prim + 7 * z.first + at;
    GLOBAL double *keep = scratch + 25 * (z.first - zones[5 * zone0 + 4]) + GID(1) * n0 + GID(0);
    bt_line(x, in, in, from, keep, (long)n0 * n1, n, axis == 0 ? 1 : axis == 2 ? -1 : 0);
}

/* u += w on interior points; over (nx-2, (ny-2)*(nz-2), zones). */
KERNEL(bt_update, 64, 1, 1)
(GLOBAL double *u, GLOBAL const double *w, GLOBAL const long *zones, int zone0, int nzones)
{
    if (GID(2) >= nzones)
        return;
    struct bt_zone z = bt_zone(zones, zone0 + GID(2));
    int i = 1 + GID(0), j = 1 + GID(1) % (z.ny - 2), k = 1 + GID(1) / (z.ny - 2);
    if (i > z.nx - 2 || k > z.nz - 2)
        return;
    long at = 5 * z.first + k * z.plane + j * z.pitch + i;
    for (int m = 0; m < 5; m++)
        u[at + m * z.field] += w[at + m * z.field];
}
#endif
