/* kirchhoff/kernels/migrate.c – migration on a device: first the rows of all ends for a window of
 * image columns, then at each point of the window the sum over all traces. */
#include "kirchhoff/kernels/migrate.h"
#include "kirchhoff/kernels/device.h"

/* ---- rows -------------------------------------------------------------------------------------*/

/* Weighted sum of an end's corners for image column (i, j), at table depth k. */
FN struct migrate_arrival corners_sum(GLOBAL const float *tables,
                                      GLOBAL const struct nodes_end *end,
                                      GLOBAL const struct migrate_shape *p, GLOBAL const int *cells,
                                      GLOBAL const float *parts, int i, int j, int k)
{
    const int nz = p->depths, first = cells[i] * p->rows + cells[p->nx + j];
    const long table = (long)p->columns * TABLE_FIELDS * nz;
    const float fx = parts[i], fy = parts[p->nx + j];
    struct migrate_arrival s;
    s.t = s.px = s.py = s.pz = s.l = s.sx = s.sy = 0.0f;
    for (int m = 0; m < end->corners.n; m++)
        for (int ab = 0; ab < 4; ab++) {
            const int a = ab / 2, b = ab % 2;
            const float w = end->corners.weight[m] * ((a ? fx : 1.0f - fx) * (b ? fy : 1.0f - fy));
            if (w == 0.0f)
                continue;
            const long column = first + a * p->stride[0] + b * p->stride[1];
            GLOBAL const float *at = tables + end->slot[m] * table + column * TABLE_FIELDS * nz + k;
            const float gx = at[TABLE_GX * nz], gy = at[TABLE_GY * nz];
            const float hx = at[TABLE_HX * nz], hy = at[TABLE_HY * nz];
            s.t += w * migrate_corner(at[TABLE_S * nz], gx, gy, hx, hy,
                                      (fx - (float)a) * p->step[0], (fy - (float)b) * p->step[1],
                                      end->corners.dx[m], end->corners.dy[m]);
            s.px += w * gx;
            s.py += w * gy;
            s.pz += w * at[TABLE_GZ * nz];
            s.l += w * at[TABLE_L * nz];
            s.sx += w * hx;
            s.sy += w * hy;
        }
    return s;
}

FN float larger(float a, float b)
{
    return a > b ? a : b;
}

/* Interpolates or extrapolates all fields but t, where S is. */
FN struct migrate_arrival arrival_between(struct migrate_arrival a, struct migrate_arrival b,
                                          float f)
{
    a.px = migrate_between(a.px, b.px, f);
    a.py = migrate_between(a.py, b.py, f);
    a.pz = migrate_between(a.pz, b.pz, f);
    a.l = migrate_between(a.l, b.l, f);
    a.sx = migrate_between(a.sx, b.sx, f);
    a.sy = migrate_between(a.sy, b.sy, f);
    return a;
}

/* An end's table fields at node k of an image column. */
FN struct migrate_arrival node_sum(GLOBAL const float *tables, GLOBAL const struct nodes_end *end,
                                   GLOBAL const struct migrate_shape *p, GLOBAL const int *cells,
                                   GLOBAL const float *parts, int i, int j, int k)
{
    const int z = p->nx + p->ny + k;
    const float part = parts[z];
    const struct migrate_arrival a = corners_sum(tables, end, p, cells, parts, i, j, cells[z]);
    if (part == 0.0f)
        return a;
    const struct migrate_arrival b = corners_sum(tables, end, p, cells, parts, i, j, cells[z] + 1);
    struct migrate_arrival x = arrival_between(a, b, part);
    x.t = migrate_between_bent(a.t, b.t, a.pz, b.pz, part, p->step[2]);
    return x;
}

/* For an image whose end lies below the tables' last node: extrapolates from a through b. */
FN struct migrate_arrival sum_beyond(struct migrate_arrival a, struct migrate_arrival b, float by,
                                     float way)
{
    struct migrate_arrival x = arrival_between(a, b, by);
    x.t = migrate_beyond_bent(a.t, b.t, a.pz, b.pz, by, way);
    return x;
}

