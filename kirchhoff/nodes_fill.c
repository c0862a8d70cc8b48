/* kirchhoff/nodes_fill.c – computes the rows of ends: interpolates tables between up to four
 * sources and four columns, then along z, each time by the half-gradient rule. Takes about half of
 * a migration's time (the sum takes the rest), so it is compiled for every instruction level. */
#include "kirchhoff/nodes.h"
#include "kirchhoff/window.h"
#include "src/kernel.h"
#include "kirchhoff/kernels/migrate.h"

/* ---- along x and y ----------------------------------------------------------------------------*/

/* One of up to 4 x 4 corners: a column of a source's table, its weight, and the image column's (d)
 * and the end's (s) distance from it, m. */
struct corner {
    const float *column;
    float weight, dx, dy, sx, sy;
};

enum { CORNERS = 4 * TRAVELTIME_CORNERS };

static int find_corners(const struct nodes_plan *p, const struct traveltime_cache *t,
                        const struct nodes_end *end, int i, int j, struct corner *c)
{
    const float fx = p->axis[0].part[i], fy = p->axis[1].part[j];
    const int ny = t->grid.n[1], first = p->axis[0].cell[i] * ny + p->axis[1].cell[j];
    int n = 0;
    for (int m = 0; m < end->corners.n; m++)
        for (int ab = 0; ab < 4; ab++) {
            const int a = ab / 2, b = ab % 2;
            const float w = end->corners.weight[m] * ((a ? fx : 1.0f - fx) * (b ? fy : 1.0f - fy));
            if (w == 0)
                continue;
            const size_t column = (size_t)(first + a * p->stride[0] + b * p->stride[1]);
            c[n++] = (struct corner){t->table[end->corners.node[m]].data +
                                         column * TABLE_FIELDS * (size_t)p->depths,
                                     w,
                                     (fx - (float)a) * p->step[0],
                                     (fy - (float)b) * p->step[1],
                                     end->corners.dx[m],
                                     end->corners.dy[m]};
        }
    return n;
}

static void add_corner(const struct nodes_plan *p, const struct corner *c, float *restrict sum)
{
    const int n = p->depths;
    const float *restrict from = c->column;
    for (int k = 0; k < n; k++)
        sum[TABLE_S * n + k] +=
            c->weight * migrate_corner(from[TABLE_S * n + k], from[TABLE_GX * n + k],
                                       from[TABLE_GY * n + k], from[TABLE_HX * n + k],
                                       from[TABLE_HY * n + k], c->dx, c->dy, c->sx, c->sy);
    for (int k = TABLE_GX * n; k < TABLE_FIELDS * n; k++)
        sum[k] += c->weight * from[k];
}

/* ---- along z ----------------------------------------------------------------------------------*/

/* What arrive() turns the tables' fields into, in place. */
enum { T, PX, PY, PZ, L, SX, SY };

/* All fields at eight nodes. If tables have a single depth, what is read as the one below is
 * ignored (at_depth). */
static void resample(const struct nodes_plan *p, const float *sum, int k, float *at)
{
    eights_places cell;
    memcpy(&cell, p->axis[2].cell + k, sizeof cell);
    const eights part = *(const eights_in *)&p->axis[2].part[k];
    const eights_places at_depth = part == 0;
    eights a, b, pa, pb;
    for (int f = 0; f < TABLE_FIELDS; f++) {
        load(sum + f * p->depths, cell, &a, &b);
        eights between = a + part * (b - a);
        if (f == TABLE_S) {
            load(sum + TABLE_GZ * p->depths, cell, &pa, &pb);
            between = between + (0.5f * p->step[2]) * ((part * (1.0f - part)) * (pa - pb));
        }
        *(eights_in *)&at[f * p->nodes + k] =
            (eights)(((eights_places)a & at_depth) | ((eights_places)between & ~at_depth));
    }
}

static float larger(float a, float b)
{
    return a > b ? a : b;
}

