/* kirchhoff/kernels/migrate.c – migration on a device: first the rows of all ends for a window of
 * image columns, then at each point of the window the sum over all traces. */
#include "kirchhoff/kernels/migrate.h"
#include "kirchhoff/kernels/device.h"

/* ---- rows -------------------------------------------------------------------------------------*/

/* A corner's weight, and the way from its column and from its source, m. */
struct corner {
    float w, dx, dy, sx, sy;
};

FN struct migrate_arrival corner_add(GLOBAL const float *column, int nz, int k, struct corner c,
                                     struct migrate_arrival s)
{
    const float gx = column[TABLE_GX * nz + k], gy = column[TABLE_GY * nz + k];
    const float hx = column[TABLE_HX * nz + k], hy = column[TABLE_HY * nz + k];
    s.t += c.w * migrate_corner(column[TABLE_S * nz + k], gx, gy, hx, hy, c.dx, c.dy, c.sx, c.sy);
    s.px += c.w * gx;
    s.py += c.w * gy;
    s.pz += c.w * column[TABLE_GZ * nz + k];
    s.l += c.w * column[TABLE_L * nz + k];
    s.sx += c.w * hx;
    s.sy += c.w * hy;
    return s;
}

/* Weighted sum of an end's corners for one image column, at table depth k. */
FN struct migrate_arrival corners_sum(GLOBAL const float *tables, GLOBAL const int *end_i,
                                      GLOBAL const float *end_f, GLOBAL const int *shape,
                                      GLOBAL const float *step, int cell_x, int cell_y, float fx,
                                      float fy, int k)
{
    const int nz = shape[SHAPE_DEPTHS];
    const long table = (long)shape[SHAPE_COLUMNS] * TABLE_FIELDS * nz;
    struct migrate_arrival s;
    s.t = s.px = s.py = s.pz = s.l = s.sx = s.sy = 0.0f;
    for (int m = 0; m < end_i[END_CORNERS]; m++)
        for (int ab = 0; ab < 4; ab++) {
            const int a = ab / 2, b = ab % 2;
            struct corner c;
            c.w = end_f[END_W + m] * ((a ? fx : 1.0f - fx) * (b ? fy : 1.0f - fy));
            if (c.w == 0.0f)
                continue;
            c.dx = (fx - (float)a) * step[0];
            c.dy = (fy - (float)b) * step[1];
            c.sx = end_f[END_DX + m];
            c.sy = end_f[END_DY + m];
            const long column = cell_x * (long)shape[SHAPE_NY] + cell_y +
                                a * shape[SHAPE_STRIDE_X] + b * shape[SHAPE_STRIDE_Y];
            s = corner_add(tables + end_i[END_SLOT + m] * table + column * TABLE_FIELDS * nz, nz, k,
                           c, s);
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
FN struct migrate_arrival node_sum(GLOBAL const float *tables, GLOBAL const int *end_i,
                                   GLOBAL const float *end_f, GLOBAL const int *shape,
                                   GLOBAL const int *cells, GLOBAL const float *parts, int i, int j,
                                   int k)
{
    const int nx = shape[SHAPE_IMAGE_X], ny = shape[SHAPE_IMAGE_Y], z = nx + ny + k;
    GLOBAL const float *step = parts + shape[SHAPE_STEPS];
    const float part = parts[z];
    const struct migrate_arrival a = corners_sum(tables, end_i, end_f, shape, step, cells[i],
                                                 cells[nx + j], parts[i], parts[nx + j], cells[z]);
    if (part == 0.0f)
        return a;
    const struct migrate_arrival b =
        corners_sum(tables, end_i, end_f, shape, step, cells[i], cells[nx + j], parts[i],
                    parts[nx + j], cells[z] + 1);
    struct migrate_arrival x = arrival_between(a, b, part);
    x.t = migrate_between_bent(a.t, b.t, a.pz, b.pz, part, step[2]);
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
(GLOBAL const float *tables, GLOBAL const int *ends_i, GLOBAL const float *ends_f,
 GLOBAL const int *shape, GLOBAL const int *cells, GLOBAL const float *parts,
 GLOBAL const float *places, GLOBAL const float *par, GLOBAL float *rows, int nends, int first,
 int columns)
{
    const int nodes = shape[SHAPE_NODES], item = GID(0);
    const int k = item % nodes, c = item / nodes % columns, e = item / nodes / columns;
    if (e >= nends)
        return;
    const int nx = shape[SHAPE_IMAGE_X], ny = shape[SHAPE_IMAGE_Y];
    const int i = (first + c) / ny, j = (first + c) % ny;
    GLOBAL const int *end_i = ends_i + e * END_INTS;
    GLOBAL const float *end_f = ends_f + e * END_FLOATS;
    if (is_far(outside(places[i], end_f[END_BOX], end_f[END_BOX + 1]),
               outside(places[nx + j], end_f[END_BOX + 2], end_f[END_BOX + 3]),
               places[nx + ny + migrate_span(nodes, shape[SHAPE_FINE]) - 1]))
        return; /* out of every trace's reach */
    const float by = parts[shape[SHAPE_STEPS] + 3];
    struct migrate_arrival a = node_sum(tables, end_i, end_f, shape, cells, parts, i, j, k);
    if (k >= shape[SHAPE_END] && by != 1.0f)
        a = sum_beyond(
            node_sum(tables, end_i, end_f, shape, cells, parts, i, j, shape[SHAPE_END] - 1), a, by,
            par[PAR_HALF_STEP]);
    GLOBAL const float *way = parts + shape[SHAPE_STEPS] + 4, *from = end_f + END_FROM;
    const float h = end_f[END_DATUM];
    a = arrive(a, from[0] + way[i], from[1] + way[nx + j], from[2] + way[nx + ny + k]);
    if (h != 0.0f && a.t > 0.0f)
        a = migrate_lower(a, h, end_f[END_MIDWAY], end_f[END_SQUARE], end_f[END_TURN]);
    const float square = (a.px * a.px + a.py * a.py) + a.pz * a.pz;
    const int reached = a.t == a.t && a.l == a.l && square == square;
    const float inverse = square > 0.0f ? migrate_inverse(migrate_root(square)) : 0.0f;
    GLOBAL float *row = rows + ((long)e * columns + c) * NODE_FIELDS * nodes + k;
    row[NODE_U * nodes] = reached ? a.t * par[PAR_SAMPLES] : MIGRATE_NEVER;
    row[NODE_V * nodes] = reached ? (a.pz * par[PAR_HALF_STEP]) * par[PAR_SAMPLES] : 0.0f;
    const float l = larger(a.l, par[PAR_NEAR]), emergence = end_f[END_EMERGENCE];
    const float sigma =
        par[PAR_LINE] != 0.0f && reached ? migrate_sigma(l, square, emergence) : 0.0f;
    row[NODE_Q * nodes] = sigma;
    row[NODE_A * nodes] = reached ? migrate_end_weight(end_i[END_WEIGHT], end_f[END_SCALE], l, a.sx,
                                                       a.sy, emergence, sigma)
                                  : 0.0f;
    row[NODE_S * nodes] =
        reached ? larger(fabs(a.sx) * end_f[END_SPACING], fabs(a.sy) * end_f[END_SPACING + 1])
                : 0.0f;
    row[NODE_X * nodes] = reached ? a.px * inverse : 0.0f;
    row[NODE_Y * nodes] = reached ? a.py * inverse : 0.0f;
    row[NODE_Z * nodes] = reached ? a.pz * inverse : 0.0f;
}

/* ---- sums -------------------------------------------------------------------------------------*/

/* Where both ends' rows of a trace at a column begin; `start` of the trace; distance of the column
 * from the midpoint, m. */
struct pair {
    long s, g;
    float start, distance;
};

FN struct pair trace_pair(GLOBAL const int *trace_i, GLOBAL const float *trace_f, int columns,
                          int c, int nodes, float x, float y)
{
    const float dx = x - trace_f[TRACE_MX], dy = y - trace_f[TRACE_MY];
    struct pair p;
    p.s = ((long)trace_i[TRACE_SOURCE] * columns + c) * NODE_FIELDS * nodes;
    p.g = ((long)trace_i[TRACE_RECEIVER] * columns + c) * NODE_FIELDS * nodes;
    p.start = trace_f[TRACE_START];
    p.distance = migrate_root(dx * dx + dy * dy);
    return p;
}

FN float pair_time(GLOBAL const float *rows, struct pair p, int k)
{
    return (rows[p.s + k] + rows[p.g + k]) + p.start;
}

FN float pair_bend(GLOBAL const float *rows, struct pair p, int nodes, int k)
{
    const long v = (long)NODE_V * nodes + k;
    return (rows[p.s + v] + rows[p.g + v]) - (rows[p.s + v + 1] + rows[p.g + v + 1]);
}

/* Field i of both ends at node k: their sum. */
FN float pair_sum(GLOBAL const float *rows, struct pair p, int nodes, int i, int k)
{
    return rows[p.s + (long)i * nodes + k] + rows[p.g + (long)i * nodes + k];
}

/* The weight without limits. */
FN float pair_product(GLOBAL const float *rows, struct pair p, int nodes, int k)
{
    return rows[p.s + (long)NODE_A * nodes + k] * rows[p.g + (long)NODE_A * nodes + k];
}

/* Factor of weights on lines. */
FN float pair_across(GLOBAL const float *rows, struct pair p, GLOBAL const float *par, int nodes,
                     int k)
{
    return par[PAR_LINE] < 2.0f ? 1.0f : migrate_root(pair_sum(rows, p, nodes, NODE_Q, k));
}

/* Where a node is among the limits of angle and dip. */
struct within {
    float open, upright;
};

FN struct within pair_within(GLOBAL const float *rows, struct pair p, GLOBAL const float *par,
                             int nodes, int k)
{
    const float x = pair_sum(rows, p, nodes, NODE_X, k), y = pair_sum(rows, p, nodes, NODE_Y, k);
    const float z = pair_sum(rows, p, nodes, NODE_Z, k), square = (x * x + y * y) + z * z;
    struct within w;
    w.open = migrate_opening(square, par[PAR_ANGLE0], par[PAR_ANGLE1]);
    w.upright = migrate_upright(z, square, par[PAR_DIP0], par[PAR_DIP1]);
    return w;
}

/* The same at fraction f from node k to the next. */
FN struct within within_between(GLOBAL const float *rows, struct pair p, GLOBAL const float *par,
                                GLOBAL const int *shape, int k, float f)
{
    const int nodes = shape[SHAPE_NODES], fine = shape[SHAPE_FINE];
    const int from = migrate_around(k, fine, shape[SHAPE_END]);
    const int at = k - fine - from;
    struct within x[4], w;
    int reached = 1;
    for (int q = 0; q < 4; q++) {
        const int node = migrate_step_node(from + q, fine);
        x[q] = pair_within(rows, p, par, nodes, node);
        reached = reached && pair_time(rows, p, node) > 0.5f * MIGRATE_NEVER;
    }
    w.open = migrate_limit(x[0].open, x[1].open, x[2].open, x[3].open, reached, at, f);
    w.upright =
        migrate_limit(x[0].upright, x[1].upright, x[2].upright, x[3].upright, reached, at, f);
    return w;
}

/* The weight at fraction f from node k to the next. above, below: tapers at these two; aperture:
 * see migrate_taper(), at the depth itself. */
FN float pair_weight(GLOBAL const float *rows, struct pair p, GLOBAL const float *par,
                     GLOBAL const int *shape, int k, float f, float above, float below,
                     float aperture)
{
    const int nodes = shape[SHAPE_NODES];
    const float a = pair_product(rows, p, nodes, k), b = pair_product(rows, p, nodes, k + 1);
    const float qa = pair_across(rows, p, par, nodes, k);
    const float qb = pair_across(rows, p, par, nodes, k + 1);
    if (f == 0.0f || above == below)
        return migrate_between((a * above) * qa, (b * below) * qb, f);
    const struct within at = within_between(rows, p, par, shape, k, f);
    return migrate_between(a * qa, b * qb, f) * migrate_taper(at.open, at.upright, aperture);
}

FN int pair_level(GLOBAL const float *rows, struct pair p, GLOBAL const float *par, int levels,
                  int nodes, int k)
{
    const float s = rows[p.s + (long)NODE_S * nodes + k], g = rows[p.g + (long)NODE_S * nodes + k];
    int level = 0;
    for (int b = 1; b < levels; b++)
        level += s > par[PAR_LEVEL + b - 1] || g > par[PAR_LEVEL + b - 1];
    return level;
}

/* One work-item for each column of the window and depth: adds traces from .. to-1. */
KERNEL(migrate_sum, 64, 1, 1)
(GLOBAL const float *rows, GLOBAL const int *traces_i, GLOBAL const float *traces_f,
 GLOBAL const float *samples, GLOBAL const int *shape, GLOBAL const float *places,
 GLOBAL const float *par, GLOBAL double *sums, GLOBAL float *fold, int from, int to, int first,
 int columns)
{
    const int depths = shape[SHAPE_IMAGE_Z], nodes = shape[SHAPE_NODES], item = GID(0);
    const int z = item % depths, c = item / depths;
    if (c >= columns)
        return;
    const int nx = shape[SHAPE_IMAGE_X], ny = shape[SHAPE_IMAGE_Y], levels = shape[SHAPE_LEVELS];
    const int stride = shape[SHAPE_STRIDE], fine = shape[SHAPE_FINE];
    const int middle = z / MIGRATE_BLOCK * MIGRATE_BLOCK + MIGRATE_STEP;
    const int k = migrate_node(z, fine), block = migrate_node(middle, fine);
    const float f = migrate_part(z, fine);
    const float x = places[(first + c) / ny], y = places[nx + (first + c) % ny];
    GLOBAL const float *reach = places + nx + ny, *taper = reach + migrate_span(nodes, fine);
    const int za = migrate_depth(k, fine), zb = migrate_depth(k + 1, fine);
    for (int t = from; t < to; t++) {
        GLOBAL const float *trace_f = traces_f + t * TRACE_FLOATS;
        if (is_far(x - trace_f[TRACE_MX], y - trace_f[TRACE_MY], reach[zb]))
            continue;
        const struct pair p =
            trace_pair(traces_i + t * TRACE_INTS, trace_f, columns, c, nodes, x, y);
        if (p.distance >= reach[zb])
            continue; /* weights are 0, and rows may be missing */
        const struct within in = pair_within(rows, p, par, nodes, k);
        const struct within to_next = pair_within(rows, p, par, nodes, k + 1);
        const float above =
            migrate_taper(in.open, in.upright, (reach[za] - p.distance) * taper[za]);
        const float below =
            migrate_taper(to_next.open, to_next.upright, (reach[zb] - p.distance) * taper[zb]);
        if (above == 0.0f && below == 0.0f)
            continue;
        const float time = migrate_time(pair_time(rows, p, k), pair_time(rows, p, k + 1),
                                        pair_bend(rows, p, nodes, k), f);
        const float u = migrate_reach(time, par[PAR_TOP]);
        const float w = pair_weight(rows, p, par, shape, k, f, above, below,
                                    (reach[z] - p.distance) * taper[z]);
        const int level = levels > 1 ? pair_level(rows, p, par, levels, nodes, block) : 0;
        const long at = ((long)t * levels + level) * stride + (int)u;
        const float v = w * migrate_between(samples[at], samples[at + 1], u - (float)(int)u);
        const long at_point =
            ((long)traces_i[t * TRACE_INTS + TRACE_CLASS] * nx * ny + first + c) * depths + z;
        sums[at_point] += (double)migrate_rounded(v, par[PAR_ROUND]);
        if (migrate_counts(time, w, trace_f[TRACE_FIRST], trace_f[TRACE_LAST]))
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
