/* npb_mz/lu.c – LU-MZ: a step is one symmetric successive over-relaxation (SSOR), in streams
 * (lu_stream.h).
 *
 * Two passes over a zone, plane by plane: upwards the right-hand side of a few rows and the lower
 * sweep over them; downwards the upper sweep and the update of u. Between the passes corrections
 * and nodes are stored in the order of the streams' steps. The strips of a plane are divided among
 * the threads; each thread is a plane behind the one before it.
 *
 * The residual uses the boundary values from before the last exchange. A zone carries those, so
 * that the residual can be computed when it is needed and is not stored. */
#include "npb_mz/lu_stream.h"

#include <sched.h>
#include <stdatomic.h>

/* Sizes of a zone's streams. */
struct lu_sizes {
    int strips;  /* of a plane */
    long steps;  /* doubles of a plane's steps, for any number of threads up to `width` */
    long ring;   /* doubles of a ring */
    long inputs; /* doubles of a row of right-hand sides */
};

static struct lu_sizes sizes_of(int nx, int ny, int width)
{
    struct lu_sizes s;
    s.strips = lanes_ceil(ny - 2) / LANES;
    s.steps = ((long)s.strips * lu_blocks(nx - 2) + width) * LU_BLOCK;
    s.ring = lu_ring_blocks(nx - 2) * LU_BLOCK;
    s.inputs = (lu_blocks(nx - 2) + 1) * RHS_STATE;
    return s;
}

static struct lu_sizes max_sizes(const struct mz *mz, int width)
{
    return sizes_of(mz->max_nx, mz->max_ny, width);
}

/* A thread's scratch; each part begins a cache line. */
struct lu_room {
    double *rhs;     /* rhs_scratch() doubles */
    double *inputs;  /* [2][LANES] rows of right-hand sides: of a strip and of the one before */
    double *behind;  /* contributions to the next plane */
    double *inside;  /* lu_stream_inside() */
    double *ring;    /* the last thread's: no other reads it */
    double *nothing; /* a ring of zeros */
};

/* Memory that the team shares, in work->w. */
struct lu_team {
    double *w, *node;   /* [nz] planes of steps: what the lower sweep leaves to the upper one */
    double *rings;      /* [threads][nz] rings, from a thread to the next */
    _Atomic long *done; /* [threads] planes finished in this step, a cache line each */
    int threads;
};

static long whole_lines(long doubles)
{
    return (doubles + 7) / 8 * 8;
}

static size_t lu_scratch(const struct mz *mz)
{
    const struct lu_sizes s = max_sizes(mz, 1);
    return whole_lines(rhs_scratch(mz)) + 2 * LANES * s.inputs + s.steps + s.steps / MZ_VARS +
           2 * s.ring;
}

static size_t lu_team_scratch(const struct mz *mz, int width)
{
    const struct lu_sizes s = max_sizes(mz, width);
    return (2 * s.steps + width * s.ring) * mz->mesh->points[2] + 8L * width;
}

static struct lu_room room_of(const struct mz *mz, double *scratch)
{
    const struct lu_sizes s = max_sizes(mz, 1);
    struct lu_room r = {.rhs = scratch};
    r.inputs = r.rhs + whole_lines(rhs_scratch(mz));
    r.behind = r.inputs + 2 * LANES * s.inputs;
    r.inside = r.behind + s.steps;
    r.ring = r.inside + s.steps / MZ_VARS;
    r.nothing = r.ring + s.ring;
    return r;
}

static struct lu_team team_of(const struct mz *mz, const struct mz_work *work)
{
    const struct lu_sizes s = max_sizes(mz, work->width);
    const long planes = mz->mesh->points[2];
    struct lu_team t = {.w = work->w + 1}; /* where a line of cache begins */
    t.node = t.w + s.steps * planes;
    t.threads = work->width < s.strips ? work->width : s.strips;
    t.rings = t.node + s.steps * planes;
    t.done = (_Atomic long *)(t.rings + work->width * s.ring * planes);
    return t;
}

/* ---- boundary values ------------------------------------------------------------------------- */

/* Boundary values in the layout of the walls. */
static size_t lu_carried(const struct mz_zone *z)
{
    return (size_t)mz_walls_size(z) / 2;
}

