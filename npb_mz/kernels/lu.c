/* npb_mz/kernels/lu.c – LU's sweeps on devices. */
#include "npb_mz/kernels/lu.h"
#include "npb_mz/kernels/zone.h"

FN struct lu_five lu_load(GLOBAL const double *w, long field, long at)
{
    struct lu_five v;
    v.r = w[at];
    v.x = w[at + field];
    v.y = w[at + 2 * field];
    v.z = w[at + 3 * field];
    v.e = w[at + 4 * field];
    return v;
}

FN void lu_store(GLOBAL double *w, long field, long at, struct lu_five v)
{
    w[at] = v.r;
    w[at + field] = v.x;
    w[at + 2 * field] = v.y;
    w[at + 3 * field] = v.z;
    w[at + 4 * field] = v.e;
}

/* Of the derived variables of kernels/rhs.h the first five. */
FN struct lu_node lu_node_at(GLOBAL const double *prim, long field, long at)
{
    struct lu_node n;
    n.ri = prim[at];
    n.x = prim[at + field];
    n.y = prim[at + 2 * field];
    n.z = prim[at + 3 * field];
    n.e = prim[at + 4 * field];
    return n;
}

/* Boundary points of the planes k = 1 .. nz-2 that the exchange writes, one after another as in
 * `carried`: west, east, south, north, each [m][along]. */
FN int lu_faces_size(struct zone z)
{
    return 10 * (z.nx + z.ny - 4);
}

/* mode 0: exchanges them in u for those carried; 1: puts those carried into u. Over (points of the
 * longest face, 5*(nz-2), zones); all zones are of equal size. */
KERNEL(lu_faces, 64, 1, 1)
(GLOBAL double *u, GLOBAL double *carried, GLOBAL const long *zones, int zone0, int nzones,
 int mode)
{
    if (GID(2) >= nzones)
        return;
    const int number = zone0 + GID(2);
    struct zone z = zone_at(zones, number);
    const int m = GID(1) % 5, k = 1 + GID(1) / 5;
    if (k > z.nz - 2)
        return;
    const long plane = 5 * z.first + m * z.field + k * z.plane;
    GLOBAL double *kept = carried + ((long)number * (z.nz - 2) + k - 1) * lu_faces_size(z);
    for (int side = 0; side < 4; side++) {
        const int in_y = side >> 1, along = (in_y ? z.nx : z.ny) - 2;
        const long step = in_y ? 1 : z.pitch, normal = in_y ? z.pitch : 1;
        const long row = side & 1 ? (in_y ? z.ny : z.nx) - 1 : 0;
        if (GID(0) < along) {
            const long at = plane + row * normal + (GID(0) + 1) * step, to = m * along + GID(0);
            const double old = kept[to];
            if (mode == 0)
                kept[to] = u[at];
            u[at] = old;
        }
        kept += 5 * along;
    }
}

/* The interior point of item (GID(0), GID(1)) on the plane i + j + k = h; false if there is none.
 */
FN int lu_point(struct zone z, int i, int k, int h)
{
    const int j = h - i - k;
    return i < z.nx - 1 && k < z.nz - 1 && j > 0 && j < z.ny - 1;
}

/* Shares of the three neighbours on the side `sign` that are interior points. */
FN struct lu_five lu_gather(GLOBAL const double *w, GLOBAL const double *prim,
                            GLOBAL const double *consts, struct zone z, int i, int j, int k,
                            int sign)
{
    struct lu_five sum;
    sum.r = sum.x = sum.y = sum.z = sum.e = 0.0;
    for (int d = 0; d < 3; d++) {
        const int s = (d == 0 ? i : d == 1 ? j : k) - sign;
        const int n = d == 0 ? z.nx : d == 1 ? z.ny : z.nz;
        if (s < 1 || s > n - 2)
            continue;
        const long step = d == 0 ? 1 : d == 1 ? z.pitch : z.plane;
        const long at = k * z.plane + j * z.pitch + i - sign * step;
        sum = lu_sum(sum, lu_send(lu_axis(consts, d, sign), d, lu_node_at(prim, z.field, at),
                                  lu_load(w, z.field, at)));
    }
    return sum;
}

/* One hyperplane i + j + k = h of the lower (sign 1) or upper (sign -1) sweep: w = dt res to the
 * correction in the nodes' own frames. Over (nx-2, nz-2, zones). */
KERNEL(lu_sweep, 64, 1, 1)
(GLOBAL double *w, GLOBAL const double *prim, GLOBAL const double *consts, GLOBAL const long *zones,
 int zone0, int nzones, int sign, int h)
{
    if (GID(2) >= nzones)
        return;
    struct zone z = zone_at(zones, zone0 + GID(2));
    const int i = 1 + GID(0), k = 1 + GID(1), j = h - i - k;
    if (!lu_point(z, i, k, h))
        return;
    GLOBAL double *v = w + 5 * z.first;
    GLOBAL const double *p = prim + 7 * z.first;
    const long at = k * z.plane + j * z.pitch + i;
    struct lu_five here = lu_load(v, z.field, at);
    struct lu_five sum = lu_gather(v, p, consts, z, i, j, k, sign);
    struct lu_node n = lu_node_at(p, z.field, at);
    if (sign > 0)
        here = lu_relax(lu_diagonal(consts), n, lu_sum(here, sum));
    else
        here = lu_sum(here, lu_relax(lu_diagonal(consts), n, sum));
    lu_store(v, z.field, at, here);
}

/* u += w / (omega (2 - omega)) on interior points; over (nx-2, (ny-2)*(nz-2), zones). */
KERNEL(lu_update, 64, 1, 1)
(GLOBAL double *u, GLOBAL const double *w, GLOBAL const double *prim, GLOBAL const long *zones,
 int zone0, int nzones)
{
    if (GID(2) >= nzones)
        return;
    struct zone z = zone_at(zones, zone0 + GID(2));
    int i = 1 + GID(0), j = 1 + GID(1) % (z.ny - 2), k = 1 + GID(1) / (z.ny - 2);
    if (i > z.nx - 2 || k > z.nz - 2)
        return;
    const long at = k * z.plane + j * z.pitch + i;
    struct lu_five c =
        lu_rest(lu_node_at(prim + 7 * z.first, z.field, at), lu_load(w + 5 * z.first, z.field, at));
    struct lu_five v = lu_load(u + 5 * z.first, z.field, at);
    v.r += LU_FACTOR * c.r;
    v.x += LU_FACTOR * c.x;
    v.y += LU_FACTOR * c.y;
    v.z += LU_FACTOR * c.z;
    v.e += LU_FACTOR * c.e;
    lu_store(u + 5 * z.first, z.field, at, v);
}
