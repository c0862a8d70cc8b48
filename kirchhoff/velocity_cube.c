/* kirchhoff/velocity_cube.c – velocities on a grid: smoothing, gradients, interpolation. */
#include "kirchhoff/velocity_cube.h"

/* ---- smoothing and gradients ------------------------------------------------------------------*/

/* Distance in memory between neighbours along an axis, in nodes. */
static size_t stride_of(const struct grid *g, int axis)
{
    return axis == 2 ? 1 : axis == 1 ? (size_t)g->n[2] : (size_t)g->n[1] * (size_t)g->n[2];
}

static void smooth_line(float *at, size_t stride, int n, const double *weight, int reach,
                        double *line)
{
    for (int i = 0; i < n; i++)
        line[i] = at[(size_t)i * stride];
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int d = -reach; d <= reach; d++) {
            const int j = i + d < 0 ? 0 : i + d >= n ? n - 1 : i + d;
            sum += weight[abs(d)] * line[j];
        }
        at[(size_t)i * stride] = (float)sum;
    }
}

/* Smooths with a Gaussian along one axis; values at the faces continue outside. sigma in m. */
static enum ek_status smooth_axis(const struct grid *g, float *speed, double sigma, int axis)
{
    const double nodes = sigma / g->step[axis];
    const int n = g->n[axis], reach = (int)fmin(ceil(4 * nodes), 4096);
    const size_t stride = stride_of(g, axis), all = grid_nodes(g);
    double sum = 0;
    OWNED_MEMORY NEW(double, weight, reach + 1, "out of memory for smoothing velocities");
    OWNED_MEMORY NEW(double, line, n, "out of memory for smoothing velocities");
    for (int d = 0; d <= reach; d++) {
        weight[d] = exp(-0.5 * d * d / (nodes * nodes));
        sum += (d ? 2 : 1) * weight[d];
    }
    for (int d = 0; d <= reach; d++)
        weight[d] /= sum;
    for (size_t i = 0; i < all; i++)
        if (i / stride % (size_t)n == 0)
            smooth_line(speed + i, stride, n, weight, reach, line);
    return EK_OK;
}

/* First derivative by a parabola through a node and its neighbours, one-sided at the faces. */
static double difference(const float *v, size_t stride, int i, int n, double step)
{
    const ptrdiff_t s = (ptrdiff_t)stride;
    if (n == 1)
        return 0;
    if (n == 2)
        return i ? (v[0] - v[-s]) / step : (v[s] - v[0]) / step;
    if (i == 0)
        return (-3.0 * v[0] + 4.0 * v[s] - v[2 * s]) / (2 * step);
    if (i == n - 1)
        return (3.0 * v[0] - 4.0 * v[-s] + v[-2 * s]) / (2 * step);
    return ((double)v[s] - v[-s]) / (2 * step);
}

static enum ek_status check_speeds(const struct velocity *v, const float *speed)
{
    const struct grid *g = &v->grid;
    for (size_t i = 0; i < grid_nodes(g); i++)
        if (!(speed[i] > 0 && (double)speed[i] <= VELOCITY_MOST)) {
            const size_t k = i % (size_t)g->n[2], j = i / (size_t)g->n[2] % (size_t)g->n[1];
            FAIL(EK_USAGE, "velocity %s: node (%zu, %zu, %zu) is %g m/s, not between 0 and %g",
                 v->text, i / ((size_t)g->n[1] * (size_t)g->n[2]), j, k, (double)speed[i],
                 VELOCITY_MOST);
        }
    return EK_OK;
}

enum ek_status velocity_cube_fill(struct velocity *v, float *speed, double smooth)
{
    const struct grid *g = &v->grid;
    TRY(check_speeds(v, speed));
    for (int a = 0; a < 3 && smooth > 0; a++)
        TRY(smooth_axis(g, speed, smooth, a));
    v->node = malloc(grid_nodes(g) * 4 * sizeof *v->node);
    if (!v->node)
        FAIL(EK_UNAVAILABLE, "velocity %s: out of memory for %zu nodes", v->text, grid_nodes(g));
    float *node = v->node;
    for (int i = 0; i < g->n[0]; i++)
        for (int j = 0; j < g->n[1]; j++)
            for (int k = 0; k < g->n[2]; k++, node += 4) {
                const float *at = speed + grid_index(g, i, j, k);
                const int place[3] = {i, j, k};
                node[0] = *at;
                for (int a = 0; a < 3; a++)
                    node[1 + a] =
                        (float)difference(at, stride_of(g, a), place[a], g->n[a], g->step[a]);
            }
    return EK_OK;
}

/* ---- interpolation ----------------------------------------------------------------------------*/

/* Cell along one axis, and fraction *t within it; outside, those of the nearest face. */
static int cell_of(const struct grid *g, int axis, double x, double *t)
{
    const int n = g->n[axis];
    double u = (x - g->origin[axis]) / g->step[axis];
    u = fmin(fmax(u, 0), n - 1);
    const int i = (int)fmin(u, n > 1 ? n - 2 : 0);
    *t = u - i;
    return i;
}

/* The four values at x and, if slope [3][4] is not NULL, their derivatives. */
static void interpolate(const struct grid *g, const float *node, const double x[3], double value[4],
                        double (*slope)[4])
{
    double t[3];
    size_t base = 0, next[3];
    for (int a = 0; a < 3; a++) {
        base += (size_t)cell_of(g, a, x[a], &t[a]) * stride_of(g, a);
        next[a] = g->n[a] > 1 ? stride_of(g, a) : 0;
    }
    memset(value, 0, 4 * sizeof *value);
    for (int corner = 0; corner < 8; corner++) {
        const int bit[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
        double w[3];
        size_t at = base;
        for (int a = 0; a < 3; a++) {
            w[a] = bit[a] ? t[a] : 1 - t[a];
            at += bit[a] ? next[a] : 0;
        }
        for (int c = 0; c < 4; c++) {
            const double number = node[4 * at + (size_t)c];
            value[c] += w[0] * w[1] * w[2] * number;
            for (int a = 0; slope && a < 3; a++)
                slope[a][c] +=
                    (bit[a] ? 1 : -1) / g->step[a] * w[(a + 1) % 3] * w[(a + 2) % 3] * number;
        }
    }
}

void velocity_cube_at(const struct grid *g, const float *node, const double x[3], double value[4],
                      double h[6])
{
    double slope[3][4] = {{0}};
    interpolate(g, node, x, value, h ? slope : NULL);
    for (int a = 0; a < 3; a++) /* outside, v is constant along a */
        if (x[a] < g->origin[a] || x[a] > grid_end(g, a)) {
            value[1 + a] = 0;
            memset(slope[a], 0, sizeof slope[a]);
            for (int b = 0; b < 3; b++)
                slope[b][1 + a] = 0;
        }
    if (!h)
        return;
    for (int a = 0; a < 3; a++)
        h[a] = slope[a][1 + a];
    h[3] = 0.5 * (slope[0][2] + slope[1][1]);
    h[4] = 0.5 * (slope[0][3] + slope[2][1]);
    h[5] = 0.5 * (slope[1][3] + slope[2][2]);
}
