/* npb_mz/kernels/line.h – where the nodes of a line lie.
 *
 * On devices w and derived variables lie in tiles of ZONE_TILE points along x (zone.h), so the
 * nodes of an x line take a longer step after every tile: `tile` from one tile to the next, `step`
 * within. Along y and z, in u, and on the host all steps are the same. */
#ifndef NPB_MZ_KERNELS_LINE_H
#define NPB_MZ_KERNELS_LINE_H

#include "npb_mz/kernels/row.h"

/* Members of a view of a line, and node s of it, in doubles. */
#ifdef KERNEL_LANES
#define LINE_STEPS    int step
#define LINE_AT(v, s) ((s) * (v).step)
#else
#define LINE_STEPS    int step, tile
#define LINE_AT(v, s) ((s) / ZONE_TILE * (v).tile + (s) % ZONE_TILE * (v).step)
#endif

#endif