/* Makes an arrival of table fields; (x, y, z): vector from the source. */
FN struct migrate_arrival arrive(struct migrate_arrival a, float x, float y, float z)
{
    const float r = migrate_root((x * x + y * y) + z * z), over = migrate_over(a.t, r);
    a.t = a.t * r;
    a.l = a.l * a.t;
    a.px = migrate_slowness(over, x, r, a.px);
    a.py = migrate_slowness(over, y, r, a.py);
    a.pz = migrate_slowness(over, z, r, a.pz);
    a.sx = migrate_change(over, x, r, a.sx);
    a.sy = migrate_change(over, y, r, a.sy);
    return a;
}

/* How far x lies outside low .. high. */
FN float outside(float x, float low, float high)
{
    return x < low ? low - x : (x > high ? x - high : 0.0f);
}

/* Whether a point is out of reach, with a margin for rounding. */
FN int is_far(float dx, float dy, float reach)
{
    const float far = reach * 1.001f + 1.0f;
    return dx * dx + dy * dy > far * far;
}

/* One work-item for each end, column of the window, and node. */
KERNEL(migrate_rows, 64, 1, 1)
(GLOBAL const float *tables, GLOBAL const struct nodes_end *ends,
 GLOBAL const struct migrate_shape *shape, GLOBAL const int *cells, GLOBAL const float *parts,
 GLOBAL const float *par, GLOBAL float *rows, int nends, int first, int columns)
{
    const int nodes = shape->nodes, item = GID(0);
    const int k = item % nodes, c = item / nodes % columns, e = item / nodes / columns;
    if (e >= nends)
        return;
    const int nx = shape->nx, ny = shape->ny, i = (first + c) / ny, j = (first + c) % ny;
    GLOBAL const struct nodes_end *end = ends + e;
    GLOBAL const float *way = parts + nx + ny + nodes, *places = way + nx + ny + nodes;
    if (is_far(outside(places[i], end->box[0], end->box[1]),
               outside(places[nx + j], end->box[2], end->box[3]),
               places[nx + ny + migrate_span(nodes, shape->fine) - 1]))
        return; /* out of every trace's reach */
    struct migrate_arrival a = node_sum(tables, end, shape, cells, parts, i, j, k);
    if (k >= shape->end && shape->beyond != 1.0f)
        a = sum_beyond(node_sum(tables, end, shape, cells, parts, i, j, shape->end - 1), a,
                       shape->beyond, par[PAR_HALF_STEP]);
    GLOBAL const float *from = end->corners.from;
    const float h = end->datum;
    a = arrive(a, from[0] + way[i], from[1] + way[nx + j], from[2] + way[nx + ny + k]);
    if (h != 0.0f && a.t > 0.0f)
        a = migrate_lower(a, h, end->midway, end->square, end->turn);
    const float square = (a.px * a.px + a.py * a.py) + a.pz * a.pz;
    const int reached = a.t == a.t && a.l == a.l && square == square;
    const float inverse = square > 0.0f ? migrate_inverse(migrate_root(square)) : 0.0f;
    GLOBAL float *row = rows + ((long)e * columns + c) * NODE_FIELDS * nodes + k;
    row[NODE_U * nodes] = reached ? a.t * par[PAR_SAMPLES] : MIGRATE_NEVER;
    row[NODE_V * nodes] = reached ? (a.pz * par[PAR_HALF_STEP]) * par[PAR_SAMPLES] : 0.0f;
    const float l = larger(a.l, par[PAR_NEAR]), emergence = end->emergence;
    const float sigma =
        par[PAR_LINE] != 0.0f && reached ? migrate_sigma(l, square, emergence) : 0.0f;
    row[NODE_Q * nodes] = sigma;
    row[NODE_A * nodes] =
        reached ? migrate_end_weight(end->weight, end->scale, l, a.sx, a.sy, emergence, sigma)
                : 0.0f;
    row[NODE_S * nodes] =
        reached ? larger(fabs(a.sx) * end->spacing[0], fabs(a.sy) * end->spacing[1]) : 0.0f;
    row[NODE_X * nodes] = reached ? a.px * inverse : 0.0f;
    row[NODE_Y * nodes] = reached ? a.py * inverse : 0.0f;
    row[NODE_Z * nodes] = reached ? a.pz * inverse : 0.0f;
}

