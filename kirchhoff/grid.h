/* kirchhoff/grid.h – a regular grid of nodes, for travel times, velocities and images.
 *
 * Metres, z down. Node (i,j,k) lies at origin + (i,j,k) * step and has index (i * n[1] + j) * n[2]
 * + k in arrays: columns along z are contiguous. */
#pragma once

#include "src/demand.h"

struct grid {
    int n[3];                  /* nodes along x, y, z; each at least 1 */
    double origin[3], step[3]; /* m */
};

/* Along z. */
static inline size_t grid_columns(const struct grid *g)
{
    return (size_t)g->n[0] * (size_t)g->n[1];
}

static inline size_t grid_nodes(const struct grid *g)
{
    return grid_columns(g) * (size_t)g->n[2];
}

static inline size_t grid_index(const struct grid *g, int i, int j, int k)
{
    return ((size_t)i * (size_t)g->n[1] + (size_t)j) * (size_t)g->n[2] + (size_t)k;
}

static inline double grid_coordinate(const struct grid *g, int axis, int i)
{
    return g->origin[axis] + i * g->step[axis];
}

static inline void grid_place(const struct grid *g, int i, int j, int k, double x[3])
{
    x[0] = grid_coordinate(g, 0, i);
    x[1] = grid_coordinate(g, 1, j);
    x[2] = grid_coordinate(g, 2, k);
}

/* Coordinate of the last node along an axis. */
static inline double grid_end(const struct grid *g, int axis)
{
    return grid_coordinate(g, axis, g->n[axis] - 1);
}

/* The largest and the smallest distance between nodes. The step of an axis with a single node means
 * nothing; if all axes have a single one, their steps count. */
double grid_step(const struct grid *g);
double grid_finest(const struct grid *g);

/* Reads "NXxNYxNZ:STEP" or "NXxNYxNZ:DXxDYxDZ", then, if the first node is not at 0,0,0, "@X,Y,Z";
 * lengths have an optional unit "m". `what` names the option. EK_USAGE: malformed, a step that
 * is not positive, more than 2^31 - 1 nodes. */
enum ek_status grid_parse(const char *what, const char *text, struct grid *g);

/* Writes that form to text [room]. */
void grid_text(const struct grid *g, char *text, size_t room);

/* {"n": [3], "origin": [3], "step": [3]}: new reference, NULL: no memory. When it is read, `origin`
 * may be missing and is then 0,0,0. EK_USAGE, also for more than 2^31 - 1 nodes; `path` is for
 * messages. */
json_t *grid_json(const struct grid *g);
enum ek_status grid_read(const char *path, const json_t *o, struct grid *g);

/* Reads member `name` of such an object: a list of n numbers that meet demand d. */
enum ek_status grid_list(const char *path, const json_t *o, const char *name, size_t n,
                         const struct demand *d, double *x);
extern const struct demand grid_counts, grid_steps, grid_places;