/* Direction of the ray, from its slowness; 0 where no ray arrives. */
static void fill_direction(int n, const float *restrict px, const float *restrict py,
                           const float *restrict pz, float *restrict row)
{
    for (int k = 0; k < n; k++) {
        const float square = (px[k] * px[k] + py[k] * py[k]) + pz[k] * pz[k];
        const float inverse = migrate_inverse(migrate_root(square));
        const int moves = square > 0;
        row[NODE_X * n + k] = moves ? px[k] * inverse : 0;
        row[NODE_Y * n + k] = moves ? py[k] * inverse : 0;
        row[NODE_Z * n + k] = moves ? pz[k] * inverse : 0;
    }
}

static void fill_weights(const struct nodes_plan *p, const struct nodes_end *end,
                         const float *restrict at, float *restrict row)
{
    const int n = p->nodes;
    const float *restrict l = at + L * n, *restrict tx = at + SX * n, *restrict ty = at + SY * n,
                          *restrict px = at + PX * n, *restrict py = at + PY * n,
                          *restrict pz = at + PZ * n;
    float *restrict sigma = row + NODE_Q * n;
    const float near = p->par[PAR_NEAR];
    for (int k = 0; k < n; k++) {
        row[NODE_S * n + k] =
            larger(fabsf(tx[k]) * end->spacing[0], fabsf(ty[k]) * end->spacing[1]);
        sigma[k] = 0;
    }
    for (int k = 0; k < n && p->par[PAR_LINE] != 0; k++)
        sigma[k] = migrate_sigma(larger(l[k], near),
                                 (px[k] * px[k] + py[k] * py[k]) + pz[k] * pz[k], end->emergence);
    if (end->weight == WEIGHT_SPREAD) /* the most common weight, without a branch in the loop */
        for (int k = 0; k < n; k++)
            row[NODE_A * n + k] = end->scale * larger(l[k], near);
    else
        for (int k = 0; k < n; k++)
            row[NODE_A * n + k] = migrate_end_weight(end->weight, end->scale, larger(l[k], near),
                                                     tx[k], ty[k], end->emergence, sigma[k]);
}

static void fill_times(const struct nodes_plan *p, const float *restrict at, float *restrict row)
{
    const int n = p->nodes;
    const float samples = p->par[PAR_SAMPLES], half = p->par[PAR_HALF_STEP];
    for (int k = 0; k < n; k++) {
        row[NODE_U * n + k] = at[T * n + k] * samples;
        row[NODE_V * n + k] = (at[PZ * n + k] * half) * samples;
    }
}

/* Clears nodes that a ray from some corner did not reach: tables have NaN there, and so has a field
 * computed from them. */
static void clear_unreached(int n, const float *restrict at, float *restrict row)
{
    for (int k = 0; k < n; k++) {
        const float all =
            (at[T * n + k] + at[L * n + k]) + ((at[PX * n + k] + at[PY * n + k]) + at[PZ * n + k]);
        if (all == all)
            continue;
        for (int f = 0; f < NODE_FIELDS; f++)
            row[f * n + k] = 0;
        row[NODE_U * n + k] = MIGRATE_NEVER;
    }
}

/* Extrapolates the last nodes, which lie below the tables, from the interval above them. */
static void continue_end(const struct nodes_plan *p, float *at)
{
    const int n = p->nodes, e = p->end, a = e - 1;
    const float by = p->beyond;
    if (by == 1)
        return;
    float *s = at + TABLE_S * n, *gz = at + TABLE_GZ * n;
    s[e] = migrate_beyond_bent(s[a], s[e], gz[a], gz[e], by, p->par[PAR_HALF_STEP]);
    for (int f = TABLE_GX; f < TABLE_FIELDS; f++)
        at[f * n + e] = migrate_between(at[f * n + a], at[f * n + e], by);
    for (int f = 0; f < TABLE_FIELDS; f++)
        for (int k = e + 1; k < n; k++)
            at[f * n + k] = at[f * n + e];
}

