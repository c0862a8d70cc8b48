/* npb_mz/kernels/rhs.h – the spatial operator R(u) common to BT, SP and LU.
 *
 * Five conserved variables u = (rho, rho v, E) and seven derived ones,
 *   prim = 1/rho, v_x, v_y, v_z, e, P, phi     e internal energy per mass, P = 0.4 rho e,
 *                                              phi = v.v/2 + 1.96 e,
 * every field as [m][k][j][i]. In these, the energy's viscous term along d is the second difference
 * of phi + v_d^2/6. All constants arrive multiplied by the time step. */
#ifndef NPB_MZ_KERNELS_RHS_H
#define NPB_MZ_KERNELS_RHS_H

#ifndef NEXT_FIELD
#define NEXT_FIELD(p, size) ((p) + (size))
#endif

/* Weights of f(s-2) .. f(s+2) along one axis: second difference times `spread` minus the fourth
 * difference times `damping`, which never reads the boundary points s = 0 and n-1. */
struct rhs_stencil {
    real m2, m1, c, p1, p2;
};
struct rhs_weights {
    double m2, m1, c, p1, p2;
};

FN struct rhs_weights rhs_weights(double spread, double damping, int s, int n)
{
    struct rhs_weights w;
    w.m2 = s > 2 ? -damping : 0.0;
    w.m1 = spread + (s > 1 ? 4.0 * damping : 0.0);
    w.c = -2.0 * spread - (s == 1 || s == n - 2 ? 5.0 : 6.0) * damping;
    w.p1 = spread + (s < n - 2 ? 4.0 * damping : 0.0);
    w.p2 = s < n - 3 ? -damping : 0.0;
    return w;
}

struct rhs_prim {
    real ri, vx, vy, vz, e, p, phi;
};

FN struct rhs_prim rhs_prim_of(real rho, real mx, real my, real mz, real energy)
{
    struct rhs_prim r;
    r.ri = 1.0 / rho;
    r.vx = mx * r.ri;
    r.vy = my * r.ri;
    r.vz = mz * r.ri;
    real q = 0.5 * (r.vx * r.vx + r.vy * r.vy + r.vz * r.vz);
    r.e = energy * r.ri - q;
    r.p = 0.4 * rho * r.e;
    r.phi = q + 1.96 * r.e;
    return r;
}

/* Derived variables at one point: u[at + m*field] to prim[to + m*size]. */
FN void rhs_derive(GLOBAL const double *u, long field, long at, GLOBAL double *prim, long size,
                   long to)
{
    struct rhs_prim r = rhs_prim_of(LOAD(u, at), LOAD(u, at + field), LOAD(u, at + 2 * field),
                                    LOAD(u, at + 3 * field), LOAD(u, at + 4 * field));
    STORE(prim, to, r.ri);
    STORE(prim, to + size, r.vx);
    STORE(prim, to + 2 * size, r.vy);
    STORE(prim, to + 3 * size, r.vz);
    STORE(prim, to + 4 * size, r.e);
    STORE(prim, to + 5 * size, r.p);
    STORE(prim, to + 6 * size, r.phi);
}

struct rhs_five {
    real m0, m1, m2, m3, m4;
};

/* A point and its neighbours: u of one field after another, derived variables of its plane (p0) and
 * of the planes above and below; strides of j and k in u. low2 and high2 lead to k-2 and k+2,
 * clamped into the zone (their weights are 0 there). */
struct rhs_place {
    GLOBAL const double *u, *p0, *above, *below;
    long field, size; /* from component to component: of u, of derived variables */
    long row, plane, low2, high2;
};

/* dt/(2h) and dt c3c4/h^2 of the three axes. */
struct rhs_scales {
    double tx, ty, tz, vx, vy, vz;
};

/* All five variables are carried by the same velocities and spread by the same stencils: weights
 * of a variable's values at the point and its twelve neighbours. */
struct rhs_flow {
    real c, xp, xm, yp, ym, zp, zm, xp2, xm2, yp2, ym2, zp2, zm2;
};

FN struct rhs_flow rhs_flow(struct rhs_place q, struct rhs_scales t, struct rhs_stencil x,
                            struct rhs_stencil y, struct rhs_stencil z)
{
    struct rhs_flow f;
    const long vx = q.size, vy = 2 * q.size, vz = 3 * q.size;
    f.c = x.c + y.c + z.c;
    f.xp = x.p1 - t.tx * LOAD(q.p0, vx + 1);
    f.xm = x.m1 + t.tx * LOAD(q.p0, vx - 1);
    f.yp = y.p1 - t.ty * LOAD(q.p0, vy + q.row);
    f.ym = y.m1 + t.ty * LOAD(q.p0, vy - q.row);
    f.zp = z.p1 - t.tz * LOAD(q.above, vz);
    f.zm = z.m1 + t.tz * LOAD(q.below, vz);
    f.xp2 = x.p2, f.xm2 = x.m2;
    f.yp2 = y.p2, f.ym2 = y.m2;
    f.zp2 = z.p2, f.zm2 = z.m2;
    return f;
}

