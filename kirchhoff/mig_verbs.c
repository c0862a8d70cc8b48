/* kirchhoff/mig_verbs.c – opens a run, and migrates its chunks. */
#include "cu/rank/cluster.h"
#include "cu/rank/stop.h"
#include "kirchhoff/mig.h"
#include "kirchhoff/migrate_device.h"
#include "src/clock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- opening ----------------------------------------------------------------------------------*/

enum ek_status mig_prepare(void *st, const struct cu *cu)
{
    struct mig *p = st;
    p->opened[cu->index] = p->m->slab;
    if (cu->kind == CU_DEVICE && !p->lsm)
        return migrate_device_open(p->m, cu->device, &p->device[cu->index]);
    return migrate_worker_open(p->m, cu->width, &p->worker[cu->index]);
}

void mig_release(void *st, const struct cu *cu)
{
    struct mig *p = st;
    migrate_worker_close(p->worker[cu->index]);
    migrate_device_close(p->device[cu->index]);
    p->worker[cu->index] = NULL;
    p->device[cu->index] = NULL;
}

/* What an interrupted run has done: the first rank reads it. */
static enum ek_status list_done(struct mig *p)
{
    const struct chunks *s = p->m->survey;
    if (*p->checkpoint && cluster_rank() == 0)
        TRY(mig_slabs_alone(p));
    if (p->m->slabs > 1)
        return mig_slabs_resume(p);
    if (*p->checkpoint && cluster_rank() == 0 && !access(p->checkpoint, F_OK)) {
        TRY(mig_part_take(p, p->checkpoint, MIG_PART_LIST));
        p->kept_part = true;
    }
    cluster_share(p->done, s->nchunks * sizeof *p->done);
    return EK_OK;
}

/* The chunks that no interrupted run has left; all of them for each slab, where some are passed
 * over. */
static enum ek_status list_todo(struct mig *p)
{
    const struct chunks *s = p->m->survey;
    TRY(list_done(p));
    if (p->lsm) { /* which goes on from a step, with all chunks */
        p->kept_steps = p->lsm->at.steps;
        memset(p->done, 0, s->nchunks * sizeof *p->done);
    }
    for (size_t c = p->first; c < p->end; c++) {
        const double traces = (double)(s->first[c + 1] - s->first[c]);
        const bool kept = p->done[c] && p->m->slabs == 1;
        p->kept += kept ? traces : 0;
        if (kept)
            continue;
        p->cost[p->n] = traces;
        p->todo[p->n++] = c;
    }
    cluster_sum(&p->kept, 1);
    return EK_OK;
}

enum ek_status mig_begin(void *st, struct cu_set *set, struct sched_job *job)
{
    struct mig *p = st;
    const size_t chunks = p->end - p->first;
    p->set = set;
    if (!p->out && !p->raw && !p->partial && cluster_rank() == 0)
        status_warn("no --out, --raw or --partial: the image will not be kept");
    TRY(migrate_begin(p->m, cu_layout_threads(&set->layout)));
    p->todo = ARENA_NEW(&p->arena, chunks, size_t);
    p->cost = ARENA_NEW(&p->arena, chunks, double);
    p->times = ARENA_NEW(&p->arena, chunks, _Atomic int);
    p->worker = ARENA_NEW(&p->arena, set->n, struct migrate_worker *);
    p->opened = ARENA_NEW(&p->arena, set->n, int);
    p->device = ARENA_NEW(&p->arena, set->n, struct migrate_device *);
    TRY(arena_check(&p->arena, "%zu chunks", chunks));
    if (p->iterations)
        TRY(lsm_open(p->m, p->iterations, p->first, p->end, &p->lsm));
    TRY(list_todo(p));
    *job = (struct sched_job){.n = p->n, .grain = 1, .cost = p->cost};
    return EK_OK;
}

void mig_end(void *st)
{
    struct mig *p = st;
    arena_free(&p->arena);
    json_decref(p->picture);
    lsm_close(p->lsm);
    migrate_close(p->m);
}

/* ---- a run ------------------------------------------------------------------------------------*/

static void note_task(struct mig *p, size_t task)
{
    p->times[task]++;
    p->done[p->todo[task]] = true;
    mig_sum_chunk(p, p->todo[task]);
}

/* Nothing to do for it: the slab has it, or lies out of its reach; or ranks are to end. These leave
 * a step as one, so that its end is where they find out. */
static bool passes(struct mig *p, size_t task)
{
    if (cluster_size() > 1 && !p->lsm && stop_requested()) {
        p->cut = true;
        return true;
    }
    const size_t chunk = p->todo[task];
    if (p->m->slabs == 1 || !(p->done[chunk] || !migrate_reaches(p->m, chunk)))
        return false;
    note_task(p, task);
    return true;
}

/* Chunks that follow one another at once. */
static enum ek_status on_device(struct mig *p, const struct cu *cu, struct ek_range r,
                                double *seconds)
{
    for (size_t begin = r.begin, end; begin < r.end; begin = end) {
        const double start = clock_now();
        end = begin + 1;
        if (passes(p, begin))
            continue;
        while (end < r.end && p->m->slabs == 1 && p->todo[end] == p->todo[end - 1] + 1)
            end++;
        TRY(migrate_device_run(p->device[cu->index], cu, p->todo[begin], p->todo[end - 1] + 1));
        for (size_t t = begin; t < end; t++) {
            seconds[t - r.begin] += (clock_now() - start) / (double)(end - begin);
            note_task(p, t);
        }
    }
    return EK_OK;
}

