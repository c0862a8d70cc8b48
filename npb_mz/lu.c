/* npb_mz/lu.c – LU-MZ: a step is one symmetric successive over-relaxation, by strips (lu_strip.h).
 *
 * Two passes over a zone, plane by plane: upwards the right-hand side of a few rows and the lower
 * sweep over them; downwards the upper sweep and the update of u. Between them w lies in the order
 * of the strips' steps. A team shares out the strips; a thread follows the one before by a plane.
 *
 * The residual is that of the boundary values before the last exchange. The zone carries these and
 * lends them to the window of the right-hand side, so that the residual itself need not be kept. */
#include "npb_mz/lu_strip.h"
#include "npb_mz/rhs.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* Sizes of a zone's strips. */
struct lu_strips {
    int count;   /* strips of a plane */
    long row;    /* doubles of a strip's steps, margins included */
    long inputs; /* doubles of a row of right-hand sides behind a record of zeros */
};

static struct lu_strips strips_of(int nx, int ny)
{
    struct lu_strips s;
    s.count = lanes_ceil(ny - 2) / LANES;
    s.row = (long)(lu_strip_steps(nx - 2) + 2 * LU_STRIP_MARGIN) * LU_STRIP_STEP;
    s.inputs = (1 + rhs_inner(nx)) * RHS_STATE;
    return s;
}