FN real rhs_carry(GLOBAL const double *u, struct rhs_place q, struct rhs_flow f)
{
    real x = f.c * LOAD(u, 0) + f.xm2 * LOAD(u, -2) + f.xm * LOAD(u, -1) + f.xp * LOAD(u, 1) +
             f.xp2 * LOAD(u, 2);
    real y = f.ym2 * LOAD(u, -2 * q.row) + f.ym * LOAD(u, -q.row) + f.yp * LOAD(u, q.row) +
             f.yp2 * LOAD(u, 2 * q.row);
    real z = f.zm2 * LOAD(u, q.low2) + f.zm * LOAD(u, -q.plane) + f.zp * LOAD(u, q.plane) +
             f.zp2 * LOAD(u, q.high2);
    return x + (y + z);
}

/* Second differences of derived variable m, times x, y, z along the axes. */
FN real rhs_curve(struct rhs_place q, int m, double x, double y, double z)
{
    const long at = m * q.size;
    return x * (LOAD(q.p0, at + 1) + LOAD(q.p0, at - 1)) +
           y * (LOAD(q.p0, at + q.row) + LOAD(q.p0, at - q.row)) +
           z * (LOAD(q.above, at) + LOAD(q.below, at)) - (2.0 * (x + y + z)) * LOAD(q.p0, at);
}

/* The energy's part along one axis: the work of the pressure p at velocity v, and the friction
 * that the second difference of v^2 stands for (phi has the rest). */
FN real rhs_work(double tau, double visc, real vp, real v0, real vm, real pp, real pm)
{
    return tau * (pm * vm - pp * vp) + (visc * (1.0 / 6.0)) * (vp * vp + vm * vm - 2.0 * v0 * v0);
}

/* dt R(u) at one point. */
FN struct rhs_five rhs_at(struct rhs_place q, struct rhs_scales t, struct rhs_flow f)
{
    struct rhs_five r;
    const long vx = q.size, vy = 2 * q.size, vz = 3 * q.size, p = 5 * q.size;
    GLOBAL const double *u = q.u;
    r.m0 = rhs_carry(u, q, f);
    u = NEXT_FIELD(u, q.field);
    r.m1 = rhs_carry(u, q, f);
    u = NEXT_FIELD(u, q.field);
    r.m2 = rhs_carry(u, q, f);
    u = NEXT_FIELD(u, q.field);
    r.m3 = rhs_carry(u, q, f);
    u = NEXT_FIELD(u, q.field);
    r.m4 = rhs_carry(u, q, f);

    const double third = 1.0 / 3.0;
    real xp = LOAD(q.p0, p + 1), xm = LOAD(q.p0, p - 1);
    real yp = LOAD(q.p0, p + q.row), ym = LOAD(q.p0, p - q.row);
    real zp = LOAD(q.above, p), zm = LOAD(q.below, p);
    r.m1 += rhs_curve(q, 1, t.vx + third * t.vx, t.vy, t.vz) + t.tx * (xm - xp);
    r.m2 += rhs_curve(q, 2, t.vx, t.vy + third * t.vy, t.vz) + t.ty * (ym - yp);
    r.m3 += rhs_curve(q, 3, t.vx, t.vy, t.vz + third * t.vz) + t.tz * (zm - zp);
    r.m4 += rhs_curve(q, 6, t.vx, t.vy, t.vz) +
            rhs_work(t.tx, t.vx, LOAD(q.p0, vx + 1), LOAD(q.p0, vx), LOAD(q.p0, vx - 1), xp, xm) +
            rhs_work(t.ty, t.vy, LOAD(q.p0, vy + q.row), LOAD(q.p0, vy), LOAD(q.p0, vy - q.row), yp,
                     ym) +
            rhs_work(t.tz, t.vz, LOAD(q.above, vz), LOAD(q.p0, vz), LOAD(q.below, vz), zp, zm);
    return r;
}

/* w = dt (R(u) + g) at one point, g[at + m*field] to w[to + m*size]; g is stored multiplied by dt.
 */
FN void rhs_store(struct rhs_five r, GLOBAL const double *g, long field, long at, GLOBAL double *w,
                  long size, long to)
{
    STORE(w, to, LOAD(g, at) + r.m0);
    STORE(w, to + size, LOAD(g, at + field) + r.m1);
    STORE(w, to + 2 * size, LOAD(g, at + 2 * field) + r.m2);
    STORE(w, to + 3 * size, LOAD(g, at + 3 * field) + r.m3);
    STORE(w, to + 4 * size, LOAD(g, at + 4 * field) + r.m4);
}

#endif
