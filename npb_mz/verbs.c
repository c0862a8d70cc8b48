/* npb_mz/verbs.c – what the team calls in a step: compute, move, exchange; between steps: save,
 * restore, repartition. */
#include "npb_mz/run.h"
#include "cu/rank/cluster.h"
#include "cu/rank/stop.h"
#include "cu/team/thread_pool.h"
#include "npb_mz/ranks.h"
#include "src/clock.h"

/* ---- computation ----------------------------------------------------------------------------- */

static void send_zone(struct run *r, int zone)
{
    for (int side = 0; side < MZ_SIDES; side++)
        remote_send(r->remote, zone, side, NULL);
}

/* In the last step before a save, zones are copied while they are in cache. */
static bool copies_now(const struct run *r)
{
    return r->copies && r->policy && (r->now + 1 - r->begun) % r->survive == 0;
}

static enum ek_status compute_on_cpus(struct run *r, const struct cu *cu, struct ek_range range,
                                      double *seconds)
{
    struct mz_work *work = r->work[cu->index];
    work->pool = cu->pool;
    for (size_t t = range.begin; t < range.end; t++) {
        const double start = clock_now();
        r->ops->step(r->mz, work, r->tasks.zone[t]);
        seconds[t - range.begin] += clock_now() - start;
        if (copies_now(r))
            copies_zone(r->copies, r->tasks.zone[t], r->now + 1);
        if (r->remote) {
            send_zone(r, r->tasks.zone[t]);
            remote_progress(r->remote);
        }
    }
    return EK_OK;
}

/* A device step takes consecutive zones; consecutive tasks may be zones with gaps between them. */
static enum ek_status compute(void *ctx, const struct cu *cu, struct ek_range range,
                              double *seconds)
{
    struct run *r = ctx;
    const int *zone = r->tasks.zone;
    if (cu->kind == CU_CPU)
        return compute_on_cpus(r, cu, range, seconds);
    for (size_t t = range.begin, end; t < range.end; t = end) {
        for (end = t + 1; end < range.end && zone[end] == zone[end - 1] + 1;)
            end++;
        TRY(device_step(r->device[cu->index], zone[t], zone[end - 1] + 1,
                        seconds + (t - range.begin)));
    }
    return EK_OK;
}

static enum ek_status move(void *ctx, size_t task, int from, int to, size_t *bytes)
{
    const struct run *r = ctx;
    return device_carry(run_device(r, to), run_device(r, from), r->tasks.zone[task], bytes);
}

/* ---- the exchange ---------------------------------------------------------------------------- */

/* Sends faces of zones on the host that have not been sent: at first all; later those of zones that
 * were on a device. Also posts the receives that such zones have not got yet. */
static void send_rest(struct run *r, struct team_share share)
{
    for (int t = share.part; t < r->tasks.n; t += share.parts) {
        const int zone = r->tasks.zone[t];
        if (r->home[zone] != CU_HOST_MEMORY)
            continue;
        send_zone(r, zone);
        for (int side = 0; side < MZ_SIDES; side++)
            remote_expect(r->remote, zone, side, NULL);
    }
}

/* One thread's part of a unit's share of the host's work. */
struct host_part {
    struct run *r;
    struct team_share share; /* of the unit */
    int width;               /* its threads */
};

/* The share of one of a unit's `width` threads. */
static struct team_share share_of(const struct host_part *p, int thread)
{
    const int width = p->width;
    return (struct team_share){p->share.part * width + thread, p->share.parts * width};
}

static void copy_part(void *arg, int thread)
{
    const struct host_part *p = arg;
    const struct team_share share = share_of(p, thread);
    faces_copy_host(p->r->faces, share.part, share.parts);
}

static void settle_part(void *arg, int thread)
{
    const struct host_part *p = arg;
    const struct run *r = p->r;
    const struct team_share share = share_of(p, thread);
    for (int t = share.part; t < r->tasks.n; t += share.parts)
        if (r->home[r->tasks.zone[t]] == CU_HOST_MEMORY)
            mz_settle(r->mz, r->tasks.zone[t]);
}

/* The threads of a unit share what it does on the host. */
static void work_on_host(struct run *r, const struct cu *cu, struct team_share share,
                         void (*part)(void *arg, int thread))
{
    struct host_part all = {r, share, thread_pool_width(cu)};
    if (share.parts)
        thread_pool_run_on(cu, part, &all);
}

/* Whether zones are on the host only because the devices have not got them yet. */
static bool about_to_leave(const struct run *r)
{
    return !r->set->layout.ncpu && r->faces->memory[0].copy.n;
}

static enum ek_status send_faces(struct run *r, const struct cu *cu, struct team_share share,
                                 size_t *bytes)
{
    if (cu->kind == CU_DEVICE) {
        TRY(device_send_faces(r->device[cu->index], r->faces, cu->memory, bytes));
        faces_mail(r->faces, cu->memory);
    }
    if (share.parts && r->remote)
        send_rest(r, share);
    if (about_to_leave(r))
        work_on_host(r, cu, share, copy_part);
    else if (share.parts)
        faces_copy_host(r->faces, share.part, share.parts);
    return EK_OK;
}

