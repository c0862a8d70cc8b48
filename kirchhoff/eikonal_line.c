/* kirchhoff/eikonal_line.c – T at the eighth corner of many cells at once. */
#include "kirchhoff/eikonal_line.h"

/* Whole vectors only: a remainder computed one by one would cost as much as three vectors. */
#ifdef __AVX512F__
enum { WHOLE = EIKONAL_VECTOR };
#else
enum { WHOLE = EIKONAL_VECTOR / 2 };
#endif

static const float never = 1e12F, wall = 1e7F; /* s; s/m: no cell is that slow */

static inline float least(float a, float b)
{
    return a < b ? a : b;
}

static inline float most(float a, float b)
{
    return a > b ? a : b;
}

/* Share of a step's time by which the centred difference may be later than a plane front. If it is
 * later by more, that is not curvature but noise from a jump of v, which it would keep alive. */
static const float rough = 0.01F;

/* Slowness at a face or an edge between a and b: the faster one's, or the mean if v is smooth. */
static inline float beside(float a, float b)
{
    const float less = least(a, b);
    return most(a, b) < 1.1F * less ? 0.5F * (a + b) : less;
}

/* Along a face. a, b: T one step back along either axis; ab: along both; wa, wb: 1 / (2 step)^2;
 * each: 1 / (wa + wb). Centred in the face; where the wave does not come that way, as a plane front
 * between a and b. */
static inline float along_face(float a, float b, float ab, float wa, float wb, float each,
                               float slowness)
{
    const float d = a - b;
    const float square = (wa + wb) * slowness * slowness - 4 * wa * wb * (d * d);
    const float root = sqrtf(most(square, 0));
    const float t = ab + ((wa - wb) * d + root) * each;
    const float plane = b + (wa * d + 0.5F * root) * each;
    const float other = plane >= a && plane >= b ? plane : never;
    const float all = t >= a && t >= b ? t : other;
    return square >= 0 ? all : never;
}

/* A cell that jumps of v divide into layers has less slowness along them: with m along their
 * normal, (1 + m.m) p.p - (m.p)^2 is the square of the mean slowness. mm: 1 + m.m; ma .. mc: m over
 * twice the steps. */
struct layers {
    float mm, ma, mb, mc;
};

/* The later root u of u^2 all + 2 u half + rest = 0; `never` if there is none or it is before
 * `sooner`. */
static inline float later(float all, float half, float rest, float sooner)
{
    const float each = 1 / all, h = half * each, square = h * h - rest * each;
    const float u = sqrtf(most(square, 0)) - h;
    return square >= 0 && u >= sooner ? u : never;
}

/* Along a face of a layered cell, with axes a and b: centred in the face. */
static inline float along_layers(float a, float b, float ab, float wa, float wb, float mm, float ma,
                                 float mb, float slowness)
{
    const float d = a - b, sum = ma + mb, off = mb - ma;
    return ab + later(mm * (wa + wb) - sum * sum, (mm * (wb - wa) - sum * off) * d,
                      (mm * (wa + wb) - off * off) * (d * d) - slowness * slowness,
                      most(a, b) - ab);
}

/* Through the cell: times at its other corners relative to the farthest one. wa, wb, wc: 1 / (2
 * step)^2; slowness: twice the cell's. */
static inline float through(float x, float y, float z, float xy, float xz, float yz, float wa,
                            float wb, float wc, struct layers l, float slowness)
{
    const float a = (z - xz) + (y - xy) + (yz - x);
    const float b = (x - xy) + (z - yz) + (xz - y);
    const float c = (x - xz) + (y - yz) + (xy - z);
    const float m = l.ma + l.mb + l.mc, ml = l.ma * a + l.mb * b + l.mc * c;
    return later(l.mm * (wa + wb + wc) - m * m, l.mm * (wa * a + wb * b + wc * c) - m * ml,
                 l.mm * (wa * (a * a) + wb * (b * b) + wc * (c * c)) - ml * ml -
                     slowness * slowness,
                 most(x, most(y, z)));
}

/* The same as a plane front between the three upwind nodes, times relative to that along x: first
 * order. wa, wb, wc: 1 / (2 step)^2; slowness: half the cell's. */
static inline float between(float y, float z, float wa, float wb, float wc, struct layers l,
                            float slowness)
{
    const float m = l.ma + l.mb + l.mc, ml = l.mb * y + l.mc * z;
    return later(l.mm * (wa + wb + wc) - m * m, m * ml - l.mm * (wb * y + wc * z),
                 l.mm * (wb * (y * y) + wc * (z * z)) - ml * ml - slowness * slowness,
                 most(0, most(y, z)));
}

