/* kirchhoff/mig_verbs.c – opens a run, and migrates its chunks. */
#include "cu/rank/cluster.h"
#include "cu/rank/stop.h"
#include "kirchhoff/mig.h"
#include "kirchhoff/migrate_device.h"
#include "src/clock.h"

#include <stdatomic.h>

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

/* Lists the chunks that no interrupted run has done as tasks. With several slabs these are all
 * chunks, as each slab has its own to skip. */
static enum ek_status list_todo(struct mig *p)
{
    const struct chunks *s = p->m->survey;
    TRY(mig_checkpoint_list(p));
    if (p->lsm) { /* least squares resumes at a step, with all chunks */
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
    pthread_mutex_init(&p->saving.lock, NULL);
    pthread_cond_init(&p->saving.changed, NULL);
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
    lsm_close(p->lsm);
    pthread_mutex_destroy(&p->saving.lock);
    pthread_cond_destroy(&p->saving.changed);
    migrate_close(p->m);
}

/* ---- a run ------------------------------------------------------------------------------------*/

static void note_task(struct mig *p, size_t task)
{
    p->times[task]++;
    p->done[p->todo[task]] = true;
    mig_sum_chunk(p, p->todo[task]);
}

/* Whether a task is skipped: the slab has its chunk or is out of its reach, or several ranks are to
 * end. These skip their remaining tasks, so that all of them reach the end of the step, where they
 * learn of it. */
static bool passes(struct mig *p, size_t task)
{
    if (cluster_size() > 1 && !p->lsm && stop_heard()) {
        p->left_out = true;
        return true;
    }
    const size_t chunk = p->todo[task];
    if (p->m->slabs == 1 || !(p->done[chunk] || !migrate_reaches(p->m, chunk)))
        return false;
    note_task(p, task);
    return true;
}

/* Migrates consecutive chunks together, up to the time of the next save. */
static enum ek_status on_device(struct mig *p, const struct cu *cu, struct ek_range r,
                                double *seconds)
{
    struct migrate_device *d = p->device[cu->index];
    for (size_t begin = r.begin, end; begin < r.end; begin = end) {
        const double start = clock_now();
        end = begin + 1;
        if (passes(p, begin))
            continue;
        while (end < r.end && p->m->slabs == 1 && p->todo[end] == p->todo[end - 1] + 1)
            end++;
        size_t chunk = p->todo[end - 1] + 1;
        TRY(migrate_device_run(d, cu, p->todo[begin], &chunk, p->saving.next));
        end = begin + chunk - p->todo[begin];
        for (size_t t = begin; t < end; t++)
            seconds[t - r.begin] += (clock_now() - start) / (double)(end - begin);
        mig_add_begin(p);
        migrate_device_add(d);
        for (size_t t = begin; t < end; t++)
            note_task(p, t);
        mig_add_end(p);
    }
    return EK_OK;
}

static enum ek_status on_cores(struct mig *p, const struct cu *cu, size_t task, double *seconds)
{
    struct migrate_worker *w = p->worker[cu->index];
    const bool models = p->lsm && !lsm_migrates(p->steps + 1);
    mig_add_begin(p);
    const double start = clock_now();
    const enum ek_status st =
        models ? migrate_adjoint(w, cu, p->todo[task], p->lsm->direction, p->lsm->modelled)
               : migrate_chunk(w, cu, p->todo[task]);
    *seconds += clock_now() - start;
    if (!st)
        note_task(p, task);
    mig_add_end(p);
    return st;
}

static enum ek_status compute(void *ctx, const struct cu *cu, struct ek_range r, double *seconds)
{
    struct mig *p = ctx;
    if (p->opened[cu->index] != p->m->slab) {
        mig_release(p, cu);
        TRY(mig_prepare(p, cu));
    }
    if (cu->kind == CU_DEVICE && !p->lsm)
        return on_device(p, cu, r, seconds);
    for (size_t t = r.begin; t < r.end; t++)
        if (!passes(p, t))
            TRY(on_cores(p, cu, t, &seconds[t - r.begin]));
    return EK_OK;
}

/* Ends a step. Least squares has its first image checked by summing again: the final one is no
 * plain sum. */
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
    if (!*last) {
        p->m->image->silent = 0;
        mig_step_end(p);
    }
    return EK_OK;
}

const struct team_ops mig_verbs = {.compute = compute, .finish = finish, .cpu_batch = 1};

enum ek_status mig_reset(void *st)
{
    struct mig *p = st;
    image_clear(p->m->image);
    resum_clear(p->m->resum);
    p->m->image->silent = 0;
    p->steps = p->shown = 0;
    p->whole = false;
    if (p->lsm)
        lsm_reset(p->lsm);
    for (size_t t = 0; t < p->n; t++)
        p->times[t] = 0;
    memset(p->done, 0, p->m->survey->nchunks * sizeof *p->done);
    TRY(mig_checkpoint_add(p));
    if (p->kept_steps > 0) {
        p->steps = p->lsm->at.steps;
        p->again = p->lsm->at.again;
        memset(p->done, 0, p->m->survey->nchunks * sizeof *p->done);
    }
    return EK_OK;
}
