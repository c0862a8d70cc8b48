/* kirchhoff/eikonal_medium.c – the box, its layout and the mean slowness of its cells. */
#include "kirchhoff/eikonal_internal.h"
#include "cu/rank/stop.h"

static const float wall = 1e8F; /* s/m: where there is no cell */

float *eikonal_array(const struct eikonal *e, struct arena *arena, float value)
{
    const size_t n = e->plane * (size_t)(e->n[0] + 2);
    float *x = ARENA_NEW(arena, n, float);
    for (size_t i = 0; x && i < n; i++)
        x[i] = value;
    return x;
}

static enum ek_status lay_out(struct eikonal *e)
{
    const int all = eikonal_diagonals(e);
    ptrdiff_t at = GAP, *diagonal = ARENA_NEW(&e->arena, all + 2 * EDGE, ptrdiff_t);
    TRY(arena_check(&e->arena, "an eikonal solver"));
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

enum { PARTS = 4, COLUMN = 16, MOST_PARTS = 64 }; /* of a cell: a side, in layers, all */
/* Share of the layering that grazing waves need: a compromise, as waves that cross a cell steeply
 * need a quarter. */
static const double share = 0.7;
static const double differs = 0.02; /* share by which corners of a closely sampled cell differ */

/* A cell: its mean slowness, s/m, and m of struct layers (eikonal_line.c) along the grid's axes. */
struct cell {
    double slowness, m[3];
};

/* The normal n of a cell's layers: largest eigenvector of the sums of products of differences
 * between the cell's parts. */
static void find_normal(const double *s, const int parts[3], const double step[3], double n[3])
{
    const int by[3] = {parts[1] * parts[2], parts[2], 1};
    double j[3][3] = {{0}};
    for (int i = 0; i < parts[0] * by[0]; i++) {
        const int at[3] = {i / by[0], i / by[1] % parts[1], i % parts[2]};
        double d[3];
        for (int a = 0; a < 3; a++)
            d[a] = at[a] + 1 < parts[a] ? (s[i + by[a]] - s[i]) * parts[a] / step[a] : 0;
        for (int a = 0; a < 9; a++)
            j[a / 3][a % 3] += d[a / 3] * d[a % 3];
    }
    const int most = j[0][0] > j[1][1] ? (j[0][0] > j[2][2] ? 0 : 2) : (j[1][1] > j[2][2] ? 1 : 2);
    memcpy(n, j[most], sizeof j[most]);
    for (int turn = 0; turn < 4; turn++) { /* power iteration */
        double to[3];
        for (int a = 0; a < 3; a++)
            to[a] = j[a][0] * n[0] + j[a][1] * n[1] + j[a][2] * n[2];
        const double length = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]);
        for (int a = 0; a < 3; a++)
            n[a] = length > 0 ? to[a] / length : 0;
    }
}

/* Samples a cell at `parts` places along each axis. */
static struct cell closer(const struct eikonal *e, const int at[3], const int parts[3])
{
    const struct grid *g = &e->grid;
    const int all = parts[0] * parts[1] * parts[2];
    double s[MOST_PARTS], sum = 0, least = INFINITY, steep = 0;
    for (int i = 0; i < all; i++) {
        const int part[3] = {i / (parts[1] * parts[2]), i / parts[2] % parts[1], i % parts[2]};
        double x[3];
        for (int a = 0; a < 3; a++)
            x[a] = g->origin[a] + g->step[a] * (at[a] + (part[a] + 0.5) / parts[a]);
        s[i] = 1 / velocity_at(e->velocity, x, NULL);
        sum += s[i] / all;
        least = fmin(least, s[i]);
    }
    /* A wave that grazes the fastest part has that part's slowness along it, and across the cell
     * what is left of the others'. */
    for (int i = 0; i < all; i++)
        steep += sqrt(fmax(s[i] * s[i] - least * least, 0)) / all;
    struct cell c = {.slowness = sum};
    const double m = sqrt(share * fmax((sum * sum - steep * steep) / (least * least) - 1, 0));
    find_normal(s, parts, g->step, c.m);
    for (int a = 0; a < 3; a++)
        c.m[a] *= m;
    return c;
}