static inline __attribute__((always_inline)) bool line(const struct eikonal_line *l,
                                                       const bool layered)
{
    const size_t n = (l->n + WHOLE - 1) / WHOLE * WHOLE;
    const float hx = l->step[0], hy = l->step[1], hz = l->step[2];
    const float wx = 1 / (4 * hx * hx), wy = 1 / (4 * hy * hy), wz = 1 / (4 * hz * hz);
    const float dx = 1 / (2 * hx), dy = 1 / (2 * hy), dz = 1 / (2 * hz);
    const float each_yz = 1 / (wy + wz), each_xz = 1 / (wx + wz), each_xy = 1 / (wx + wy);
    const float ax = l->away[0], by = l->away[1], bz = l->away[2], ball = l->ball * l->ball;
    float *restrict time = l->time, *restrict mean = l->mean;
    const float *restrict c0 = l->cell[0], *restrict c1 = l->cell[1], *restrict c2 = l->cell[2],
                          *restrict c3 = l->cell[3], *restrict c4 = l->cell[4],
                          *restrict c5 = l->cell[5], *restrict c6 = l->cell[6];
    const float *t1 = time + l->node[1], *t2 = time + l->node[2], *t3 = time + l->node[3],
                *t4 = time + l->node[4], *t5 = time + l->node[5], *t6 = time + l->node[6],
                *t7 = time + l->node[7];
    const float *m1 = mean + l->node[1], *m2 = mean + l->node[2], *m4 = mean + l->node[4];
    const float *restrict lx = l->layer[0], *restrict ly = l->layer[1], *restrict lz = l->layer[2];
    const float gx = l->sign[0], gy = l->sign[1], gz = l->sign[2];
    const float enough = l->least;
    const int count = (int)l->n;
    int changed = 0;
#pragma omp simd reduction(| : changed)
    for (size_t j = 0; j < n; j++) {
        const float x = t1[j], y = t2[j], z = t4[j], xy = t3[j], xz = t5[j], yz = t6[j],
                    far = t7[j];
        const float s = c0[j], sx = c1[j], sy = c2[j], sz = c4[j];
        const float s1 = beside(s, sx), s2 = beside(s, sy), s4 = beside(s, sz);
        const float ex = beside(s2, beside(sz, c6[j])), ey = beside(s1, beside(sz, c5[j])),
                    ez = beside(s1, beside(sy, c3[j]));
        /* Relative errors of differences along each axis for a spherical front. */
        const float ay = by + hy * l->along * (float)(int)j,
                    az = bz - hz * l->along * (float)(int)j;
        const float square = ax * ax + ay * ay + az * az, near = square > ball ? 1 / square : 0;
        const float nx = ax * ax * near, ny = ay * ay * near, nz = az * az * near;
        const float qx = 0.125F * hx * hx * near * (1 - nx) * (1 - 2 * nx),
                    qy = 0.125F * hy * hy * near * (1 - ny) * (1 - 2 * ny),
                    qz = 0.125F * hz * hz * near * (1 - nz) * (1 - 2 * nz);
        const float mx = layered ? lx[j] * gx : 0, my = layered ? ly[j] * gy : 0,
                    mz = layered ? lz[j] * gz : 0;
        const struct layers in = {1 + mx * mx + my * my + mz * mz, mx * dx, my * dy, mz * dz};
        const float centred = far + through(x - far, y - far, z - far, xy - far, xz - far, yz - far,
                                            wx, wy, wz, in, 2 * s * (1 - qx - qy - qz));
        const float plane = x + between(y - x, z - x, wx, wy, wz, in, 0.5F * s);
        float now = centred < plane + rough * s * (hx + hy + hz) ? centred : plane;
        now = least(now, along_face(y, z, yz, wy, wz, each_yz, s1 * (1 - qy - qz)));
        now = least(now, along_face(x, z, xz, wx, wz, each_xz, s2 * (1 - qx - qz)));
        now = least(now, along_face(x, y, xy, wx, wy, each_xy, s4 * (1 - qx - qy)));
        if (layered) {
            const float tx = along_layers(y, z, yz, wy, wz, in.mm, in.mb, in.mc, s1),
                        ty = along_layers(x, z, xz, wx, wz, in.mm, in.ma, in.mc, s2),
                        tz = along_layers(x, y, xy, wx, wy, in.mm, in.ma, in.mb, s4);
            now = least(now, s < 1.1F * sx ? tx : never);
            now = least(now, s < 1.1F * sy ? ty : never);
            now = least(now, s < 1.1F * sz ? tz : never);
        }
        now = least(now, least(least(x + hx * ex, y + hy * ey), z + hz * ez));
        /* Q / T goes along with T: first order, upwind. */
        const float inside = s < wall ? s : least(least(ex, ey), ez);
        const float from_x = now * most(now - x, 0) * (4 * wx),
                    from_y = now * most(now - y, 0) * (4 * wy),
                    from_z = now * most(now - z, 0) * (4 * wz);
        const float up = 1 + from_x * m1[j] + from_y * m2[j] + from_z * m4[j],
                    down = inside * inside + from_x + from_y + from_z;
        const float was = time[j];
        const int less = (now < was) & ((int)j < count); /* nothing behind the line's end */
        changed |= less & (was - now > enough);
        mean[j] = less ? up / down : mean[j];
        time[j] = less ? now : was;
    }
    return changed;
}

bool eikonal_line(const struct eikonal_line *l)
{
    return l->layer[0] ? line(l, true) : line(l, false);
}
