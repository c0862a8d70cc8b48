/* npb_mz/kernels/bt.c – BT's line solves on devices. */
#include "npb_mz/kernels/bt.h"
#include "npb_mz/kernels/zone.h"

/* One item solves the line along `axis` through interior point (GID(0), GID(1)) of the other two
 * axes, in their order; over their largest interior sizes and the zones. `scratch` holds 25 doubles
 * a point of the batch, which begins at the zone zone0. */
KERNEL(bt_solve, 64, 1, 1)
(GLOBAL double *w, GLOBAL double *prim, GLOBAL double *scratch, GLOBAL const double *consts,
 GLOBAL const long *zones, int zone0, int nzones, int axis)
{
    if (GID(2) >= nzones)
        return;
    struct zone z = zone_at(zones, zone0 + GID(2));
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
    struct bt_line line;
    line.in.at = w + 5 * z.first + at;
    line.in.field = line.prim.field = z.field;
    line.in.step = line.prim.step = step;
    line.out = line.in;
    line.prim.at = prim + 7 * z.first + at;
    line.scratch = scratch + 25 * (z.first - zones[5 * zone0 + 4]) + (long)GID(1) * n0 + GID(0);
    line.step = (long)n0 * n1;
    line.n = n;
    line.boost = axis == 0 ? 1 : axis == 2 ? -1 : 0;
    bt_solve_line(x, line);
}

/* u += w on interior points; over (nx-2, (ny-2)*(nz-2), zones). */
KERNEL(bt_update, 64, 1, 1)
(GLOBAL double *u, GLOBAL const double *w, GLOBAL const long *zones, int zone0, int nzones)
{
    if (GID(2) >= nzones)
        return;
    struct zone z = zone_at(zones, zone0 + GID(2));
    int i = 1 + GID(0), j = 1 + GID(1) % (z.ny - 2), k = 1 + GID(1) / (z.ny - 2);
    if (i > z.nx - 2 || k > z.nz - 2)
        return;
    long at = 5 * z.first + k * z.plane + j * z.pitch + i;
    for (int m = 0; m < 5; m++)
        u[at + m * z.field] += w[at + m * z.field];
}