/* Keeps the boundary values that the next residual depends on. */
static void carry(struct mz *mz, int zone)
{
    const struct mz_zone *z = &mz->zone[zone];
    double *to[MZ_SIDES];
    mz_walls_of(z, mz->carried + z->carried, to);
    for (int side = 0; side < MZ_SIDES; side++)
        memcpy(to[side], mz->walled[zone].wall[0][side],
               (size_t)mz_wall_size(z, (enum mz_side)side) * sizeof(double));
}

/* The first residual uses the initial boundary values. */
static void lu_carried_reset(struct mz *mz, int zone)
{
    mz_walls_begin(mz, zone);
    mz_settle(mz, zone);
    carry(mz, zone);
}

/* ---- a thread's strips of all planes --------------------------------------------------------- */

/* A thread's part of a zone's sweep. */
struct lu_part {
    struct mz *mz;
    const struct mz_zone *z;
    struct lu_sizes sizes;
    struct lu_team team;
    struct lu_room room;
    int zone, thread, begin, end; /* strips begin .. end-1 */
};

static int first_strip(const struct lu_part *p, int thread)
{
    return thread * p->sizes.strips / p->team.threads;
}

static struct lu_part part_of(struct mz *mz, struct mz_work *work, int zone, int thread)
{
    const struct mz_zone *z = &mz->zone[zone];
    struct lu_part p = {.mz = mz,
                        .z = z,
                        .sizes = sizes_of(z->nx, z->ny, work->width),
                        .team = team_of(mz, work),
                        .room = room_of(mz, work->scratch[thread]),
                        .zone = zone,
                        .thread = thread};
    p.begin = first_strip(&p, thread);
    p.end = first_strip(&p, thread + 1);
    const int last = z->ny - 2 - (p.end - 1) * LANES;
    lu_stream_inside(p.room.inside, z->nx - 2, p.end - p.begin, last < LANES ? last : LANES);
    memset(p.room.behind, 0,
           lu_stream_blocks(z->nx - 2, p.end - p.begin) * LU_BLOCK * sizeof(double));
    memset(p.room.nothing, 0, p.sizes.ring * sizeof(double));
    return p;
}

/* Waits until `thread` has finished `planes` planes of this step. */
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

static double *ring_of(const struct lu_part *p, int thread, int k)
{
    return p->team.rings + ((long)thread * p->z->nz + k) * p->sizes.ring;
}

/* The stream of this thread in plane k, of the lower sweep (up) or the upper one. */
static struct lu_stream stream_of(const struct lu_part *p, int k, bool up)
{
    const int from = p->thread + (up ? -1 : 1), to = p->thread + (up ? 1 : -1);
    const bool first = from < 0 || from >= p->team.threads, last = to < 0 || to >= p->team.threads;
    const long at =
        k * p->sizes.steps + (p->begin * lu_blocks(p->z->nx - 2) + p->thread) * (long)LU_BLOCK;
    return (struct lu_stream){.mz = p->mz,
                              .nx = p->z->nx - 2,
                              .strips = p->end - p->begin,
                              .w = p->team.w + at,
                              .node = p->team.node + at,
                              .behind = p->room.behind,
                              .ring = last ? p->room.ring : ring_of(p, p->thread, k),
                              .other = first ? p->room.nothing : ring_of(p, from, k),
                              .other_strips =
                                  first ? 0 : first_strip(p, from + 1) - first_strip(p, from),
                              .inside = p->room.inside};
}

/* Computes the right-hand sides of a strip's rows. */
static void set_inputs(struct rhs_sweep *sweep, const struct lu_part *p, int strip,
                       struct lu_rows *r)
{
    const int j = 1 + strip * LANES, last = p->z->ny - 2 - j;
    double *inputs = p->room.inputs + strip % 2 * LANES * p->sizes.inputs;
    for (int l = 0; l < LANES; l++) {
        const int row = l < last ? l : last;
        if (row == l)
            rhs_row(sweep, j + l, inputs + l * p->sizes.inputs);
        r->rhs[l] = inputs + row * p->sizes.inputs;
        r->flow[l] = rhs_flows(sweep, j + row);
        r->node[l] = rhs_nodes(sweep, j + row);
    }
}

static void lower_plane(struct rhs_sweep *sweep, const struct lu_part *p, int k)
{
    struct lu_stream s = stream_of(p, k, true);
    struct lu_rows rows[2];
    for (int i = 0; i < s.strips; i++) {
        set_inputs(sweep, p, p->begin + i, &rows[i % 2]);
        lu_stream_lower(&s, i, &rows[i > 0 ? (i + 1) % 2 : 0], &rows[i % 2]);
    }
    lu_stream_lower(&s, s.strips, &rows[(s.strips + 1) % 2], &rows[(s.strips + 1) % 2]);
}

