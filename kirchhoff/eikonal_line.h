/* kirchhoff/eikonal_line.h – the innermost loop of eikonal.h: nodes that do not depend on one
 * another in a sweep, side by side. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Bit 0, 1, 2: one node upwind along x, y, z. Of cells: on the far side along that axis. */
enum { EIKONAL_CORNERS = 8, EIKONAL_VECTOR = 16 };

struct eikonal_line {
    float *time, *mean;              /* of the line: T s, Q / T m^2/s^2 */
    ptrdiff_t node[EIKONAL_CORNERS]; /* where the nodes upwind stand, against the line */
    const float *cell[EIKONAL_CORNERS];
    const float *layer[3];         /* of cell 0, NULL: it has none */
    float sign[3];                 /* of its components as seen in this sweep */
    float step[3], away[3], along; /* m; from the source to the first upwind cell's middle; 1: from
                                      node to node one up along y and one down along z */
    float ball;                    /* m; within it no node is computed as if by differences */
    float least;                   /* change that counts, s */
    size_t n; /* nodes; so many more as make a multiple of EIKONAL_VECTOR are looked at */
};

/* Whether a time became less. */
bool eikonal_line(const struct eikonal_line *l);
