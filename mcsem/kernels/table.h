/* mcsem/kernels/table.h – positions and interpolation weights in a table of shared mode. */
#ifndef MCSEM_KERNELS_TABLE_H
#define MCSEM_KERNELS_TABLE_H
#include "mcsem/kernels/table_plan.h"

/* Lagrange weights for position t among nodes 0 .. TABLE_STENCIL-1: the products of the distances
 * from all nodes before and behind, over those of the nodes themselves. */
FN void table_along(double t, GLOBAL double *weight)
{
    double before = 1.0, behind = 1.0, scale = 1.0;
    for (int i = 0; i < TABLE_STENCIL; i++) {
        weight[i] = before;
        before *= t - i;
    }
    for (int i = 1; i < TABLE_STENCIL; i++)
        scale /= i;
    for (int i = TABLE_STENCIL - 1; i >= 0; i--) {
        weight[i] *= behind * scale;
        behind *= i - t;
        scale *= (double)i / (TABLE_STENCIL - i);
    }
}

/* Lagrange weight of depth i of n for depth z. */
FN double table_across(GLOBAL const double *depth, int n, int i, double z)
{
    double weight = 1.0;
    for (int j = 0; j < n; j++)
        weight *= j == i ? 1.0 : (z - depth[j]) / (depth[i] - depth[j]);
    return weight;
}

/* The first node of the stencil around a position. */
FN int table_begin(double position)
{
    return (int)position - (TABLE_STENCIL / 2 - 1);
}

#endif
