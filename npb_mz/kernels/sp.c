/* npb_mz/kernels/sp.c – SP's line solves on devices. */
#include "npb_mz/kernels/sp.h"
#include "npb_mz/kernels/zone.h"

FN struct sp_view sp_view(GLOBAL double *at, long field, long step)
{
    struct sp_view v;
    v.at = at;
    v.field = field;
    v.step = step;
    return v;
}

/* w to the characteristic variables of x; the speed of sound takes the pressure's place in prim.
 * Over points (pitch, ny*nz, zones); w outside the interior holds no meaning. */
KERNEL(sp_begin, 64, 1, 1)
(GLOBAL double *w, GLOBAL double *prim, GLOBAL const long *zones, int zone0, int nzones)
{
    if (GID(2) >= nzones)
        return;
    struct zone z = zone_at(zones, zone0 + GID(2));
    if (GID(0) >= z.nx || GID(1) >= z.ny * z.nz)
        return;
    const long at = GID(1) * z.pitch + GID(0);
    struct sp_view v = sp_view(w + 5 * z.first + at, z.field, 0);
    GLOBAL double *p = prim + 7 * z.first + at;
    const real e = p[SP_E * z.field], a = sp_speed(e);
    p[SP_A * z.field] = a;
    sp_store(v, 0,
             sp_enter(sp_load(v, 0), p[0], p[SP_VX * z.field], p[SP_VY * z.field],
                      p[SP_VZ * z.field], e, a));
}

/* One item solves the line along `axis` through interior point (GID(0), GID(1)) of the other two
 * axes, in their order; over their largest interior sizes and the zones. `scratch` holds 6 doubles
 * a point of the batch, which begins at the zone zone0. The z lines add their solution to u. */
KERNEL(sp_solve, 64, 1, 1)
(GLOBAL double *u, GLOBAL double *w, GLOBAL double *prim, GLOBAL double *scratch,
 GLOBAL const double *consts, GLOBAL const long *zones, int zone0, int nzones, int axis)
{
    if (GID(2) >= nzones)
        return;
    struct zone z = zone_at(zones, zone0 + GID(2));
    const int n0 = (axis == 0 ? z.ny : z.nx) - 2, n1 = (axis == 2 ? z.ny : z.nz) - 2;
    if (GID(0) >= n0 || GID(1) >= n1)
        return;
    const long step = axis == 0 ? 1 : axis == 1 ? z.pitch : z.plane;
    const long at =
        (GID(0) + 1) * (axis == 0 ? z.pitch : 1) + (GID(1) + 1) * (axis == 2 ? z.pitch : z.plane);
    struct sp_axis x;
    x.tau2 = consts[3 * axis];
    x.spread = consts[3 * axis + 1];
    x.heat = 1.96 * consts[3 * axis + 2];
    x.damping = consts[9];
    x.d = axis;
    struct sp_line line;
    line.in = line.mid = sp_view(w + 5 * z.first + at, z.field, step);
    line.out = sp_view((axis == 2 ? u : w) + 5 * z.first + at, z.field, step);
    line.prim = sp_view(prim + 7 * z.first + at, z.field, step);
    line.speed = line.prim.at + SP_A * z.field;
    line.scratch = scratch + 6 * (z.first - zones[5 * zone0 + 4]) + (long)GID(1) * n0 + GID(0);
    line.step = (long)n0 * n1;
    line.n = axis == 0 ? z.nx : axis == 1 ? z.ny : z.nz;
    line.lines = 1;
    sp_solve_line(x, line);
}
