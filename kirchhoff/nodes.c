/* kirchhoff/nodes.c – tables are interpolated between up to four sources and four columns, then
 * along z, by the half-slowness rule each time. */
#include "kirchhoff/nodes.h"
#include "src/kernel.h"
#include "kirchhoff/kernels/migrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the plan ---------------------------------------------------------------------------------*/

static enum ek_status place_axis(const struct grid *image, const struct grid *tables, int axis,
                                 int n, double step, struct nodes_axis *a)
{
    const int last = tables->n[axis] > 1 ? tables->n[axis] - 2 : 0;
    const double end = tables->n[axis] - 1, slack = 1e-3;
    *a = (struct nodes_axis){.n = n,
                             .cell = calloc((size_t)n, sizeof *a->cell),
                             .part = calloc((size_t)n, sizeof *a->part)};
    if (!a->cell || !a->part)
        FAIL(EK_LACK, "out of memory for %d image nodes", n);
    for (int i = 0; i < n; i++) {
        const double x = fmin(image->origin[axis] + i * step, grid_end(image, axis));
        const double at = tables->n[axis] > 1 ? (x - tables->origin[axis]) / tables->step[axis]
                                              : (x - tables->origin[axis]) / image->step[axis];
        if (!(at >= -slack && at <= end + slack))
            FAIL(EK_USAGE,
                 "the image reaches %c = %g m, the tables only from %g to %g m; make "
                 "larger tables or give a smaller --grid",
                 "xyz"[axis], x, tables -> origin[axis], grid_end(tables, axis));
        a->cell[i] = at < 0 ? 0 : (int)at > last ? last : (int)at;
        a->part[i] = (float)(at - a->cell[i]);
        if (fabsf(a->part[i] - rintf(a->part[i])) < (float)slack)
            a->part[i] = rintf(a->part[i]);
    }
    return EK_OK;
}

enum ek_status nodes_plan_open(const struct grid *image, const struct grid *tables, int nodes,
                               const float *par, struct nodes_plan *p)
{
    const int n[3] = {image->n[0], image->n[1], nodes};
    *p = (struct nodes_plan){.depths = tables->n[2], .nodes = nodes, .par = par};
    p->stride[0] = tables->n[0] > 1 ? tables->n[1] : 0;
    p->stride[1] = tables->n[1] > 1 ? 1 : 0;
    enum ek_status st = EK_OK;
    for (int a = 0; a < 3 && !st; a++) {
        p->step[a] = (float)tables->step[a];
        st = place_axis(image, tables, a, n[a], image->step[a] * (a == 2 ? MIGRATE_STEP : 1),
                        &p->axis[a]);
    }
    if (st)
        nodes_plan_close(p);
    return st;
}

void nodes_plan_close(struct nodes_plan *p)
{
    for (int a = 0; a < 3; a++) {
        free(p->axis[a].cell);
        free(p->axis[a].part);
        p->axis[a] = (struct nodes_axis){0};
    }
}

size_t nodes_row(const struct nodes_plan *p)
{
    return (size_t)NODE_FIELDS * (size_t)p->nodes;
}

size_t nodes_scratch(const struct nodes_plan *p)
{
    return (size_t)TABLE_FIELDS * (size_t)p->depths;
}

/* ---- along x and y ----------------------------------------------------------------------------*/

/* A table's column beside the place, and the way from it: up to 4 sources times 4 columns. */
struct corner {
    const float *column;
    float weight, dx, dy, sx, sy;
};

enum { CORNERS = 4 * TRAVEL_CORNERS };

static int find_corners(const struct nodes_plan *p, const struct travel *t,
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
            c[n++] =
                (struct corner){t->table[end->corners.node[m]].data + column * nodes_scratch(p),
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
        sum[TABLE_T * n + k] +=
            c->weight * migrate_corner_time(from[TABLE_T * n + k], from[TABLE_PX * n + k],
                                            from[TABLE_PY * n + k], from[TABLE_SX * n + k],
                                            from[TABLE_SY * n + k], c->dx, c->dy, c->sx, c->sy);
    for (int k = TABLE_PX * n; k < TABLE_FIELDS * n; k++)
        sum[k] += c->weight * from[k];
}

/* ---- along z ----------------------------------------------------------------------------------*/

/* Field f between table depths. */
static float between(const struct nodes_plan *p, const float *sum, int field, int k)
{
    const float part = p->axis[2].part[k], *at = sum + field * p->depths + p->axis[2].cell[k];
    return part == 0 ? at[0] : migrate_between(at[0], at[1], part);
}

static float time_between(const struct nodes_plan *p, const float *sum, int k)
{
    const int cell = p->axis[2].cell[k];
    const float part = p->axis[2].part[k], *t = sum + TABLE_T * p->depths + cell;
    const float *pz = sum + TABLE_PZ * p->depths + cell;
    return part == 0 ? t[0] : migrate_between_time(t[0], t[1], pz[0], pz[1], part, p->step[2]);
}

static float larger(float a, float b)
{
    return a > b ? a : b;
}

static void fill_node(const struct nodes_plan *p, const struct nodes_end *end, const float *sum,
                      int k, float *row)
{
    const int n = p->nodes;
    const float time = time_between(p, sum, k);
    const float px = between(p, sum, TABLE_PX, k), py = between(p, sum, TABLE_PY, k);
    const float pz = between(p, sum, TABLE_PZ, k), spread = between(p, sum, TABLE_L, k);
    const float tx = between(p, sum, TABLE_SX, k), ty = between(p, sum, TABLE_SY, k);
    const float square = (px * px + py * py) + pz * pz;
    const bool reached = time == time && spread == spread && square == square;
    const float inverse = square > 0 ? migrate_inverse(migrate_root(square)) : 0;
    row[NODE_U * n + k] = reached ? time * p->par[PAR_SAMPLES] : MIGRATE_NEVER;
    row[NODE_V * n + k] = reached ? (pz * p->par[PAR_HALF_STEP]) * p->par[PAR_SAMPLES] : 0;
    row[NODE_A * n + k] =
        reached ? migrate_end_weight(end->weight, end->scale, larger(spread, p->par[PAR_NEAR]), tx,
                                     ty, end->emergence)
                : 0;
    row[NODE_S * n + k] =
        reached ? larger(fabsf(tx) * end->spacing[0], fabsf(ty) * end->spacing[1]) : 0;
    row[NODE_X * n + k] = reached ? px * inverse : 0;
    row[NODE_Y * n + k] = reached ? py * inverse : 0;
    row[NODE_Z * n + k] = reached ? pz * inverse : 0;
}

void nodes_fill(const struct nodes_plan *p, const struct travel *t, const struct nodes_end *end,
                int i, int j, float *scratch, float *row)
{
    struct corner corner[CORNERS];
    const int n = find_corners(p, t, end, i, j, corner);
    memset(scratch, 0, nodes_scratch(p) * sizeof *scratch);
    for (int c = 0; c < n; c++)
        add_corner(p, &corner[c], scratch);
    for (int k = 0; k < p->nodes; k++)
        fill_node(p, end, scratch, k, row);
}