/* ---- sums -------------------------------------------------------------------------------------*/

/* Both ends' rows of a trace at a column, arrays [NODE_FIELDS][nodes]; `start` of the trace;
 * distance of the column from the midpoint, m. */
struct pair {
    GLOBAL const float *s, *g;
    int nodes;
    float start, distance;
};

FN struct pair trace_pair(GLOBAL const float *rows, GLOBAL const struct batch_trace *t, int columns,
                          int c, int nodes, float x, float y)
{
    const float dx = x - t->mx, dy = y - t->my;
    struct pair p;
    p.s = rows + ((long)t->source * columns + c) * NODE_FIELDS * nodes;
    p.g = rows + ((long)t->receiver * columns + c) * NODE_FIELDS * nodes;
    p.nodes = nodes;
    p.start = t->start;
    p.distance = migrate_root(dx * dx + dy * dy);
    return p;
}

/* A field of both ends at node k: their sum. */
FN float pair_sum(struct pair p, int field, int k)
{
    return p.s[field * p.nodes + k] + p.g[field * p.nodes + k];
}

FN float pair_time(struct pair p, int k)
{
    return pair_sum(p, NODE_U, k) + p.start;
}

/* The weight without limits. */
FN float pair_product(struct pair p, int k)
{
    return p.s[NODE_A * p.nodes + k] * p.g[NODE_A * p.nodes + k];
}

/* Factor of weights on lines. */
FN float pair_across(struct pair p, GLOBAL const float *par, int k)
{
    return par[PAR_LINE] < 2.0f ? 1.0f : migrate_root(pair_sum(p, NODE_Q, k));
}

/* Where a node is among the limits of angle and dip. */
struct within {
    float open, upright;
};

FN struct within pair_within(struct pair p, GLOBAL const float *par, int k)
{
    const float x = pair_sum(p, NODE_X, k), y = pair_sum(p, NODE_Y, k);
    const float z = pair_sum(p, NODE_Z, k), square = (x * x + y * y) + z * z;
    struct within w;
    w.open = migrate_opening(square, par[PAR_ANGLE0], par[PAR_ANGLE1]);
    w.upright = migrate_upright(z, square, par[PAR_DIP0], par[PAR_DIP1]);
    return w;
}

/* The same at fraction f from node k to the next. */
FN struct within within_between(struct pair p, GLOBAL const float *par,
                                GLOBAL const struct migrate_shape *shape, int k, float f)
{
    const int fine = shape->fine, from = migrate_around(k, fine, shape->end);
    const int at = k - fine - from;
    struct within x[4], w;
    int reached = 1;
    for (int q = 0; q < 4; q++) {
        const int node = migrate_step_node(from + q, fine);
        x[q] = pair_within(p, par, node);
        reached = reached && pair_time(p, node) > 0.5f * MIGRATE_NEVER;
    }
    w.open = migrate_limit(x[0].open, x[1].open, x[2].open, x[3].open, reached, at, f);
    w.upright =
        migrate_limit(x[0].upright, x[1].upright, x[2].upright, x[3].upright, reached, at, f);
    return w;
}

/* The weight at fraction f from node k to the next. above, below: tapers at these two; aperture:
 * see migrate_taper(), at the depth itself. */
FN float pair_weight(struct pair p, GLOBAL const float *par,
                     GLOBAL const struct migrate_shape *shape, int k, float f, float above,
                     float below, float aperture)
{
    const float a = pair_product(p, k), b = pair_product(p, k + 1);
    const float qa = pair_across(p, par, k), qb = pair_across(p, par, k + 1);
    if (f == 0.0f || above == below)
        return migrate_between((a * above) * qa, (b * below) * qb, f);
    const struct within at = within_between(p, par, shape, k, f);
    return migrate_between(a * qa, b * qb, f) * migrate_taper(at.open, at.upright, aperture);
}

