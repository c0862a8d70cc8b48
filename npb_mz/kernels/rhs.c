/* npb_mz/kernels/rhs.c – kernels of the spatial operator on devices. */
#include "npb_mz/kernels/rhs.h"
#include "npb_mz/kernels/zone.h"

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
    struct zone z = zone_at(zones, zone0 + GID(2));
    if (GID(0) < z.nx && GID(1) < z.ny * z.nz) {
        long at = GID(1) * z.pitch + GID(0);
        rhs_derive(u + 5 * z.first, z.field, at, prim + 7 * z.first, z.field, at);
    }
}

/* w = dt (R(u) + g) on interior points; over (nx-2, (ny-2)*(nz-2), zones). consts is struct
 * mz_consts of npb_mz/mz.h. */
KERNEL(rhs_points, 64, 1, 1)
(GLOBAL const double *u, GLOBAL const double *prim, GLOBAL const double *g, GLOBAL double *w,
 GLOBAL const double *consts, GLOBAL const long *zones, int zone0, int nzones)
{
    if (GID(2) >= nzones)
        return;
    struct zone z = zone_at(zones, zone0 + GID(2));
    int i = 1 + GID(0), j = 1 + GID(1) % (z.ny - 2), k = 1 + GID(1) / (z.ny - 2);
    if (i > z.nx - 2 || k > z.nz - 2)
        return;
    long at = k * z.plane + j * z.pitch + i;
    struct rhs_place q;
    q.u = u + 5 * z.first + at;
    q.p0 = prim + 7 * z.first + at;
    q.above = q.p0 + z.plane;
    q.below = q.p0 - z.plane;
    q.field = q.size = z.field;
    q.row = z.pitch;
    q.plane = z.plane;
    q.low2 = k > 1 ? -2 * z.plane : 0;
    q.high2 = k < z.nz - 2 ? 2 * z.plane : 0;
    struct rhs_scales t;
    t.tx = consts[0], t.ty = consts[3], t.tz = consts[6];
    t.vx = consts[2], t.vy = consts[5], t.vz = consts[8];
    struct rhs_five r =
        rhs_at(q, t,
               rhs_flow(q, t, rhs_stencil(consts, 0, i, z.nx), rhs_stencil(consts, 1, j, z.ny),
                        rhs_stencil(consts, 2, k, z.nz)));
    rhs_store(r, g + 5 * z.first, z.field, at, w + 5 * z.first, z.field, at);
}
