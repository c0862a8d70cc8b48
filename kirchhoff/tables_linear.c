/* kirchhoff/tables_linear.c – travel-time tables for v linear in space, by closed forms
 * (analytic.h), a vector of depths at a time. */
#include "kirchhoff/traveltime_cache.h"
#include "src/lanes_math.h"
#include "kirchhoff/kernels/migrate.h"

typedef float lanes_short __attribute__((vector_size(4 * LANES)));

static void store(lanes x, int count, float *to)
{
    const lanes_short y = __builtin_convertvector(x, lanes_short);
    for (int l = 0; l < count; l++)
        to[l] = y[l];
}

/* log(1 + u + sqrt(u (u + 2))) / sqrt(2 u), which is 1 at u = 0. */
static lanes arc_over_chord(lanes u)
{
    const lanes arc = LOG(1.0 + (u + SQRT(u * (u + 2.0)))) / SQRT(u + u);
    return SELECT(u < 1e-6, 1.0 - u / 12.0, arc);
}

/* v has the gradient k and is `speed` at the source; nodes within `near` m count as the source. */
struct linear {
    const double *k;
    double speed, near;
};

/* Fills `count` depths of a column of n: `way` leads from the source to each, v is vx there. The
 * derivative of T with respect to the source's position is minus the slowness vector there. At the
 * source itself S is 1 / v, and both its gradients are half of that of 1 / v. */
static void fill_depths(const struct linear *m, const lanes way[3], lanes vx, int n, int count,
                        float *column)
{
    const double vs = m->speed, *k = m->k, kk = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
    const lanes square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2], r = SQRT(square);
    const lanes u = kk * square / (2.0 * vs * vx), bend = SQRT(1.0 + 0.5 * u);
    const lanes root = SQRT(vs * vx), mean = arc_over_chord(u) / root;
    const lanes over = 1.0 / r, scale = over / (root * bend), along = mean * over;
    const lanes_mask there = r < m->near;
    store(SELECT(there, REAL(1 / vs), mean), count, column + TABLE_S * n);
    store(SELECT(there, REAL(vs), bend / mean), count, column + TABLE_L * n);
    for (int a = 0; a < 3; a++) {
        const lanes half = REAL(-0.5 * k[a] / (vs * vs)), by = 0.5 * k[a] * square;
        const lanes p = scale * (way[a] - by / vx), q = scale * (way[a] + by / vs);
        const lanes g = (p - along * way[a]) * over, h = (along * way[a] - q) * over;
        store(SELECT(there, half, g), count, column + (TABLE_GX + a) * n);
        if (a < 2)
            store(SELECT(there, half, h), count, column + (TABLE_HX + a) * n);
    }
}

void tables_linear(const struct velocity *v, const struct grid *g, const double source[3],
                   float *data)
{
    const struct linear m = {v->k, velocity_at(v, source, NULL), 1e-3 * grid_step(g)};
    const int n = g->n[2];
    lanes step;
    for (int l = 0; l < LANES; l++)
        step[l] = l * g->step[2];
    for (int i = 0; i < g->n[0]; i++)
        for (int j = 0; j < g->n[1]; j++, data += TABLE_FIELDS * n)
            for (int k = 0; k < n; k += LANES) {
                double x[3];
                grid_place(g, i, j, k, x);
                const lanes way[3] = {REAL(x[0] - source[0]), REAL(x[1] - source[1]),
                                      (x[2] - source[2]) + step};
                const lanes vx = velocity_at(v, x, NULL) + v->k[2] * step;
                fill_depths(&m, way, vx, n, n - k < LANES ? n - k : LANES, data + k);
            }
}
