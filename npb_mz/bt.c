/* npb_mz/bt.c – BT-MZ: a step solves three block-tridiagonal systems, kernels/bt.h with one grid
 * line per lane.
 *
 * Two passes over a zone: plane by plane the right-hand side, the x lines and the y lines while the
 * plane is in cache; then, slab (constant j) by slab, the z lines and u += correction. */
#include "npb_mz/rhs.h"

#include "src/lanes.h"
#include "npb_mz/kernels/bt.h"

/* A thread's scratch behind that of the right-hand side. */
struct bt_room {
    double *rhs;      /* rhs_scratch() doubles */
    double *factor;   /* [longest line][25] vectors: the eliminated super-diagonals */
    double *w, *prim; /* a batch of x lines transposed, or a slab of constant j */
};

static int longest_line(const struct mz *mz)
{
    int xy = mz->most_nx > mz->most_ny ? mz->most_nx : mz->most_ny;
    return lanes_ceil(xy > mz->mesh->points[2] ? xy : mz->mesh->points[2]);
}

/* Points of a batch of x lines or of a slab, whichever is more. */
static long batch_points(const struct mz *mz)
{
    long lines = (long)LANES * lanes_ceil(mz->most_nx);
    long slab = (long)mz->most_pitch * mz->mesh->points[2] + LANES;
    return lines > slab ? lines : slab;
}

static size_t bt_scratch(const struct mz *mz)
{
    return 25L * LANES * longest_line(mz) + (MZ_VARS + MZ_PRIMS) * batch_points(mz);
}

static struct bt_room room_of(const struct mz *mz, double *scratch)
{
    struct bt_room r = {.rhs = scratch, .factor = scratch + rhs_scratch(mz)};
    r.w = r.factor + 25L * LANES * longest_line(mz);
    r.prim = r.w + MZ_VARS * batch_points(mz);
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

/* Five components of LANES rows (each `n` long) to [m][i][lane], or back. Rows beyond `rows` repeat
 * the last one. */
static void gather(const double *from, long field, long row, int rows, int n, double *to, long size)
{
    for (int m = 0; m < MZ_VARS; m++)
        for (int i = 0; i < n; i += LANES) {
            lanes t[LANES];
            for (int r = 0; r < LANES; r++)
                t[r] = LOAD(from, m * field + (r < rows ? r : rows - 1) * row + i);
            lanes_transpose(t);
            for (int r = 0; r < LANES; r++)
                STORE(to, m * size + (i + r) * LANES, t[r]);
        }
}

static void scatter(const double *from, long size, double *to, long field, long row, int rows,
                    int n)
{
    for (int m = 0; m < MZ_VARS; m++)
        for (int i = 0; i < n; i += LANES) {
            lanes t[LANES];
            for (int r = 0; r < LANES; r++)
                t[r] = LOAD(from, m * size + (i + r) * LANES);
            lanes_transpose(t);
            for (int r = 0; r < rows && r < LANES; r++)
                STORE(to, m * field + r * row + i, t[r]);
        }
}

/* All x lines of a plane, LANES of them at a time, transposed into the thread's scratch. */
static void solve_x(const struct mz *mz, const struct mz_zone *z, const struct bt_room *room,
                    double *w, double *prim)
{
    const long size = (long)LANES * lanes_ceil(z->nx);
    const struct bt_view view = {room->w, size, LANES}, from = {room->prim, size, LANES};
    const struct bt_line line = {view, view, from, room->factor, LANES, z->nx, 1};
    const struct bt_axis axis = axis_of(mz, 0);
    for (int j = 1; j < z->ny - 1; j += LANES) {
        const int rows = z->ny - 1 - j;
        const long at = (long)j * z->pitch;
        gather(w + at, z->volume, z->pitch, rows, z->nx, room->w, size);
        gather(prim + at, z->plane, z->pitch, rows, z->nx, room->prim, size);
        solve_line(axis, line);
        scatter(room->w, size, w + at, z->volume, z->pitch, rows, z->nx);
    }
}

/* All y lines of a plane, in place. */
static void solve_y(const struct mz *mz, const struct mz_zone *z, const struct bt_room *room,
                    double *w, double *prim)
{
    const struct bt_axis axis = axis_of(mz, 1);
    for (int i = 1; i < z->nx - 1; i += LANES) {
        const struct bt_view view = {w + i, z->volume, z->pitch};
        const struct bt_view from = {prim + i, z->plane, z->pitch};
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
    struct rhs_sweep sweep;
    rhs_begin(&sweep, mz, zone, mz_zone_u(mz, zone), mz->forcing + MZ_VARS * z->first, work->w,
              room.rhs, k0);
    for (int k = k0; k < k1; k++) {
        double *prim = (double *)rhs_plane(&sweep, k), *w = work->w + k * z->plane;
        solve_x(mz, z, &room, w, prim);
        solve_y(mz, z, &room, w, prim);
    }
}

static void solve_z(const struct mz *mz, const struct mz_zone *z, const struct bt_room *room,
                    const double *w, long slab)
{
    const struct bt_axis axis = axis_of(mz, 2);
    for (int i = 1; i < z->nx - 1; i += LANES) {
        const struct bt_view in = {(double *)w + i, z->volume, z->plane};
        const struct bt_view out = {room->w + i, slab, z->pitch};
        const struct bt_view from = {room->prim + i, slab, z->pitch};
        solve_line(axis, (struct bt_line){in, out, from, room->factor, LANES, z->nz, -1});
    }
}

static void slab_pass(struct mz *mz, struct mz_work *work, int zone, int t)
{
    const struct mz_zone *z = &mz->zone[zone];
    const int slabs = z->ny - 2, j0 = 1 + t * slabs / work->width;
    const int j1 = 1 + (t + 1) * slabs / work->width;
    const struct bt_room room = room_of(mz, work->scratch[t]);
    const long slab = (long)z->pitch * z->nz + LANES;
    for (int j = j0; j < j1; j++) {
        double *u = mz_zone_u(mz, zone) + (long)j * z->pitch;
        for (int k = 0; k < z->nz; k++)
            rhs_derive_row(u + k * z->plane, z->volume, room.prim + (long)k * z->pitch, slab,
                           z->pitch);
        solve_z(mz, z, &room, work->w + (long)j * z->pitch, slab);
        for (int m = 0; m < MZ_VARS; m++)
            for (int k = 1; k < z->nz - 1; k++)
                for (int i = 1; i < z->nx - 1; i++)
                    u[m * z->volume + k * z->plane + i] +=
                        room.w[m * slab + (long)k * z->pitch + i];
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
