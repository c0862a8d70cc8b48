/* npb_mz/rhs.h – the right-hand side dt (R(u) + g) of one zone on the host, plane by plane. */
#ifndef NPB_MZ_RHS_H
#define NPB_MZ_RHS_H

#include "npb_mz/mz.h"

/* One thread's sweep over ascending planes: derived variables of three planes at a time. */
struct rhs_sweep {
    const struct mz *mz;
    const struct mz_zone *zone;
    const double *u, *forcing; /* the zone's part */
    double *w;                 /* result: component m of plane k from w + m*size + k*step on */
    long size, step;
    int j0, j1;      /* rows of the result: j0 .. j1-1 */
    double *prim;    /* [3][MZ_PRIMS][plane], plane k in slot k % 3 */
    double *weights; /* [5][pitch + a vector] stencil along x */
};

/* Doubles that a sweep takes from a thread's scratch. */
size_t rhs_scratch(const struct mz *mz);

/* Starts a sweep over the zone's planes k0, k0+1, … (1 <= k0 <= nz-2). */
void rhs_begin(struct rhs_sweep *sweep, const struct mz *mz, int zone, const double *u,
               const double *forcing, double *w, double *scratch, int k0);

/* The same for rows j0 .. j1-1 only, all planes into the same w[MZ_VARS][size]; derived variables
 * are those of rows j0-1 .. j1. */
void rhs_begin_rows(struct rhs_sweep *sweep, const struct mz *mz, int zone, const double *u,
                    const double *forcing, double *w, long size, double *scratch, int j0, int j1);

/* The next plane: the result on its interior points; points outside hold no meaning afterwards.
 * Returns the plane's derived variables [MZ_PRIMS][plane], valid until the next call. */
const double *rhs_plane(struct rhs_sweep *sweep, int k);

/* Derived variables of `n` points (a multiple of the vector length, u and prim aligned or not):
 * u[m*field + …] to prim[m*size + …]. */
void rhs_derive_row(const double *u, long field, double *prim, long size, int n);

/* The whole zone into work->w by the unit's team. */
void rhs_zone_all(const struct mz *mz, struct mz_work *work, int zone, const double *u,
                  const double *forcing);

#endif