static void lower_pass(struct mz *mz, struct mz_work *work, int zone, int thread)
{
    const struct lu_part p = part_of(mz, work, zone, thread);
    const struct mz_zone *z = p.z;
    const int end = 1 + p.end * LANES;
    struct rhs_sweep sweep = rhs_sweep_of(mz, zone);
    sweep.j0 = 1 + p.begin * LANES;
    sweep.j1 = end < z->ny - 1 ? end : z->ny - 1;
    mz_walls_of(z, mz->carried + z->carried, sweep.wall);
    rhs_begin(&sweep, p.room.rhs, 1);
    for (int k = 1; k < z->nz - 1; k++) {
        rhs_plane(&sweep, k);
        if (thread > 0)
            wait_for(&p.team, thread - 1, k);
        lower_plane(&sweep, &p, k);
        announce(&p.team, thread, k);
    }
}

static struct lu_rows rows_of(const struct lu_part *p, int strip, int k)
{
    const struct mz_zone *z = p->z;
    const int j = 1 + strip * LANES;
    double *u = mz_zone_u(p->mz, p->zone) + k * z->plane + 1;
    struct lu_rows r = {.field = z->volume};
    for (int l = 0; l < LANES; l++)
        r.u[l] = u + (j + l < z->ny - 1 ? j + l : z->ny - 2) * (long)z->pitch;
    return r;
}

static void upper_plane(const struct lu_part *p, int k)
{
    struct lu_stream s = stream_of(p, k, false);
    struct lu_rows here = rows_of(p, p->end, k);
    for (int i = s.strips; i >= 0; i--) {
        const struct lu_rows before = /* the strip that comes next in this sweep */
            i > 0 ? rows_of(p, p->begin + i - 1, k) : rows_of(p, p->end - 1, k - 1);
        lu_stream_upper(&s, i, &before, &here);
        here = before;
    }
}

static void upper_pass(struct mz *mz, struct mz_work *work, int zone, int thread)
{
    const struct lu_part p = part_of(mz, work, zone, thread);
    const int planes = p.z->nz - 2, past = 1 + p.end * LANES;
    const int end = past < p.z->ny - 1 ? past : p.z->ny - 1;
    for (int k = planes; k > 0; k--) {
        if (thread < p.team.threads - 1)
            wait_for(&p.team, thread + 1, 2 * planes + 1 - k);
        upper_plane(&p, k);
        mz_walls_keep(mz, zone, 1 + p.begin * LANES, end, k, k + 1);
        announce(&p.team, thread, 2 * planes + 1 - k);
    }
}

/* A part waits only for parts of smaller number, so one thread may run them all in order. */
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
    mz_walls_begin(mz, zone);
    mz_parallel(mz, work, zone, lower_part);
    carry(mz, zone);
    mz_parallel(mz, work, zone, upper_part);
}

static const struct mz_launch launches[] = {
    {"lu_faces", ZONE_FACES, "ukzd", 0},  {"rhs_points", ZONE_POINTS, "upgwcz", 0},
    {"lu_faces", ZONE_FACES, "ukzd", 1},  {"lu_lower", ZONE_RUNS, "wpczr", 0},
    {"lu_upper", ZONE_RUNS, "uwpczf", 0}, {.kernel = NULL},
};

static const struct mz_launch waiting[] = {
    {"lu_faces", ZONE_FACES, "ukzd", 0},
    {"lu_blocks_points", ZONE_BLOCK_POINTS, "upgwsczb", 0},
    {"lu_faces", ZONE_FACES, "ukzd", 1},
    {"lu_blocks_lower", ZONE_BLOCKS, "wpsczb", 0},
    {"lu_blocks_upper", ZONE_BLOCKS, "wpsczb", 0},
    {"lu_blocks_update", ZONE_BLOCK_POINTS, "uwpzb", 0},
    {.kernel = NULL},
};

const struct mz_ops lu_ops = {
    .name = "lu-mz",
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
    .device_scratch = BLOCK_MAIL,
    .waiting_text = "npb_mz/kernels/lu_blocks.c",
    .waiting = waiting,
};
