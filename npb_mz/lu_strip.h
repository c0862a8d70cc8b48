/* npb_mz/lu_strip.h – LU's sweeps over one strip: LANES rows of a plane, kernels/lu.h in the lanes.
 *
 * Lane l works on row j0 + l and is l points behind lane 0: in step c it is at i = c - l, so that
 * what it needs of the row before was computed one step earlier by the lane before. Every quantity
 * of a strip is kept in the order of the steps, five vectors a step. */
#ifndef NPB_MZ_LU_STRIP_H
#define NPB_MZ_LU_STRIP_H

#include "src/lanes.h"
#include "npb_mz/mz.h"

enum {
    LU_STRIP_STEP = MZ_VARS * LANES, /* doubles of one vector of five a step */
    LU_STRIP_MARGIN = LANES          /* steps before the first and after the last that are read */
};

/* Where a strip reads and writes; all begin at step 0, with a margin before it. */
struct lu_strip {
    double *w;               /* result of the lower sweep, in the nodes' own frames */
    const double *beside_in; /* shares of the strip before in this one's equations */
    double *beside, *behind; /* shares in the next strip's, in the next plane's (in and out) */
    int nx, rows, j0;        /* interior points of a row, rows of the zone among the LANES, first */
};

/* Doubles of a row of corrections: lu_strip_upper() takes [MZ_VARS][LANES] of them. */
static inline long lu_strip_pitch(int nx)
{
    return lanes_ceil(nx - 2 + LANES - 1) + 2 * LU_STRIP_MARGIN;
}

/* Lower sweep: residual w[MZ_VARS][size] and derived variables prim[…][z->plane] of the plane to
 * s->w. */
void lu_strip_lower(const struct mz *mz, const struct mz_zone *z, const struct lu_strip *s,
                    const double *w, long size, const double *prim);

/* Upper sweep and update of u, which begins at the plane. */
void lu_strip_upper(const struct mz *mz, const struct mz_zone *z, const struct lu_strip *s,
                    double *u, double *rows);

#endif
