/* npb_mz/program.c – an NPB-MZ solver as a program: tasks are this rank's zones, spaces are the
 * host and the devices, a step exchanges faces and advances every zone. */
#include "npb_mz/program.h"
#include "cu/cluster.h"
#include "cu/deal.h"
#include "npb_mz/checkpoint.h"
#include "npb_mz/device.h"
#include "npb_mz/faces.h"
#include "npb_mz/mz.h"
#include "src/clock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct program {
    const char *letter, *ranks_schedule, *checkpoint;
    int steps, every;
    int begun; /* step at which this run took the state up: 0, or that of the checkpoint */
    const struct mz_ops *ops;
    const struct mz_class *class;
    struct cu_set *set;
    struct mz *mz;
    int *rank_of; /* [nzones] */
    int *zone;    /* [ntasks] of a task */
    int *home;    /* [nzones] space of each zone, as faces want it */
    int ntasks;
    struct remote *remote; /* NULL where there is one rank */
    struct faces *faces;
    struct mz_work **work;             /* [units] of CPU units, NULL for devices */
    struct mz_work *judge;             /* for the verification */
    struct device **device;            /* [units] of devices, NULL for CPU units */
    double *cost, *bytes, *face_bytes; /* what policies are told of the zones */
    size_t *first, *neighbour;
};

static const struct opt options[] = {
    {"class", OPT_TEXT, offsetof(struct program, letter), "LETTER",
     "problem class: S W A B C D E F (S)", .env = NULL},
    {"steps", OPT_INT, offsetof(struct program, steps), "N",
     "time steps (those of the class; others are not verified)", .min = 1, .max = 1e6},
    {"checkpoint", OPT_TEXT, offsetof(struct program, checkpoint), "FILE",
     "save the state there, and go on from it if it exists", .env = NULL},
    {"every", OPT_INT, offsetof(struct program, every), "STEPS", "steps between two saves (50)",
     .min = 1, .max = 1e9},
    {"ranks-schedule", OPT_TEXT, offsetof(struct program, ranks_schedule), "NAME[:OPTS]",
     "policy that divides the zones among ranks (heft)", .env = NULL},
    OPT_END,
};

static void defaults(void *st, const struct bench_program *self)
{
    struct program *p = st;
    p->letter = "S";
    p->ranks_schedule = "heft";
    p->every = 50;
    p->ops = mz_find(self->name);
}

