/* kirchhoff/eikonal_medium.c – the box, its layout and the mean slowness of its cells. */
#include "kirchhoff/eikonal_internal.h"

#include <math.h>
#include <stdlib.h>

static const float wall = 1e8F; /* s/m: where there is no cell */

float *eikonal_array(const struct eikonal *e, float value)
{
    const size_t n = e->plane * (size_t)(e->n[0] + 2);
    float *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
    for (size_t i = 0; x && i < n; i++)
        x[i] = value;
    return x;
}

static enum ek_status lay_out(struct eikonal *e)
{
    const int all = eikonal_diagonals(e);
    ptrdiff_t at = GAP, *diagonal = calloc((size_t)(all + 2 * EDGE), sizeof *diagonal);
    if (!diagonal)
        FAIL(EK_UNAVAILABLE, "out of memory for an eikonal solver");
    for (int d = -EDGE; d < all + EDGE; d++, at += GAP) {
        int n, first = eikonal_diagonal(e, d, &n);
        if (n <= 0)
            n = 0, first = d < 0 ? 0 : e->n[1] - 1;
        diagonal[d + EDGE] = at - first;
        at += n + (n == 0);
    }
    e->diagonal = diagonal + EDGE;
    e->plane = ((size_t)at + 2 * GAP) / GAP * GAP;
    return EK_OK;
}

/* ---- the medium -------------------------------------------------------------------------------*/

enum { PARTS = 2, COLUMN = 16 };    /* of a cell's side; of layers */
static const double differs = 0.02; /* share: corners of a cell that is looked at more closely */

/* Mean slowness of a cell with `parts` places along each axis. */
static double closer(const struct eikonal *e, const int at[3], const int parts[3])
{
    const struct grid *g = &e->grid;
    double sum = 0;
    for (int i = 0; i < parts[0]; i++)
        for (int j = 0; j < parts[1]; j++)
            for (int k = 0; k < parts[2]; k++) {
                const int part[3] = {i, j, k};
                double x[3];
                for (int a = 0; a < 3; a++)
                    x[a] = g->origin[a] + g->step[a] * (at[a] + (part[a] + 0.5) / parts[a]);
                sum += 1 / velocity_at(e->velocity, x, NULL);
            }
    return sum / (parts[0] * parts[1] * parts[2]);
}

static double cell_slowness(const struct eikonal *e, const int at[3], const float *slowness)
{
    static const int evenly[3] = {PARTS, PARTS, PARTS}, layers[3] = {1, 1, COLUMN};
    double sum = 0, low = INFINITY, high = 0;
    for (int c = 0; c < 8; c++) {
        const double s = (double)
            slowness[grid_index(&e->grid, at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2))];
        low = fmin(low, s);
        high = fmax(high, s);
        sum += s / 8;
    }
    if (high - low < differs * low)
        return sum;
    return closer(e, at, e->velocity->kind == VELOCITY_LAYERS ? layers : evenly);
}

/* Slowness at all nodes of the box; the caller frees. */
static enum ek_status sample(struct eikonal *e, float **slowness)
{
    const struct grid *g = &e->grid;
    float *s = malloc(grid_nodes(g) * sizeof *s);
    if (!s)
        FAIL(EK_UNAVAILABLE, "out of memory for %zu nodes of an eikonal solver", grid_nodes(g));
    *slowness = s;
    e->least = INFINITY;
    for (int i = 0; i < g->n[0]; i++)
        for (int j = 0; j < g->n[1]; j++)
            for (int k = 0; k < g->n[2]; k++) {
                const double x[3] = {grid_coordinate(g, 0, i), grid_coordinate(g, 1, j),
                                     grid_coordinate(g, 2, k)};
                const double speed = velocity_at(e->velocity, x, NULL);
                if (!(speed > 0))
                    FAIL(EK_USAGE,
                         "velocity %s is %g m/s at (%g, %g, %g) m; waves need it positive",
                         e->velocity->text, speed, x[0], x[1], x[2]);
                e->least = fmin(e->least, 1 / speed);
                s[grid_index(g, i, j, k)] = (float)(1 / speed);
            }
    return EK_OK;
}

