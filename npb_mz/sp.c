/* npb_mz/sp.c – SP-MZ: a step solves scalar pentadiagonal systems along x, y and z, kernels/sp.h
 * with one grid line per lane.
 *
 * Two passes over a zone: plane by plane the right-hand side, the x lines and the y lines while the
 * plane is in cache; then, slab (constant j) by slab, the z lines and the update of u. */
#include "npb_mz/rhs.h"

#include "src/lanes.h"
#include <math.h>

/* A loop over a vector of constant length compiles to one instruction. */
static inline __attribute__((always_inline)) lanes lanes_sqrt(lanes x)
{
    for (int l = 0; l < LANES; l++)
        x[l] = sqrt(x[l]);
    return x;
}

static inline __attribute__((always_inline)) void store_some(double *to, lanes x, int count)
{
    if (count >= LANES)
        STORE(to, 0, x);
    else
        for (int l = 0; l < count; l++)
            to[l] = x[l];
}

#define SQRT(x)                     lanes_sqrt(x)
#define STORE_SOME(p, at, x, count) store_some((p) + (at), x, count)
#include "npb_mz/kernels/sp.h"

/* Fields of a batch of x lines: w, then 1/rho, v_x and a. Of a slab: w, then 1/rho, v, e and a. */
enum { BATCH_FIELDS = MZ_VARS + 3, SLAB_FIELDS = MZ_VARS + SP_A + 1 };

/* A thread's scratch behind that of the right-hand side. */
struct sp_room {
    double *rhs;    /* rhs_scratch() doubles */
    double *factor; /* [longest line][6] vectors: the eliminated super-diagonals */
    double *speed;  /* [plane] of sound */
    double *lines;  /* a batch of x lines transposed, or a slab of constant j */
};

static int longest_line(const struct mz *mz)
{
    int xy = mz->most_nx > mz->most_ny ? mz->most_nx : mz->most_ny;
    return lanes_ceil(xy > mz->mesh->points[2] ? xy : mz->mesh->points[2]);
}

static long batch_size(const struct mz_zone *z)
{
    return (long)LANES * lanes_ceil(z->nx);
}

static long slab_size(const struct mz_zone *z)
{
    return (long)z->pitch * z->nz + LANES;
}

static size_t sp_scratch(const struct mz *mz)
{
    const long batch = BATCH_FIELDS * (long)LANES * lanes_ceil(mz->most_nx);
    const long slab = SLAB_FIELDS * ((long)mz->most_pitch * mz->mesh->points[2] + LANES);
    return 6L * LANES * longest_line(mz) + mz->most_plane + LANES + (batch > slab ? batch : slab);
}

static struct sp_room room_of(const struct mz *mz, double *scratch)
{
    struct sp_room r = {.rhs = scratch, .factor = scratch + rhs_scratch(mz)};
    r.speed = r.factor + 6L * LANES * longest_line(mz);
    r.lines = r.speed + mz->most_plane + LANES;
    return r;
}

static struct sp_axis axis_of(const struct mz *mz, int d)
{
    return (struct sp_axis){.tau2 = mz->consts.axis[d].tau2,
                            .spread = mz->consts.axis[d].spread,
                            .heat = 1.96 * mz->consts.axis[d].visc,
                            .damping = mz->consts.damping,
                            .d = d};
}

/* Solves LANES lines. What earlier nodes left is read back from memory, as operands: carried in
 * variables it would be spilled. */
static inline __attribute__((always_inline)) void solve_line(struct sp_axis x, struct sp_line l)
{
    struct sp_five x1 = {REAL(0.0), REAL(0.0), REAL(0.0), REAL(0.0), REAL(0.0)}, x2 = x1;
    sp_keep(l, 0, (struct sp_past){.y = x1});
    for (int s = 1; s < l.n - 1; s++)
        sp_forward(x, l, s, sp_left_by(l, s - 1), sp_left_by(l, s > 1 ? s - 2 : 0));
    for (int s = l.n - 2; s > 0; s--) {
        struct sp_five y = sp_back(l, x1, x2, s);
        sp_put(l, x.d, s, y);
        x2 = x1;
        x1 = y;
    }
}

/* ---- x lines --------------------------------------------------------------------------------- */

