/* npb_mz/sp.c – SP-MZ: a step solves scalar pentadiagonal systems along x, y and z (sp_lines.h).
 *
 * Two passes over a zone: plane by plane the right-hand side, the x lines of its rows and the y
 * lines while the plane is in cache; then, slab (constant j) by slab, the z lines and the update of
 * u. */
#include "npb_mz/rhs.h"
#include "npb_mz/sp_lines.h"

#include "npb_mz/kernels/sp.h"

/* A thread's scratch; all but the first part is in sp_scratch(). */
struct sp_room {
    double *rhs;   /* rhs_scratch() doubles */
    double *along; /* sp_along_size() doubles */
    double *rows;  /* [LANES] rows of records of the right-hand side */
    double *lines; /* [nx][SP_LINES] nodes of x lines, or the nodes of a slab of constant j */
    double *speed; /* speed of sound: [ny] rows of one vector per record */
};

struct sp_sizes {
    long along, rows, lines, speed;
};

/* For zones of up to nx x ny x nz points. */
static struct sp_sizes sizes_of(int nx, int ny, int nz)
{
    const long inner = rhs_inner(nx);
    return (struct sp_sizes){
        .along = sp_along_size((int)mz_max(mz_max(nx, ny), nz)),
        .rows = inner * RHS_STATE * LANES,
        .lines = mz_max((inner * LANES + 2) * SP_LINES * SP_NODE_X, nz * inner * SP_NODE_Z),
        .speed = ny * inner * LANES};
}

static size_t sp_scratch(const struct mz *mz)
{
    const struct sp_sizes s = sizes_of(mz->max_nx, mz->max_ny, mz->mesh->points[2]);
    return s.along + s.rows + s.lines + s.speed;
}

static struct sp_room room_of(const struct mz *mz, double *scratch)
{
    const struct sp_sizes s = sizes_of(mz->max_nx, mz->max_ny, mz->mesh->points[2]);
    struct sp_room r = {.rhs = scratch, .along = scratch + rhs_scratch(mz)};
    r.rows = r.along + s.along;
    r.lines = r.rows + s.rows;
    r.speed = r.lines + s.lines;
    return r;
}

/* Doubles of a row of `speed`. */
static long speed_of(const struct mz_zone *z)
{
    return rhs_inner(z->nx) * LANES;
}

/* ---- x lines --------------------------------------------------------------------------------- */

/* Transforms a record of the right-hand side to the characteristic variables of x; t also gets
 * 1/rho, v_x and the speed of sound of its points. */
FN void enter(const double *w, const double *flow, const double *node, double *speed,
              lanes t[SP_NODE_X / LANES])
{
    const struct five p = rhs_point_at(flow, node);
    const lanes a = sp_speed(p.e);
    const struct five r = sp_enter(five_load(w, LANES), p.r, p.x, p.y, p.z, p.e, a);
    STORE(speed, 0, a);
    t[0] = r.r, t[1] = r.x, t[2] = r.y, t[3] = r.z, t[4] = r.e;
    t[5] = p.r, t[6] = p.x, t[7] = a;
}

/* Where the rows of a batch are; rows beyond the last one of the zone repeat it. */
struct batch {
    const double *w[LANES], *flow[LANES], *node[LANES];
    double *speed[LANES];
};

/* A batch of LANES rows from j on, whose right-hand sides it computes. */
static struct batch make_batch(struct rhs_sweep *sweep, const struct sp_room *room, int j)
{
    const struct mz_zone *z = sweep->zone;
    struct batch b;
    for (int r = 0; r < LANES; r++) {
        const int row = j + r < z->ny - 1 ? r : z->ny - 2 - j;
        if (row == r)
            rhs_row(sweep, j + r, room->rows + r * rhs_stride(z));
        b.w[r] = room->rows + row * rhs_stride(z);
        b.flow[r] = rhs_flows(sweep, j + row);
        b.node[r] = rhs_nodes(sweep, j + row);
        b.speed[r] = room->speed + (j + row) * speed_of(z);
    }
    return b;
}

/* Transposes the rows of a batch to nodes of lines. */
static void gather(const struct mz_zone *z, const struct batch *b, double *lines)
{
    for (int v = 0; v < rhs_inner(z->nx); v++) {
        double *to = lines + (1 + v * LANES) * (long)SP_LINES * SP_NODE_X;
        lanes t[LANES][SP_NODE_X / LANES];
        for (int r = 0; r < LANES; r++)
            enter(b->w[r] + v * RHS_STATE, b->flow[r] + v * RHS_FLOW, b->node[r] + v * RHS_NODE,
                  b->speed[r] + v * LANES, t[r]);
        for (int f = 0; f < SP_NODE_X / LANES; f++) {
            lanes c[LANES];
            for (int r = 0; r < LANES; r++)
                c[r] = t[r][f];
            lanes_transpose(c);
            for (int r = 0; r < LANES; r++)
                STORE(to, r * SP_LINES * SP_NODE_X + f * LANES, c[r]);
        }
    }
    /* the solves multiply the boundary nodes by 0, so they must be finite */
    memset(lines, 0, SP_NODE_X * sizeof *lines);
    memset(lines + (z->nx - 1) * (long)SP_LINES * SP_NODE_X, 0, SP_NODE_X * sizeof *lines);
}