/* Turns blended fields into T, slowness and so on, using the vector from the end to each node. The
 * row serves as scratch memory. */
static void arrive(const struct nodes_plan *p, const struct nodes_end *end, int i, int j,
                   float *restrict at, float *restrict row)
{
    const int n = p->nodes;
    const float *restrict below = p->axis[2].way, *from = end->corners.from;
    const float x = from[0] + p->axis[0].way[i], y = from[1] + p->axis[1].way[j], top = from[2];
    float *restrict r = row, *restrict over = row + n;
    for (int k = 0; k < n; k++) {
        const float z = top + below[k];
        r[k] = migrate_root((x * x + y * y) + z * z);
        over[k] = migrate_over(at[T * n + k], r[k]);
        at[T * n + k] = at[T * n + k] * r[k];
        at[L * n + k] = at[L * n + k] * at[T * n + k];
    }
    for (int k = 0; k < n; k++) {
        at[PX * n + k] = migrate_slowness(over[k], x, r[k], at[PX * n + k]);
        at[PY * n + k] = migrate_slowness(over[k], y, r[k], at[PY * n + k]);
        at[PZ * n + k] = migrate_slowness(over[k], top + below[k], r[k], at[PZ * n + k]);
        at[SX * n + k] = migrate_change(over[k], x, r[k], at[SX * n + k]);
        at[SY * n + k] = migrate_change(over[k], y, r[k], at[SY * n + k]);
    }
}

/* Moves the end from the tables' surface to its true depth. */
static void lower_end(int n, const struct nodes_end *end, float *at)
{
    const float h = end->datum, midway = end->midway, square = end->square, turn = end->turn;
    float *restrict t = at + T * n, *restrict px = at + PX * n, *restrict py = at + PY * n,
                    *restrict pz = at + PZ * n, *restrict l = at + L * n,
                    *restrict sx = at + SX * n, *restrict sy = at + SY * n;
    const int lowered = h != 0 ? n : 0;
#pragma omp simd
    for (int k = 0; k < lowered; k++) {
        const struct migrate_arrival from = {t[k], px[k], py[k], pz[k], l[k], sx[k], sy[k]};
        const struct migrate_arrival a = migrate_lower(from, h, midway, square, turn);
        const int there = from.t > 0;
        t[k] = there ? a.t : from.t;
        px[k] = there ? a.px : from.px;
        py[k] = there ? a.py : from.py;
        pz[k] = there ? a.pz : from.pz;
        l[k] = there ? a.l : from.l;
        sx[k] = there ? a.sx : from.sx;
        sy[k] = there ? a.sy : from.sy;
    }
}

/* Computes the row from the fields `sum` at the tables' depths; `at`: scratch for fields at the
 * nodes. */
static void fill_row(const struct nodes_plan *p, const struct nodes_end *end, int i, int j,
                     const float *sum, float *at, float *row)
{
    const int n = p->nodes;
    for (int k = 0; k < n; k += MIGRATE_BLOCK)
        resample(p, sum, k, at);
    continue_end(p, at);
    arrive(p, end, i, j, at, row);
    lower_end(n, end, at);
    fill_times(p, at, row);
    fill_weights(p, end, at, row);
    fill_direction(n, at + PX * n, at + PY * n, at + PZ * n, row);
    clear_unreached(n, at, row);
}

void nodes_fill(const struct nodes_plan *p, const struct traveltime_cache *t,
                const struct nodes_end *end, int i, int j, float *scratch, float *row)
{
    struct corner corner[CORNERS];
    const int n = find_corners(p, t, end, i, j, corner);
    memset(scratch, 0, (size_t)TABLE_FIELDS * (size_t)p->depths * sizeof *scratch);
    for (int c = 0; c < n; c++)
        add_corner(p, &corner[c], scratch);
    fill_row(p, end, i, j, scratch, scratch + (size_t)TABLE_FIELDS * (size_t)p->depths, row);
}