FN int pair_level(struct pair p, GLOBAL const float *par, int levels, int k)
{
    const float s = p.s[NODE_S * p.nodes + k], g = p.g[NODE_S * p.nodes + k];
    int level = 0;
    for (int b = 1; b < levels; b++)
        level += s > par[PAR_LEVEL + b - 1] || g > par[PAR_LEVEL + b - 1];
    return level;
}

/* One work-item for each column of the window and depth: adds traces from .. to-1. */
KERNEL(migrate_sum, 64, 1, 1)
(GLOBAL const float *rows, GLOBAL const struct batch_trace *traces, GLOBAL const float *samples,
 GLOBAL const struct migrate_shape *shape, GLOBAL const float *parts, GLOBAL const float *par,
 GLOBAL double *sums, GLOBAL float *fold, int from, int to, int first, int columns)
{
    const int depths = shape->nz, nodes = shape->nodes, item = GID(0);
    const int z = item % depths, c = item / depths;
    if (c >= columns)
        return;
    const int nx = shape->nx, ny = shape->ny, levels = shape->levels, fine = shape->fine;
    const int middle = z / MIGRATE_BLOCK * MIGRATE_BLOCK + MIGRATE_STEP;
    const int k = migrate_node(z, fine), block = migrate_node(middle, fine);
    const float f = migrate_part(z, fine);
    GLOBAL const float *places = parts + 2 * (nx + ny + nodes);
    const float x = places[(first + c) / ny], y = places[nx + (first + c) % ny];
    GLOBAL const float *reach = places + nx + ny, *taper = reach + migrate_span(nodes, fine);
    const int za = migrate_depth(k, fine), zb = migrate_depth(k + 1, fine);
    for (int t = from; t < to; t++) {
        GLOBAL const struct batch_trace *trace = traces + t;
        if (is_far(x - trace->mx, y - trace->my, reach[zb]))
            continue;
        const struct pair p = trace_pair(rows, trace, columns, c, nodes, x, y);
        if (p.distance >= reach[zb])
            continue; /* weights are 0, and rows may be missing */
        const struct within in = pair_within(p, par, k), next = pair_within(p, par, k + 1);
        const float above =
            migrate_taper(in.open, in.upright, (reach[za] - p.distance) * taper[za]);
        const float below =
            migrate_taper(next.open, next.upright, (reach[zb] - p.distance) * taper[zb]);
        if (above == 0.0f && below == 0.0f)
            continue;
        const float bend = pair_sum(p, NODE_V, k) - pair_sum(p, NODE_V, k + 1);
        const float time = migrate_time(pair_time(p, k), pair_time(p, k + 1), bend, f);
        const float u = migrate_reach(time, par[PAR_TOP]);
        const float w =
            pair_weight(p, par, shape, k, f, above, below, (reach[z] - p.distance) * taper[z]);
        const int level = levels > 1 ? pair_level(p, par, levels, block) : 0;
        const long at = ((long)t * levels + level) * shape->level_stride + (int)u;
        const float v = w * migrate_between(samples[at], samples[at + 1], u - (float)(int)u);
        const long at_point = ((long)trace->gather * nx * ny + first + c) * depths + z;
        sums[at_point] += (double)migrate_rounded(v, par[PAR_ROUND]);
        if (migrate_counts(time, w, trace->first, trace->last))
            fold[at_point] += 1.0f;
    }
}

/* Zeroes the sums and folds of a new range. */
KERNEL(migrate_clear, 64, 1, 1)(GLOBAL double *sums, GLOBAL float *fold, long n)
{
    const long item = GID(0);
    for (long i = item * CLEAR_SPAN; i < (item + 1) * CLEAR_SPAN && i < n; i++) {
        sums[i] = 0.0;
        fold[i] = 0.0f;
    }
}
