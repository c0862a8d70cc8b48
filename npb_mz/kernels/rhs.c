/* npb_mz/kernels/rhs.c – the spatial operator R(u) common to BT, SP and LU.
 *
 * Five conserved variables u = (rho, rho v, E) and seven derived ones,
 *   prim = 1/rho, v_x, v_y, v_z, e, P, phi     e internal energy per mass, P = 0.4 rho e,
 *                                              phi = v.v/2 + 1.96 e,
 * every field as [m][k][j][i]. In these, the energy's viscous term along d is the second difference
 * of phi + v_d^2/6. All constants arrive multiplied by the time step. */
#ifndef LOAD
#define LOAD(p, at)     ((p)[at])
#define STORE(p, at, x) ((p)[at] = (x))
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

/* Where the neighbours of a point along one axis lie in u and in prim, and the axis' constants. */
struct rhs_axis {
    long up, um;       /* u at s+1, s-1 */
    long pp, p0, pm;   /* prim at s+1, s, s-1 */
    double tau2, visc; /* dt/(2h), dt c3c4/h^2 */
};

FN real rhs_curve(GLOBAL const double *prim, long size, int m, struct rhs_axis a)
{
    return LOAD(prim, a.pp + m * size) + LOAD(prim, a.pm + m * size) -
           2.0 * LOAD(prim, a.p0 + m * size);
}

/* Convection and viscosity along axis d (0, 1, 2) added to r. */
FN struct rhs_five rhs_along(GLOBAL const double *u, long field, GLOBAL const double *prim,
                             long size, int d, struct rhs_axis a, struct rhs_five r)
{
    const real vp = LOAD(prim, a.pp + (1 + d) * size), vm = LOAD(prim, a.pm + (1 + d) * size);
    const real v0 = LOAD(prim, a.p0 + (1 + d) * size);
    const real fp = a.tau2 * vp, fm = a.tau2 * vm;
    const real pp = LOAD(prim, a.pp + 5 * size), pm = LOAD(prim, a.pm + 5 * size);
    const real push = a.tau2 * (pp - pm);
    const double along = a.visc * (4.0 / 3.0);

    r.m0 -= a.tau2 * (LOAD(u, a.up + (1 + d) * field) - LOAD(u, a.um + (1 + d) * field));
    r.m1 += LOAD(u, a.um + field) * fm - LOAD(u, a.up + field) * fp;
    r.m2 += LOAD(u, a.um + 2 * field) * fm - LOAD(u, a.up + 2 * field) * fp;
    r.m3 += LOAD(u, a.um + 3 * field) * fm - LOAD(u, a.up + 3 * field) * fp;
    r.m4 += (LOAD(u, a.um + 4 * field) + pm) * fm - (LOAD(u, a.up + 4 * field) + pp) * fp;

    r.m1 += (d == 0 ? along : a.visc) * rhs_curve(prim, size, 1, a);
    r.m2 += (d == 1 ? along : a.visc) * rhs_curve(prim, size, 2, a);
    r.m3 += (d == 2 ? along : a.visc) * rhs_curve(prim, size, 3, a);
    r.m4 +=
        a.visc * (rhs_curve(prim, size, 6, a) + (vp * vp + vm * vm - 2.0 * v0 * v0) * (1.0 / 6.0));
    if (d == 0)
        r.m1 -= push;
    else if (d == 1)
        r.m2 -= push;
    else
        r.m3 -= push;
    return r;
}

/* The three stencils of a point; low2 and high2 are where k-2 and k+2 lie, clamped into the zone
 * (their weights are 0 there). */
struct rhs_spread {
    struct rhs_stencil x, y, z;
    real c; /* x.c + y.c + z.c */
    long row, plane, low2, high2;
};

FN real rhs_spread(GLOBAL const double *f, long at, struct rhs_spread s)
{
    return s.c * LOAD(f, at) + s.x.m2 * LOAD(f, at - 2) + s.x.m1 * LOAD(f, at - 1) +
           s.x.p1 * LOAD(f, at + 1) + s.x.p2 * LOAD(f, at + 2) + s.y.m2 * LOAD(f, at - 2 * s.row) +
           s.y.m1 * LOAD(f, at - s.row) + s.y.p1 * LOAD(f, at + s.row) +
           s.y.p2 * LOAD(f, at + 2 * s.row) + s.z.m2 * LOAD(f, at + s.low2) +
           s.z.m1 * LOAD(f, at - s.plane) + s.z.p1 * LOAD(f, at + s.plane) +
           s.z.p2 * LOAD(f, at + s.high2);
}

