/* npb_mz/lu.c – LU-MZ: a step is one symmetric successive over-relaxation, kernels/lu.c with LANES
 * rows of a plane in the lanes.
 *
 * Lane l of a strip of LANES rows works on the row j0 + l and is l points behind lane 0: in step c
 * it is at i = c - l, so that what it needs of the row before was computed one step earlier by the
 * lane before. Two passes over a zone, plane by plane: upwards the right-hand side and the lower
 * sweep while the plane is in cache; downwards the upper sweep and the update of u. Between them w
 * lies in the order of the steps. A team shares out the strips; a thread follows the one before by
 * a plane.
 *
 * The residual is that of the boundary values before the last exchange. The zone carries these and
 * lends them to u while the residual is computed, so that the residual itself need not be kept. */
#include "npb_mz/rhs.h"

#include "npb_mz/lanes.h"
#include "npb_mz/kernels/lu.c"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum {
    STEP = MZ_VARS * LANES, /* doubles of one vector of five a step */
    MARGIN = LANES,         /* steps before the first and after the last that may be read */
    NODE = MZ_VARS          /* fields of a node */
};

typedef long lanes_mask __attribute__((vector_size(8 * LANES)));

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
    s.row = (long)(s.steps + 2 * MARGIN) * STEP;
    return s;
}

