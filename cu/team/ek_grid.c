/* cu/team/ek_grid.c – zones of a rectangle of cells, on the host and on devices. */
#include "cu/team/ek_grid_internal.h"
#include "src/base.h"

#include <limits.h>

enum { LEFT, RIGHT, UP, DOWN, SIDES };

struct zone {
    int at[2], n[2];     /* first cell, cells */
    size_t field;        /* doubles of a field with its border */
    double *host;        /* [2 * field] */
    double *edge[SIDES]; /* its outermost cells, for the neighbours */
    int beside[SIDES];   /* the zone there; -1: none */
};

struct ek_grid {
    struct ek_grid_shape shape;
    size_t n, doubles; /* number of zones; size of all their fields */
    int step;
    struct arena arena, run; /* memory of the grid; of one run */
    struct zone *zone;       /* [n] */
    double *host, *saved;    /* [doubles] */
    const struct cu_set *set;
    struct backend_mem **device; /* [memory nodes][n], NULL: not allocated there */
    const int *home;             /* [n] */
};

/* ---- shape ----------------------------------------------------------------------------------- */

static int first_cell(const struct ek_grid *g, int axis, int zone)
{
    return (int)((long)g->shape.cells[axis] * zone / g->shape.zones[axis]);
}

static int neighbour(const struct ek_grid *g, int x, int y, int side)
{
    int at[2] = {x, y};
    const int axis = side / 2, n = g->shape.zones[axis];
    at[axis] += side % 2 ? 1 : -1;
    if (g->shape.periodic)
        at[axis] = (at[axis] + n) % n;
    return at[axis] < 0 || at[axis] >= n ? -1 : at[0] + g->shape.zones[0] * at[1];
}

static size_t edge_length(const struct zone *z, int side)
{
    return (size_t)z->n[1 - side / 2];
}

static void shape_zone(struct ek_grid *g, int x, int y)
{
    struct zone *z = &g->zone[x + g->shape.zones[0] * y];
    const int zone[2] = {x, y};
    for (int axis = 0; axis < 2; axis++) {
        z->at[axis] = first_cell(g, axis, zone[axis]);
        z->n[axis] = first_cell(g, axis, zone[axis] + 1) - z->at[axis];
    }
    z->field = (size_t)(z->n[0] + 2) * (size_t)(z->n[1] + 2);
    g->doubles += 2 * z->field;
    for (int s = 0; s < SIDES; s++) {
        z->beside[s] = neighbour(g, x, y, s);
        z->edge[s] = ARENA_NEW(&g->arena, edge_length(z, s), double);
    }
}

/* Numbers of zones, and offsets in the two fields of one, are ints. */
static bool is_countable(const struct ek_grid_shape *s)
{
    double zones = 1, doubles = 2;
    for (int a = 0; a < 2; a++) {
        zones *= s->zones[a];
        doubles *= (s->cells[a] - 1) / s->zones[a] + 3;
    }
    return zones <= INT_MAX && doubles <= INT_MAX;
}

enum ek_status ek_grid_new(const struct ek_grid_shape *shape, struct ek_grid **out)
{
    for (int a = 0; a < 2; a++)
        if (shape->zones[a] < 1 || shape->cells[a] < shape->zones[a] || shape->cells[a] > 1 << 24)
            FAIL(EK_USAGE, "grid of %d x %d cells: %d x %d zones want at least one cell each",
                 shape->cells[0], shape->cells[1], shape->zones[0], shape->zones[1]);
    if (!is_countable(shape))
        FAIL(EK_USAGE,
             "grid of %d x %d cells: zones may have 2^30 cells; take other numbers than "
             "%d x %d of them",
             shape->cells[0], shape->cells[1], shape->zones[0], shape->zones[1]);
    NEW(struct ek_grid, g, 1, "grid: out of memory");
    g->shape = *shape;
    g->n = (size_t)shape->zones[0] * (size_t)shape->zones[1];
    g->zone = ARENA_NEW(&g->arena, g->n, struct zone);
    for (int y = 0; g->zone && y < shape->zones[1]; y++)
        for (int x = 0; x < shape->zones[0]; x++)
            shape_zone(g, x, y);
    g->host = ARENA_NEW(&g->arena, g->doubles, double);
    g->saved = ARENA_NEW(&g->arena, g->doubles, double);
    TRY_OR(arena_check(&g->arena, "a grid of %zu zones", g->n), ek_grid_free(g));
    double *at = g->host;
    for (size_t i = 0; i < g->n; at += 2 * g->zone[i++].field)
        g->zone[i].host = at;
    *out = g;
    return EK_OK;
}

