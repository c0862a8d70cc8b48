/* kirchhoff/nodes.h – what an end of a trace (its source or receiver) adds at the nodes of an image
 * column, interpolated from the tables around it. */
#pragma once

#include "kirchhoff/grid.h"
#include "kirchhoff/traveltime_cache.h"

/* The image's nodes among the tables' nodes, along one axis. */
struct nodes_axis {
    int n;
    int *cell;   /* [n] preceding node of the table */
    float *part; /* [n] position between that and the next one, 0 … 1 */
    float *way;  /* [n] distance from the tables' first node, m */
};

struct nodes_plan {
    struct nodes_axis axis[3]; /* x and y of the image columns, z of the nodes */
    float step[3];             /* of the tables, m */
    /* The first node at or below the image's last depth; later ones repeat it. `beyond`: 1 / share
     * of the interval above it that the tables cover, or 1. */
    int end;
    float beyond;
    int stride[2]; /* from one column of the tables to the next along x, y; 0: there is only one */
    int depths, nodes, fine; /* depths of a table; nodes of a row, `fine` of them a depth apart */
    const float *par;        /* [PAR_COUNT] borrowed */
};

/* `nodes`: number in a row, a multiple of MIGRATE_BLOCK, as whole blocks are computed together; the
 * first `fine` are one depth apart. If the tables end with the image, between two nodes, the lower
 * node is extrapolated. EK_USAGE: the image exceeds the tables' grid (the message shows both);
 * EK_UNAVAILABLE: memory. Free with nodes_plan_close(). */
enum ek_status nodes_plan_open(const struct grid *image, const struct grid *tables, int nodes,
                               int fine, const float *par, struct nodes_plan *p);
void nodes_plan_close(struct nodes_plan *p);

/* Number of floats in a row, and in the scratch memory for computing one. */
size_t nodes_row(const struct nodes_plan *p);
size_t nodes_scratch(const struct nodes_plan *p);

/* Computes an end's row [NODE_FIELDS][nodes] for image column (i, j). The caller holds the tables
 * of the end's corners. Nodes that no ray reaches get weight 0 and time MIGRATE_NEVER. */
void nodes_fill(const struct nodes_plan *p, const struct traveltime_cache *t,
                const struct nodes_end *end, int i, int j, float *scratch, float *row);