/* A thread's scratch, each part of whole cache lines. */
struct lu_room {
    double *rhs;     /* rhs_scratch() doubles */
    double *w;       /* [MZ_VARS][plane] right-hand side of one plane */
    double *behind;  /* [count][row] shares in the equations of the next plane's strips */
    double *beside;  /* [row] share of the last strip's rows in the equations of the next strip */
    double *nothing; /* [row] zeros */
    double *rows;    /* [MZ_VARS][LANES][rows_pitch] corrections of a strip, rows again */
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

static long rows_pitch(int nx)
{
    return lanes_ceil(nx - 2 + LANES - 1) + 2 * MARGIN;
}

static size_t lu_scratch(const struct mz *mz)
{
    const struct lu_strips s = strips_of(mz->most_nx, mz->most_ny);
    return whole_lines(rhs_scratch(mz)) + MZ_VARS * plane_room(mz->most_plane) +
           (s.count + 2) * s.row + STEP * rows_pitch(mz->most_nx);
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

/* ---- a strip --------------------------------------------------------------------------------- */

struct lu_equations {
    struct lu_axis axis[3];
    struct lu_diagonal diagonal;
};

static struct lu_equations equations_of(const struct mz *mz, double sign)
{
    const double *c = (const double *)&mz->consts;
    return (struct lu_equations){{lu_axis(c, 0, sign), lu_axis(c, 1, sign), lu_axis(c, 2, sign)},
                                 lu_diagonal(c)};
}

/* Where a strip reads and writes; all but `field` begin at step 0. */
struct lu_strip {
    double *w;               /* between the sweeps */
    const double *beside_in; /* shares of the neighbouring strip */
    double *beside, *behind;
    int nx, rows; /* interior points of a row, rows of the zone among the LANES */
};

static inline struct lu_five load_five(const double *at)
{
    return (struct lu_five){LOAD(at, 0), LOAD(at, LANES), LOAD(at, 2 * LANES), LOAD(at, 3 * LANES),
                            LOAD(at, 4 * LANES)};
}

static inline void store_five(double *at, struct lu_five v)
{
    STORE(at, 0, v.r);
    STORE(at, LANES, v.x);
    STORE(at, 2 * LANES, v.y);
    STORE(at, 3 * LANES, v.z);
    STORE(at, 4 * LANES, v.e);
}

/* Zero in the lanes that are outside the zone at step c. */
static inline struct lu_five inside(struct lu_five v, const struct lu_strip *s, int c)
{
    lanes_mask in;
    for (int l = 0; l < LANES; l++)
        in[l] = l < s->rows && c - l >= 1 && c - l <= s->nx ? -1L : 0L;
    v.r = (lanes)((lanes_mask)v.r & in);
    v.x = (lanes)((lanes_mask)v.x & in);
    v.y = (lanes)((lanes_mask)v.y & in);
    v.z = (lanes)((lanes_mask)v.z & in);
    v.e = (lanes)((lanes_mask)v.e & in);
    return v;
}

#if LANES == 4
#define UP(own, other)   __builtin_shufflevector(other, own, 3, 4, 5, 6)
#define DOWN(own, other) __builtin_shufflevector(own, other, 1, 2, 3, 4)
#else
#define UP(own, other)   __builtin_shufflevector(other, own, 7, 8, 9, 10, 11, 12, 13, 14)
#define DOWN(own, other) __builtin_shufflevector(own, other, 1, 2, 3, 4, 5, 6, 7, 8)
#endif

/* Each lane receives from the lane before, the first one from the last of the other strip. */
static inline struct lu_five shift_up(struct lu_five own, struct lu_five other)
{
    return (struct lu_five){UP(own.r, other.r), UP(own.x, other.x), UP(own.y, other.y),
                            UP(own.z, other.z), UP(own.e, other.e)};
}

/* Each lane receives from the lane after, the last one from the first of the other strip. */
static inline struct lu_five shift_down(struct lu_five own, struct lu_five other)
{
    return (struct lu_five){DOWN(own.r, other.r), DOWN(own.x, other.x), DOWN(own.y, other.y),
                            DOWN(own.z, other.z), DOWN(own.e, other.e)};
}

/* LANES steps from c on of a field: lane l is at point c - l of its row. */
static inline void gather(const double *field, const long row[LANES], int c, lanes t[LANES])
{
    for (int l = 0; l < LANES; l++)
        t[l] = LOAD(field, row[l] + c - l);
    lanes_transpose(t);
}

/* Shares on their way along i and j, from the step before. */
struct lu_shares {
    struct lu_five along, across;
};

/* A node's correction goes to its three neighbours. */
static inline __attribute__((always_inline)) void send(const struct lu_equations *q,
                                                       const struct lu_strip *s,
                                                       struct lu_shares *shares, struct lu_node n,
                                                       struct lu_five w, int c)
{
    shares->along = lu_send(q->axis[0], 0, n, w);
    shares->across = lu_send(q->axis[1], 1, n, w);
    store_five(s->beside + c * STEP, shares->across);
    store_five(s->behind + c * STEP, lu_send(q->axis[2], 2, n, w));
}

static inline __attribute__((always_inline)) void lower_step(const struct lu_equations *q,
                                                             const struct lu_strip *s,
                                                             struct lu_shares *shares,
                                                             struct lu_node n, struct lu_five w,
                                                             int c, bool edge)
{
    const struct lu_five other = load_five(s->beside_in + (c + LANES - 1) * STEP);
    w = lu_sum(w, load_five(s->behind + c * STEP));
    w = lu_sum(w, lu_sum(shares->along, shift_up(shares->across, other)));
    w = lu_relax(q->diagonal, n, w);
    if (edge)
        w = inside(w, s, c);
    store_five(s->w + c * STEP, w);
    send(q, s, shares, n, w, c);
}

static inline __attribute__((always_inline)) void upper_step(const struct lu_equations *q,
                                                             const struct lu_strip *s,
                                                             struct lu_shares *shares,
                                                             struct lu_node n, int c, bool edge,
                                                             lanes correction[MZ_VARS])
{
    const struct lu_five other = load_five(s->beside_in + (c - LANES + 1) * STEP);
    struct lu_five sum = load_five(s->behind + c * STEP);
    sum = lu_sum(sum, lu_sum(shares->along, shift_down(shares->across, other)));
    struct lu_five w = lu_sum(load_five(s->w + c * STEP), lu_relax(q->diagonal, n, sum));
    if (edge)
        w = inside(w, s, c);
    send(q, s, shares, n, w, c);
    w = lu_rest(n, w);
    correction[0] = LU_FACTOR * w.r;
    correction[1] = LU_FACTOR * w.x;
    correction[2] = LU_FACTOR * w.y;
    correction[3] = LU_FACTOR * w.z;
    correction[4] = LU_FACTOR * w.e;
}

/* Offsets of the strip's rows; rows beyond the zone repeat the last one. */
static void set_rows(const struct mz_zone *z, int j0, long row[LANES])
{
    for (int l = 0; l < LANES; l++)
        row[l] = (long)(j0 + l < z->ny - 1 ? j0 + l : z->ny - 2) * z->pitch;
}

static bool at_edge(const struct lu_strip *s, int c)
{
    return s->rows < LANES || c < LANES || c + LANES - 1 > s->nx;
}

static inline __attribute__((always_inline)) void lower_block(
    const struct lu_equations *q, const struct lu_strip *s, struct lu_shares *shares,
    const struct rhs_sweep *sweep, const double *prim, const long row[LANES], int c, bool edge)
{
    lanes w[MZ_VARS][LANES], p[NODE][LANES];
    for (int m = 0; m < MZ_VARS; m++)
        gather(sweep->w + m * sweep->size, row, c, w[m]);
    for (int m = 0; m < NODE; m++)
        gather(prim + m * sweep->zone->plane, row, c, p[m]);
    for (int i = 0; i < LANES; i++)
        lower_step(q, s, shares, (struct lu_node){p[0][i], p[1][i], p[2][i], p[3][i], p[4][i]},
                   (struct lu_five){w[0][i], w[1][i], w[2][i], w[3][i], w[4][i]}, c + i, edge);
}

static void lower_strip(const struct lu_equations *q, const struct lu_strip *s,
                        const struct rhs_sweep *sweep, const double *prim, int j0)
{
    struct lu_shares shares = {0};
    long row[LANES];
    set_rows(sweep->zone, j0, row);
    for (int c = 1; c < s->nx + LANES; c += LANES)
        if (at_edge(s, c))
            lower_block(q, s, &shares, sweep, prim, row, c, true);
        else
            lower_block(q, s, &shares, sweep, prim, row, c, false);
}

static inline __attribute__((always_inline)) void upper_block(
    const struct lu_equations *q, const struct lu_strip *s, struct lu_shares *shares,
    const double *u, long field, const long row[LANES], int c, bool edge, double *rows, long pitch)
{
    lanes t[MZ_VARS][LANES], out[LANES][MZ_VARS];
    for (int m = 0; m < MZ_VARS; m++)
        gather(u + m * field, row, c, t[m]);
    for (int i = LANES - 1; i >= 0; i--)
        upper_step(q, s, shares, lu_node(t[0][i], t[1][i], t[2][i], t[3][i], t[4][i]), c + i, edge,
                   out[i]);
    for (int m = 0; m < MZ_VARS; m++) {
        lanes r[LANES];
        for (int i = 0; i < LANES; i++)
            r[i] = out[i][m];
        lanes_transpose(r);
        for (int l = 0; l < LANES; l++)
            STORE(rows, (m * LANES + l) * pitch + MARGIN + c - l, r[l]);
    }
}

/* u of the strip's rows += corrections */
static void add_rows(const struct mz_zone *z, double *u, const struct lu_strip *s,
                     const double *rows)
{
    const long pitch = rows_pitch(z->nx);
    for (int m = 0; m < MZ_VARS; m++)
        for (int l = 0; l < s->rows; l++) {
            double *to = u + m * z->volume + (long)l * z->pitch;
            const double *from = rows + (m * LANES + l) * pitch + MARGIN;
            for (int i = 1; i <= s->nx; i++)
                to[i] += from[i];
        }
}

static void upper_strip(const struct lu_equations *q, const struct lu_strip *s,
                        const struct mz_zone *z, double *u, int j0, double *rows)
{
    struct lu_shares shares = {0};
    const long pitch = rows_pitch(z->nx);
    long row[LANES];
    set_rows(z, j0, row);
    for (int c = lanes_ceil(s->nx + LANES - 1) - LANES + 1; c > 0; c -= LANES)
        if (at_edge(s, c))
            upper_block(q, s, &shares, u, z->volume, row, c, true, rows, pitch);
        else
            upper_block(q, s, &shares, u, z->volume, row, c, false, rows, pitch);
    add_rows(z, u + (long)j0 * z->pitch, s, rows);
}

/* ---- a thread's strips of all planes --------------------------------------------------------- */

/* A thread's part of a zone's sweep. */
struct lu_part {
    struct mz *mz;
    const struct mz_zone *z;
    struct lu_strips strips;
    struct lu_team team;
    struct lu_room room;
    struct lu_equations equations;
    int zone, thread, begin, end; /* strips begin .. end-1 */
};

static struct lu_part part_of(struct mz *mz, struct mz_work *work, int zone, int thread,
                              double sign)
{
    const struct mz_zone *z = &mz->zone[zone];
    struct lu_part p = {.mz = mz,
                        .z = z,
                        .strips = strips_of(z->nx, z->ny),
                        .team = team_of(mz, work),
                        .room = room_of(mz, work->scratch[thread]),
                        .equations = equations_of(mz, sign),
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
    const long row = p->strips.row, margin = (long)MARGIN * STEP;
    const int first = up ? p->begin : p->end - 1, last = up ? p->end - 1 : p->begin;
    const int before = p->thread + (up ? -1 : 1);
    const bool none = before < 0 || before >= p->team.threads;
    double *const handed = p->team.handed + (long)k * row + margin;
    const long thread = row * p->mz->mesh->points[2];
    struct lu_strip s = {.nx = p->z->nx - 2, .rows = p->z->ny - 2 - strip * LANES};
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
    const struct lu_part p = part_of(mz, work, zone, thread, 1.0);
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
            lower_strip(&p.equations, &strip, &sweep, prim, 1 + s * LANES);
        }
        announce(&p.team, thread, k);
    }
}

static void upper_pass(struct mz *mz, struct mz_work *work, int zone, int thread)
{
    const struct lu_part p = part_of(mz, work, zone, thread, -1.0);
    const struct mz_zone *z = p.z;
    const int planes = z->nz - 2;
    for (int k = planes; k > 0; k--) {
        double *u = mz_zone_u(mz, zone) + k * z->plane;
        if (thread < p.team.threads - 1)
            wait_for(&p.team, thread + 1, 2 * planes + 1 - k);
        for (int s = p.end - 1; s >= p.begin; s--) {
            const struct lu_strip strip = strip_at(&p, s, k, false);
            upper_strip(&p.equations, &strip, z, u, 1 + s * LANES, p.room.rows);
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
    {"lu_faces", MZ_FACES, "ukzd", 0},        {"rhs_prims", MZ_POINTS, "upz", 0},
    {"rhs_points", MZ_INTERIOR, "upgwcz", 0}, {"lu_faces", MZ_FACES, "ukzd", 1},
    {"lu_sweep", MZ_LINES_Y, "wpczdr", 1},    {"lu_sweep", MZ_LINES_Y, "wpczdf", -1},
    {"lu_update", MZ_INTERIOR, "uwpz", 0},    {.kernel = NULL},
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
