/* kirchhoff/eikonal_internal.h – the medium of eikonal.h: where its nodes and cells stand.
 *
 * Nodes (i, j, k), i along the grid's shortest axis, stand plane by plane, and in a plane by
 * diagonals d = j + k: those of one depend on earlier diagonals and planes only. A second copy with
 * k turned round serves the sweeps in which only one of j, k grows. */
#pragma once

#include "kirchhoff/eikonal.h"
#include "src/arena.h"

enum { COPIES = 2, GAP = EIKONAL_VECTOR, EDGE = 2 }; /* EDGE: empty diagonals */

struct eikonal {
    const struct velocity *velocity;
    struct grid grid, table; /* of the box; of tables, which are part of it */
    int first[3];            /* the tables' first node in the box */
    int axis[3], n[3];       /* i, j, k: axes of the grid; nodes along them */
    ptrdiff_t *diagonal;     /* [-EDGE .. n[1] + n[2] - 1 + EDGE - 1] where j = 0 would stand */
    size_t plane;            /* from plane to plane */
    float *cell[COPIES];     /* mean slowness, of the cell that begins at a node */
    /* Of the same cell, along i, j, k: eikonal_line.h; NULL: none has it. */
    float *layer[COPIES][3];
    float *speed; /* [tables' nodes] */
    double least; /* slowness */
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

/* Of a grid's node, or of a cell by its first node: `last` is the last of them along k. */
static inline size_t eikonal_place_of(const struct eikonal *e, const int at[3], int copy, int last)
{
    const int k = at[e->axis[2]];
    return eikonal_place(e, at[e->axis[0]], at[e->axis[1]], copy ? last - k : k);
}

static inline size_t eikonal_node(const struct eikonal *e, const int at[3], int copy)
{
    return eikonal_place_of(e, at, copy, e->n[2] - 1);
}

/* The diagonal's first node and how many there are. */
static inline int eikonal_diagonal(const struct eikonal *e, int d, int *n)
{
    const int first = d < e->n[2] ? 0 : d - e->n[2] + 1;
    const int last = d < e->n[1] ? d : e->n[1] - 1;
    *n = last - first + 1;
    return first;
}

/* An array of the box, all of one value; NULL: no memory, the arena says so. */
float *eikonal_array(const struct eikonal *e, struct arena *arena, float value);
