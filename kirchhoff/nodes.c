/* kirchhoff/nodes.c – locates an image's columns and nodes in the grid of the tables. */
#include "kirchhoff/nodes.h"
#include "src/kernel.h"
#include "kirchhoff/kernels/migrate.h"

/* Position of x along an axis of the tables, in steps. */
static double table_place(const struct grid *image, const struct grid *tables, int axis, double x)
{
    const double step = tables->n[axis] > 1 ? tables->step[axis] : image->step[axis];
    return (x - tables->origin[axis]) / step;
}

static enum ek_status place_axis(const struct grid *image, const struct grid *tables, int axis,
                                 int n, int fine, struct nodes_axis *a)
{
    const int last = tables->n[axis] > 1 ? tables->n[axis] - 2 : 0;
    const double end = tables->n[axis] - 1, slack = 1e-3;
    *a = (struct nodes_axis){.n = n,
                             .cell = calloc((size_t)n, sizeof *a->cell),
                             .part = calloc((size_t)n, sizeof *a->part),
                             .way = calloc((size_t)n, sizeof *a->way)};
    if (!a->cell || !a->part || !a->way)
        FAIL(EK_UNAVAILABLE, "out of memory for %d image nodes", n);
    for (int i = 0; i < n; i++) {
        const double x = grid_coordinate(image, axis, migrate_depth(i, fine));
        const double inside = fmin(x, grid_end(image, axis));
        if (!(table_place(image, tables, axis, image->origin[axis]) >= -slack &&
              table_place(image, tables, axis, inside) <= end + slack))
            FAIL(EK_USAGE,
                 "the image reaches %c = %g m, the tables only from %g to %g m; make larger tables "
                 "or give a smaller --grid",
                 "xyz"[axis], inside, tables -> origin[axis], grid_end(tables, axis));
        const double at = fmin(table_place(image, tables, axis, x), end);
        a->cell[i] = at < 0 ? 0 : (int)at > last ? last : (int)at;
        a->part[i] = (float)(at - a->cell[i]);
        if (fabsf(a->part[i] - rintf(a->part[i])) < (float)slack)
            a->part[i] = rintf(a->part[i]);
        a->way[i] = (float)(x - tables->origin[axis]);
    }
    return EK_OK;
}

/* If the image's last depth is not a node, the last node lies below the image, where the tables may
 * have ended. */
static void place_end(const struct grid *image, const struct grid *tables, struct nodes_plan *p)
{
    struct nodes_axis *a = &p->axis[2];
    const int before = migrate_node(image->n[2] - 2, p->fine);
    p->end = image->n[2] > 1 ? before + 1 : 0;
    const double step = image->step[2] * MIGRATE_STEP;
    const double from = grid_coordinate(image, 2, migrate_depth(before, p->fine));
    const double left = (grid_end(tables, 2) - from) / step;
    p->beyond = p->end > p->fine && left < 1 - 1e-3 ? (float)(1 / left) : 1;
    for (int k = p->end + 1; k < a->n; k++) {
        a->cell[k] = a->cell[p->end];
        a->part[k] = a->part[p->end];
        a->way[k] = a->way[p->end];
    }
}

enum ek_status nodes_plan_open(const struct grid *image, const struct grid *tables, int nodes,
                               int fine, const float *par, struct nodes_plan *p)
{
    const int n[3] = {image->n[0], image->n[1], nodes};
    *p = (struct nodes_plan){.depths = tables->n[2], .nodes = nodes, .fine = fine, .par = par};
    p->stride[0] = tables->n[0] > 1 ? tables->n[1] : 0;
    p->stride[1] = tables->n[1] > 1 ? 1 : 0;
    enum ek_status st = EK_OK;
    for (int a = 0; a < 3 && !st; a++) {
        p->step[a] = (float)tables->step[a];
        st = place_axis(image, tables, a, n[a], a == 2 ? fine : n[a], &p->axis[a]);
    }
    if (st)
        nodes_plan_close(p);
    else
        place_end(image, tables, p);
    return st;
}

void nodes_plan_close(struct nodes_plan *p)
{
    for (int a = 0; a < 3; a++) {
        free(p->axis[a].cell);
        free(p->axis[a].part);
        free(p->axis[a].way);
        p->axis[a] = (struct nodes_axis){0};
    }
}

size_t nodes_row(const struct nodes_plan *p)
{
    return (size_t)NODE_FIELDS * (size_t)p->nodes;
}

size_t nodes_scratch(const struct nodes_plan *p)
{
    return (size_t)TABLE_FIELDS * (size_t)(p->depths + p->nodes);
}
