/* npb_mz/mz.c – opens and closes a problem and the scratch of its units. */
#include "cu/team/thread_pool.h"
#include "npb_mz/mz.h"

static void measure(struct mz *mz)
{
    for (int i = 0; i < mz->nzones; i++) {
        const struct mz_zone *z = &mz->zone[i];
        mz->max_nx = (int)mz_max(mz->max_nx, z->nx);
        mz->max_ny = (int)mz_max(mz->max_ny, z->ny);
        mz->max_pitch = (int)mz_max(mz->max_pitch, z->pitch);
        mz->max_plane = mz_max(mz->max_plane, z->plane);
    }
    mz->max_volume = mz->max_plane * mz->mesh->points[2] + ZONE_GAP;
}

/* All zones use the spacing of an average zone; see unit_zones. */
static double spacing(const struct mz *mz, int d)
{
    const double points = mz->mesh->points[d], zones = mz_zones_along(mz->ops, mz->mesh, d);
    return mz->ops->unit_zones ? 1.0 / (points / zones - 1.0) : 1.0 / ((points - 1.0) / zones);
}

static enum ek_status open_axes(struct mz *mz)
{
    static const double diffusion[3] = {0.75, 0.75, 1.0};
    const int n[3] = {mz->max_nx, mz->max_ny, mz->mesh->points[2]};
    const double dt = mz->class->dt, c3c4 = 0.1, dssp = 0.25;
    for (int d = 0; d < 3; d++) {
        struct mz_axis *a = &mz->axis[d];
        const double h = a->h = spacing(mz, d);
        a->n = n[d];
        a->at = ARENA_NEW(&mz->arena, (1 + MZ_VARS) * n[d], double);
        TRY(arena_check(&mz->arena, "an axis of %d points", n[d]));
        a->part = a->at + n[d];
        exact_axis(a, d);
        mz->consts.axis[d].tau2 = dt / (2.0 * h);
        mz->consts.axis[d].spread = dt * diffusion[d] / (h * h);
        mz->consts.axis[d].visc = dt * c3c4 / (h * h);
    }
    mz->consts.damping = dt * dssp;
    return EK_OK;
}

/* g = -R(exact solution) on interior points. */
static void set_forcing(struct mz *mz, struct mz_work *work, int zone)
{
    const struct mz_zone *z = &mz->zone[zone];
    double *g = mz_zone_forcing(mz, zone);
    exact_fill(mz, z, mz_zone_u(mz, zone));
    rhs_zone_all(mz, work, zone, mz_zone_u(mz, zone), g);
    for (int m = 0; m < MZ_VARS; m++)
        for (int k = 1; k < z->nz - 1; k++)
            for (int j = 1; j < z->ny - 1; j++) {
                long row = m * z->volume + k * z->plane + (long)j * z->pitch;
                for (int x = 1; x < z->nx - 1; x++)
                    g[row + x] = -work->w[row + x];
            }
}

/* The four special stencils at the ends of a line must not overlap. */
static enum ek_status check_zones(const struct mz *mz)
{
    for (int i = 0; i < mz->nzones; i++) {
        const struct mz_zone *z = &mz->zone[i];
        if (z->nx < 6 || z->ny < 6 || z->nz < 6)
            FAIL(EK_USAGE, "%s: zone %d has %d x %d x %d points; 6 are the least along an axis",
                 mz->ops->name, i, z->nx, z->ny, z->nz);
    }
    return EK_OK;
}

static enum ek_status open_fields(struct mz *mz)
{
    const struct mz_mesh *mesh = mz->mesh;
    mz->nzones = mz_zones_along(mz->ops, mesh, 0) * mz_zones_along(mz->ops, mesh, 1);
    mz->zone = ARENA_NEW(&mz->arena, mz->nzones, struct mz_zone);
    mz->mine = ARENA_NEW(&mz->arena, mz->nzones, bool);
    mz->walled = ARENA_NEW(&mz->arena, mz->nzones, struct mz_walled);
    TRY(arena_check(&mz->arena, "%s, %d zones", mz->ops->name, mz->nzones));
    const struct zones_size size = zones_layout(mz->ops, mesh, mz->zone);
    TRY(check_zones(mz));
    mz->points = size.points;
    mz->size_carried = size.carried;
    measure(mz);
    mz->carried = field_alloc(mz->size_carried, &mz->memory[2]);
    mz->u = field_alloc(MZ_VARS * mz->points, &mz->memory[0]);
    mz->forcing = field_alloc(MZ_VARS * size.forced, &mz->memory[1]);
    mz->walls = field_alloc(size.walls, &mz->memory[3]);
    if (!mz->u || !mz->forcing || !mz->carried || !mz->walls)
        FAIL(EK_UNAVAILABLE,
             "%s class %c: no memory for its fields, %.1f MB together; take a smaller class",
             mz->ops->name, mesh->letter, mz_bytes(mz->ops, mesh) * 1e-6);
    for (int i = 0; i < mz->nzones; i++)
        mz_walls_forget(mz, i);
    return EK_OK;
}