static enum ek_status receive_faces(struct run *r, const struct cu *cu, struct team_share share,
                                    size_t *bytes)
{
    if (cu->kind == CU_DEVICE) {
        faces_gather(r->faces, cu->memory, bytes);
        TRY(device_receive_faces(r->device[cu->index], r->faces, cu->memory, bytes));
    }
    if (share.parts)
        faces_unpack_host(r->faces, share.part, share.parts, bytes);
    if (about_to_leave(r) && !r->faces->memory[0].in.n) /* else boundary values still arrive */
        work_on_host(r, cu, share, settle_part);
    return EK_OK;
}

/* Phases: send; with several ranks wait for them; receive, if there is anything to. */
static int exchange_phases(const void *ctx)
{
    const struct run *r = ctx;
    return r->remote ? 3 : r->set->nmemories > 1 ? 2 : 1;
}

static enum ek_status exchange(void *ctx, const struct cu *cu, int phase, struct team_share share,
                               size_t *bytes)
{
    struct run *r = ctx;
    if (r->faces->mails_devices)
        TRY(backend_take(r->set->cu[r->set->layout.ncpu].device));
    if (phase == 0)
        return send_faces(r, cu, share, bytes);
    if (phase == 2 || !r->remote)
        return receive_faces(r, cu, share, bytes);
    if (share.parts && share.part == 0)
        remote_wait(r->remote);
    return EK_OK;
}

static enum ek_status set_placement(void *ctx, const int *home)
{
    struct run *r = ctx;
    for (int t = 0; t < r->tasks.n; t++)
        r->home[r->tasks.zone[t]] = home[t];
    for (int memory = 1; memory < r->set->nmemories; memory++)
        TRY(device_settle(run_device(r, memory), memory, r->home));
    return faces_plan(r->faces, r->home);
}

/* ---- between steps --------------------------------------------------------------------------- */

/* Within a run, so its first step stays what it is. */
static enum ek_status restore(void *ctx)
{
    struct run *r = ctx;
    const int begun = r->begun;
    TRY(run_reset(r));
    r->begun = begun;
    return EK_OK;
}

static enum ek_status save(void *ctx, int step)
{
    struct run *r = ctx;
    const int now = r->begun + step;
    const bool file = r->checkpoint && (stop_wished() || step / r->every > r->filed / r->every);
    for (int t = 0; t < r->tasks.n; t++) {
        const int zone = r->tasks.zone[t];
        const bool copied = !r->copies || copies_has(r->copies, zone, now);
        if (!copied || file)
            TRY(run_fetch(r, zone));
        if (!copied)
            copies_zone(r->copies, zone, now);
    }
    if (r->copies)
        copies_commit(r->copies, now);
    if (!file)
        return EK_OK;
    r->filed = step;
    return mz_checkpoint_save(r->checkpoint, r->mz, r->steps, now);
}

/* Moves the zones as ranks_next() says. */
static enum ek_status follow_partition(struct run *r)
{
    const int *of = ranks_of(r->ranks), *next = ranks_next(r->ranks);
    const double start = clock_now();
    remote_end(r->remote);
    for (int zone = 0; zone < r->mz->nzones; zone++)
        if (of[zone] == cluster_rank() && next[zone] != of[zone])
            TRY(run_fetch(r, zone));
    TRY(migrate_zones(r->mz, of, next));
    TRY(remote_partition(r->remote, next));
    if (r->copies)
        TRY(copies_partition(r->copies, next));
    ranks_moved(r->ranks, clock_now() - start);
    return EK_OK;
}

/* Renumbers the tasks; r->was = the numbers that they had. */
static void renumber(struct run *r)
{
    memcpy(r->was, r->tasks.task, (size_t)r->mz->nzones * sizeof *r->was); /* still by zone */
    run_take_zones(r);
    for (int t = 0; t < r->tasks.n; t++)
        r->was[t] = r->was[r->tasks.zone[t]]; /* zone[t] >= t: not yet written */
}

static enum ek_status repartition(void *ctx, const struct team_step *step,
                                  const struct sched_job **job, const int **was)
{
    struct run *r = ctx;
    bool move = false;
    r->now = r->begun + step->number;
    if (r->ranks)
        TRY(ranks_consider(r->ranks, &r->tasks, step, r->steps - r->begun - step->number, &move));
    if (!move)
        return EK_OK;
    TRY(follow_partition(r));
    renumber(r);
    *job = r->job;
    *was = r->was;
    return EK_OK;
}

const struct team_ops verbs_ops = {
    .compute = compute,
    .move = move,
    .exchange = exchange,
    .exchange_phases = exchange_phases,
    .set_placement = set_placement,
    .cpu_batch = 1,
    .save = save,
    .restore = restore,
    .repartition = repartition,
};
