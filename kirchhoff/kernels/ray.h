/* kirchhoff/kernels/ray.h – kinematic rays: dx/dT = v^2 p, dp/dT = -grad v / v, by 4th-order
 * Runge-Kutta in time.
 *
 * The medium is v0 + k.x, or a grid of v and grad v, [nodes][4] floats, interpolated linearly and
 * constant beyond the grid's faces. After each step p is rescaled to length 1 / v. Vectors of rays
 * on the host have their own ray_cube() (kirchhoff/ray_lanes.h). */

struct ray_medium {
    double v0, kx, ky, kz;         /* linear */
    double ox, oy, oz, ix, iy, iz; /* grid: first node, 1 / step */
    double lx, ly, lz;             /* nodes - 1 */
    int cube, sx, sy, sz;          /* 1: grid; strides in nodes, 0 along x or y if one node wide */
};

struct ray_speed {
    real v, gx, gy, gz;
};

struct ray_state {
    real x, y, z, px, py, pz;
};

/* The medium as an array of RAY_MEDIUM doubles, as the host sends it to devices. */
#define RAY_MEDIUM 17
FN struct ray_medium ray_medium_load(GLOBAL const double *a)
{
    struct ray_medium m;
    m.v0 = a[0];
    m.kx = a[1];
    m.ky = a[2];
    m.kz = a[3];
    m.ox = a[4];
    m.oy = a[5];
    m.oz = a[6];
    m.ix = a[7];
    m.iy = a[8];
    m.iz = a[9];
    m.lx = a[10];
    m.ly = a[11];
    m.lz = a[12];
    m.cube = (int)a[13];
    m.sx = (int)a[14];
    m.sy = (int)a[15];
    m.sz = (int)a[16];
    return m;
}

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
    const double ux = ray_clamp((x - m.ox) * m.ix, m.lx), uy = ray_clamp((y - m.oy) * m.iy, m.ly);
    const double uz = ray_clamp((z - m.oz) * m.iz, m.lz);
    const int i = ray_cell(ux, m.lx), j = ray_cell(uy, m.ly), k = ray_cell(uz, m.lz);
    const int at = i * m.sx + j * m.sy + k * m.sz;
    struct ray_speed w;
    w.v = ray_blend(node, at, m.sx, m.sy, m.sz, ux - i, uy - j, uz - k, 0);
    w.gx = ray_blend(node, at, m.sx, m.sy, m.sz, ux - i, uy - j, uz - k, 1);
    w.gy = ray_blend(node, at, m.sx, m.sy, m.sz, ux - i, uy - j, uz - k, 2);
    w.gz = ray_blend(node, at, m.sx, m.sy, m.sz, ux - i, uy - j, uz - k, 3);
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
    w.v = REAL(m.v0) + m.kx * x + m.ky * y + m.kz * z;
    w.gx = REAL(m.kx);
    w.gy = REAL(m.ky);
    w.gz = REAL(m.kz);
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