static struct cell cell_at(const struct eikonal *e, const int at[3], const float *slowness)
{
    const struct velocity *v = e->velocity;
    int parts[3] = {1, 1, COLUMN};
    for (int a = 0; a < 3 && v->kind != VELOCITY_LAYERS; a++)
        parts[a] = v->kind == VELOCITY_CUBE
                       ? (int)fmin(fmax(round(e->grid.step[a] / v->grid.step[a]), 2), PARTS)
                       : 2;
    struct cell c = {.slowness = 0};
    double low = INFINITY, high = 0;
    for (int i = 0; i < 8; i++) {
        const double s = (double)
            slowness[grid_index(&e->grid, at[0] + (i & 1), at[1] + (i >> 1 & 1), at[2] + (i >> 2))];
        low = fmin(low, s);
        high = fmax(high, s);
        c.slowness += s / 8;
    }
    if (high - low < differs * low)
        return c;
    return closer(e, at, parts);
}

/* Slowness at the nodes of a column of the box. */
static enum ek_status sample_column(struct eikonal *e, int i, int j, float *slowness)
{
    const struct grid *g = &e->grid;
    for (int k = 0; k < g->n[2]; k++) {
        const double x[3] = {grid_coordinate(g, 0, i), grid_coordinate(g, 1, j),
                             grid_coordinate(g, 2, k)};
        const double speed = velocity_at(e->velocity, x, NULL);
        if (!(speed > 0))
            FAIL(EK_USAGE, "velocity %s is %g m/s at (%g, %g, %g) m; waves need it positive",
                 e->velocity->text, speed, x[0], x[1], x[2]);
        e->least = fmin(e->least, 1 / speed);
        slowness[grid_index(g, i, j, k)] = (float)(1 / speed);
    }
    return EK_OK;
}

/* The cells of a column; the last node along an axis begins none. */
static enum ek_status fill_column(struct eikonal *e, int i, int j, float *slowness)
{
    const struct grid *g = &e->grid;
    const int last = e->n[2] - 2;
    int at[3] = {i, j, 0};
    for (; i < g->n[0] - 1 && j < g->n[1] - 1 && at[2] < g->n[2] - 1; at[2]++) {
        const struct cell c = cell_at(e, at, slowness);
        for (int copy = 0; copy < COPIES; copy++) {
            const size_t place = eikonal_place_of(e, at, copy, last);
            e->cell[copy][place] = (float)c.slowness;
            for (int a = 0; a < 3 && e->layer[0][0]; a++)
                e->layer[copy][a][place] = (float)c.m[e->axis[a]];
        }
    }
    return EK_OK;
}

/* Large models take minutes, so a run that is to stop does not wait for them. */
static enum ek_status each_column(struct eikonal *e, float *slowness,
                                  enum ek_status (*column)(struct eikonal *e, int i, int j,
                                                           float *slowness))
{
    for (int i = 0; i < e->grid.n[0]; i++)
        for (int j = 0; j < e->grid.n[1]; j++) {
            if (stop_heard())
                return EK_STOPPED;
            TRY(column(e, i, j, slowness));
        }
    return EK_OK;
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

/* The box in the tables' steps, at least two nodes wide along each axis: waves need a cell. */
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

/* Smooth models have no layers. */
static void open_cells(struct eikonal *e)
{
    const bool layered = e->velocity->kind == VELOCITY_LAYERS || e->velocity->kind == VELOCITY_CUBE;
    for (int c = 0; c < COPIES; c++) {
        e->cell[c] = eikonal_array(e, &e->arena, wall);
        for (int a = 0; a < 3 && layered; a++)
            e->layer[c][a] = eikonal_array(e, &e->arena, 0);
    }
    e->speed = ARENA_NEW(&e->arena, grid_nodes(&e->table), float);
}

static enum ek_status fill(struct eikonal *e)
{
    const size_t nodes = grid_nodes(&e->grid);
    OWNED_MEMORY NEW(float, slowness, nodes, "out of memory for %zu nodes of an eikonal solver",
                     nodes);
    TRY(lay_out(e));
    open_cells(e);
    TRY(arena_check(&e->arena, "an eikonal solver's cells"));
    e->least = INFINITY;
    TRY(each_column(e, slowness, sample_column));
    TRY(each_column(e, slowness, fill_column));
    keep_speeds(e, slowness);
    return EK_OK;
}

enum ek_status eikonal_open(const struct velocity *v, const struct grid *grid, const double low[3],
                            const double high[3], struct eikonal **out)
{
    NEW(struct eikonal, e, 1, "out of memory for an eikonal solver");
    e->velocity = v;
    e->table = *grid;
    set_box(e, low, high);
    order_axes(e);
    const enum ek_status st = fill(e);
    return HAND_OUT(st, e, out, eikonal_close);
}

ARENA_CLOSE(eikonal_close, struct eikonal)
