/* npb_mz/rhs.h – the right-hand side dt (R(u) + g) of one zone on the host, row by row.
 *
 * A sweep moves a window of planes through a zone. Its rows consist of records: record v holds the
 * LANES points that begin at i = 1 + (v-1) LANES, one vector per quantity. So all that a point
 * needs lies at constant distances and in few streams, whatever the size of the zone. After the
 * last use of a row, the row two planes further in z is loaded into its place. */
#pragma once

#include "npb_mz/mz.h"
#include "src/lanes.h"

#include "npb_mz/kernels/five.h"

/* Doubles of a record: STATE a right-hand side; FLOW v_x, v_y, v_z, internal and total energy per
 * mass, rho; NODE 1/rho. Everything else is recomputed from these, because a row waits for lines
 * from the second-level cache, not for arithmetic. */
enum { RHS_STATE = MZ_VARS * LANES, RHS_FLOW = 6 * LANES, RHS_NODE = LANES };

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

/* Doubles of a row of right-hand sides of a zone's interior points. */
static inline long rhs_stride(const struct mz_zone *z)
{
    return (long)rhs_inner(z->nx) * RHS_STATE;
}

/* Row j of plane k in work->w, where a step keeps right-hand sides as records. It begins a cache
 * line, so that no vector straddles two. */
static inline double *rhs_kept(const struct mz_work *work, const struct mz_zone *z, int k, int j)
{
    return work->w + 1 + ((long)k * z->ny + j) * rhs_stride(z);
}

/* Coefficients of one axis: dt/(2h) and 0.4 times it; dt c3c4/h^2, 0.96 times it and a sixth of it;
 * the stencil's weights at distance -2, -1, 1 and 2 (y and z only: those of x differ from point to
 * point). The same in all lanes. */
struct rhs_axis {
    lanes advect, pressure, visc, heat, work;
    lanes before2, before, after, after2;
};

struct rhs_terms {
    struct rhs_axis axis[3];
    /* weights of the point itself: of u (without the x stencil's part); of velocity and total
     * energy per mass; of internal energy; additional ones of v_d */
    lanes centre, visc, heat, own[3];
};

/* One thread's sweep over ascending planes. The caller sets the members before k. */
struct rhs_sweep {
    const struct mz *mz;
    const struct mz_zone *zone;
    const double *u, *forcing; /* the zone's part */
    int j0, j1;                /* rows of the result: j0 .. j1-1 */
    double *wall[MZ_SIDES];    /* boundary values, as in exchange.c; NULL: those of u */
    int k;                     /* the present plane */
    int records;               /* in a row */
    lanes_mask last;           /* the lane of the point i = nx-1 in the last record */
    double *flow[4], *node[3]; /* the window: plane k is at flow[k % 4], node[k % 3] */
    double *weights;           /* [records][5] vectors: stencil along x */
    struct rhs_terms *terms;
};

/* A sweep over all rows of a zone in its present state. */
static inline struct rhs_sweep rhs_sweep_of(const struct mz *mz, int zone)
{
    struct rhs_sweep s = {.mz = mz,
                          .zone = &mz->zone[zone],
                          .u = mz_zone_u(mz, zone),
                          .forcing = mz_zone_forcing(mz, zone),
                          .j0 = 1,
                          .j1 = mz->zone[zone].ny - 1};
    for (int side = 0; side < MZ_SIDES; side++)
        s.wall[side] = mz->walled[zone].wall[0][side];
    return s;
}

/* Starts a sweep over the planes k0, k0+1, … (1 <= k0 <= nz-2). */
void rhs_begin(struct rhs_sweep *sweep, double *scratch, int k0);

/* Moves on to plane k; then call rhs_row() for each of its rows, in ascending order. */
void rhs_plane(struct rhs_sweep *sweep, int k);
/* Computes row j: rhs_inner(nx) records at w, the first beginning at i = 1. Lanes outside the
 * interior are meaningless. */
void rhs_row(struct rhs_sweep *sweep, int j, double *w);

/* Transposes nodes of LANES x lines, `node` doubles apart from i = 0 on, back to `rows` (at most
 * LANES are done) rows of `inner` records at w, `row` doubles apart. */
void rhs_scatter(const double *from, long node, double *w, long row, int rows, int inner);

/* Row j of the present plane in the window, from the record of i = 1 on: FLOW records; NODE
 * records, which the caller may overwrite when all rows of the plane are computed. */
const double *rhs_flows(const struct rhs_sweep *sweep, int j);
const double *rhs_nodes(const struct rhs_sweep *sweep, int j);

/* 1/rho, velocity and internal energy per mass, as the line solvers take them: of LANES points of
 * a field u. */
FN struct five rhs_point_of(const double *u, long field)
{
    struct five p;
    p.r = 1.0 / LOAD(u, 0);
    p.x = LOAD(u, field) * p.r;
    p.y = LOAD(u, 2 * field) * p.r;
    p.z = LOAD(u, 3 * field) * p.r;
    p.e = LOAD(u, 4 * field) * p.r - 0.5 * (p.x * p.x + p.y * p.y + p.z * p.z);
    return p;
}

/* The same of a record of the window. */
FN struct five rhs_point_at(const double *flow, const double *node)
{
    return (struct five){LOAD(node, 0), LOAD(flow, 0), LOAD(flow, LANES), LOAD(flow, 2 * LANES),
                         LOAD(flow, 3 * LANES)};
}
