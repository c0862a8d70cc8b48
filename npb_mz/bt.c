/* npb_mz/bt.c – BT-MZ: a step solves three block-tridiagonal systems, kernels/bt.h with one grid
 * line per lane.
 *
 * Two passes over a zone: plane by plane the right-hand side, the x lines and the y lines while the
 * plane is in cache; then, slab (constant j) by slab, the z lines and u += correction. */
#include "npb_mz/rhs.h"

#include "src/lanes.h"
#include "npb_mz/kernels/bt.h"

#include <string.h>

enum { NODE = 2 * MZ_VARS * LANES }; /* doubles of a node of x lines: w, then derived variables */

/* A thread's scratch behind that of the right-hand side. */
struct bt_room {
    double *rhs;    /* rhs_scratch() doubles */
    double *factor; /* [longest line][25] vectors: the eliminated super-diagonals */
    double *rows;   /* [LANES] rows of records of the right-hand side */
    double *w;      /* nodes of x lines, or records of a slab of constant j */
    double *prim;   /* derived variables of a slab */
};

struct bt_sizes {
    long factor, rows, w, prim;
};

static long most(long a, long b)
{
    return a > b ? a : b;
}

static struct bt_sizes sizes_of(const struct mz *mz)
{
    const long inner = rhs_inner(mz->most_nx), nz = mz->mesh->points[2];
    return (struct bt_sizes){.factor = 25 * LANES * most(most(mz->most_nx, mz->most_ny), nz),
                             .rows = inner * RHS_STATE * LANES,
                             .w = most((inner * LANES + 2) * NODE, nz * inner * RHS_STATE),
                             .prim = nz * inner * RHS_PRIM};
}

static size_t bt_scratch(const struct mz *mz)
{
    const struct bt_sizes s = sizes_of(mz);
    return s.factor + s.rows + s.w + s.prim;
}

static struct bt_room room_of(const struct mz *mz, double *scratch)
{
    const struct bt_sizes s = sizes_of(mz);
    struct bt_room r = {.rhs = scratch, .factor = scratch + rhs_scratch(mz)};
    r.rows = r.factor + s.factor;
    r.w = r.rows + s.rows;
    r.prim = r.w + s.w;
    return r;
}

static struct bt_axis axis_of(const struct mz *mz, int d)
{
    return (struct bt_axis){.tau2 = mz->consts.axis[d].tau2,
                            .spread = mz->consts.axis[d].spread,
                            .visc = mz->consts.axis[d].visc,
                            .p = 1 + d,
                            .a = 1 + (d + 1) % 3,
                            .b = 1 + (d + 2) % 3};
}

/* What node s left, read back from memory, as operands: carried in variables it would be spilled,
 * and stores are what the fused multiply-adds have to wait for. */
static inline __attribute__((always_inline)) struct bt_past left_by(struct bt_axis x,
                                                                    struct bt_line l, int s)
{
    return (struct bt_past){bt_kept_block(l.scratch + 25 * s * l.step, l.step),
                            bt_load(l.out, x, s)};
}

/* Solves LANES lines, 0 at both ends. */
static inline __attribute__((always_inline)) void solve_line(struct bt_axis x, struct bt_line l)
{
    struct bt_col w = {REAL(0.0), REAL(0.0), REAL(0.0), REAL(0.0), REAL(0.0)};
    bt_store(l.out, x, 0, w);
    for (int m = 0; m < 5; m++)
        bt_keep(l.scratch, l.step, m, w);
    for (int s = 1; s < l.n - 1; s++)
        bt_forward(x, l, s, left_by(x, l, s - 1));
    for (int s = l.n - 2; s > 0; s--) {
        w = bt_back(x, l, w, s);
        bt_store(l.out, x, s, l.boost < 0 ? bt_boost(w, bt_node(l.prim, x, s), 1.0) : w);
    }
}

static long row_of(const struct mz_zone *z)
{
    return rhs_inner(z->nx) * RHS_STATE;
}

/* Five vectors of each record of LANES rows to nodes, or back. Rows beyond `rows` repeat the last
 * one. */
static void gather(const double *from, long row, int record, int rows, int inner, double *to)
{
    for (int v = 0; v < inner; v++)
        for (int m = 0; m < MZ_VARS; m++) {
            lanes t[LANES];
            for (int r = 0; r < LANES; r++)
                t[r] = LOAD(from, (r < rows ? r : rows - 1) * row + v * record + m * LANES);
            lanes_transpose(t);
            for (int r = 0; r < LANES; r++)
                STORE(to, (1 + v * LANES + r) * NODE + m * LANES, t[r]);
        }
}

static void scatter(const double *from, double *to, long row, int rows, int inner)
{
    for (int v = 0; v < inner; v++)
        for (int m = 0; m < MZ_VARS; m++) {
            lanes t[LANES];
            for (int r = 0; r < LANES; r++)
                t[r] = LOAD(from, (1 + v * LANES + r) * NODE + m * LANES);
            lanes_transpose(t);
            for (int r = 0; r < rows && r < LANES; r++)
                STORE(to, r * row + v * RHS_STATE + m * LANES, t[r]);
        }
}

