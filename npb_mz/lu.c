/* npb_mz/lu.c – LU-MZ: a step is one symmetric successive over-relaxation, by strips (lu_strip.h).
 *
 * Two passes over a zone, plane by plane: upwards the right-hand side and the lower sweep while the
 * plane is in cache; downwards the upper sweep and the update of u. Between them w lies in the
 * order of the strips' steps. A team shares out the strips; a thread follows the one before by a
 * plane.
 *
 * The residual is that of the boundary values before the last exchange. The zone carries these and
 * lends them to u while the residual is computed, so that the residual itself need not be kept. */
#include "npb_mz/lu_strip.h"
#include "npb_mz/rhs.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* Sizes of a zone's strips. */
struct lu_strips {
    int count; /* strips of a plane */
    int steps; /* of a strip, whole blocks of LANES */
    long row;  /* doubles of a strip's steps, margins included */
};

static struct lu_strips strips_of(int nx, int ny)
{
    struct lu_strips s;
    s.count = lanes_ceil(ny - 2) / LANES;
    s.steps = lanes_ceil(nx - 2 + LANES - 1);
    s.row = (long)(s.steps + 2 * LU_STRIP_MARGIN) * LU_STRIP_STEP;
    return s;
}

/* A thread's scratch, each part of whole cache lines. */
struct lu_room {
    double *rhs;     /* rhs_scratch() doubles */
    double *w;       /* [MZ_VARS][plane] right-hand side of one plane */
    double *behind;  /* [count][row] shares in the equations of the next plane's strips */
    double *beside;  /* [row] share of the last strip's rows in the equations of the next strip */
    double *nothing; /* [row] zeros */
    double *rows;    /* [MZ_VARS][LANES][lu_strip_pitch()] corrections of a strip, rows again */
};

/* What the team shares, in work->w. */
struct lu_team {
    double *w;          /* [nz][count][row] between the sweeps */
    double *handed;     /* [threads][nz][row] like `beside`, from a thread to the next */
    _Atomic long *done; /* [threads] planes finished in the step, a cache line each */
    int threads;
};

static long whole_lines(long doubles)
{
    return (doubles + 7) / 8 * 8;
}

static long plane_room(long plane)
{
    return whole_lines(plane + 4 * LANES);
}

static size_t lu_scratch(const struct mz *mz)
{
    const struct lu_strips s = strips_of(mz->most_nx, mz->most_ny);
    return whole_lines(rhs_scratch(mz)) + MZ_VARS * plane_room(mz->most_plane) +
           (s.count + 2) * s.row + LU_STRIP_STEP * lu_strip_pitch(mz->most_nx);
}

static size_t lu_team_scratch(const struct mz *mz, int width)
{
    const struct lu_strips s = strips_of(mz->most_nx, mz->most_ny);
    return (s.count + width) * s.row * mz->mesh->points[2] + 8L * width;
}

static struct lu_room room_of(const struct mz *mz, double *scratch)
{
    const struct lu_strips s = strips_of(mz->most_nx, mz->most_ny);
    struct lu_room r = {.rhs = scratch};
    r.w = r.rhs + whole_lines(rhs_scratch(mz));
    r.behind = r.w + MZ_VARS * plane_room(mz->most_plane);
    r.beside = r.behind + s.count * s.row;
    r.nothing = r.beside + s.row;
    r.rows = r.nothing + s.row;
    return r;
}

static struct lu_team team_of(const struct mz *mz, const struct mz_work *work)
{
    const struct lu_strips s = strips_of(mz->most_nx, mz->most_ny);
    struct lu_team t = {.w = work->w};
    t.threads = work->width < s.count ? work->width : s.count;
    t.handed = t.w + s.count * s.row * mz->mesh->points[2];
    t.done = (_Atomic long *)(t.handed + work->width * s.row * mz->mesh->points[2]);
    return t;
}

/* ---- boundary values ------------------------------------------------------------------------- */

/* Doubles of the boundary points that the exchange writes in one plane. */
static long faces_size(const struct mz_zone *z)
{
    return 2L * MZ_VARS * (z->nx - 2 + z->ny - 2);
}

static size_t lu_carried(const struct mz_zone *z)
{
    return (size_t)(faces_size(z) * (z->nz - 2));
}

enum lend { LEND, GIVE_BACK };