enum ek_status mz_open_mesh(const struct mz_ops *ops, const struct mz_class *class,
                            const struct mz_mesh *mesh, struct mz **out)
{
    NEW(struct mz, mz, 1, "%s: no memory", ops->name);
    mz->ops = ops;
    mz->class = class;
    mz->mesh = mesh;
    enum ek_status st = open_fields(mz);
    THEN(st, open_axes(mz));
    return HAND_OUT(st, mz, out, mz_close);
}

/* Zeroed pages cost nothing until they are touched, so an unclaimed zone takes no memory. Forcing
 * is computed with the exact solution in u; where zone 0 is not ours, its u is given back. */
enum ek_status mz_claim(struct mz *mz, const int *rank_of, int rank)
{
    struct mz_work *work = NULL;
    TRY(mz_work_open(mz, 1, &work));
    for (int i = 0; i < mz->nzones; i++) {
        const bool mine = !rank_of || rank_of[i] == rank;
        if (mz_shares_forcing(mz) ? i == 0 : mine && !mz->mine[i])
            set_forcing(mz, work, i);
        mz->mine[i] = mine;
    }
    if (!mz->mine[0])
        field_release(mz_zone_u(mz, 0), MZ_VARS * (size_t)mz->zone[0].volume);
    mz_work_close(work);
    mz_reset(mz);
    return EK_OK;
}

void mz_close(struct mz *mz)
{
    if (!mz)
        return;
    for (int i = 0; i < 4; i++)
        field_free(&mz->memory[i]);
    arena_free(&mz->arena);
    free(mz);
}

void mz_reset(struct mz *mz)
{
    for (int i = 0; i < mz->nzones; i++)
        mz_walls_forget(mz, i);
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < mz->nzones; i++) {
        if (!mz->mine[i])
            continue;
        exact_initial(mz, &mz->zone[i], mz_zone_u(mz, i));
        if (mz->ops->carried)
            mz->ops->carried_reset(mz, i);
    }
}

static size_t team_scratch(const struct mz *mz, int width)
{
    const size_t rhs = MZ_VARS * mz->max_volume;
    const size_t own = mz->ops->team_scratch ? mz->ops->team_scratch(mz, width) : 0;
    return own > rhs ? own : rhs;
}

enum ek_status mz_work_open(const struct mz *mz, int width, struct mz_work **out)
{
    /* 16 doubles keep threads on different cache lines, even where vectors reach beyond a row */
    const size_t w = team_scratch(mz, width);
    const size_t own = (rhs_scratch(mz) + mz->ops->scratch(mz) + 23) / 8 * 8;
    NEW(struct mz_work, work, 1, "%s: no memory", mz->ops->name);
    work->width = width;
    work->scratch = ARENA_NEW(&work->arena, width, double *);
    work->w = field_alloc(w + 16 + width * own, &work->memory);
    if (!work->scratch || !work->w) {
        mz_work_close(work);
        FAIL(EK_UNAVAILABLE, "%s: no memory for the scratch of %d threads, %.1f MB", mz->ops->name,
             width, (w + width * own) * 8e-6);
    }
    double *after = work->w + (w + 16) / 8 * 8 + 1; /* cache lines begin at element 1 */
    for (int t = 0; t < width; t++)
        work->scratch[t] = after + t * own;
    *out = work;
    return EK_OK;
}

void mz_work_close(struct mz_work *work)
{
    if (!work)
        return;
    field_free(&work->memory);
    arena_free(&work->arena);
    free(work);
}

struct part {
    struct mz *mz;
    struct mz_work *work;
    int zone;
    void (*run)(struct mz *, struct mz_work *, int zone, int t);
};

static void run_part(void *arg, int t)
{
    const struct part *p = arg;
    p->run(p->mz, p->work, p->zone, t);
}

void mz_parallel(struct mz *mz, struct mz_work *work, int zone,
                 void (*part)(struct mz *, struct mz_work *, int zone, int t))
{
    struct part p = {mz, work, zone, part};
    if (work->pool || work->width == 1) {
        thread_pool_run(work->pool, work->width, run_part, &p);
        return;
    }
#pragma omp parallel for num_threads(work->width) proc_bind(CU_BIND_PRIMARY) schedule(static, 1)
    for (int t = 0; t < work->width; t++)
        run_part(&p, t);
}

void mz_parts(const struct mz *mz, int zone, struct mz_part part[MZ_PARTS])
{
    const struct mz_zone *z = &mz->zone[zone];
    const size_t size = MZ_VARS * (size_t)z->volume;
    mz_settle(mz, zone);
    part[MZ_U] = (struct mz_part){mz_zone_u(mz, zone), size};
    part[MZ_FORCING] =
        (struct mz_part){mz_zone_forcing(mz, zone), mz_shares_forcing(mz) ? 0 : size};
    part[MZ_CARRIED] = (struct mz_part){mz->carried + z->carried, mz_carried(mz->ops, z)};
}