static void fill_cells(struct eikonal *e, const float *slowness)
{
    const struct grid *g = &e->grid;
    const int last = e->n[2] - 2;
    int at[3];
    for (at[0] = 0; at[0] < g->n[0] - 1; at[0]++)
        for (at[1] = 0; at[1] < g->n[1] - 1; at[1]++)
            for (at[2] = 0; at[2] < g->n[2] - 1; at[2]++) {
                const float s = (float)cell_slowness(e, at, slowness);
                for (int copy = 0; copy < COPIES; copy++)
                    e->cell[copy][eikonal_place_of(e, at, copy, last)] = s;
            }
}

static void keep_speeds(struct eikonal *e, const float *slowness)
{
    const struct grid *t = &e->table;
    for (int i = 0; i < t->n[0]; i++)
        for (int j = 0; j < t->n[1]; j++)
            for (int k = 0; k < t->n[2]; k++)
                e->speed[grid_index(t, i, j, k)] =
                    1 / slowness[grid_index(&e->grid, e->first[0] + i, e->first[1] + j,
                                            e->first[2] + k)];
}

/* The box in steps of the tables, at least two nodes wide everywhere: waves need a cell. */
static void set_box(struct eikonal *e, const double low[3], const double high[3])
{
    const struct grid *t = &e->table;
    for (int a = 0; a < 3; a++) {
        const double before = fmax(ceil((t->origin[a] - low[a]) / t->step[a] - 1e-6), 0);
        const double after = fmax(ceil((high[a] - grid_end(t, a)) / t->step[a] - 1e-6), 0);
        e->first[a] = (int)before;
        e->grid.step[a] = t->step[a];
        e->grid.origin[a] = t->origin[a] - before * t->step[a];
        e->grid.n[a] = t->n[a] + (int)before + (int)after;
        e->grid.n[a] += e->grid.n[a] < 2;
    }
}

static void order_axes(struct eikonal *e)
{
    const int *n = e->grid.n;
    const int least = n[0] <= n[1] && n[0] <= n[2] ? 0 : n[1] <= n[2] ? 1 : 2;
    for (int a = 0; a < 3; a++) {
        e->axis[a] = (least + a) % 3;
        e->n[a] = n[e->axis[a]];
    }
}

static enum ek_status fill(struct eikonal *e)
{
    float *slowness = NULL;
    TRY(lay_out(e));
    enum ek_status st = sample(e, &slowness);
    for (int c = 0; c < COPIES && !st; c++)
        if (!(e->cell[c] = eikonal_array(e, wall)))
            st = status_fail(EK_UNAVAILABLE, "out of memory for an eikonal solver's cells");
    e->speed = st ? NULL : malloc(grid_nodes(&e->table) * sizeof *e->speed);
    if (!st && !e->speed)
        st = status_fail(EK_UNAVAILABLE, "out of memory for an eikonal solver's speeds");
    if (!st) {
        fill_cells(e, slowness);
        keep_speeds(e, slowness);
    }
    free(slowness);
    return st;
}

enum ek_status eikonal_open(const struct velocity *v, const struct grid *grid, const double low[3],
                            const double high[3], struct eikonal **out)
{
    struct eikonal *e = calloc(1, sizeof *e);
    if (!e)
        FAIL(EK_UNAVAILABLE, "out of memory for an eikonal solver");
    e->velocity = v;
    e->table = *grid;
    set_box(e, low, high);
    order_axes(e);
    const enum ek_status st = fill(e);
    if (st)
        eikonal_close(e);
    else
        *out = e;
    return st;
}

void eikonal_close(struct eikonal *e)
{
    if (!e)
        return;
    free(e->diagonal ? e->diagonal - EDGE : NULL);
    free(e->cell[0]);
    free(e->cell[1]);
    free(e->speed);
    free(e);
}
