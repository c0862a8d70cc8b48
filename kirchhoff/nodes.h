/* kirchhoff/nodes.h – what an end of a trace (its source or receiver) adds at the nodes of an image
 * column, from the tables around it. */
#pragma once

#include "kirchhoff/grid.h"
#include "kirchhoff/traveltime_cache.h"

/* Where the image lies among the nodes of the tables, along one axis. */
struct nodes_axis {
    int n;
    int *cell;   /* [n] the table's node before it */
    float *part; /* [n] of the way to the next one */
    float *way;  /* [n] from the tables' first node, m */
};

struct nodes_plan {
    struct nodes_axis axis[3]; /* x, y: image columns; z: nodes */
    float step[3];             /* of the tables, m */
    /* The node at the image's end or below it, which later ones repeat; and 1 / the share of a step
     * at which the tables end above it, 1: they do not. */
    int end;
    float beyond;
    int stride[2]; /* from a column of the tables to the next along x, y; 0: there is one */
    int depths, nodes, fine; /* of the tables' columns; of rows, the depths that have one each */
    const float *par;        /* [PAR_COUNT] borrowed */
};

/* A source or receiver. */
struct nodes_end {
    struct traveltime_corners corners;
    float scale, emergence, spacing[2]; /* as in kernels/migrate.h; m */
    float datum;                        /* how far below the tables' sources it lies, m … */
    float midway, square, turn;         /* … and what migrate_lower() asks for v there */
    int weight;
};

/* `nodes`: in a row, whole blocks (MIGRATE_BLOCK), as they are computed together; the first
 * `fine` stand at one depth after another. Where the tables
 * end with the image, between two nodes, the lower one is continued from what lies above it.
 * EK_USAGE: the image leaves the tables' grid (the line has both); EK_UNAVAILABLE: memory. Free
 * with nodes_plan_close(). */
enum ek_status nodes_plan_open(const struct grid *image, const struct grid *tables, int nodes,
                               int fine, const float *par, struct nodes_plan *p);
void nodes_plan_close(struct nodes_plan *p);

/* Floats of a row, and of the scratch for making one. */
size_t nodes_row(const struct nodes_plan *p);
size_t nodes_scratch(const struct nodes_plan *p);

/* The row of an end above image column (i, j): row [NODE_FIELDS][nodes]. The tables of its corners
 * are held. Nodes that nothing reaches have weight 0 and a time before the trace. */
void nodes_fill(const struct nodes_plan *p, const struct traveltime_cache *t,
                const struct nodes_end *end, int i, int j, float *scratch, float *row);
