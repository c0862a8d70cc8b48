/* npb_mz/bt.c – BT-MZ: a step solves three block-tridiagonal systems, kernels/bt.h with one grid
 * line per lane.
 *
 * Two passes over a zone: plane by plane the right-hand side, the x lines and the y lines while the
 * plane is in cache; then, slab (constant j) by slab, the z lines and u += correction. */
#include "npb_mz/rhs.h"

#include "src/lanes.h"
#include "npb_mz/kernels/bt.h"

enum { NODE = 2 * MZ_VARS * LANES }; /* doubles of a node of x lines: w, then derived variables */

/* A thread's scratch; all but the first part is in bt_scratch(). */
struct bt_room {
    double *rhs;    /* rhs_scratch() doubles */
    double *factor; /* [longest line][25] vectors: the eliminated super-diagonals */
    double *rows;   /* [LANES] rows of records of the right-hand side */
    double *w;      /* nodes of x lines, or records of a slab of constant j */
    double *points; /* derived variables of a slab, or of a column of records of a plane */
};

struct bt_sizes {
    long factor, rows, w, points;
};

static struct bt_sizes sizes_of(const struct mz *mz)
{
    const long inner = rhs_inner(mz->max_nx), nz = mz->mesh->points[2];
    return (struct bt_sizes){.factor = 25 * LANES * mz_max(mz_max(mz->max_nx, mz->max_ny), nz),
                             .rows = inner * RHS_STATE * LANES,
                             .w = mz_max((inner * LANES + 2) * NODE, nz * inner * RHS_STATE),
                             .points = mz_max(nz * inner, mz->max_ny) * RHS_STATE};
}

static size_t bt_scratch(const struct mz *mz)
{
    const struct bt_sizes s = sizes_of(mz);
    return s.factor + s.rows + s.w + s.points;
}

static struct bt_room room_of(const struct mz *mz, double *scratch)
{
    const struct bt_sizes s = sizes_of(mz);
    struct bt_room r = {.rhs = scratch, .factor = scratch + rhs_scratch(mz)};
    r.rows = r.factor + s.factor;
    r.w = r.rows + s.rows;
    r.points = r.w + s.w;
    return r;
}

static struct bt_axis axis_of(const struct mz *mz, int d)
{
    return bt_axis((const double *)&mz->consts, d);
}

/* What node s left, read back from memory: kept in variables it would be spilled, and the fused
 * multiply-adds wait for stores already. */
static inline __attribute__((always_inline)) struct bt_past left_by(struct bt_axis x,
                                                                    struct bt_line l, int s)
{
    return (struct bt_past){bt_kept_block(l.scratch + 25 * s * l.step, l.step),
                            bt_load(l.out, x, s)};
}

/* Solves LANES lines whose corrections are 0 at both ends. */
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
        bt_store(l.out, x, s, l.boost < 0 ? bt_boost(w, bt_load(l.prim, x, s), 1.0) : w);
    }
}

/* A batch of LANES rows of `inner` records; rows beyond `rows` repeat the last one. */
struct rows {
    const double *at;
    long row;   /* doubles from row to row */
    int record; /* doubles from record to record */
    int rows, inner;
};

/* Transposes `count` vectors of each record to nodes. */
static void gather(struct rows from, int count, double *to)
{
    for (int v = 0; v < from.inner; v++)
        for (int m = 0; m < count; m++) {
            lanes t[LANES];
            for (int r = 0; r < LANES; r++)
                t[r] = LOAD(from.at, (r < from.rows ? r : from.rows - 1) * from.row +
                                         v * from.record + m * LANES);
            lanes_transpose(t);
            for (int r = 0; r < LANES; r++)
                STORE(to, (1 + v * LANES + r) * NODE + m * LANES, t[r]);
        }
}

/* Computes the right-hand sides of LANES rows from j on and makes nodes of them, with 1/rho,
 * velocity and e. */
static void load_batch(struct rhs_sweep *sweep, const struct bt_room *room, int j)
{
    const struct mz_zone *z = sweep->zone;
    const int rows = z->ny - 1 - j < LANES ? z->ny - 1 - j : LANES, inner = rhs_inner(z->nx);
    const long flow_row = (long)sweep->records * RHS_FLOW,
               node_row = (long)sweep->records * RHS_NODE;
    const double *node = rhs_nodes(sweep, j);
    double *points = room->w + MZ_VARS * LANES;
    for (int r = 0; r < rows; r++)
        rhs_row(sweep, j + r, room->rows + r * rhs_stride(z));
    gather((struct rows){room->rows, rhs_stride(z), RHS_STATE, rows, inner}, MZ_VARS, room->w);
    gather((struct rows){node, node_row, RHS_NODE, rows, inner}, 1, points);
    gather((struct rows){rhs_flows(sweep, j), flow_row, RHS_FLOW, rows, inner}, 4, points + LANES);
    memset(room->w, 0, NODE * sizeof *room->w);
    memset(room->w + (z->nx - 1) * NODE, 0, NODE * sizeof *room->w);
}

