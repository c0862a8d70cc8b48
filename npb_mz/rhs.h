/* npb_mz/rhs.h – the right-hand side dt (R(u) + g) of one zone on the host, row by row.
 *
 * A sweep moves a window of planes through a zone. In the window a row is a row of records: record
 * v holds the LANES points that begin at i = 1 + (v-1) LANES, one vector per quantity, so that all
 * a point needs lies at constant distances and in few streams, whatever the size of the zone. */
#ifndef NPB_MZ_RHS_H
#define NPB_MZ_RHS_H

#include "npb_mz/mz.h"
#include "src/lanes.h"

/* Doubles of a record: of u or a right-hand side; of derived variables, in the order of
 * kernels/rhs.h. */
enum { RHS_STATE = MZ_VARS * LANES, RHS_PRIM = MZ_PRIMS * LANES };

/* Records of a row of nx points, the first one with the point i = 0 in its last lane. */
static inline int rhs_records(int nx)
{
    return 1 + lanes_ceil(nx - 1) / LANES;
}

/* Records that hold interior points: the numbers 1 .. rhs_inner(nx). */
static inline int rhs_inner(int nx)
{
    return lanes_ceil(nx - 2) / LANES;
}

/* Where component m of point i lies in a row of records of u. */
static inline long rhs_index(int m, int i)
{
    const int from = i - 1 + LANES;
    return from / LANES * RHS_STATE + m * LANES + from % LANES;
}

/* What a point's neighbours are multiplied by, the same in all lanes. */
struct rhs_axis {
    lanes carry, curve, third, work; /* dt/(2h), dt c3c4/h^2, a third of it, a sixth */
    lanes before, after;             /* stencil's weights at s-1, s+1 */
};

struct rhs_terms {
    struct rhs_axis axis[3];
    lanes far;           /* weight at distance 2 */
    lanes centre, curve; /* weights at the point: of u but for the part of x, of curved variables */
};

/* One thread's sweep over ascending planes. The caller sets what comes before k. */
struct rhs_sweep {
    const struct mz *mz;
    const struct mz_zone *zone;
    const double *u, *forcing; /* the zone's part */
    int j0, j1;                /* rows of the result: j0 .. j1-1 */
    /* NULL, or called once for each plane and row of u in the window, which it may change:
     * component m at point i is row[rhs_index(m, i)]. */
    void (*lend)(const struct rhs_sweep *, int k, int j, double *row);
    double *lender;           /* whatever lend() wants */
    int k;                    /* plane */
    long state_row, prim_row; /* doubles of a row of records */
    double *state[5];         /* u of plane k at state[k % 5], rows of records */
    double *prim[3];          /* derived variables, likewise */
    double *nothing;          /* a row of zeros */
    double *weights;          /* [records][5] stencil along x */
    struct rhs_terms *terms;
};

/* Doubles that a sweep takes from a thread's scratch. */
size_t rhs_scratch(const struct mz *mz);

/* Starts a sweep over the planes k0, k0+1, … (1 <= k0 <= nz-2). */
void rhs_begin(struct rhs_sweep *sweep, double *scratch, int k0);

/* The next plane; then its rows in turn. */
void rhs_plane(struct rhs_sweep *sweep, int k);
/* Row j to rhs_inner(nx) records w, the first one with i = 1. Lanes outside the interior hold no
 * meaning. */
void rhs_row(struct rhs_sweep *sweep, int j, double *w);

/* Derived variables of row j of the sweep's plane, the record with i = 1 first. */
const double *rhs_prims(const struct rhs_sweep *sweep, int j);
/* Those of `records` records' points, u[m*field + …]. */
void rhs_derive_row(const double *u, long field, double *prim, int records);

/* The whole zone to work->w[MZ_VARS][volume] by the unit's team. */
void rhs_zone_all(const struct mz *mz, struct mz_work *work, int zone, const double *u,
                  const double *forcing);

#endif
