/* kirchhoff/kernels/ray.h – kinematic rays: dx/dT = v^2 p, dp/dT = -grad v / v, by 4th-order
 * Runge-Kutta in time.
 *
 * After each step p is rescaled to length 1 / v. Vectors of rays on the host have their own
 * ray_cube() (kirchhoff/ray_lanes.h). */
#include "kirchhoff/kernels/medium.h"

struct ray_speed {
    real v, gx, gy, gz;
};

struct ray_state {
    real x, y, z, px, py, pz;
};

#ifndef KERNEL_LANES
/* The cell that holds u along an axis; last: nodes - 1. */
FN int ray_cell(double u, double last)
{
    const double most = last > 1.0 ? last - 1.0 : 0.0;
    return (int)(u < 0.0 ? 0.0 : u > most ? most : u);
}

FN double ray_clamp(double u, double last)
{
    return u < 0.0 ? 0.0 : u > last ? last : u;
}

FN double ray_between(double a, double b, double t)
{
    return a + t * (b - a);
}

/* Component c of (v, grad v), interpolated at fractions (tx, ty, tz) of the cell whose first node
 * is `at`. */
FN double ray_blend(GLOBAL const float *node, int at, int sx, int sy, int sz, double tx, double ty,
                    double tz, int c)
{
    const double a =
        ray_between(ray_between(node[4 * at + c], node[4 * (at + sz) + c], tz),
                    ray_between(node[4 * (at + sy) + c], node[4 * (at + sy + sz) + c], tz), ty);
    const double b = ray_between(
        ray_between(node[4 * (at + sx) + c], node[4 * (at + sx + sz) + c], tz),
        ray_between(node[4 * (at + sx + sy) + c], node[4 * (at + sx + sy + sz) + c], tz), ty);
    return ray_between(a, b, tx);
}

FN struct ray_speed ray_cube(struct ray_medium m, GLOBAL const float *node, double x, double y,
                             double z)
{
    const double ux = ray_clamp((x - m.origin[0]) * m.inverse[0], m.last[0]);
    const double uy = ray_clamp((y - m.origin[1]) * m.inverse[1], m.last[1]);
    const double uz = ray_clamp((z - m.origin[2]) * m.inverse[2], m.last[2]);
    const int i = ray_cell(ux, m.last[0]), j = ray_cell(uy, m.last[1]), k = ray_cell(uz, m.last[2]);
    const int sx = m.stride[0], sy = m.stride[1], sz = m.stride[2], at = i * sx + j * sy + k * sz;
    struct ray_speed w;
    w.v = ray_blend(node, at, sx, sy, sz, ux - i, uy - j, uz - k, 0);
    w.gx = ray_blend(node, at, sx, sy, sz, ux - i, uy - j, uz - k, 1);
    w.gy = ray_blend(node, at, sx, sy, sz, ux - i, uy - j, uz - k, 2);
    w.gz = ray_blend(node, at, sx, sy, sz, ux - i, uy - j, uz - k, 3);
    return w;
}
#define RAY_ROOT(x) sqrt(x)
#else
#define RAY_ROOT(x) SQRT(x)
#endif

FN struct ray_speed ray_speed_at(struct ray_medium m, GLOBAL const float *node, real x, real y,
                                 real z)
{
    struct ray_speed w;
    if (m.cube)
        return ray_cube(m, node, x, y, z);
    w.v = REAL(m.v0) + m.k[0] * x + m.k[1] * y + m.k[2] * z;
    w.gx = REAL(m.k[0]);
    w.gy = REAL(m.k[1]);
    w.gz = REAL(m.k[2]);
    return w;
}

/* d(state)/dT. */
FN struct ray_state ray_rate(struct ray_state s, struct ray_speed w)
{
    const real square = w.v * w.v, part = REAL(-1.0) / w.v;
    struct ray_state d;
    d.x = square * s.px;
    d.y = square * s.py;
    d.z = square * s.pz;
    d.px = part * w.gx;
    d.py = part * w.gy;
    d.pz = part * w.gz;
    return d;
}

FN struct ray_state ray_add(struct ray_state s, double h, struct ray_state d)
{
    s.x += h * d.x;
    s.y += h * d.y;
    s.z += h * d.z;
    s.px += h * d.px;
    s.py += h * d.py;
    s.pz += h * d.pz;
    return s;
}

FN struct ray_state ray_rescale(struct ray_state s, struct ray_speed w)
{
    const real q = REAL(1.0) / (w.v * RAY_ROOT(s.px * s.px + s.py * s.py + s.pz * s.pz));
    s.px *= q;
    s.py *= q;
    s.pz *= q;
    return s;
}

/* Rays advanced together: one on a device; on the host as many as keep a core busy while each waits
 * for its velocities. */
#ifndef RAY_TOGETHER
#define RAY_TOGETHER 1
#endif
struct ray_bundle {
    struct ray_state of[RAY_TOGETHER];
};

/* Returns d/dT at s + h * rate. */
FN struct ray_bundle ray_stage(struct ray_medium m, GLOBAL const float *node, struct ray_bundle s,
                               double h, struct ray_bundle rate)
{
    UNROLL
    for (int r = 0; r < RAY_TOGETHER; r++) {
        const struct ray_state to = ray_add(s.of[r], h, rate.of[r]);
        rate.of[r] = ray_rate(to, ray_speed_at(m, node, to.x, to.y, to.z));
    }
    return rate;
}

FN struct ray_bundle ray_sum(struct ray_bundle s, double h, struct ray_bundle rate)
{
    UNROLL
    for (int r = 0; r < RAY_TOGETHER; r++)
        s.of[r] = ray_add(s.of[r], h, rate.of[r]);
    return s;
}

/* Advances by `steps` steps of h s. */
FN struct ray_bundle ray_advance_by(struct ray_medium m, GLOBAL const float *node,
                                    struct ray_bundle s, double h, int steps)
{
    struct ray_bundle rate = ray_stage(m, node, s, 0.0, s), to;
    for (int i = 0; i < steps; i++) {
        to = ray_sum(s, h / 6, rate);
        rate = ray_stage(m, node, s, 0.5 * h, rate);
        to = ray_sum(to, h / 3, rate);
        rate = ray_stage(m, node, s, 0.5 * h, rate);
        to = ray_sum(to, h / 3, rate);
        rate = ray_stage(m, node, s, h, rate);
        s = ray_sum(to, h / 6, rate);
        UNROLL
        for (int r = 0; r < RAY_TOGETHER; r++) {
            const struct ray_speed w = ray_speed_at(m, node, s.of[r].x, s.of[r].y, s.of[r].z);
            s.of[r] = ray_rescale(s.of[r], w);
            rate.of[r] = ray_rate(s.of[r], w);
        }
    }
    return s;
}