static enum ek_status plan(void *st, char *problem, size_t room, size_t *bytes)
{
    struct program *p = st;
    static const char *const letters[] = {"S", "W", "A", "B", "C", "D", "E", "F"};
    const char upper[2] = {p->letter[0] & ~0x20, 0};
    if (strlen(p->letter) != 1 || !strchr("SWABCDEF", upper[0]))
        FAIL(EK_USAGE, "unknown class '%s'%s; there are S W A B C D E F", p->letter,
             opt_suggest(upper, letters, 8));
    p->class = mz_class_find(p->ops->name, upper[0], p->steps);
    if (!p->class)
        p->class = mz_class_find(p->ops->name, upper[0], 0);
    if (!p->steps)
        p->steps = p->class->steps;
    TRY(sched_check(p->ranks_schedule, NULL));
    *bytes = mz_bytes(p->ops, p->class);
    snprintf(problem, room, "class %c, %d steps", upper[0], p->steps);
    return EK_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

static void *zeroed(size_t n, size_t size)
{
    return calloc(n ? n : 1, size);
}

static enum ek_status allocate(struct program *p, int units)
{
    const size_t n = (size_t)p->mz->nzones;
    p->rank_of = zeroed(n, sizeof *p->rank_of);
    p->zone = zeroed(n, sizeof *p->zone);
    p->home = zeroed(n, sizeof *p->home);
    p->cost = zeroed(n, sizeof *p->cost);
    p->bytes = zeroed(n, sizeof *p->bytes);
    p->first = zeroed(n + 1, sizeof *p->first);
    p->neighbour = zeroed(MZ_SIDES * n, sizeof *p->neighbour);
    p->face_bytes = zeroed(MZ_SIDES * n, sizeof *p->face_bytes);
    p->work = zeroed((size_t)units, sizeof(struct mz_work *));
    p->device = zeroed((size_t)units, sizeof(struct device *));
    if (!p->rank_of || !p->zone || !p->home || !p->cost || !p->bytes || !p->first ||
        !p->neighbour || !p->face_bytes || !p->work || !p->device)
        FAIL(EK_LACK, "%s: out of memory for %zu zones on %d units", p->ops->name, n, units);
    return EK_OK;
}

/* Every rank comes to the same division by itself: by declared cost and the ranks' speeds. */
static enum ek_status divide_among_ranks(struct program *p, const double *speed)
{
    const int ranks = cluster_size(), n = p->mz->nzones;
    struct sched_unit *unit = zeroed((size_t)ranks, sizeof *unit);
    double *cost = zeroed((size_t)n, sizeof *cost);
    enum ek_status st = EK_OK;
    if (!unit || !cost)
        st = status_fail(EK_LACK, "%s: out of memory for %d ranks", p->ops->name, ranks);
    for (int r = 0; !st && r < ranks; r++)
        unit[r] = (struct sched_unit){
            .kind = CU_CPU, .width = 1, .space = r, .speed = speed ? speed[r] : 1};
    for (int i = 0; !st && i < n; i++)
        cost[i] = mz_zone_mop(p->mz, i);
    const struct sched_job job = {
        .n = (size_t)n, .grain = 1, .ncu = ranks, .unit = unit, .cost = cost};
    if (!st)
        st = deal_tasks(p->ranks_schedule, &job, p->rank_of);
    free(unit);
    free(cost);
    return st;
}

/* Numbers this rank's zones as tasks, in their order. */
static enum ek_status claim_zones(struct program *p)
{
    const int n = p->mz->nzones;
    bool *mine = zeroed((size_t)n, sizeof *mine);
    if (!mine)
        FAIL(EK_LACK, "%s: out of memory for %d zones", p->ops->name, n);
    p->ntasks = 0;
    for (int i = 0; i < n; i++) {
        mine[i] = p->rank_of[i] == cluster_rank();
        p->home[i] = FACES_ELSEWHERE;
        if (mine[i])
            p->zone[p->ntasks++] = i;
    }
    enum ek_status st = mz_claim(p->mz, mine);
    free(mine);
    return st;
}

/* The task of a zone of this rank. */
static size_t task_of(const struct program *p, int zone)
{
    size_t task = 0;
    while (p->zone[task] != zone)
        task++;
    return task;
}

static void describe_task(struct program *p, size_t t)
{
    const struct mz *mz = p->mz;
    const int zone = p->zone[t];
    size_t at = p->first[t];
    p->cost[t] = mz_zone_mop(mz, zone);
    p->bytes[t] = (double)device_zone_bytes(mz, zone);
    for (int side = 0; side < MZ_SIDES; side++) {
        const int behind = mz->zone[zone].neighbour[side];
        if (!mz->mine[behind])
            continue;
        p->neighbour[at] = task_of(p, behind);
        p->face_bytes[at++] = (double)mz_face_size(mz, zone, (enum mz_side)side) * sizeof(double);
    }
    p->first[t + 1] = at;
}

static void describe_tasks(struct program *p, struct sched_job *job)
{
    for (int t = 0; t < p->ntasks; t++)
        describe_task(p, (size_t)t);
    *job = (struct sched_job){.n = (size_t)p->ntasks,
                              .grain = 1,
                              .cost = p->cost,
                              .bytes = p->bytes,
                              .first = p->first,
                              .neighbour = p->neighbour,
                              .face_bytes = p->face_bytes};
}

/* Scratch and devices, each on its unit's own thread: first touch, and devices belong to it. */
static enum ek_status open_units(struct program *p)
{
    enum ek_status failed = EK_OK;
#pragma omp parallel num_threads(p->set->n) proc_bind(close)
#pragma omp for schedule(static, 1)
    for (int c = 0; c < p->set->n; c++) {
        const struct cu *u = &p->set->cu[c];
        enum ek_status st = u->kind == CU_CPU ? mz_work_open(p->mz, u->width, &p->work[c])
                                              : device_open(p->mz, u->device, &p->device[c]);
        if (st) {
#pragma omp atomic write
            failed = st;
        }
    }
    return failed;
}

static enum ek_status open_program(void *st, struct cu_set *set, struct sched_job *job)
{
    struct program *p = st;
    p->set = set;
    TRY(mz_open_unclaimed(p->ops, p->class, &p->mz));
    TRY(allocate(p, set->n));
    TRY(divide_among_ranks(p, NULL));
    TRY(claim_zones(p));
    describe_tasks(p, job);
    if (cluster_size() > 1)
        TRY(remote_open(p->mz, p->rank_of, &p->remote));
    TRY(faces_open(p->mz, p->remote, set->nspaces, &p->faces));
    TRY(open_units(p));
    return mz_work_open(p->mz, 1, &p->judge);
}

static void close_units(struct program *p)
{
#pragma omp parallel num_threads(p->set->n) proc_bind(close)
#pragma omp for schedule(static, 1)
    for (int c = 0; c < p->set->n; c++) {
        if (p->work)
            mz_work_close(p->work[c]);
        if (p->device)
            device_close(p->device[c]);
    }
}

static void close_program(void *st)
{
    struct program *p = st;
    if (p->set)
        close_units(p);
    mz_work_close(p->judge);
    faces_close(p->faces);
    remote_close(p->remote);
    mz_close(p->mz);
    free(p->rank_of);
    free(p->zone);
    free(p->home);
    free(p->work);
    free(p->device);
    free(p->cost);
    free(p->bytes);
    free(p->first);
    free(p->neighbour);
    free(p->face_bytes);
}

/* ---- the verbs of a step --------------------------------------------------------------------- */

/* Tasks that follow one another need not be zones that do. */
static enum ek_status compute_on_device(struct program *p, const struct cu *cu, struct ek_range r,
                                        double *seconds)
{
    for (size_t t = r.begin; t < r.end;) {
        size_t end = t + 1;
        while (end < r.end && p->zone[end] == p->zone[end - 1] + 1)
            end++;
        TRY(device_step(p->device[cu->index], p->zone[t], p->zone[end - 1] + 1,
                        seconds + (t - r.begin)));
        t = end;
    }
    return EK_OK;
}

static enum ek_status compute(void *ctx, const struct cu *cu, struct ek_range r, double *seconds)
{
    struct program *p = ctx;
    if (cu->kind == CU_DEVICE)
        return compute_on_device(p, cu, r, seconds);
    p->work[cu->index]->crew = cu->crew;
    for (size_t t = r.begin; t < r.end; t++) {
        const double start = clock_now();
        mz_step_zone(p->mz, p->work[cu->index], p->zone[t]);
        seconds[t - r.begin] += clock_now() - start;
        if (p->remote) {
            remote_send_zone(p->remote, p->zone[t]);
            remote_progress(p->remote);
        }
    }
    return EK_OK;
}

static struct device *device_of(const struct program *p, int space)
{
    return p->device[p->set->layout.ncpu + space - 1];
}

static enum ek_status move(void *ctx, size_t task, int from, int to, size_t *bytes)
{
    struct program *p = ctx;
    if (from != CU_SPACE_HOST)
        TRY(device_get(device_of(p, from), p->zone[task], bytes));
    if (to != CU_SPACE_HOST)
        TRY(device_put(device_of(p, to), p->zone[task], bytes));
    return EK_OK;
}

/* Zones on the host whose faces other ranks have not got yet: at first all, later those that came
 * from a device. */
static void send_rest(struct program *p, struct team_share share)
{
    for (int t = share.part; t < p->ntasks; t += share.parts)
        if (p->home[p->zone[t]] == CU_SPACE_HOST)
            remote_send_zone(p->remote, p->zone[t]);
}

static enum ek_status send_faces(struct program *p, const struct cu *cu, struct team_share share,
                                 size_t *bytes)
{
    if (cu->kind == CU_DEVICE) {
        TRY(device_send_faces(p->device[cu->index], p->faces, cu->space, bytes));
        faces_send_remote(p->faces, cu->space);
    }
    if (share.parts && p->remote)
        send_rest(p, share);
    if (share.parts)
        faces_copy_host(p->faces, share.part, share.parts);
    return EK_OK;
}

static enum ek_status receive_faces(struct program *p, const struct cu *cu, struct team_share share,
                                    size_t *bytes)
{
    if (cu->kind == CU_DEVICE) {
        faces_gather(p->faces, cu->space, bytes);
        TRY(device_receive_faces(p->device[cu->index], p->faces, cu->space, bytes));
    }
    if (share.parts)
        faces_unpack_host(p->faces, share.part, share.parts, bytes);
    return EK_OK;
}

/* Send; wait for other ranks, if there are any; receive, unless nothing can come. */
static int exchange_phases(const void *ctx)
{
    const struct program *p = ctx;
    return p->remote ? 3 : p->set->nspaces > 1 ? 2 : 1;
}

static enum ek_status exchange(void *ctx, const struct cu *cu, int phase, struct team_share share,
                               size_t *bytes)
{
    struct program *p = ctx;
    if (phase == 0)
        return send_faces(p, cu, share, bytes);
    if (phase == 2 || !p->remote)
        return receive_faces(p, cu, share, bytes);
    if (share.parts && share.part == 0)
        remote_wait(p->remote);
    return EK_OK;
}

static enum ek_status rehome(void *ctx, const int *home)
{
    struct program *p = ctx;
    for (int t = 0; t < p->ntasks; t++)
        p->home[p->zone[t]] = home[t];
    return faces_plan(p->faces, p->home);
}

/* The state saved last, or the initial one. */
static enum ek_status reset(void *st)
{
    struct program *p = st;
    mz_reset(p->mz);
    p->begun = 0;
    if (p->checkpoint && !access(p->checkpoint, F_OK))
        TRY(checkpoint_load(p->checkpoint, p->mz, p->steps, &p->begun));
    if (p->remote)
        remote_begin(p->remote);
    return EK_OK;
}

/* Within a run: it keeps its own count of steps. */
static enum ek_status restore(void *ctx)
{
    struct program *p = ctx;
    const int begun = p->begun;
    TRY(reset(p));
    p->begun = begun;
    return EK_OK;
}

static enum ek_status save(void *ctx, int step)
{
    struct program *p = ctx;
    size_t uncounted = 0;
    for (int t = 0; t < p->ntasks; t++) {
        const int home = p->home[p->zone[t]];
        if (home != CU_SPACE_HOST)
            TRY(device_get(device_of(p, home), p->zone[t], &uncounted));
    }
    return checkpoint_save(p->checkpoint, p->mz, p->steps, p->begun + step);
}

static const struct team_ops verbs = {
    .compute = compute,
    .move = move,
    .exchange = exchange,
    .exchange_phases = exchange_phases,
    .rehome = rehome,
    .cpu_batch = 1,
    .save = save,
    .restore = restore,
};

/* ---- before and after ------------------------------------------------------------------------ */

static int steps(const void *st)
{
    const struct program *p = st;
    return p->steps - p->begun;
}

static int save_every(const void *st)
{
    const struct program *p = st;
    return p->checkpoint ? p->every : 0;
}

static double work(const void *st)
{
    const struct program *p = st;
    return mz_mop(p->mz) * steps(p) / p->class->steps;
}

static json_t *number_list(const double *x, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_number_or_null(x[i]));
    return list;
}

