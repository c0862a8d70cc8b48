/* cu/team/ek_grid.h – a rectangle of cells, cut into zones that are divided among the units. The
 * grid knows each zone's neighbours, exchanges borders between steps, and moves zones between the
 * host and devices.
 *
 * A zone has two fields, each with a border one cell wide: a step reads `now` and writes `next`;
 * then they swap. Before each step the grid copies the neighbours' outermost cells into the
 * borders; at the rim of the rectangle the border keeps the values set by ek_grid_set(). Corners of
 * the border are not updated. */
#ifndef CU_EK_GRID_H
#define CU_EK_GRID_H

#include "backends/backend.h"
#include "cu/unit/cu.h"
#include "src/status.h"

#include <stdbool.h>
#include <stddef.h>

struct ek_grid_shape {
    int cells[2];  /* numbers in x and y */
    int zones[2];  /* likewise; at most as many as cells */
    bool periodic; /* opposite sides are neighbours */
};

struct ek_grid;

/* EK_USAGE: no zones, more zones than cells or more than 2^24 cells in a direction, or more than
 * 2^30 cells in a zone, its border included; EK_UNAVAILABLE: out of memory. free accepts NULL. */
enum ek_status ek_grid_new(const struct ek_grid_shape *, struct ek_grid **);
void ek_grid_free(struct ek_grid *);

/* Sets both fields to value(context, x, y), including the rim x = -1, cells[0] and y = -1,
 * cells[1]. For reset() of struct ek_tasks: all zones must be on the host. */
void ek_grid_set(struct ek_grid *, double (*value)(void *context, int x, int y), void *context);
/* The value of a cell after the last step. For right() of struct ek_tasks: all zones must be on the
 * host. */
double ek_grid_at(const struct ek_grid *, int x, int y);

/* A zone as seen by the unit that computes it in a step. */
struct ek_zone {
    int x, y, nx, ny;          /* first cell in the rectangle; numbers of cells */
    int row;                   /* distance from a cell to the next in y, doubles */
    int now, next;             /* offsets of the two fields' first cells, doubles */
    double *host;              /* start of the zone on the host; NULL on a device */
    struct backend_arg buffer; /* start of the zone on a device */
};
struct ek_zone ek_zone(const struct ek_grid *, const struct cu *, size_t zone);

#endif
