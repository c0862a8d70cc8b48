/* npb_mz/kernels/point.h – dt R(u) at one point of a zone on a device.
 *
 * The operator of kernels/rhs.h, neighbour by neighbour: each is read once, its derived variables
 * are computed on the spot, and its contribution is added to the five equations. That costs seven
 * reciprocals per point, but reading derived variables would take more bytes than reading u, and
 * few registers are needed because no neighbour is kept. */
#ifndef NPB_MZ_KERNELS_POINT_H
#define NPB_MZ_KERNELS_POINT_H

#include "npb_mz/kernels/five.h"
#include "npb_mz/kernels/rhs.h"
#include "npb_mz/kernels/zone.h"

FN struct rhs_prim point_prim(struct five v)
{
    return rhs_prim_of(v.r, v.x, v.y, v.z, v.e);
}

/* Stores the derived variables that line solves and sweeps read. */
FN void point_keep(GLOBAL double *prim, int field, struct rhs_prim q)
{
    struct five v;
    v.r = q.ri, v.x = q.vx, v.y = q.vy, v.z = q.vz, v.e = q.e;
    five_store(prim, field, v);
}

/* Adds the contribution of the neighbour v one step ahead along axis d (tau = dt/(2h)) or one step
 * back (tau = -dt/(2h)); `weight` is its weight in the stencil, visc = dt c3c4/h^2. */
FN struct five point_share(struct five r, struct five v, int d, double weight, double tau,
                           double visc)
{
    const struct rhs_prim q = point_prim(v);
    const double along = d == 0 ? q.vx : d == 1 ? q.vy : q.vz;
    const double push = visc * (1.0 / 3.0) * along - tau * q.p;
    r = five_add(r, weight - tau * along, v);
    r.x += visc * q.vx;
    r.y += visc * q.vy;
    r.z += visc * q.vz;
    r.e += visc * (q.phi + (1.0 / 6.0) * along * along) - tau * q.p * along;
    return five_push(r, d, push);
}

/* Adds the four neighbours along axis d of point s of n; consts is struct mz_consts. */
FN struct five point_axis(struct five r, GLOBAL const double *u, int field, int step, int d, int s,
                          int n, GLOBAL const double *consts)
{
    const struct rhs_weights w = rhs_weights(consts[3 * d + 1], consts[9], s, n);
    const double tau = consts[3 * d], visc = consts[3 * d + 2];
    const int low2 = s > 1 ? -2 * step : 0, high2 = s < n - 2 ? 2 * step : 0; /* weight 0 there */
    r = point_share(r, five_load(u + step, field), d, w.p1, tau, visc);
    r = point_share(r, five_load(u - step, field), d, w.m1, -tau, visc);
    r = five_add(r, w.p2, five_load(u + high2, field));
    return five_add(r, w.m2, five_load(u + low2, field));
}

/* dt R(u) at an interior point with conserved variables v and derived ones q. */
FN struct five point_rhs(GLOBAL const double *u, struct zone z, int i, int j, int k, struct five v,
                         struct rhs_prim q, GLOBAL const double *consts)
{
    const double vx = consts[2], vy = consts[5], vz = consts[8], all = 2.0 * (vx + vy + vz);
    const double third = 1.0 / 3.0;
    struct five r;
    r.r = 0.0;
    r.x = -(all + 2.0 * third * vx) * q.vx;
    r.y = -(all + 2.0 * third * vy) * q.vy;
    r.z = -(all + 2.0 * third * vz) * q.vz;
    r.e = -all * q.phi - third * (vx * q.vx * q.vx + vy * q.vy * q.vy + vz * q.vz * q.vz);
    r = five_add(r,
                 rhs_weights(consts[1], consts[9], i, z.nx).c +
                     rhs_weights(consts[4], consts[9], j, z.ny).c +
                     rhs_weights(consts[7], consts[9], k, z.nz).c,
                 v);
    r = point_axis(r, u, z.field, 1, 0, i, z.nx, consts);
    r = point_axis(r, u, z.field, z.pitch, 1, j, z.ny, consts);
    return point_axis(r, u, z.field, z.plane, 2, k, z.nz, consts);
}

#endif
