/* npb_mz/kernels/lu.h – LU's symmetric successive over-relaxation, one grid line per lane.
 *
 * In the frame that moves with a node's own velocity the Jacobians are almost diagonal, and the
 * diagonal block has one entry off the diagonal (kernels/bt.h: T(v) transforms a vector from the
 * frame that moves with velocity v to the frame at rest). So w is kept in the nodes' frames during
 * both sweeps. lu_send() computes what a node contributes to its neighbour along an axis, in the
 * frame at rest; lu_relax() transforms the sum of contributions to the receiving node's frame and
 * divides by the diagonal block. The lower sweep sends to larger indices, the upper to smaller. */
#ifndef NPB_MZ_KERNELS_LU_H
#define NPB_MZ_KERNELS_LU_H

#include "npb_mz/kernels/five.h"

#define LU_OMEGA  1.2
#define LU_FACTOR (1.0 / (LU_OMEGA * (2.0 - LU_OMEGA)))

/* One axis: omega times dt/(2h) (negative in the upper sweep), dt D/h^2 and dt c3c4/h^2. */
struct lu_axis {
    double tau2, spread, visc;
};

/* The diagonal block: its entry for rho is g0 (inverse: 1/g0), those for x, y, z and e are g0 +
 * factor/rho. */
struct lu_diagonal {
    double g0, inverse, x, y, z, e;
};

/* sign +1 in the lower sweep, -1 in the upper one. */
FN struct lu_axis lu_axis(GLOBAL const double *consts, int d, double sign)
{
    struct lu_axis a;
    a.tau2 = sign * LU_OMEGA * consts[3 * d];
    a.spread = LU_OMEGA * consts[3 * d + 1];
    a.visc = LU_OMEGA * consts[3 * d + 2];
    return a;
}

FN struct lu_diagonal lu_diagonal(GLOBAL const double *consts)
{
    const double x = consts[2], y = consts[5], z = consts[8], all = x + y + z;
    struct lu_diagonal g;
    g.g0 = 1.0 + 2.0 * (consts[1] + consts[4] + consts[7]);
    g.inverse = 1.0 / g.g0;
    g.x = 2.0 * (all + x / 3.0);
    g.y = 2.0 * (all + y / 3.0);
    g.z = 2.0 * (all + z / 3.0);
    g.e = 2.0 * 1.96 * all;
    return g;
}

FN real lu_kinetic(struct five n)
{
    return 0.5 * (n.x * n.x + n.y * n.y + n.z * n.z);
}

/* From the node's frame to the frame at rest. */
FN struct five lu_rest(struct five n, struct five w)
{
    w.e += lu_kinetic(n) * w.r + n.x * w.x + n.y * w.y + n.z * w.z;
    w.x += n.x * w.r;
    w.y += n.y * w.r;
    w.z += n.z * w.r;
    return w;
}

/* From the frame at rest to the node's. */
FN struct five lu_own(struct five n, struct five w)
{
    w.e += lu_kinetic(n) * w.r - n.x * w.x - n.y * w.y - n.z * w.z;
    w.x -= n.x * w.r;
    w.y -= n.y * w.r;
    w.z -= n.z * w.r;
    return w;
}

/* The diagonal block's inverse times a vector in the frame at rest; the result is in the node's
 * frame. One division gives all four reciprocals. */
FN struct five lu_relax(struct lu_diagonal g, struct five n, struct five w)
{
    real dx = g.g0 + g.x * n.r, dy = g.g0 + g.y * n.r, dz = g.g0 + g.z * n.r;
    real heat = g.e * n.r, de = g.g0 + heat, xy = dx * dy, ze = dz * de, i = 1.0 / (xy * ze);
    real ixy = ze * i, ize = xy * i;
    w = lu_own(n, w);
    w.r *= g.inverse;
    w.x *= dy * ixy;
    w.y *= dx * ixy;
    w.z *= de * ize;
    w.e = (w.e + heat * n.e * w.r) * (dz * ize);
    return w;
}

/* What a node with vector w in its own frame adds to the right-hand side of the next node along
 * axis d (0, 1, 2), in the frame at rest. */
FN struct five lu_send(struct lu_axis a, int d, struct five n, struct five w)
{
    struct five s;
    real v = five_along(n, d), along = five_along(w, d);
    real c = a.tau2 * v + a.spread, visc = a.visc * n.r;
    real side = c + visc, ahead = c + (4.0 / 3.0) * visc, push = (0.4 * a.tau2) * w.e;
    s.r = c * w.r + a.tau2 * along;
    s.x = (d == 0 ? ahead : side) * w.x;
    s.y = (d == 1 ? ahead : side) * w.y;
    s.z = (d == 2 ? ahead : side) * w.z;
    s.e = c * w.e + (1.96 * a.visc) * (n.r * (w.e - n.e * w.r)) + (1.4 * a.tau2) * (n.e * along);
    return lu_rest(n, five_push(s, d, push));
}

#endif
