/* npb_mz/exact.h – the exact solution and the initial state of the multi-zone problems. */
#ifndef NPB_MZ_EXACT_H
#define NPB_MZ_EXACT_H

#include "npb_mz/mz.h"

/* Fills at, part and end of axis d (0, 1, 2); h, n and the room are there. */
void exact_axis(struct mz_axis *axis, int d);

/* Exact solution at point (i,j,k) of any zone: zones share spacing and origin. */
void exact_point(const struct mz *mz, int i, int j, int k, double *u);

/* Exact solution at all points of `zone`, padding included, to u[MZ_VARS][volume]. */
void exact_fill(const struct mz *mz, const struct mz_zone *zone, double *u);

/* Initial state of `zone`, padding included: transfinite interpolation inside, exact values on the
 * faces with the normal coordinate 0 or 1 there. */
void exact_initial(const struct mz *mz, const struct mz_zone *zone, double *u);

#endif
