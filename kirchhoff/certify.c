/* kirchhoff/certify.c – residuals and reciprocity of tables. */
#include "kirchhoff/certify.h"

/* One node in SHARE is judged, at least LEAST and at most MOST; none within NEAR of the largest
 * steps of the source. */
enum { SHARE = 64, LEAST = 4096, MOST = 100000, NEAR = 4 };

static bool near_source(const struct ttable *t, const double x[3])
{
    double square = 0;
    for (int a = 0; a < 3; a++)
        square += (x[a] - t->source[a]) * (x[a] - t->source[a]);
    return sqrt(square) < NEAR * grid_step(&t->grid);
}

/* How far T's change to a neighbour, per metre, differs from the mean slowness of both; INFINITY:
 * there is no neighbour. */
static double mismatch(const struct ttable *t, const int at[3], int axis, int side)
{
    const struct grid *g = &t->grid;
    int other[3] = {at[0], at[1], at[2]};
    other[axis] += side;
    if (other[axis] < 0 || other[axis] >= g->n[axis])
        return INFINITY;
    const size_t a = grid_index(g, at[0], at[1], at[2]),
                 b = grid_index(g, other[0], other[1], other[2]);
    if (t->kmah[b] == TTABLE_UNFILLED)
        return INFINITY;
    const double mean = 0.5 * ((double)t->p[axis][a] + (double)t->p[axis][b]);
    return fabs(side * ((double)t->time[b] - (double)t->time[a]) / g->step[axis] - mean);
}

/* Least and largest v at a node and its six neighbours. */
static void range_of(const struct ttable *t, const struct velocity *v, const double x[3],
                     double range[2])
{
    range[0] = range[1] = velocity_at(v, x, NULL);
    for (int face = 0; face < 6; face++) {
        double beside[3] = {x[0], x[1], x[2]};
        beside[face / 2] += (face & 1 ? 1 : -1) * t->grid.step[face / 2];
        const double speed = velocity_at(v, beside, NULL);
        range[0] = fmin(range[0], speed);
        range[1] = fmax(range[1], speed);
    }
}

double certify_node(const struct ttable *t, const struct velocity *v, const int at[3])
{
    const size_t node = grid_index(&t->grid, at[0], at[1], at[2]);
    double x[3], range[2], square = 0, most = 0;
    grid_place(&t->grid, at[0], at[1], at[2], x);
    if (t->kmah[node] == TTABLE_UNFILLED || near_source(t, x))
        return NAN;
    const double speed = velocity_at(v, x, NULL);
    for (int a = 0; a < 3; a++) {
        const double p = (double)t->p[a][node];
        const double off = fmin(mismatch(t, at, a, -1), mismatch(t, at, a, 1));
        square += p * p;
        most = t->grid.n[a] > 1 ? fmax(most, off) : most; /* 1: nothing to compare with */
    }
    const double length = sqrt(square), residual = fmax(most * speed, fabs(length * speed - 1));
    if (residual <= CERTIFY_RESIDUAL)
        return residual;
    /* Where v jumps, |p| may be that of either side, and change by as much to a neighbour. */
    range_of(t, v, x, range);
    const double change = fmax(most - 0.5 * (1 / range[0] - 1 / range[1]), 0) * speed;
    return fmax(change, fmax(fmax(length * range[0] - 1, 1 - length * range[1]), 0));
}

void certify_table(struct ttable *t, const struct velocity *v)
{
    const size_t n = grid_nodes(&t->grid), share = n / SHARE < LEAST ? LEAST : n / SHARE;
    const size_t all = share < MOST ? share : MOST;
    const size_t stride = n / all | 1; /* odd, so that it visits all columns */
    const size_t ny = (size_t)t->grid.n[1], nz = (size_t)t->grid.n[2];
    t->judged = t->failing = 0;
    for (size_t i = stride / 2; i < n; i += stride) {
        const int at[3] = {(int)(i / (ny * nz)), (int)(i / nz % ny), (int)(i % nz)};
        const double residual = certify_node(t, v, at);
        t->judged += !isnan(residual);
        t->failing += residual > CERTIFY_RESIDUAL;
    }
}

double certify_time(const struct ttable *t, const double x[3])
{
    const struct grid *g = &t->grid;
    double part[3], sum = 0;
    int base[3];
    if (near_source(t, x))
        return NAN;
    for (int a = 0; a < 3; a++) {
        const double u = (x[a] - g->origin[a]) / g->step[a], last = g->n[a] - 1;
        if (!(u >= -1e-6 && u <= last + 1e-6))
            return NAN;
        base[a] = (int)fmax(fmin(u, last - 1), 0);
        part[a] = fmin(fmax(u, 0), last) - base[a];
    }
    for (int corner = 0; corner < 8; corner++) {
        double w = 1, way = 0;
        int at[3];
        for (int a = 0; a < 3; a++) {
            const int bit = corner >> a & 1;
            at[a] = base[a] + bit;
            w *= bit ? part[a] : 1 - part[a];
        }
        if (w == 0)
            continue;
        const size_t node = grid_index(g, at[0], at[1], at[2]);
        for (int a = 0; a < 3; a++)
            way += (double)t->p[a][node] * (x[a] - grid_coordinate(g, a, at[a]));
        sum += w * ((double)t->time[node] + 0.5 * way);
    }
    return sum;
}

struct certify_pairs certify_reciprocity(size_t k, const double *time)
{
    struct certify_pairs p = {.pairs = 0};
    double sum = 0;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < i; j++) {
            const double a = time[i * k + j], b = time[j * k + i], off = fabs(a - b);
            if (!(a > 0 && b > 0))
                continue;
            p.pairs++;
            p.failing += off > fmax(1e-3, 2e-3 * a);
            p.most = fmax(p.most, off);
            sum += off * off;
        }
    p.rms = p.pairs ? sqrt(sum / (double)p.pairs) : 0;
    return p;
}
