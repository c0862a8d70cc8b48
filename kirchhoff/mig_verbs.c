/* kirchhoff/mig_verbs.c – opens a run, and migrates its chunks. */
#include "cu/rank/cluster.h"
#include "kirchhoff/mig.h"
#include "kirchhoff/migrate_device.h"
#include "src/clock.h"

#include <stdatomic.h>

/* ---- opening ----------------------------------------------------------------------------------*/

enum ek_status mig_prepare(void *st, const struct cu *cu)
{
    struct mig *p = st;
    if (cu->kind == CU_DEVICE && !p->lsm)
        return migrate_device_open(p->m, cu->device, &p->device[cu->index]);
    return migrate_worker_open(p->m, cu->width, &p->worker[cu->index]);
}

void mig_release(void *st, const struct cu *cu)
{
    struct mig *p = st;
    migrate_worker_close(p->worker[cu->index]);
    migrate_device_close(p->device[cu->index]);
}

enum ek_status mig_begin(void *st, struct cu_set *set, struct sched_job *job)
{
    struct mig *p = st;
    const struct chunks *s = p->m->survey;
    p->set = set;
    if (!p->out && !p->raw && !p->partial && cluster_rank() == 0)
        status_warn("no --out, --raw or --partial: the image will not be kept");
    TRY(migrate_begin(p->m, set->layout.ncpu * set->layout.width + set->layout.ndev));
    p->cost = ARENA_NEW(&p->arena, p->n, double);
    p->times = ARENA_NEW(&p->arena, p->n, _Atomic int);
    p->worker = ARENA_NEW(&p->arena, set->n, struct migrate_worker *);
    p->device = ARENA_NEW(&p->arena, set->n, struct migrate_device *);
    TRY(arena_check(&p->arena, "%zu chunks", p->n));
    for (size_t t = 0; t < p->n; t++)
        p->cost[t] = (double)(s->first[p->first + t + 1] - s->first[p->first + t]);
    if (p->iterations)
        TRY(lsm_open(p->m, p->iterations, p->first, p->first + p->n, &p->lsm));
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

static enum ek_status on_device(struct mig *p, const struct cu *cu, struct ek_range r,
                                double *seconds)
{
    const double start = clock_now();
    TRY(migrate_device_run(p->device[cu->index], p->first + r.begin, p->first + r.end));
    for (size_t t = r.begin; t < r.end; t++) {
        seconds[t - r.begin] += (clock_now() - start) / (double)(r.end - r.begin);
        p->times[t]++;
    }
    return EK_OK;
}

static enum ek_status compute(void *ctx, const struct cu *cu, struct ek_range r, double *seconds)
{
    struct mig *p = ctx;
    const bool forecasts = p->lsm && !lsm_migrates(p->steps + 1);
    if (cu->kind == CU_DEVICE && !p->lsm)
        return on_device(p, cu, r, seconds);
    for (size_t t = r.begin; t < r.end; t++) {
        const double start = clock_now();
        TRY(forecasts ? migrate_adjoint(p->worker[cu->index], cu, p->first + t, p->lsm->direction,
                                        p->lsm->forecast)
                      : migrate_chunk(p->worker[cu->index], cu, p->first + t));
        seconds[t - r.begin] += clock_now() - start;
        p->times[t]++;
    }
    return EK_OK;
}

/* Between migration and demigration; the first image is judged while it is a sum. */
static enum ek_status finish(void *ctx, const struct team_step *step, bool *last)
{
    struct mig *p = ctx;
    (void)step;
    p->steps++;
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
    p->steps = 0;
    if (p->lsm)
        lsm_reset(p->lsm);
    for (size_t t = 0; t < p->n; t++)
        p->times[t] = 0;
    return EK_OK;
}