/* Parts of zones of other ranks are 0 here, so that the sum is exact and the same for any ranks. */
static enum ek_status judge(struct program *p, struct mz_norms *norms)
{
    const size_t n = MZ_VALUES * (size_t)p->mz->nzones;
    double *value = zeroed(n, sizeof *value);
    if (!value)
        FAIL(EK_LACK, "%s: out of memory for the norms", p->ops->name);
    for (int t = 0; t < p->ntasks; t++)
        mz_zone_values(p->mz, p->judge, p->zone[t], value + MZ_VALUES * p->zone[t]);
    cluster_sum(value, n);
    mz_judge(p->mz, value, norms);
    free(value);
    return EK_OK;
}

static enum ek_status check(void *st, bool *verified, json_t **detail)
{
    struct program *p = st;
    struct mz_norms norms;
    TRY(judge(p, &norms));
    *verified = norms.verified && p->steps == p->class->steps;
    if (p->checkpoint && cluster_rank() == 0)
        unlink(p->checkpoint); /* the run is complete: the next one begins anew */
    *detail = json_pack("{s:s s:i s:f s:o s:o s:o}", "class", p->letter, "steps", p->steps, "dt",
                        p->class->dt, "worst_relative_error", json_number_or_null(norms.worst),
                        "residual", number_list(norms.residual, MZ_NORMS), "error",
                        number_list(norms.error, MZ_NORMS));
    if (*detail && p->class->surface != 0.0)
        json_object_set_new(*detail, "surface", json_number_or_null(norms.surface));
    if (!*detail)
        FAIL(EK_LACK, "%s: out of memory for the norms", p->ops->name);
    return EK_OK;
}

struct bench_program program_of(const char *name)
{
    return (struct bench_program){
        .name = name,
        .summary = mz_find(name)->summary,
        .unit = "Mop/s",
        .size = sizeof(struct program),
        .opts = options,
        .defaults = defaults,
        .plan = plan,
        .open = open_program,
        .verbs = &verbs,
        .steps = steps,
        .save_every = save_every,
        .reset = reset,
        .work = work,
        .check = check,
        .close = close_program,
    };
}
