/* kirchhoff/eikonal_internal.h – the medium of eikonal.h and the layout of its nodes and cells.
 *
 * Nodes (i, j, k), i along the grid's shortest axis, are stored plane by plane, and within a plane
 * by diagonals d = j + k: the nodes of a diagonal depend only on earlier diagonals and planes. A
 * second copy with k reversed serves the sweeps in which only one of j, k grows. */
#pragma once

#include "kirchhoff/eikonal.h"

enum { COPIES = 2, GAP = EIKONAL_VECTOR, EDGE = 2 }; /* EDGE: empty diagonals on either side */

struct eikonal {
    const struct velocity *velocity;
    struct grid grid, table; /* of the box; of the tables, which lie inside it */
    int first[3];            /* the tables' first node in the box */
    int axis[3], n[3];       /* of i, j, k: axes of the grid; nodes along them */
    ptrdiff_t *diagonal;     /* [-EDGE .. n[1] + n[2] - 1 + EDGE - 1] position of j = 0 */
    size_t plane;            /* positions from plane to plane */
    float *cell[COPIES];     /* mean slowness of the cell that begins at a node, s/m */
    /* Layering of the same cell along i, j, k (eikonal_line.h); NULL: no cell has any. */
    float *layer[COPIES][3];
    float *speed; /* [tables' nodes] m/s */
    double least; /* slowness, s/m */
    struct arena arena;
};

static inline int eikonal_diagonals(const struct eikonal *e)
{
    return e->n[1] + e->n[2] - 1;
}

static inline size_t eikonal_place(const struct eikonal *e, int i, int j, int k)
{
    return (size_t)((ptrdiff_t)(e->plane * (size_t)(i + 1)) + e->diagonal[j + k] + j);
}

/* Position of a grid node, or of a cell by its first node; `last`: the last one along k. */
static inline size_t eikonal_place_of(const struct eikonal *e, const int at[3], int copy, int last)
{
    const int k = at[e->axis[2]];
    return eikonal_place(e, at[e->axis[0]], at[e->axis[1]], copy ? last - k : k);
}

static inline size_t eikonal_node(const struct eikonal *e, const int at[3], int copy)
{
    return eikonal_place_of(e, at, copy, e->n[2] - 1);
}

/* The diagonal's first j; *n: how many nodes it has. */
static inline int eikonal_diagonal(const struct eikonal *e, int d, int *n)
{
    const int first = d < e->n[2] ? 0 : d - e->n[2] + 1;
    const int last = d < e->n[1] ? d : e->n[1] - 1;
    *n = last - first + 1;
    return first;
}

/* An array over the box, filled with `value`; NULL: no memory, as the arena reports. */
float *eikonal_array(const struct eikonal *e, struct arena *arena, float value);
