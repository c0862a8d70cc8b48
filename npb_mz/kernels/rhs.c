/* npb_mz/kernels/rhs.c – the right-hand side on devices. */
#include "npb_mz/kernels/point.h"

/* Computes 1/rho, velocity and internal energy per mass of all points, and w = dt (R(u) + g) of the
 * interior ones; one item per point. consts is struct mz_consts of npb_mz/mz.h. */
KERNEL(rhs_points, 64, 1, 1)
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
    point_keep(prim, z.field, q);
    if (!p.interior)
        return;
    const struct five r = point_rhs(u, z, p.i, p.j, p.k, v, q, consts);
    five_store(w + 5 * z.batch + p.tile, z.field,
               five_add(r, 1.0, five_load(g + 5 * z.forced + p.at, z.field)));
}
