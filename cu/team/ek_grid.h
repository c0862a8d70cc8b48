/* cu/team/ek_grid.h – a rectangle of cells, cut into zones that units share: who is whose
 * neighbour, what crosses between two steps, and how a zone moves from the host to a device and
 * back.
 *
 * A zone has two fields of its cells with a border one cell wide: a step reads one, `now`, and
 * writes the other, `next`; then they change places. Before each step the borders hold what the
 * neighbours' outermost cells hold; at the rim of the rectangle what ek_grid_set() has put there.
 * Corners of the border are not kept up. */
#ifndef CU_EK_GRID_H
#define CU_EK_GRID_H

#include "backends/backend.h"
#include "cu/unit/cu.h"
#include "src/status.h"

#include <stdbool.h>
#include <stddef.h>

struct ek_grid_shape {
    int cells[2];  /* in x and y */
    int zones[2];  /* likewise; each zone has at least one cell */
    bool periodic; /* what leaves at one side comes in at the other */
};

struct ek_grid;

/* EK_USAGE: a shape without cells; EK_UNAVAILABLE: out of memory. free accepts NULL. */
enum ek_status ek_grid_new(const struct ek_grid_shape *, struct ek_grid **);
void ek_grid_free(struct ek_grid *);

/* Both fields of all cells, of (-1, y), (cells[0], y), (x, -1), (x, cells[1]) as well, on the host:
 * for the reset() of struct ek_tasks. */
void ek_grid_set(struct ek_grid *, double (*value)(void *context, int x, int y), void *context);
/* A cell after the last step; every zone is on the host, as in right() of struct ek_tasks. */
double ek_grid_at(const struct ek_grid *, int x, int y);

/* A zone as a unit sees it that computes it in a step. */
struct ek_zone {
    int x, y, nx, ny;          /* its first cell in the rectangle, its cells */
    int row;                   /* from a cell to the one below, in doubles */
    int now, next;             /* the first cells of the two fields, in doubles behind the start */
    double *host;              /* the start on the host; NULL on a device */
    struct backend_arg buffer; /* the start on a device */
};
struct ek_zone ek_zone(const struct ek_grid *, const struct cu *, size_t zone);

#endif
