/* npb_mz/lu_strip.h – LU's sweeps over strips of LANES rows of a plane, kernels/lu.h in the lanes.
 *
 * Lane l works on row j0 + l and is l points behind lane 0: in step c it is at i = c - l, so that
 * what it needs of the row before was computed one step earlier by the lane before. Every quantity
 * of a strip is kept in the order of the steps, five vectors a step.
 *
 * A step has to wait for the one before it; so two strips are worked on in turns, the second one
 * LANES steps behind the first, whose shares it needs. */
#ifndef NPB_MZ_LU_STRIP_H
#define NPB_MZ_LU_STRIP_H

#include "npb_mz/mz.h"
#include "src/lanes.h"

enum {
    LU_STRIPS = 2,                   /* strips in turns */
    LU_STRIP_STEP = MZ_VARS * LANES, /* doubles of one vector of five a step */
    LU_STRIP_MARGIN = LANES          /* steps before the first and after the last that are read */
};

/* Steps of a strip, whole blocks of LANES; nx interior points in a row. */
static inline int lu_strip_steps(int nx)
{
    return lanes_ceil(nx + LANES - 1);
}

/* Where a strip reads and writes. What is kept by steps begins at step 0, with a margin before it.
 */
struct lu_strip {
    double *w;               /* result of the lower sweep, in the nodes' own frames */
    const double *beside_in; /* shares of the strip before in this one's equations */
    double *beside, *behind; /* shares in the next strip's, in the next plane's (in and out) */
    int nx, rows;            /* interior points of a row, rows of the zone among the LANES */
    /* Rows beyond the zone repeat the last one. Lower sweep: records of the right-hand side and of
     * derived variables, the one with i = 1 first, behind one of zeros and any. Upper sweep: u from
     * i = 1 on. */
    const double *rhs[LANES], *prim[LANES];
    double *u[LANES];
    long field; /* from component to component of u */
};

/* Lower sweep over `count` (1 .. LU_STRIPS) strips, each beginning where the one before ends. */
void lu_strip_lower(const struct mz *mz, const struct lu_strip *s, int count);

/* Upper sweep and update of u; the strips in descending order. */
void lu_strip_upper(const struct mz *mz, const struct lu_strip *s, int count);

#endif