/* All x lines of a plane, LANES of them at a time, transposed into the thread's scratch. */
static void solve_x(struct rhs_sweep *sweep, const struct bt_room *room, double *w)
{
    const struct mz_zone *z = sweep->zone;
    const struct bt_view view = {room->w, LANES, NODE},
                         from = {room->w + MZ_VARS * LANES, LANES, NODE};
    const struct bt_line line = {view, view, from, room->factor, LANES, z->nx, 1};
    const struct bt_axis axis = axis_of(sweep->mz, 0);
    for (int j = 1; j < z->ny - 1; j += LANES) {
        const int rows = z->ny - 1 - j;
        for (int r = 0; r < rows && r < LANES; r++)
            rhs_row(sweep, j + r, room->rows + r * row_of(z));
        gather(room->rows, row_of(z), RHS_STATE, rows, rhs_inner(z->nx), room->w);
        gather(rhs_prims(sweep, j), sweep->prim_row, RHS_PRIM, rows, rhs_inner(z->nx),
               room->w + MZ_VARS * LANES);
        memset(room->w, 0, NODE * sizeof *room->w);
        memset(room->w + (z->nx - 1) * NODE, 0, NODE * sizeof *room->w);
        solve_line(axis, line);
        scatter(room->w, w + j * row_of(z), row_of(z), rows, rhs_inner(z->nx));
    }
}

/* All y lines of a plane, in place. */
static void solve_y(const struct rhs_sweep *sweep, const struct bt_room *room, double *w)
{
    const struct mz_zone *z = sweep->zone;
    const struct bt_axis axis = axis_of(sweep->mz, 1);
    for (int v = 0; v < rhs_inner(z->nx); v++) {
        const struct bt_view view = {w + v * RHS_STATE, LANES, row_of(z)};
        const struct bt_view from = {(double *)rhs_prims(sweep, 0) + v * RHS_PRIM, LANES,
                                     sweep->prim_row};
        solve_line(axis, (struct bt_line){view, view, from, room->factor, LANES, z->ny, 0});
    }
}

static void plane_pass(struct mz *mz, struct mz_work *work, int zone, int t)
{
    const struct mz_zone *z = &mz->zone[zone];
    const int planes = z->nz - 2, k0 = 1 + t * planes / work->width;
    const int k1 = 1 + (t + 1) * planes / work->width;
    if (k0 == k1)
        return;
    const struct bt_room room = room_of(mz, work->scratch[t]);
    struct rhs_sweep sweep = {.mz = mz,
                              .zone = z,
                              .u = mz_zone_u(mz, zone),
                              .forcing = mz->forcing + MZ_VARS * z->first,
                              .j0 = 1,
                              .j1 = z->ny - 1};
    rhs_begin(&sweep, room.rhs, k0);
    for (int k = k0; k < k1; k++) {
        double *w = work->w + k * z->ny * row_of(z);
        rhs_plane(&sweep, k);
        solve_x(&sweep, &room, w);
        solve_y(&sweep, &room, w);
    }
}

static void solve_z(const struct mz *mz, const struct mz_zone *z, const struct bt_room *room,
                    const double *w)
{
    const struct bt_axis axis = axis_of(mz, 2);
    const long inner = rhs_inner(z->nx);
    for (int v = 0; v < inner; v++) {
        const struct bt_view in = {(double *)w + v * RHS_STATE, LANES, z->ny * row_of(z)};
        const struct bt_view out = {room->w + v * RHS_STATE, LANES, row_of(z)};
        const struct bt_view from = {room->prim + v * RHS_PRIM, LANES, inner * RHS_PRIM};
        solve_line(axis, (struct bt_line){in, out, from, room->factor, LANES, z->nz, -1});
    }
}

static void slab_pass(struct mz *mz, struct mz_work *work, int zone, int t)
{
    const struct mz_zone *z = &mz->zone[zone];
    const int slabs = z->ny - 2, j0 = 1 + t * slabs / work->width;
    const int j1 = 1 + (t + 1) * slabs / work->width, inner = rhs_inner(z->nx);
    const struct bt_room room = room_of(mz, work->scratch[t]);
    for (int j = j0; j < j1; j++) {
        double *u = mz_zone_u(mz, zone) + (long)j * z->pitch + 1;
        for (int k = 0; k < z->nz; k++)
            rhs_derive_row(u + k * z->plane, z->volume, room.prim + (long)k * inner * RHS_PRIM,
                           inner);
        solve_z(mz, z, &room, work->w + j * row_of(z));
        for (int k = 1; k < z->nz - 1; k++)
            for (int v = 0; v < inner; v++)
                for (int m = 0; m < MZ_VARS; m++) {
                    double *to = u + m * z->volume + k * z->plane + v * LANES;
                    STORE_SOME(to, 0,
                               LOAD(to, 0) +
                                   LOAD(room.w, k * row_of(z) + v * RHS_STATE + m * LANES),
                               z->nx - 2 - v * LANES);
                }
    }
}

static void bt_step(struct mz *mz, struct mz_work *work, int zone)
{
    mz_parallel(mz, work, zone, plane_pass);
    mz_parallel(mz, work, zone, slab_pass);
}

static const struct mz_launch launches[] = {
    {"rhs_points", ZONE_POINTS, "upgwcz", 0},
    {"bt_solve", ZONE_LINES_X, "uwpsczd", 0},
    {"bt_solve", ZONE_LINES_Y, "uwpsczd", 1},
    {"bt_solve", ZONE_LINES_Z, "uwpsczd", 2},
    {.kernel = NULL},
};

const struct mz_ops bt_ops = {
    .name = "bt-mz",
    .summary = "block-tridiagonal solves on zones of uneven size",
    .ratio = 4.5,
    .ratio_s = 3.0,
    .work = {3478.8, -17655.7, 28023.7, 0.0},
    .scratch = bt_scratch,
    .step = bt_step,
    .text = "npb_mz/kernels/bt.c",
    .launches = launches,
    .device_scratch = 25,
};