ARENA_CLOSE(ek_grid_free, struct ek_grid)

size_t ek_grid_zones(const struct ek_grid *g)
{
    return g->n;
}

size_t ek_grid_bytes(const struct ek_grid *g)
{
    return g->doubles * sizeof(double);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static size_t cell(const struct zone *z, int x, int y)
{
    return (size_t)(y + 1) * (size_t)(z->n[0] + 2) + (size_t)(x + 1);
}

void ek_grid_set(struct ek_grid *g, double (*value)(void *context, int x, int y), void *context)
{
    for (struct zone *z = g->zone; z < g->zone + g->n; z++)
        for (int y = -1; y <= z->n[1]; y++)
            for (int x = -1; x <= z->n[0]; x++) {
                double *at = z->host + cell(z, x, y);
                at[0] = at[z->field] = value(context, z->at[0] + x, z->at[1] + y);
            }
}

double ek_grid_at(const struct ek_grid *g, int x, int y)
{
    const struct zone *z = g->zone;
    while (x < z->at[0] || x >= z->at[0] + z->n[0] || y < z->at[1] || y >= z->at[1] + z->n[1])
        z++;
    return z->host[(g->step % 2 ? z->field : 0) + cell(z, x - z->at[0], y - z->at[1])];
}

struct ek_zone ek_zone(const struct ek_grid *g, const struct cu *cu, size_t zone)
{
    const struct zone *z = &g->zone[zone];
    const int first = (int)cell(z, 0, 0), field = (int)z->field;
    return (struct ek_zone){.x = z->at[0],
                            .y = z->at[1],
                            .nx = z->n[0],
                            .ny = z->n[1],
                            .row = z->n[0] + 2,
                            .now = first + (g->step % 2 ? field : 0),
                            .next = first + (g->step % 2 ? 0 : field),
                            .host = cu->memory == CU_HOST_MEMORY ? z->host : NULL,
                            .buffer = backend_arg_mem(g->device[(size_t)cu->memory * g->n + zone])};
}

void ek_grid_save(struct ek_grid *g)
{
    memcpy(g->saved, g->host, ek_grid_bytes(g));
}

void ek_grid_restore(struct ek_grid *g)
{
    memcpy(g->host, g->saved, ek_grid_bytes(g));
    g->step = 0;
}

void ek_grid_set_step(struct ek_grid *g, int step)
{
    g->step = step;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

enum ek_status ek_grid_open(struct ek_grid *g, const struct cu_set *set, struct sched_job *job)
{
    size_t *first = ARENA_NEW(&g->run, g->n + 1, size_t);
    size_t *beside = ARENA_NEW(&g->run, SIDES * g->n, size_t);
    double *faces = ARENA_NEW(&g->run, SIDES * g->n, double);
    double *cost = ARENA_NEW(&g->run, g->n, double), *bytes = ARENA_NEW(&g->run, g->n, double);
    g->device = ARENA_NEW(&g->run, (size_t)set->nmemories * g->n, struct backend_mem *);
    g->set = set;
    TRY(arena_check(&g->run, "%zu zones", g->n));
    for (size_t i = 0, k = 0; i < g->n; i++) {
        const struct zone *z = &g->zone[i];
        cost[i] = (double)z->n[0] * z->n[1];
        bytes[i] = 2. * (double)z->field * sizeof(double);
        for (int s = 0; s < SIDES; s++)
            if (z->beside[s] >= 0 && z->beside[s] != (int)i) {
                beside[k] = (size_t)z->beside[s];
                faces[k++] = (double)(edge_length(z, s) * sizeof(double));
            }
        first[i + 1] = k;
    }
    *job = (struct sched_job){.n = g->n,
                              .grain = 1,
                              .cost = job->cost ? job->cost : cost,
                              .bytes = bytes,
                              .first = first,
                              .neighbour = beside,
                              .face_bytes = faces};
    return EK_OK;
}

void ek_grid_close(struct ek_grid *g)
{
    arena_free(&g->run);
}

void ek_grid_close_device(struct ek_grid *g, const struct cu *cu)
{
    for (size_t i = 0; i < g->n; i++)
        backend_free(cu->device, g->device[(size_t)cu->memory * g->n + i]);
}

void ek_grid_set_placement(struct ek_grid *g, const int *home)
{
    g->home = home;
}

static struct backend *device_of(const struct ek_grid *g, int memory)
{
    return g->set->cu[g->set->layout.ncpu + memory - 1].device;
}

enum ek_status ek_grid_move(struct ek_grid *g, size_t zone, int from, int to, size_t *bytes)
{
    const struct zone *z = &g->zone[zone];
    struct backend_mem **at = &g->device[(size_t)to * g->n + zone];
    struct backend_mem *was = g->device[(size_t)from * g->n + zone];
    const struct backend_rect all = backend_linear(0, 0, 2 * z->field * sizeof(double));
    if (to != CU_HOST_MEMORY && !*at)
        TRY(backend_alloc(device_of(g, to), all.width, at));
    *bytes += all.width;
    if (from != CU_HOST_MEMORY && to != CU_HOST_MEMORY)
        return backend_copy(device_of(g, to), *at, device_of(g, from), was, &all);
    struct backend *d = device_of(g, from + to);
    TRY(from == CU_HOST_MEMORY ? backend_write(d, BACKEND_COPY, *at, z->host, &all)
                               : backend_read(d, BACKEND_COPY, z->host, was, &all));
    return backend_wait(d, BACKEND_COPY);
}

/* ---- exchange -------------------------------------------------------------------------------- */

/* The copy of a side's outermost cells to an edge, or with `border` from an edge to the border
 * cells beyond them, in the field that the coming step reads. */
static struct backend_rect side_of(const struct ek_grid *g, const struct zone *z, int side,
                                   bool border)
{
    static const size_t size = sizeof(double);
    const int axis = side / 2, last = z->n[axis] - 1;
    int at[2] = {0, 0};
    at[axis] = side % 2 ? last + border : -(int)border;
    const size_t offset = ((g->step % 2 ? z->field : 0) + cell(z, at[0], at[1])) * size;
    const size_t row = (size_t)(z->n[0] + 2) * size;
    const bool column = axis == 0;
    struct backend_rect box = {.width = column ? size : edge_length(z, side) * size,
                               .rows = column ? edge_length(z, side) : 1,
                               .slices = 1};
    if (border) {
        box.dst_offset = offset;
        box.dst_row = row;
        box.src_row = size;
    } else {
        box.src_offset = offset;
        box.src_row = row;
        box.dst_row = size;
    }
    return box;
}

/* Copies one side: its outermost cells to its edge or, with `border`, the neighbour's opposite edge
 * to the border. */
static enum ek_status do_side(struct ek_grid *g, const struct cu *cu, size_t zone, int side,
                              bool border, size_t *bytes)
{
    const struct zone *z = &g->zone[zone];
    const struct backend_rect box = side_of(g, z, side, border);
    if (z->beside[side] < 0)
        return EK_OK;
    double *edge = border ? g->zone[z->beside[side]].edge[side ^ 1] : z->edge[side];
    struct backend_mem *mem = g->device[(size_t)cu->memory * g->n + zone];
    if (border && g->home[zone] != g->home[z->beside[side]])
        *bytes += edge_length(z, side) * sizeof(double);
    if (cu->memory != CU_HOST_MEMORY)
        return border ? backend_write(cu->device, BACKEND_COMPUTE, mem, edge, &box)
                      : backend_read(cu->device, BACKEND_COMPUTE, edge, mem, &box);
    backend_move(border ? z->host : edge, border ? edge : z->host, &box);
    return EK_OK;
}

enum ek_status ek_grid_exchange(struct ek_grid *g, const struct cu *cu, int phase, int part,
                                int parts, size_t *bytes)
{
    const int mine[2] = {CU_HOST_MEMORY, cu->memory};
    for (int m = cu->memory == CU_HOST_MEMORY || !parts; m < 2; m++) {
        const struct cu host = {.memory = CU_HOST_MEMORY}, *who = mine[m] ? cu : &host;
        for (size_t i = 0; i < g->n; i++)
            for (int s = 0; s < SIDES; s++)
                if (g->home[i] == mine[m] &&
                    (mine[m] || (parts && i % (size_t)parts == (size_t)part)))
                    TRY(do_side(g, who, i, s, phase == 1, bytes));
    }
    return cu->device ? backend_wait(cu->device, BACKEND_COMPUTE) : EK_OK;
}