static void solve_x(struct rhs_sweep *sweep, const struct sp_room *room,
                    const struct sp_along *along, double *w)
{
    const struct mz_zone *z = sweep->zone;
    for (int j = 1; j < z->ny - 1;) {
        const int first = j;
        int count = 0;
        for (; count < SP_LINES && j < z->ny - 1; count++, j += LANES) {
            const struct batch b = make_batch(sweep, room, j);
            gather(z, &b, room->lines + count * SP_NODE_X);
        }
        sp_lines_x(along, room->lines, count);
        for (int i = 0; i < count; i++)
            rhs_scatter(room->lines + i * SP_NODE_X, SP_LINES * SP_NODE_X,
                        w + (first + i * LANES) * rhs_stride(z), rhs_stride(z),
                        z->ny - 1 - first - i * LANES, rhs_inner(z->nx));
    }
}

/* ---- y lines, z lines ------------------------------------------------------------------------ */

static void solve_y(const struct rhs_sweep *sweep, const struct sp_room *room,
                    const struct sp_along *along, double *w)
{
    const struct mz_zone *z = sweep->zone;
    const int inner = rhs_inner(z->nx);
    for (int v = 0; v < inner; v += SP_LINES)
        sp_lines_y(along, w + v * RHS_STATE, rhs_stride(z), rhs_flows(sweep, 0) + v * RHS_FLOW,
                   rhs_nodes(sweep, 0) + v * RHS_NODE, sweep->records, room->speed + v * LANES,
                   speed_of(z), inner - v);
}

static void plane_pass(struct mz *mz, struct mz_work *work, int zone, int t)
{
    const struct mz_zone *z = &mz->zone[zone];
    int k0, k1;
    mz_share(1, z->nz - 2, t, work->width, &k0, &k1);
    if (k0 == k1)
        return;
    const struct sp_room room = room_of(mz, work->scratch[t]);
    struct rhs_sweep sweep = rhs_sweep_of(mz, zone);
    struct sp_along x, y;
    rhs_begin(&sweep, room.rhs, k0);
    /* the y lines multiply these rows by 0, so they must be finite */
    memset(room.speed, 0, speed_of(z) * sizeof *room.speed);
    memset(room.speed + (z->ny - 1) * speed_of(z), 0, speed_of(z) * sizeof *room.speed);
    for (int k = k0; k < k1; k++) {
        double *w = rhs_kept(work, z, k, 0);
        rhs_plane(&sweep, k);
        sp_along_set(&x, mz, 0, z->nx, room.along);
        solve_x(&sweep, &room, &x, w);
        sp_along_set(&y, mz, 1, z->ny, room.along);
        solve_y(&sweep, &room, &y, w);
    }
}

/* Computes 1/rho, velocity, internal energy per mass and speed of sound of a slab. */
static void derive_slab(const struct mz_zone *z, const double *u, double *to)
{
    for (int k = 0; k < z->nz; k++, u += z->plane)
        for (int v = 0; v < rhs_inner(z->nx); v++, to += SP_NODE_Z) {
            const struct five p = rhs_point_of(u + v * LANES, z->volume);
            five_store(to, LANES, p);
            STORE(to, SP_A * LANES, sp_speed(p.e));
        }
}

static void slab_pass(struct mz *mz, struct mz_work *work, int zone, int t)
{
    const struct mz_zone *z = &mz->zone[zone];
    const int inner = rhs_inner(z->nx);
    int j0, j1;
    mz_share(1, z->ny - 2, t, work->width, &j0, &j1);
    const struct sp_room room = room_of(mz, work->scratch[t]);
    struct sp_along along;
    sp_along_set(&along, mz, 2, z->nz, room.along);
    for (int j = j0; j < j1; j++) {
        double *u = mz_zone_u(mz, zone) + (long)j * z->pitch + 1;
        derive_slab(z, u, room.lines);
        for (int v = 0; v < inner; v += SP_LINES)
            sp_lines_z(&along, rhs_kept(work, z, 0, j) + v * RHS_STATE, z->ny * rhs_stride(z),
                       room.lines + v * SP_NODE_Z, inner * SP_NODE_Z, u + v * LANES, z->volume,
                       z->plane, z->nx - 2 - v * LANES, inner - v);
        mz_walls_keep(mz, zone, j, j + 1, 1, z->nz - 1);
    }
}

static void sp_step(struct mz *mz, struct mz_work *work, int zone)
{
    mz_walls_begin(mz, zone);
    mz_parallel(mz, work, zone, plane_pass);
    mz_parallel(mz, work, zone, slab_pass);
}

static const struct mz_launch launches[] = {
    {"sp_points", ZONE_POINTS, "upgwcz", 0},
    {"sp_solve", ZONE_LINES_X, "uwpsczd", 0},
    {"sp_solve", ZONE_LINES_Y, "uwpsczd", 1},
    {"sp_solve", ZONE_LINES_Z, "uwpsczd", 2},
    {.kernel = NULL},
};

const struct mz_ops sp_ops = {
    .name = "sp-mz",
    .ratio = 1.0,
    .ratio_s = 1.0,
    .work = {881.174, -4683.91, 11484.5, -19272.4},
    .scratch = sp_scratch,
    .step = sp_step,
    .text = "npb_mz/kernels/sp.c",
    .launches = launches,
    .device_scratch = 11,
};
