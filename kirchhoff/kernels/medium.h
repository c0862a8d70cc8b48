/* kirchhoff/kernels/medium.h – what rays go through and how far, for the kernels and for the host,
 * which sends both to devices as they are. */
#ifndef KIRCHHOFF_KERNELS_MEDIUM_H
#define KIRCHHOFF_KERNELS_MEDIUM_H

/* v0 + k.x, or a grid of v and grad v, [nodes][4] floats, interpolated linearly and constant beyond
 * the grid's faces. */
struct ray_medium {
    double v0, k[3];
    double origin[3], inverse[3], last[3]; /* grid: first node, 1 / step, nodes - 1 */
    int cube, stride[3]; /* 1: grid; strides in nodes, 0 along x or y if one node wide */
};

/* A stretch of a ray: `steps` steps of h s. */
struct ray_layer {
    double h;
    int steps;
};

#endif
