/* npb_mz/kernels/line.h – where the nodes of a line lie.
 *
 * On devices w and derived variables are stored in tiles of ZONE_TILE points along x (zone.h).
 * Consecutive nodes of an x line are `step` apart within a tile; tiles are `tile` apart. Along y
 * and z, in u, and on the host all steps are equal. */
#ifndef NPB_MZ_KERNELS_LINE_H
#define NPB_MZ_KERNELS_LINE_H

#include "npb_mz/kernels/row.h"

/* Node s, component m of a field along a line is at[m*field + LINE_AT(v, s)]. */
#ifdef KERNEL_LANES
struct line_view {
    GLOBAL double *at;
    int field, step;
};
#define LINE_AT(v, s) ((s) * (v).step)
#else
struct line_view {
    GLOBAL double *at;
    int field, step, tile;
};
#define LINE_AT(v, s) ((s) / ZONE_TILE * (v).tile + (s) % ZONE_TILE * (v).step)

FN struct line_view line_view(GLOBAL double *at, int field, int step, int tile)
{
    struct line_view v;
    v.at = at;
    v.field = field;
    v.step = step;
    v.tile = tile;
    return v;
}
#endif

#endif