/* dt R(u) at one point. */
FN struct rhs_five rhs_at(GLOBAL const double *u, long field, long at, GLOBAL const double *prim,
                          long size, struct rhs_axis x, struct rhs_axis y, struct rhs_axis z,
                          struct rhs_spread s)
{
    struct rhs_five r;
    r.m0 = rhs_spread(u, at, s);
    r.m1 = rhs_spread(u, at + field, s);
    r.m2 = rhs_spread(u, at + 2 * field, s);
    r.m3 = rhs_spread(u, at + 3 * field, s);
    r.m4 = rhs_spread(u, at + 4 * field, s);
    r = rhs_along(u, field, prim, size, 0, x, r);
    r = rhs_along(u, field, prim, size, 1, y, r);
    return rhs_along(u, field, prim, size, 2, z, r);
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

#ifndef KERNEL_LANES
/* Kernels take a table of zones, five longs each: nx ny nz pitch first, and work on the zones
 * zone0 + GID(2): so one launch serves a whole batch. `first` counts points: a zone's part of a
 * field of c components begins at c*first. consts is struct mz_consts of npb_mz/mz.h. */
struct rhs_zone {
    int nx, ny, nz, pitch;
    long first, plane, field;
};

FN struct rhs_zone rhs_zone(GLOBAL const long *zones, int number)
{
    struct rhs_zone z;
    z.nx = (int)zones[5 * number];
    z.ny = (int)zones[5 * number + 1];
    z.nz = (int)zones[5 * number + 2];
    z.pitch = (int)zones[5 * number + 3];
    z.first = zones[5 * number + 4];
    z.plane = (long)z.pitch * z.ny;
    z.field = z.plane * z.nz;
    return z;
}

FN struct rhs_axis rhs_axis(long at, long step, GLOBAL const double *consts, int d)
{
    struct rhs_axis a;
    a.up = a.pp = at + step;
    a.um = a.pm = at - step;
    a.p0 = at;
    a.tau2 = consts[3 * d];
    a.visc = consts[3 * d + 2];
    return a;
}

FN struct rhs_stencil rhs_stencil(GLOBAL const double *consts, int d, int s, int n)
{
    struct rhs_weights w = rhs_weights(consts[3 * d + 1], consts[9], s, n);
    struct rhs_stencil t;
    t.m2 = w.m2;
    t.m1 = w.m1;
    t.c = w.c;
    t.p1 = w.p1;
    t.p2 = w.p2;
    return t;
}

/* Derived variables everywhere; over points (pitch, ny*nz, zones). */
KERNEL(rhs_prims, 64, 1, 1)
(GLOBAL const double *u, GLOBAL double *prim, GLOBAL const long *zones, int zone0, int nzones)
{
    if (GID(2) >= nzones)
        return;
    struct rhs_zone z = rhs_zone(zones, zone0 + GID(2));
    if (GID(0) < z.nx && GID(1) < z.ny * z.nz) {
        long at = (long)GID(1) * z.pitch + GID(0);
        rhs_derive(u + 5 * z.first, z.field, at, prim + 7 * z.first, z.field, at);
    }
}

/* w = dt (R(u) + g) on interior points; over (nx-2, (ny-2)*(nz-2), zones). */
KERNEL(rhs_points, 64, 1, 1)
(GLOBAL const double *u, GLOBAL const double *prim, GLOBAL const double *g, GLOBAL double *w,
 GLOBAL const double *consts, GLOBAL const long *zones, int zone0, int nzones)
{
    if (GID(2) >= nzones)
        return;
    struct rhs_zone z = rhs_zone(zones, zone0 + GID(2));
    int i = 1 + GID(0), j = 1 + GID(1) % (z.ny - 2), k = 1 + GID(1) / (z.ny - 2);
    if (i > z.nx - 2 || k > z.nz - 2)
        return;
    long at = k * z.plane + (long)j * z.pitch + i;
    struct rhs_spread s;
    s.x = rhs_stencil(consts, 0, i, z.nx);
    s.y = rhs_stencil(consts, 1, j, z.ny);
    s.z = rhs_stencil(consts, 2, k, z.nz);
    s.c = s.x.c + s.y.c + s.z.c;
    s.row = z.pitch;
    s.plane = z.plane;
    s.low2 = k > 1 ? -2 * z.plane : 0;
    s.high2 = k < z.nz - 2 ? 2 * z.plane : 0;
    struct rhs_five r = rhs_at(u + 5 * z.first, z.field, at, prim + 7 * z.first, z.field,
                               rhs_axis(at, 1, consts, 0), rhs_axis(at, z.pitch, consts, 1),
                               rhs_axis(at, z.plane, consts, 2), s);
    rhs_store(r, g + 5 * z.first, z.field, at, w + 5 * z.first, z.field, at);
}
#endif