/* LANES points of a row in the variables of x, and what the solve needs of them: t[field]. */
static inline __attribute__((always_inline)) void enter(const double *w, long field,
                                                        const double *prim, long plane,
                                                        double *speed, lanes t[BATCH_FIELDS])
{
    const lanes ri = LOAD(prim, 0), vx = LOAD(prim, plane), vy = LOAD(prim, 2 * plane);
    const lanes vz = LOAD(prim, 3 * plane), e = LOAD(prim, 4 * plane), a = sp_speed(e);
    const struct sp_view view = {(double *)w, field, 0};
    const struct sp_five r = sp_enter(sp_load(view, 0), ri, vx, vy, vz, e, a);
    STORE(speed, 0, a);
    t[0] = r.m0, t[1] = r.m1, t[2] = r.m2, t[3] = r.m3, t[4] = r.m4;
    t[5] = ri, t[6] = vx, t[7] = a;
}

/* LANES rows from `at` on to [field][i][lane]; rows beyond `rows` repeat the last one. */
static void gather(const struct mz_zone *z, const double *w, const double *prim, double *speed,
                   long at, int rows, double *lines)
{
    const long size = batch_size(z);
    for (int i = 0; i < z->nx; i += LANES) {
        lanes t[LANES][BATCH_FIELDS];
        for (int r = 0; r < LANES; r++) {
            const long from = at + (r < rows ? r : rows - 1) * (long)z->pitch + i;
            enter(w + from, z->volume, prim + from, z->plane, speed + from, t[r]);
        }
        for (int f = 0; f < BATCH_FIELDS; f++) {
            lanes c[LANES];
            for (int r = 0; r < LANES; r++)
                c[r] = t[r][f];
            lanes_transpose(c);
            for (int r = 0; r < LANES; r++)
                STORE(lines, f * size + (i + r) * LANES, c[r]);
        }
    }
}

static void scatter(const struct mz_zone *z, const double *lines, double *w, int rows)
{
    const long size = batch_size(z);
    for (int m = 0; m < MZ_VARS; m++)
        for (int i = 0; i < z->nx; i += LANES) {
            lanes t[LANES];
            for (int r = 0; r < LANES; r++)
                t[r] = LOAD(lines, m * size + (i + r) * LANES);
            lanes_transpose(t);
            for (int r = 0; r < rows && r < LANES; r++)
                STORE(w, m * z->volume + r * (long)z->pitch + i, t[r]);
        }
}

static void solve_x(const struct mz *mz, const struct mz_zone *z, const struct sp_room *room,
                    double *w, const double *prim)
{
    const long size = batch_size(z);
    const struct sp_view view = {room->lines, size, LANES};
    const struct sp_line line = {.in = view,
                                 .mid = view,
                                 .out = view,
                                 .prim = {room->lines + MZ_VARS * size, size, LANES},
                                 .speed = room->lines + (MZ_VARS + 2) * size,
                                 .scratch = room->factor,
                                 .step = LANES,
                                 .n = z->nx};
    for (int j = 1; j < z->ny - 1; j += LANES) {
        gather(z, w, prim, room->speed, (long)j * z->pitch, z->ny - 1 - j, room->lines);
        solve_line(axis_of(mz, 0), line);
        scatter(z, room->lines, w + (long)j * z->pitch, z->ny - 1 - j);
    }
}

/* ---- y lines, z lines ------------------------------------------------------------------------ */

/* All y lines of a plane, in place. */
static void solve_y(const struct mz *mz, const struct mz_zone *z, const struct sp_room *room,
                    double *w, const double *prim)
{
    for (int i = 1; i < z->nx - 1; i += LANES) {
        const struct sp_view view = {w + i, z->volume, z->pitch};
        solve_line(axis_of(mz, 1),
                   (struct sp_line){.in = view,
                                    .mid = view,
                                    .out = view,
                                    .prim = {(double *)prim + i, z->plane, z->pitch},
                                    .speed = room->speed + i,
                                    .scratch = room->factor,
                                    .step = LANES,
                                    .n = z->ny});
    }
}

