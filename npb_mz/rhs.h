/* npb_mz/rhs.h – the right-hand side dt (R(u) + g) of one zone on the host, row by row.
 *
 * A sweep moves a window of planes through a zone. In the window a row is a row of records: record
 * v holds the LANES points that begin at i = 1 + (v-1) LANES, one vector per quantity, so that all
 * a point needs lies at constant distances and in few streams, whatever the size of the zone. When
 * a row has been used for the last time, the row that comes after in z takes its place while it is
 * still in the first-level cache. */
#pragma once

#include "npb_mz/mz.h"
#include "src/lanes.h"

#include "npb_mz/kernels/five.h"

/* Doubles of a record: of a right-hand side; of v_x, v_y, v_z, internal energy per mass, total
 * energy per mass and rho; of 1/rho. All else is a multiplication away (rho comes into the weight
 * of a neighbour), and fewer lines have to come from the second-level cache, which is what a row
 * waits for. */
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

/* Doubles of a row of records of a zone's interior points. */
static inline long rhs_stride(const struct mz_zone *z)
{
    return (long)rhs_inner(z->nx) * RHS_STATE;
}

/* Row j of plane k where a step keeps a zone's right-hand sides. They begin a line of cache there,
 * so that no vector lies across two. */
static inline double *rhs_kept(const struct mz_work *work, const struct mz_zone *z, int k, int j)
{
    return work->w + 1 + ((long)k * z->ny + j) * rhs_stride(z);
}

/* One axis: dt/(2h), 0.4 of it, which is of pressure; dt c3c4/h^2, 0.96 and a sixth of it;
 * stencil's weights at distance -2, -1, 1 and 2 (of y and z; those of x differ from point to
 * point). The same in all lanes. */
struct rhs_axis {
    lanes carry, press, curve, heat, work;
    lanes before2, before, after, after2;
};

struct rhs_terms {
    struct rhs_axis axis[3];
    /* weights at the point: of u but for the part of x, of velocity and energy per mass, of
     * internal energy, of v_d beside that */
    lanes centre, curve, heat, own[3];
};

/* One thread's sweep over ascending planes. The caller sets what comes before k. */
struct rhs_sweep {
    const struct mz *mz;
    const struct mz_zone *zone;
    const double *u, *forcing; /* the zone's part */
    int j0, j1;                /* rows of the result: j0 .. j1-1 */
    double *wall[MZ_SIDES];    /* boundary values, as in exchange.c; NULL: those of u */
    int k;                     /* plane */
    int records;               /* of a row */
    lanes_mask last;           /* of its last record the point i = nx-1 */
    double *flow[4], *node[3]; /* planes of rows of records: plane k at flow[k % 4] … */
    double *weights;           /* [records][5] stencil along x */
    struct rhs_terms *terms;
};

/* A sweep over all rows of a zone's present state. */
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

/* The next plane; then its rows in ascending order, each once. */
void rhs_plane(struct rhs_sweep *sweep, int k);
/* Row j to rhs_inner(nx) records w, the first one with i = 1. Lanes outside the interior hold no
 * meaning. */
void rhs_row(struct rhs_sweep *sweep, int j, double *w);

/* Nodes of LANES x lines, `node` doubles each, of which the first has i = 0, back to `rows` (at
 * most LANES) rows of `inner` records w, `row` doubles apart. */
void rhs_scatter(const double *from, long node, double *w, long row, int rows, int inner);

/* Row j of the sweep's plane in the window, the record with i = 1 first: velocities and what else
 * is in their record; nodes, which the caller may overwrite once the plane's rows are done with. */
const double *rhs_flows(const struct rhs_sweep *sweep, int j);
const double *rhs_nodes(const struct rhs_sweep *sweep, int j);

/* 1/rho, velocity and internal energy per mass, as the solvers' lines take them. */

/* Of LANES points of a field u. */
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

/* Of a record of the window. */
FN struct five rhs_point_at(const double *flow, const double *node)
{
    return (struct five){LOAD(node, 0), LOAD(flow, 0), LOAD(flow, LANES), LOAD(flow, 2 * LANES),
                         LOAD(flow, 3 * LANES)};
}