static enum ek_status compute(void *ctx, const struct cu *cu, struct ek_range r, double *seconds)
{
    struct mig *p = ctx;
    const bool forecasts = p->lsm && !lsm_migrates(p->steps + 1);
    if (p->opened[cu->index] != p->m->slab) {
        mig_release(p, cu);
        TRY(mig_prepare(p, cu));
    }
    if (cu->kind == CU_DEVICE && !p->lsm)
        return on_device(p, cu, r, seconds);
    for (size_t t = r.begin; t < r.end; t++) {
        const double start = clock_now();
        if (passes(p, t))
            continue;
        TRY(forecasts ? migrate_adjoint(p->worker[cu->index], cu, p->todo[t], p->lsm->direction,
                                        p->lsm->forecast)
                      : migrate_chunk(p->worker[cu->index], cu, p->todo[t]));
        seconds[t - r.begin] += clock_now() - start;
        note_task(p, t);
    }
    return EK_OK;
}

/* Between migration and demigration; the first image is judged while it is a sum. */
static enum ek_status finish(void *ctx, const struct team_step *step, bool *last)
{
    struct mig *p = ctx;
    (void)step;
    p->steps++;
    if (p->m->slabs > 1)
        return mig_slab_end(p, p->steps == p->m->slabs - p->kept_slabs);
    if (!p->lsm)
        return EK_OK;
    lsm_step(p->lsm, p->steps, last);
    if (p->steps == 1)
        p->again = resum_judge(p->m->resum);
    if (!*last)
        p->m->silent = 0;
    return EK_OK;
}

const struct team_ops mig_verbs = {.compute = compute, .finish = finish, .cpu_batch = 1};

enum ek_status mig_reset(void *st)
{
    struct mig *p = st;
    image_clear(p->m->image);
    resum_clear(p->m->resum);
    p->m->silent = 0;
    p->steps = p->shown = 0;
    if (p->lsm)
        lsm_reset(p->lsm);
    for (size_t t = 0; t < p->n; t++)
        p->times[t] = 0;
    memset(p->done, 0, p->m->survey->nchunks * sizeof *p->done);
    if (p->kept_part)
        TRY(mig_part_take(p, p->checkpoint, MIG_PART_ADD));
    cluster_share(p->done, p->m->survey->nchunks * sizeof *p->done);
    if (p->kept_steps > 0) {
        p->steps = p->lsm->at.steps;
        p->again = p->lsm->at.again;
        memset(p->done, 0, p->m->survey->nchunks * sizeof *p->done);
    }
    return EK_OK;
}

/* Least squares go on from the last whole step. */
static enum ek_status keep_steps(struct mig *p)
{
    if (p->steps == p->kept_steps) {
        status_warn("interrupted within the first step of this run, of which nothing is kept");
        return EK_OK;
    }
    p->lsm->at.steps = p->steps;
    p->lsm->at.again = p->again;
    TRY(mig_write_anywhere(p, p->checkpoint, mig_part_write));
    status_warn("interrupted after %d of %d iterations, kept in %s; run it again to go on",
                p->lsm->at.done, p->iterations, p->checkpoint);
    return EK_OK;
}

enum ek_status mig_interrupted(void *st)
{
    struct mig *p = st;
    size_t left = 0;
    for (size_t c = p->first; c < p->end; c++)
        left += !p->done[c];
    if (!*p->checkpoint) {
        if (!p->part)
            status_warn("nothing is kept of a run without an image, with --compare or --repeat");
        return EK_OK;
    }
    if (p->lsm)
        return keep_steps(p);
    p->silent = (double)atomic_load(&p->m->silent);
    TRY(mig_write_anywhere(p, p->checkpoint, mig_part_write));
    if (p->m->slabs > 1)
        status_warn("slab %d of %d:", p->m->slab + 1, p->m->slabs);
    status_warn("interrupted with %zu of %zu chunks summed, kept in %s; run it again to go on",
                p->end - p->first - left, p->end - p->first, p->checkpoint);
    return EK_OK;
}

/* Whose chunk it is knows its sum, the others say 0; in halves, for a double has 53 bits. */
enum ek_status mig_gather(struct mig *p)
{
    const size_t n = p->m->survey->nchunks;
    double *all = calloc(3 * n + 1, sizeof *all);
    if (!all)
        FAIL(EK_UNAVAILABLE, "out of memory for %zu chunks", n);
    for (size_t c = 0; c < n; c++) {
        all[3 * c] = p->done[c];
        all[3 * c + 1] = (double)(p->sum[c] >> 32);
        all[3 * c + 2] = (double)(uint32_t)p->sum[c];
    }
    cluster_max(all, 3 * n);
    for (size_t c = 0; c < n; c++) {
        p->done[c] = all[3 * c] > 0;
        p->sum[c] = (uint64_t)all[3 * c + 1] << 32 | (uint64_t)all[3 * c + 2];
    }
    free(all);
    image_gather(p->m->image);
    return EK_OK;
}

/* All that the ranks have comes to the first one, which keeps it as if it had done it alone. */
enum ek_status mig_cut(struct mig *p)
{
    TRY(mig_gather(p));
    (void)resum_judge(p->m->resum); /* which sums its points, too */
    double silent = (double)atomic_load(&p->m->silent);
    cluster_sum(&silent, 1);
    p->m->silent = (long)silent;
    p->first = p->span[0];
    p->end = p->span[1];
    if (cluster_rank() == 0)
        TRY(mig_interrupted(p));
    return EK_STOPPED;
}

void mig_written(void *st)
{
    struct mig *p = st;
    if (p->m->slabs > 1)
        mig_slabs_remove(p);
    if (p->kept_part)
        unlink(p->checkpoint);
}