/* A thread's scratch, each part of whole cache lines. */
struct lu_room {
    double *rhs;    /* rhs_scratch() doubles */
    double *inputs; /* [LU_STRIPS][LANES] rows of right-hand sides */
    double *behind; /* [count][row] shares in the equations of the next plane's strips */
    double *
        beside; /* [2][row] shares of a strip's rows in the equations of the next strip, in turns */
    double *nothing; /* [row] zeros */
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

static size_t lu_scratch(const struct mz *mz)
{
    const struct lu_strips s = strips_of(mz->most_nx, mz->most_ny);
    return whole_lines(rhs_scratch(mz)) + (LU_STRIPS * LANES * s.inputs + RHS_STATE) +
           (s.count + 3) * s.row;
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
    r.inputs = r.rhs + whole_lines(rhs_scratch(mz));
    r.behind = r.inputs + LU_STRIPS * LANES * s.inputs + RHS_STATE;
    r.beside = r.behind + s.count * s.row;
    r.nothing = r.beside + 2 * s.row;
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

/* Where the values of a row's first boundary point lie, and from component to component: in one
 * plane west, east, south, north, each [m][along]. */
static double *kept_of(const struct mz_zone *z, double *carried, int k, int j, long *field)
{
    const int nx = z->nx - 2, ny = z->ny - 2;
    double *kept = carried + (k - 1) * faces_size(z);
    *field = j > 0 && j <= ny ? ny : nx;
    if (j > 0 && j <= ny)
        return kept + j - 1;
    return kept + 2 * MZ_VARS * ny + (j > 0) * MZ_VARS * nx;
}

static void swap(double *a, double *b)
{
    const double t = *a;
    *a = *b;
    *b = t;
}

/* Exchanges the boundary values of row j, in the window, for those carried. Rows of other threads'
 * strips keep theirs, which nobody reads. */
static void lend(const struct rhs_sweep *s, int k, int j, double *row)
{
    const struct mz_zone *z = s->zone;
    long field;
    if (k < 1 || k > z->nz - 2)
        return;
    double *kept = kept_of(z, s->lender, k, j, &field);
    if (j >= s->j0 && j < s->j1)
        for (int m = 0; m < MZ_VARS; m++) {
            swap(&row[rhs_index(m, 0)], &kept[m * field]);
            swap(&row[rhs_index(m, z->nx - 1)], &kept[(MZ_VARS + m) * field]);
        }
    else if ((j == 0 && s->j0 == 1) || (j == z->ny - 1 && s->j1 == j))
        for (int m = 0; m < MZ_VARS; m++)
            for (int i = 1; i < z->nx - 1; i++)
                swap(&row[rhs_index(m, i)], &kept[m * field + i - 1]);
}

/* The first residual is that of the initial boundary values. */
static void lu_carried_reset(struct mz *mz, int zone)
{
    const struct mz_zone *z = &mz->zone[zone];
    long field;
    for (int k = 1; k < z->nz - 1; k++)
        for (int j = 0; j < z->ny; j++) {
            double *kept = kept_of(z, mz->carried + z->carried, k, j, &field);
            const double *u = mz_zone_u(mz, zone) + k * z->plane + (long)j * z->pitch;
            const bool ends = j > 0 && j < z->ny - 1;
            for (int m = 0; m < MZ_VARS; m++, u += z->volume)
                if (ends)
                    kept[m * field] = u[0], kept[(MZ_VARS + m) * field] = u[z->nx - 1];
                else
                    memcpy(kept + m * field, u + 1, field * sizeof *u);
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
    const int turn = (up ? strip - first : first - strip) % 2;
    struct lu_strip s = {.nx = p->z->nx - 2, .rows = p->z->ny - 2 - strip * LANES};
    s.w = p->team.w + ((long)k * p->strips.count + strip) * row + margin;
    s.behind = p->room.behind + strip * row + margin;
    s.beside = strip == last ? handed + p->thread * thread : p->room.beside + turn * row + margin;
    s.beside_in = strip != first ? p->room.beside + (1 - turn) * row + margin
                  : none         ? p->room.nothing + margin
                                 : handed + before * thread;
    s.rows = s.rows < LANES ? s.rows : LANES;
    return s;
}

/* The right-hand sides of a strip's rows are made. */
static void set_inputs(struct rhs_sweep *sweep, const struct lu_part *p, int strip,
                       struct lu_strip *s, double *inputs)
{
    const int j = 1 + strip * LANES;
    for (int l = 0; l < LANES; l++) {
        const int row = l < s->rows ? l : s->rows - 1;
        double *w = inputs + row * p->strips.inputs;
        if (row == l) {
            memset(w, 0, RHS_STATE * sizeof *w);
            rhs_row(sweep, j + l, w + RHS_STATE);
        }
        s->rhs[l] = w + RHS_STATE;
        s->prim[l] = rhs_prims(sweep, j + row);
    }
}

static void lower_plane(struct rhs_sweep *sweep, const struct lu_part *p, int k)
{
    struct lu_strip s[LU_STRIPS];
    for (int strip = p->begin; strip < p->end;) {
        int count = 0;
        for (; count < LU_STRIPS && strip < p->end; count++, strip++) {
            s[count] = strip_at(p, strip, k, true);
            set_inputs(sweep, p, strip, &s[count],
                       p->room.inputs + count * LANES * p->strips.inputs);
        }
        lu_strip_lower(p->mz, s, count);
    }
}

static void lower_pass(struct mz *mz, struct mz_work *work, int zone, int thread)
{
    const struct lu_part p = part_of(mz, work, zone, thread);
    const struct mz_zone *z = p.z;
    const int end = 1 + p.end * LANES;
    struct rhs_sweep sweep = {.mz = mz,
                              .zone = z,
                              .u = mz_zone_u(mz, zone),
                              .forcing = mz->forcing + MZ_VARS * z->first,
                              .j0 = 1 + p.begin * LANES,
                              .j1 = end < z->ny - 1 ? end : z->ny - 1,
                              .lend = lend,
                              .lender = mz->carried + z->carried};
    rhs_begin(&sweep, p.room.rhs, 1);
    for (int k = 1; k < z->nz - 1; k++) {
        rhs_plane(&sweep, k);
        if (thread > 0)
            wait_for(&p.team, thread - 1, k);
        lower_plane(&sweep, &p, k);
        announce(&p.team, thread, k);
    }
}

static void upper_plane(const struct lu_part *p, int k)
{
    const struct mz_zone *z = p->z;
    struct lu_strip s[LU_STRIPS];
    for (int strip = p->end - 1; strip >= p->begin;) {
        int count = 0;
        for (; count < LU_STRIPS && strip >= p->begin; count++, strip--) {
            double *u =
                mz_zone_u(p->mz, p->zone) + k * z->plane + (1 + strip * LANES) * (long)z->pitch + 1;
            s[count] = strip_at(p, strip, k, false);
            s[count].field = z->volume;
            for (int l = 0; l < LANES; l++)
                s[count].u[l] = u + (l < s[count].rows ? l : s[count].rows - 1) * z->pitch;
        }
        lu_strip_upper(p->mz, s, count);
    }
}

static void upper_pass(struct mz *mz, struct mz_work *work, int zone, int thread)
{
    const struct lu_part p = part_of(mz, work, zone, thread);
    const int planes = p.z->nz - 2;
    for (int k = planes; k > 0; k--) {
        if (thread < p.team.threads - 1)
            wait_for(&p.team, thread + 1, 2 * planes + 1 - k);
        upper_plane(&p, k);
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