static void lend_line(double *u, double *kept, long step, int n, enum lend lend)
{
    for (int s = 0; s < n; s++) {
        const double value = kept[s];
        if (lend == LEND)
            kept[s] = u[s * step];
        u[s * step] = value;
    }
}

/* LEND exchanges the boundary values of plane k, rows j0 .. j1-1 and the boundary rows next to
 * them, in u for those carried; GIVE_BACK puts into u what was there before, and carries it on. */
static void lend_plane(struct mz *mz, int zone, int k, int j0, int j1, enum lend lend)
{
    const struct mz_zone *z = &mz->zone[zone];
    const int nx = z->nx - 2, ny = z->ny - 2;
    double *kept = mz->carried + z->carried + (k - 1) * faces_size(z);
    double *u = mz_zone_u(mz, zone) + k * z->plane;
    for (int m = 0; m < MZ_VARS; m++, u += z->volume) {
        double *west = kept + m * ny + j0 - 1, *east = west + MZ_VARS * ny;
        double *south = kept + 2 * MZ_VARS * ny + m * nx, *north = south + MZ_VARS * nx;
        lend_line(u + (long)j0 * z->pitch, west, z->pitch, j1 - j0, lend);
        lend_line(u + (long)j0 * z->pitch + z->nx - 1, east, z->pitch, j1 - j0, lend);
        if (j0 == 1)
            lend_line(u + 1, south, 1, nx, lend);
        if (j1 == z->ny - 1)
            lend_line(u + (long)(z->ny - 1) * z->pitch + 1, north, 1, nx, lend);
    }
}

/* The first residual is that of the initial boundary values. */
static void lu_carried_reset(struct mz *mz, int zone)
{
    const struct mz_zone *z = &mz->zone[zone];
    for (int k = 1; k < z->nz - 1; k++) {
        lend_plane(mz, zone, k, 1, z->ny - 1, LEND);
        lend_plane(mz, zone, k, 1, z->ny - 1, GIVE_BACK);
    }
}

/* ---- a thread's strips of all planes --------------------------------------------------------- */

/* A thread's part of a zone's sweep. */
struct lu_part {
    struct mz *mz;
    const struct mz_zone *z;
    struct lu_strips strips;
    struct lu_team team;
    struct lu_room room;
    int zone, thread, begin, end; /* strips begin .. end-1 */
};

static struct lu_part part_of(struct mz *mz, struct mz_work *work, int zone, int thread)
{
    const struct mz_zone *z = &mz->zone[zone];
    struct lu_part p = {.mz = mz,
                        .z = z,
                        .strips = strips_of(z->nx, z->ny),
                        .team = team_of(mz, work),
                        .room = room_of(mz, work->scratch[thread]),
                        .zone = zone,
                        .thread = thread};
    p.begin = thread * p.strips.count / p.team.threads;
    p.end = (thread + 1) * p.strips.count / p.team.threads;
    memset(p.room.behind, 0, (size_t)(p.strips.count * p.strips.row) * sizeof(double));
    memset(p.room.nothing, 0, (size_t)p.strips.row * sizeof(double));
    return p;
}

/* Until `thread` has finished `planes` planes of this step. */
static void wait_for(const struct lu_team *t, int thread, long planes)
{
    for (int spins = 0; atomic_load_explicit(&t->done[8 * thread], memory_order_acquire) < planes;)
        if (++spins > 1000)
            sched_yield();
}

static void announce(const struct lu_team *t, int thread, long planes)
{
    atomic_store_explicit(&t->done[8 * thread], planes, memory_order_release);
}

/* Strip number `strip` of plane k, in a sweep that goes up or down: what the thread's neighbours
 * leave and want is in `handed`. */
static struct lu_strip strip_at(const struct lu_part *p, int strip, int k, bool up)
{
    const long row = p->strips.row, margin = (long)LU_STRIP_MARGIN * LU_STRIP_STEP;
    const int first = up ? p->begin : p->end - 1, last = up ? p->end - 1 : p->begin;
    const int before = p->thread + (up ? -1 : 1);
    const bool none = before < 0 || before >= p->team.threads;
    double *const handed = p->team.handed + (long)k * row + margin;
    const long thread = row * p->mz->mesh->points[2];
    struct lu_strip s = {.nx = p->z->nx - 2, .rows = p->z->ny - 2 - strip * LANES};
    s.j0 = 1 + strip * LANES;
    s.w = p->team.w + ((long)k * p->strips.count + strip) * row + margin;
    s.behind = p->room.behind + strip * row + margin;
    s.beside = strip == last ? handed + p->thread * thread : p->room.beside + margin;
    s.beside_in = strip != first ? p->room.beside + margin
                  : none         ? p->room.nothing + margin
                                 : handed + before * thread;
    s.rows = s.rows < LANES ? s.rows : LANES;
    return s;
}