/* Solves all x lines of a plane, LANES at a time, transposed into the thread's scratch. */
static void solve_x(struct rhs_sweep *sweep, const struct bt_room *room, double *w)
{
    const struct mz_zone *z = sweep->zone;
    const struct line_view view = {room->w, LANES, NODE},
                           from = {room->w + MZ_VARS * LANES, LANES, NODE};
    const struct bt_line line = {view, view, from, room->factor, LANES, z->nx, 1};
    const struct bt_axis axis = axis_of(sweep->mz, 0);
    for (int j = 1; j < z->ny - 1; j += LANES) {
        load_batch(sweep, room, j);
        solve_line(axis, line);
        rhs_scatter(room->w, NODE, w + j * rhs_stride(z), rhs_stride(z), z->ny - 1 - j,
                    rhs_inner(z->nx));
    }
}

/* Solves all y lines of a plane in place. */
static void solve_y(const struct rhs_sweep *sweep, const struct bt_room *room, double *w)
{
    const struct mz_zone *z = sweep->zone;
    const struct bt_axis axis = axis_of(sweep->mz, 1);
    const struct line_view from = {room->points, LANES, RHS_STATE};
    for (int v = 0; v < rhs_inner(z->nx); v++) {
        const struct line_view view = {w + v * RHS_STATE, LANES, rhs_stride(z)};
        for (int j = 0; j < z->ny; j++)
            five_store(room->points + j * RHS_STATE, LANES,
                       rhs_point_at(rhs_flows(sweep, j) + v * RHS_FLOW,
                                    rhs_nodes(sweep, j) + v * RHS_NODE));
        solve_line(axis, (struct bt_line){view, view, from, room->factor, LANES, z->ny, 0});
    }
}

static void plane_pass(struct mz *mz, struct mz_work *work, int zone, int t)
{
    const struct mz_zone *z = &mz->zone[zone];
    int k0, k1;
    mz_share(1, z->nz - 2, t, work->width, &k0, &k1);
    if (k0 == k1)
        return;
    const struct bt_room room = room_of(mz, work->scratch[t]);
    struct rhs_sweep sweep = rhs_sweep_of(mz, zone);
    rhs_begin(&sweep, room.rhs, k0);
    for (int k = k0; k < k1; k++) {
        double *w = rhs_kept(work, z, k, 0);
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
        const struct line_view in = {(double *)w + v * RHS_STATE, LANES, z->ny * rhs_stride(z)};
        const struct line_view out = {room->w + v * RHS_STATE, LANES, rhs_stride(z)};
        const struct line_view from = {room->points + v * RHS_STATE, LANES, inner * RHS_STATE};
        solve_line(axis, (struct bt_line){in, out, from, room->factor, LANES, z->nz, -1});
    }
}

static void slab_pass(struct mz *mz, struct mz_work *work, int zone, int t)
{
    const struct mz_zone *z = &mz->zone[zone];
    const int inner = rhs_inner(z->nx);
    int j0, j1;
    mz_share(1, z->ny - 2, t, work->width, &j0, &j1);
    const struct bt_room room = room_of(mz, work->scratch[t]);
    for (int j = j0; j < j1; j++) {
        double *u = mz_zone_u(mz, zone) + (long)j * z->pitch + 1;
        for (int k = 0; k < z->nz; k++)
            for (int v = 0; v < inner; v++)
                five_store(room.points + (k * inner + v) * (long)RHS_STATE, LANES,
                           rhs_point_of(u + k * z->plane + v * LANES, z->volume));
        solve_z(mz, z, &room, rhs_kept(work, z, 0, j));
        for (int k = 1; k < z->nz - 1; k++)
            for (int v = 0; v < inner; v++)
                for (int m = 0; m < MZ_VARS; m++) {
                    double *to = u + m * z->volume + k * z->plane + v * LANES;
                    STORE_SOME(to, 0,
                               LOAD(to, 0) +
                                   LOAD(room.w, k * rhs_stride(z) + v * RHS_STATE + m * LANES),
                               z->nx - 2 - v * LANES);
                }
        mz_walls_keep(mz, zone, j, j + 1, 1, z->nz - 1);
    }
}

static void bt_step(struct mz *mz, struct mz_work *work, int zone)
{
    mz_walls_begin(mz, zone);
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
    .ratio = 4.5,
    .ratio_s = 3.0,
    .work = {3478.8, -17655.7, 28023.7, 0.0},
    .scratch = bt_scratch,
    .step = bt_step,
    .text = "npb_mz/kernels/bt.c",
    .launches = launches,
    .device_scratch = 18,
};