/* The speed of sound in the rows that no x line covers; the y lines multiply it by 0. */
static void border_speed(const struct mz_zone *z, const double *prim, double *speed)
{
    const long last = (long)z->pitch * (z->ny - 1);
    for (int i = 0; i < z->pitch; i += LANES) {
        STORE(speed, i, sp_speed(LOAD(prim, SP_E * z->plane + i)));
        STORE(speed, last + i, sp_speed(LOAD(prim, SP_E * z->plane + last + i)));
    }
}

static void plane_pass(struct mz *mz, struct mz_work *work, int zone, int t)
{
    const struct mz_zone *z = &mz->zone[zone];
    const int planes = z->nz - 2, k0 = 1 + t * planes / work->width;
    const int k1 = 1 + (t + 1) * planes / work->width;
    if (k0 == k1)
        return;
    const struct sp_room room = room_of(mz, work->scratch[t]);
    struct rhs_sweep sweep;
    rhs_begin(&sweep, mz, zone, mz_zone_u(mz, zone), mz->forcing + MZ_VARS * z->first, work->w,
              room.rhs, k0);
    for (int k = k0; k < k1; k++) {
        const double *prim = rhs_plane(&sweep, k);
        double *w = work->w + k * z->plane;
        border_speed(z, prim, room.speed);
        solve_x(mz, z, &room, w, prim);
        solve_y(mz, z, &room, w, prim);
    }
}

/* 1/rho, velocity, internal energy per mass and speed of sound of a slab's rows. */
static void derive_slab(const struct mz_zone *z, const double *u, double *prim)
{
    const long size = slab_size(z), field = z->volume;
    for (int k = 0; k < z->nz; k++)
        for (int i = 0; i < z->pitch; i += LANES) {
            const double *at = u + k * z->plane + i;
            double *to = prim + (long)k * z->pitch + i;
            const lanes ri = 1.0 / LOAD(at, 0), vx = LOAD(at, field) * ri;
            const lanes vy = LOAD(at, 2 * field) * ri, vz = LOAD(at, 3 * field) * ri;
            const lanes e = LOAD(at, 4 * field) * ri - 0.5 * (vx * vx + vy * vy + vz * vz);
            STORE(to, SP_RI * size, ri);
            STORE(to, SP_VX * size, vx);
            STORE(to, SP_VY * size, vy);
            STORE(to, SP_VZ * size, vz);
            STORE(to, SP_E * size, e);
            STORE(to, SP_A * size, sp_speed(e));
        }
}

static void solve_z(const struct mz *mz, const struct mz_zone *z, const struct sp_room *room,
                    double *u, const double *w)
{
    const long size = slab_size(z);
    double *prim = room->lines + MZ_VARS * size;
    for (int i = 1; i < z->nx - 1; i += LANES)
        solve_line(axis_of(mz, 2), (struct sp_line){.in = {(double *)w + i, z->volume, z->plane},
                                                    .mid = {room->lines + i, size, z->pitch},
                                                    .out = {u + i, z->volume, z->plane},
                                                    .prim = {prim + i, size, z->pitch},
                                                    .speed = prim + SP_A * size + i,
                                                    .scratch = room->factor,
                                                    .step = LANES,
                                                    .n = z->nz,
                                                    .lines = z->nx - 1 - i});
}

static void slab_pass(struct mz *mz, struct mz_work *work, int zone, int t)
{
    const struct mz_zone *z = &mz->zone[zone];
    const int slabs = z->ny - 2, j0 = 1 + t * slabs / work->width;
    const int j1 = 1 + (t + 1) * slabs / work->width;
    const struct sp_room room = room_of(mz, work->scratch[t]);
    for (int j = j0; j < j1; j++) {
        double *u = mz_zone_u(mz, zone) + (long)j * z->pitch;
        derive_slab(z, u, room.lines + MZ_VARS * slab_size(z));
        solve_z(mz, z, &room, u, work->w + (long)j * z->pitch);
    }
}

static void sp_step(struct mz *mz, struct mz_work *work, int zone)
{
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
    .summary = "scalar pentadiagonal solves on equal zones",
    .ratio = 1.0,
    .ratio_s = 1.0,
    .work = {881.174, -4683.91, 11484.5, -19272.4},
    .scratch = sp_scratch,
    .step = sp_step,
    .text = "npb_mz/kernels/sp.c",
    .launches = launches,
    .device_scratch = 6,
};