static void lower_pass(struct mz *mz, struct mz_work *work, int zone, int thread)
{
    const struct lu_part p = part_of(mz, work, zone, thread);
    const struct mz_zone *z = p.z;
    const int j0 = 1 + p.begin * LANES, end = 1 + p.end * LANES;
    const int j1 = end < z->ny - 1 ? end : z->ny - 1;
    struct rhs_sweep sweep;
    lend_plane(mz, zone, 1, j0, j1, LEND);
    rhs_begin_rows(&sweep, mz, zone, mz_zone_u(mz, zone), mz->forcing + MZ_VARS * z->first,
                   p.room.w, plane_room(z->plane), p.room.rhs, j0, j1);
    for (int k = 1; k < z->nz - 1; k++) {
        if (k < z->nz - 2)
            lend_plane(mz, zone, k + 1, j0, j1, LEND);
        const double *prim = rhs_plane(&sweep, k);
        lend_plane(mz, zone, k, j0, j1, GIVE_BACK);
        if (thread > 0)
            wait_for(&p.team, thread - 1, k);
        for (int s = p.begin; s < p.end; s++) {
            const struct lu_strip strip = strip_at(&p, s, k, true);
            lu_strip_lower(mz, z, &strip, sweep.w, sweep.size, prim);
        }
        announce(&p.team, thread, k);
    }
}

static void upper_pass(struct mz *mz, struct mz_work *work, int zone, int thread)
{
    const struct lu_part p = part_of(mz, work, zone, thread);
    const struct mz_zone *z = p.z;
    const int planes = z->nz - 2;
    for (int k = planes; k > 0; k--) {
        double *u = mz_zone_u(mz, zone) + k * z->plane;
        if (thread < p.team.threads - 1)
            wait_for(&p.team, thread + 1, 2 * planes + 1 - k);
        for (int s = p.end - 1; s >= p.begin; s--) {
            const struct lu_strip strip = strip_at(&p, s, k, false);
            lu_strip_upper(mz, z, &strip, u, p.room.rows);
        }
        announce(&p.team, thread, 2 * planes + 1 - k);
    }
}

/* A thread waits only for parts of smaller number, so that the parts may also run one after
 * another.
 */
static void lower_part(struct mz *mz, struct mz_work *work, int zone, int t)
{
    if (t < team_of(mz, work).threads)
        lower_pass(mz, work, zone, t);
}

static void upper_part(struct mz *mz, struct mz_work *work, int zone, int t)
{
    const int threads = team_of(mz, work).threads;
    if (t < threads)
        upper_pass(mz, work, zone, threads - 1 - t);
}

static void lu_step(struct mz *mz, struct mz_work *work, int zone)
{
    const struct lu_team team = team_of(mz, work);
    for (int t = 0; t < team.threads; t++)
        announce(&team, t, 0);
    mz_parallel(mz, work, zone, lower_part);
    mz_parallel(mz, work, zone, upper_part);
}

static const struct mz_launch launches[] = {
    {"lu_faces", ZONE_FACES, "ukzd", 0},  {"rhs_points", ZONE_POINTS, "upgwcz", 0},
    {"lu_faces", ZONE_FACES, "ukzd", 1},  {"lu_lower", ZONE_RUNS, "wpczr", 0},
    {"lu_upper", ZONE_RUNS, "uwpczf", 0}, {.kernel = NULL},
};

const struct mz_ops lu_ops = {
    .name = "lu-mz",
    .summary = "successive over-relaxation sweeps on 4x4 equal zones",
    .ratio = 1.0,
    .ratio_s = 1.0,
    .zones = {4, 4},
    .unit_zones = true,
    .error_margin = 1,
    .work = {1984.77, -10923.3, 27770.9, -144010.0},
    .scratch = lu_scratch,
    .team_scratch = lu_team_scratch,
    .carried = lu_carried,
    .carried_reset = lu_carried_reset,
    .step = lu_step,
    .text = "npb_mz/kernels/lu.c",
    .launches = launches,
    .device_scratch = 0,
};
