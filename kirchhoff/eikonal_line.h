/* kirchhoff/eikonal_line.h – the innermost loop of eikonal.h: a diagonal of nodes, which do not
 * depend on one another in a sweep. */
#pragma once

#include "src/base.h"

/* Bit 0, 1, 2 of a corner: one node upwind along x, y, z; of a cell: downwind along that axis. */
enum { EIKONAL_CORNERS = 8, EIKONAL_VECTOR = 16 };

struct eikonal_line {
    float *time, *mean;              /* of the line: T, s; Q / T, m^2/s^2 */
    ptrdiff_t node[EIKONAL_CORNERS]; /* positions of the upwind nodes relative to the line's */
    const float *cell[EIKONAL_CORNERS];
    const float *layer[3];         /* of cell 0 (struct layers); NULL: none */
    float sign[3];                 /* of the layer's components as seen in this sweep */
    float step[3], away[3], along; /* m; from the source to the first upwind cell's middle; 1: from
                                      node to node one up along y and one down along z */
    float ball;  /* m; within it differences are not corrected for a spherical front */
    float least; /* least change that counts, s */
    size_t n;    /* nodes; arrays are accessed up to a multiple of EIKONAL_VECTOR */
};

/* Whether a time decreased by more than `least`. */
bool eikonal_line(const struct eikonal_line *l);
