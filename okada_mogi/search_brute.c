/* okada_mogi/search_brute.c – every trial by itself: the forward model, station after station until
 * one does not fit. Consecutive trials are in the lanes and share nothing.
 *
 * This is what an opaque model would cost: for scheduling experiments, and as a reference for the
 * other methods. It works for any order of parameters. */
#include "src/lanes.h"
#include "src/lanes_math.h"
#include "okada_mogi/grid.h"
#include "okada_mogi/search_method.h"

enum { VECTORS = MODEL_LANES / LANES };

/* Adds a source's displacements to u [3][MODEL_LANES]; `first` overwrites u. */
static void add_source(const struct model *m, const double *const *number, const double *out,
                       bool first, double *u)
{
    const double *const *weight = number + model_values(m), *const amplitude = weight[m->nbasis];
    for (int c = 0; c < 3; c++)
        for (int l = 0; l < MODEL_LANES; l += LANES) {
            lanes sum = LOAD(weight[0], l) * LOAD(out, c * MODEL_LANES + l);
            for (int k = 1; k < m->nbasis; k++)
                sum += LOAD(weight[k], l) * LOAD(out, (3 * k + c) * MODEL_LANES + l);
            sum *= LOAD(amplitude, l);
            if (!first)
                sum += LOAD(u, c * MODEL_LANES + l);
            STORE(u, c * MODEL_LANES + l, sum);
        }
}

/* Lanes (bits) whose displacements are within the station's windows. */
static unsigned compare(const struct search_station *station, const struct search_window *w,
                        const double *u)
{
    unsigned bits = 0;
    for (int v = 0; v < VECTORS; v++) {
        lanes_mask in = {0};
        in = ~in;
        for (int i = 0; i < station->ncomponents; i++) {
            const lanes x = LOAD(u, station->component[i] * MODEL_LANES + v * LANES);
            in &= (x >= w->low[i]) & (x <= w->high[i]);
        }
        bits |= lanes_bits_of(in) << (v * LANES);
    }
    return bits;
}

static enum ek_status run_block(void *worker, trial_number outer, long first, long n)
{
    struct search_worker *w = worker;
    const struct search *s = w->search;
    const struct grid *g = s->shared;
    const double *number[JOB_SOURCES][GRID_NUMBERS];
    _Alignas(MODEL_ALIGN) double out[MODEL_BASES * 3 * MODEL_LANES], u[3 * MODEL_LANES];
    unsigned alive = (1u << n) - 1;
    for (int k = 0; k < g->nsources; k++)
        grid_walk_numbers(w->own, k, first, number[k]);
    for (int i = 0; alive && i < s->nstations; i++) {
        const struct search_station *station = &s->station[i];
        for (int k = 0; k < g->nsources; k++) {
            search_respond(g->model, number[k], station, out);
            add_source(g->model, number[k], out, k == 0, u);
        }
        w->evaluations += g->nsources * __builtin_popcount(alive);
        alive &= compare(station, &w->window[i], u);
    }
    for (long l = 0; l < n; l++)
        if (alive >> l & 1)
            TRY(search_judge_trial(w, grid_trial(g, outer, first + l, 0, 0)));
    return EK_OK;
}

static enum ek_status run(struct search_worker *w, struct trial_range range)
{
    return grid_walk_over(w->own, range, run_block, w);
}

/* ---- the method -------------------------------------------------------------------------------*/

/* Which stations a trial survives. */
static void set_keeps(const void *search, const double *u, bool *keeps)
{
    const struct search *s = search;
    const double reach = judge_reach(s->job, search_best_bound(s->best));
    for (int k = 0; k < s->nstations; k++) {
        const struct search_station *st = &s->station[k];
        double own[3];
        const double *seen = search_seen(st, 1, u, own);
        keeps[k] = true;
        for (int c = 0; c < st->ncomponents; c++)
            keeps[k] &= !(fabs(seen[st->component[c]] - st->observed[c]) > reach * st->sigma[c]);
    }
}

static void close_shared(void *grid)
{
    grid_close(grid);
    free(grid);
}

static enum ek_status open_shared(struct search *s, void **out)
{
    int swap[SEARCH_ORDERED], n;
    NEW(struct grid, g, 1, "%s: out of memory", s->job->path);
    enum ek_status st = grid_open(s->job, GRID_ALL, g);
    THEN(st, search_order_by_trials(s, s->nstations, set_keeps, s, swap, &n));
    TRY_OR(st, close_shared(g));
    search_swap_stations(s, swap, n);
    s->grain = (trial_number)g->inner;
    s->order = 1;
    s->grid = *out = g;
    return EK_OK;
}

static double cost(const struct search *s, struct trial_range range)
{
    (void)s;
    return (double)range.count;
}

static enum ek_status open_own(const struct search *s, void **out)
{
    struct grid_walk *walk = model_alloc(sizeof *walk);
    if (!walk)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", s->job->path);
    grid_walk_begin(walk, s->shared);
    *out = walk;
    return EK_OK;
}

const struct search_method_ops search_brute = {
    .open = open_shared,
    .close = close_shared,
    .bytes = grid_bytes,
    .cost = cost,
    .worker_open = open_own,
    .worker_close = free,
    .run = run,
    .finish = search_judge_trial,
};
