/* okada_mogi/units.c – searches trials on cores and devices. */
#include "okada_mogi/units.h"
#include "cu/team/thread_pool.h"
#include "src/clock.h"

#include <stdatomic.h>

enum { PIECES = 4 }; /* of a task for each thread of a unit */

/* A worker for each thread, or a device. Aligned so that units share no cache line. */
struct unit {
    _Alignas(64) int width;
    struct search_worker **worker;
    struct search_device *device;
    double trials, busy;
};

struct units {
    const struct search *search;
    struct cu_set *set;
    struct unit *unit; /* [set->n] */
    double before;     /* evaluations until units_begin() */
};

/* ---- opening ----------------------------------------------------------------------------------*/

static enum ek_status open_unit(void *ctx, const struct cu *cu)
{
    struct units *all = ctx;
    struct unit *u = &all->unit[cu->index];
    if (cu->kind == CU_DEVICE)
        return search_device_open(all->search, cu->device, cu->width, &u->device);
    u->worker = calloc((size_t)cu->width, sizeof(struct search_worker *));
    if (!u->worker)
        FAIL(EK_UNAVAILABLE, "out of memory for unit %s", cu->name);
    for (; u->width < cu->width; u->width++)
        TRY(search_worker_open(all->search, &u->worker[u->width]));
    return EK_OK;
}

static enum ek_status close_unit(void *ctx, const struct cu *cu)
{
    struct unit *u = &((struct units *)ctx)->unit[cu->index];
    for (int t = 0; t < u->width; t++)
        search_worker_close(u->worker[t]);
    free(u->worker);
    search_device_close(u->device);
    return EK_OK;
}

enum ek_status units_open(const struct search *s, struct cu_set *set, struct units **u)
{
    NEW(struct units, made, 1, "out of memory for the units");
    *made = (struct units){.search = s, .set = set};
    made->unit = model_alloc((size_t)set->n * sizeof *made->unit);
    enum ek_status st = made->unit
                            ? cu_each(set, open_unit, made)
                            : status_fail(EK_UNAVAILABLE, "out of memory for %d units", set->n);
    return HAND_OUT(st, made, u, units_close);
}

void units_close(struct units *u)
{
    if (!u)
        return;
    if (u->unit)
        cu_each(u->set, close_unit, u);
    free(u->unit);
    free(u);
}

/* ---- a task on the threads of a unit ----------------------------------------------------------*/

/* The range that a unit's threads share; they take pieces until none is left. */
struct sharing {
    struct unit *unit;
    const struct search_sink *sink;
    struct trial_range range;
    trial_number piece;
    atomic_size_t next;
    _Atomic int status;
};

static void take_pieces(void *arg, int thread)
{
    struct sharing *s = arg;
    const trial_number begin = s->range.first / s->piece;
    for (;;) {
        const trial_number at = begin + atomic_fetch_add(&s->next, 1);
        if (at * s->piece >= s->range.first + s->range.count || s->status)
            return;
        const struct trial_range piece =
            trial_overlap((struct trial_range){at * s->piece, s->piece}, s->range);
        const enum ek_status st = search_run(s->unit->worker[thread], piece, s->sink);
        if (st)
            s->status = (int)st;
    }
}

static enum ek_status run_shared(const struct units *all, const struct cu *cu,
                                 struct trial_range range, const struct search_sink *sink)
{
    struct unit *u = &all->unit[cu->index];
    const trial_number grain = search_grain(all->search);
    const trial_number pieces = (trial_number)(PIECES * u->width);
    struct sharing s = {.unit = u, .sink = sink, .range = range};
    s.piece = grain * ((range.count / grain + pieces) / pieces);
    thread_pool_run(cu->pool, cu->width, take_pieces, &s);
    return (enum ek_status)s.status;
}

/* ---- tasks ------------------------------------------------------------------------------------*/

/* Searches a range on a unit of any kind. */
static enum ek_status run_range(struct units *all, const struct cu *cu, struct trial_range range,
                                const struct search_sink *sink, double *seconds)
{
    struct unit *u = &all->unit[cu->index];
    const double start = clock_now();
    const enum ek_status st = u->device      ? search_device_run(u->device, cu->pool, range, sink)
                              : u->width > 1 ? run_shared(all, cu, range, sink)
                                             : search_run(u->worker[0], range, sink);
    *seconds = clock_now() - start;
    u->trials += (double)range.count;
    u->busy += *seconds;
    return st;
}

enum ek_status units_compute(struct units *u, const struct cu *cu, const struct trial_range *task,
                             size_t n, const struct search_sink *sink, double *seconds)
{
    for (size_t t = 0; t < n;) {
        double took;
        const size_t together = cu->kind == CU_DEVICE ? trial_together(task + t, n - t) : 1;
        const struct trial_range last = task[t + together - 1];
        const struct trial_range all = {task[t].first, last.first + last.count - task[t].first};
        TRY(run_range(u, cu, all, sink, &took));
        for (const size_t end = t + together; t < end; t++)
            seconds[t] += took / (double)together;
    }
    return EK_OK;
}

/* ---- counts -----------------------------------------------------------------------------------*/

static double all_evaluations(const struct units *u)
{
    double sum = 0;
    for (int c = 0; c < u->set->n; c++) {
        for (int t = 0; t < u->unit[c].width; t++)
            sum += search_evaluations(u->unit[c].worker[t]);
        if (u->unit[c].device)
            sum += search_device_evaluations(u->unit[c].device);
    }
    return sum;
}

void units_begin(struct units *u)
{
    u->before = all_evaluations(u);
    for (int c = 0; c < u->set->n; c++)
        u->unit[c].trials = u->unit[c].busy = 0;
}

double units_evaluations(const struct units *u)
{
    return all_evaluations(u) - u->before;
}

double units_rate(const struct units *u)
{
    double sum = 0;
    for (int c = 0; c < u->set->n; c++)
        sum += u->unit[c].busy > 0 ? u->unit[c].trials / u->unit[c].busy : 0;
    return sum;
}
