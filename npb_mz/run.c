/* npb_mz/run.c – opens and closes a problem on the units of this process. */
#include "npb_mz/run.h"
#include "cu/bench/bench_trial.h"
#include "cu/rank/cluster.h"

static enum ek_status allocate(struct run *r)
{
    const int zones = r->mz->nzones, units = r->set->n;
    r->was = ARENA_NEW(&r->arena, zones, int);
    r->home = ARENA_NEW(&r->arena, zones, int);
    r->work = ARENA_NEW(&r->arena, units, struct mz_work *);
    r->device = ARENA_NEW(&r->arena, units, struct device *);
    TRY(arena_check(&r->arena, "%s, %d zones on %d units", r->ops->name, zones, units));
    return tasks_open(r->mz, &r->tasks);
}

static enum ek_status open_ranks(struct run *r)
{
    if (cluster_size() == 1)
        return EK_OK;
    TRY(ranks_open(r->mz, r->set, r->ranks_schedule, &r->ranks));
    return remote_open(r->mz, ranks_of(r->ranks), &r->remote);
}

/* On the unit's thread: it touches scratch first, and devices belong to it. */
enum ek_status run_prepare(void *st, const struct cu *cu)
{
    struct run *r = st;
    if (cu->kind == CU_CPU)
        return mz_work_open(r->mz, cu->width, &r->work[cu->index]);
    TRY(device_open(r->mz, cu->device, &r->device[cu->index]));
    r->faces->memory[cu->memory].device = r->device[cu->index];
    return EK_OK;
}

void run_release(void *st, const struct cu *cu)
{
    struct run *r = st;
    mz_work_close(r->work[cu->index]);
    device_close(r->device[cu->index]);
}

/* Whether MPI can access this rank's device memory. Only with one device: each thread that calls
 * MPI makes it current. */
static bool mails_device(const struct run *r)
{
    const struct backend *b =
        r->set->nmemories == 2 ? r->set->cu[r->set->layout.ncpu].device : NULL;
    return r->remote && b && b->ops->address && cluster_takes_memory_of(b->ops->name);
}

enum ek_status run_open(void *st, struct cu_set *set, struct sched_job *job)
{
    struct run *r = st;
    r->set = set;
    r->job = job;
    if (r->checkpoint_path)
        TRY(mz_checkpoint_open(r->checkpoint_path, &r->checkpoint));
    TRY(mz_open_mesh(r->ops, r->class, mz_mesh_find(r->class->letter), &r->mz));
    TRY(allocate(r));
    TRY(open_ranks(r));
    TRY(mz_claim(r->mz, r->ranks ? ranks_of(r->ranks) : NULL, cluster_rank()));
    run_take_zones(r);
    if (r->survive && !bench_trial_wanted())
        TRY(copies_open(r->mz, r->ranks ? ranks_of(r->ranks) : NULL, &r->copies));
    TRY(faces_open(r->mz, r->remote, set->nmemories, &r->faces));
    r->faces->mails_devices = mails_device(r);
    return mz_work_open(r->mz, 1, &r->judge);
}

void run_close(void *st)
{
    struct run *r = st;
    mz_work_close(r->judge);
    faces_close(r->faces);
    copies_close(r->copies);
    remote_close(r->remote);
    ranks_close(r->ranks);
    tasks_close(&r->tasks);
    mz_close(r->mz);
    mz_checkpoint_close(r->checkpoint);
    arena_free(&r->arena);
}

void run_take_zones(struct run *r)
{
    tasks_number(&r->tasks, r->mz, r->mz->mine, r->job);
    for (int i = 0; i < r->mz->nzones; i++)
        if (!r->mz->mine[i])
            r->home[i] = FACES_ELSEWHERE;
}

/* Resumes from the copies in memory or the file, whichever has come further. */
static enum ek_status resume(struct run *r)
{
    const int kept = r->copies ? copies_find(r->copies) : 0;
    if (r->checkpoint && mz_checkpoint_exists(r->checkpoint))
        TRY(mz_checkpoint_load(r->checkpoint, r->mz, r->steps, &r->begun));
    if (kept <= r->begun)
        return EK_OK;
    r->begun = kept;
    return copies_load(r->copies, r->mz, kept);
}

enum ek_status run_reset(void *st)
{
    struct run *r = st;
    mz_reset(r->mz);
    r->begun = 0;
    TRY(resume(r));
    r->now = r->begun;
    if (r->remote) {
        remote_begin(r->remote);
        ranks_begin(r->ranks);
    }
    return EK_OK;
}

struct device *run_device(const struct run *r, int memory)
{
    return memory == CU_HOST_MEMORY ? NULL : r->device[r->set->layout.ncpu + memory - 1];
}

enum ek_status run_fetch(struct run *r, int zone)
{
    size_t uncounted = 0;
    struct device *d = run_device(r, r->home[zone]);
    return d ? device_carry(NULL, d, zone, &uncounted) : EK_OK;
}
