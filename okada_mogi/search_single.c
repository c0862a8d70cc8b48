/* okada_mogi/search_single.c – one source, exactly, without computing most of its trials.
 *
 * Trials that differ in their linear parameters only share one geometry. Geometries lie in the
 * lanes; at each station, the most rejecting first, every mix keeps the interval of amplitudes that
 * all components so far allow, and a lane is out when no mix has any left. Where there are two
 * basis responses a cheaper test comes first: three components ask two numbers to lie in three
 * strips of the plane, and three strips have no common point exactly if their own linear dependency
 * says so. What survives a few stations is finished one geometry at a time, stations in the lanes.
 */
#include "src/lanes.h"
#include "src/lanes_math.h"
#include "okada_mogi/grid.h"
#include "okada_mogi/search_linear.h"
#include "okada_mogi/search_method.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 512, VECTORS = MODEL_LANES / LANES };

struct shared {
    struct grid grid;
};

/* One thread's. lo, hi: [nmix][MODEL_LANES] intervals of amplitudes of the lanes at work. */
struct own {
    struct grid_walk walk;
    double *lo, *hi;
    double *basis; /* of the geometry that is finished */
};

/* ---- a block of geometries --------------------------------------------------------------------*/

/* Lanes where the strips low <= g_c . U <= high of three components have a common point U. */
static lanes_mask strips_meet(const lanes *b, const struct search_window *w)
{
    lanes middle = REAL(0.0), width = REAL(0.0);
    for (int c = 0; c < 3; c++) {
        const int i = (c + 1) % 3, k = (c + 2) % 3;
        const lanes lambda = b[i] * b[3 + k] - b[k] * b[3 + i];
        middle += lambda * (0.5 * (w->high[c] + w->low[c]));
        width += lanes_abs(lambda) * (0.5 * (w->high[c] - w->low[c]));
    }
    return ~(lanes_abs(middle) > width * (1 + JUDGE_SLACK));
}

/* Narrows all mixes' intervals by one station; the lanes where any mix has amplitudes left. */
static lanes_mask narrow(const struct grid *g, const struct search_station *station,
                         const struct search_window *w, const lanes *b, double *lo, double *hi)
{
    const int nbasis = g->model->nbasis;
    lanes_mask alive = {0};
    for (long m = 0; m < g->nmix; m++) {
        const double *weight = g->weight + m * nbasis;
        lanes least = LOAD(lo, m * MODEL_LANES), most = LOAD(hi, m * MODEL_LANES);
        for (int i = 0; i < station->ncomponents; i++) {
            lanes sum = weight[0] * b[station->component[i]];
            for (int k = 1; k < nbasis; k++)
                sum += weight[k] * b[3 * k + station->component[i]];
            const lanes per = 1.0 / sum, x = w->low[i] * per, y = w->high[i] * per;
            const lanes from = lanes_select(sum < 0.0, y, x), to = lanes_select(sum < 0.0, x, y);
            least = lanes_select(from > least, from, least);
            most = lanes_select(to < most, to, most);
        }
        STORE(lo, m * MODEL_LANES, least);
        STORE(hi, m * MODEL_LANES, most);
        alive |= ~(least > most);
    }
    return alive;
}

/* Lanes (bits) of a block that survive a station. `fresh`: no station was before it. */
static unsigned screen(const struct grid *g, const struct search_station *station,
                       const struct search_window *window, const double *out, struct own *own,
                       unsigned alive)
{
    const int width = 3 * g->model->nbasis;
    const bool strips = g->model->nbasis == 2 && station->ncomponents == 3;
    for (int v = 0; v < VECTORS; v++) {
        lanes b[3 * MODEL_BASES];
        const unsigned mine = ((1u << LANES) - 1) << (v * LANES);
        if (!(alive & mine))
            continue;
        for (int k = 0; k < width; k++)
            b[k] = LOAD(out, k * MODEL_LANES + v * LANES);
        lanes_mask meet = {0};
        meet = strips ? strips_meet(b, window) : ~meet;
        if (lanes_any(meet))
            meet &= narrow(g, station, window, b, own->lo + v * LANES, own->hi + v * LANES);
        alive &= ~mine | lanes_bits_of(meet) << (v * LANES);
    }
    return alive;
}

static void all_amplitudes(const struct grid *g, struct own *own)
{
    const double a = g->amplitude.min, b = g->amplitude.max;
    const double slack = JUDGE_SLACK * fmax(fabs(a), fabs(b));
    for (long i = 0; i < g->nmix * MODEL_LANES; i++) {
        own->lo[i] = a - slack;
        own->hi[i] = b + slack;
    }
}

/* ---- one geometry -----------------------------------------------------------------------------*/

/* The places of an axis that an interval of its values holds, and what rounding might add. */
static void places_within(const struct trial_axis *axis, struct search_interval a, long *begin,
                          long *end)
{
    const double step = (axis->max - axis->min) / fmax((double)(axis->n - 1), 1);
    *begin = 0;
    *end = axis->n;
    if (!(step > 0))
        return;
    const double from = ceil((a.lo - axis->min) / step - 1e-6);
    const double to = floor((a.hi - axis->min) / step + 1e-6);
    *begin = from > 0 ? (long)fmin(from, (double)axis->n) : 0;
    *end = to < (double)axis->n - 1 ? (long)fmax(to + 1, 0) : axis->n;
}

/* Amplitudes of a mix that all stations allow. */
static struct search_interval amplitudes_of(const struct search_worker *w, const struct grid *g,
                                            const double *basis, const double *weight)
{
    const struct search *s = w->search;
    const int nbasis = g->model->nbasis;
    const double slack = JUDGE_SLACK * fmax(fabs(g->amplitude.min), fabs(g->amplitude.max));
    struct search_interval a = {g->amplitude.min - slack, g->amplitude.max + slack};
    for (int i = 0; i < s->job->stations.n && !search_empty(a); i++) {
        const struct search_station *station = &s->station[i];
        for (int c = 0; c < station->ncomponents; c++) {
            const double *b = basis + 3 * nbasis * station->number + station->component[c];
            double sum = 0;
            for (int k = 0; k < nbasis; k++)
                sum += weight[k] * b[3 * k];
            search_narrow(&a, sum, w->window[i].low[c], w->window[i].high[c]);
        }
    }
    return a;
}

static enum ek_status finish(struct search_worker *w, const struct grid *g, trial_number outer,
                             long entry)
{
    struct own *own = w->own;
    double value[MODEL_VALUES];
    grid_walk_one(&own->walk, entry, value);
    judge_basis(w->search->job, value, own->basis);
    w->evaluations += w->search->job->stations.n;
    for (long m = 0; m < g->nmix; m++) {
        const double *weight = g->weight + m * g->model->nbasis;
        const struct search_interval a = amplitudes_of(w, g, own->basis, weight);
        long begin, end;
        if (search_empty(a))
            continue;
        places_within(&g->amplitude, a, &begin, &end);
        for (long i = begin; i < end; i++) {
            const struct judge_source source = {own->basis, weight, grid_amplitude(g, i)};
            TRY(search_judge_sources(w, grid_trial(g, outer, entry, m, i), &source));
        }
    }
    return EK_OK;
}

/* ---- batches ----------------------------------------------------------------------------------*/

/* MODEL_LANES geometries of the inner list from entry `first`. */
static enum ek_status run_block(struct search_worker *w, const struct grid *g, trial_number outer,
                                long first)
{
    const struct search *s = w->search;
    struct own *own = w->own;
    const double *value[MODEL_VALUES];
    _Alignas(MODEL_ALIGN) double out[MODEL_BASES * 3 * MODEL_LANES];
    const long n = g->nallowed - first < MODEL_LANES ? g->nallowed - first : MODEL_LANES;
    unsigned alive = (1u << n) - 1;
    grid_walk_values(&own->walk, first, value);
    all_amplitudes(g, own);
    for (int i = 0; alive && i < s->job->stations.n; i++) {
        g->model->respond(value, s->station[i].east, s->station[i].north, out);
        w->evaluations += __builtin_popcount(alive);
        alive = screen(g, &s->station[i], &w->window[i], out, own, alive);
    }
    for (long l = 0; l < n; l++)
        if (alive >> l & 1)
            TRY(finish(w, g, outer, first + l));
    return EK_OK;
}

static enum ek_status run(struct search_worker *w, struct trial_range range)
{
    const struct shared *shared = w->search->shared;
    const struct grid *g = &shared->grid;
    struct own *own = w->own;
    const trial_number block = w->search->grain;
    if (!range.count)
        return EK_OK;
    for (trial_number o = range.first / block; o <= (range.first + range.count - 1) / block; o++)
        if (grid_walk_to(&own->walk, o))
            for (long i = 0; i < g->nallowed; i += MODEL_LANES)
                TRY(run_block(w, g, o, i));
    return EK_OK;
}

/* A geometry, by its number among the places of all geometry axes. */
static enum ek_status finish_number(struct search_worker *w, trial_number number)
{
    const struct shared *shared = w->search->shared;
    const struct grid *g = &shared->grid;
    struct own *own = w->own;
    const trial_number outer = number / (trial_number)g->inner;
    const long entry = grid_entry(g, (long)(number % (trial_number)g->inner));
    return entry >= 0 && grid_walk_to(&own->walk, outer) ? finish(w, g, outer, entry) : EK_OK;
}

/* ---- the method -------------------------------------------------------------------------------*/

/* Some mix has an amplitude that the station allows. */
static bool survives(const struct search *s, const struct grid *g, int station, const double *basis,
                     double reach)
{
    const struct search_station *st = &s->station[station];
    const int nbasis = g->model->nbasis;
    for (long m = 0; m < g->nmix; m++) {
        struct search_interval a = {g->amplitude.min, g->amplitude.max};
        for (int c = 0; c < st->ncomponents; c++) {
            const double *b = basis + 3 * nbasis * st->number + st->component[c];
            const double width = reach * st->sigma[c];
            double sum = 0;
            for (int k = 0; k < nbasis; k++)
                sum += g->weight[m * nbasis + k] * b[3 * k];
            search_narrow(&a, sum, st->observed[c] - width, st->observed[c] + width);
        }
        if (!search_empty(a))
            return true;
    }
    return false;
}

/* Orders the stations by what they do to a sample of geometries. */
static void order_stations(struct search *s, const struct grid *g)
{
    const int n = s->job->stations.n;
    const double reach = judge_reach(s->job, search_best_bound(s->best));
    bool *keeps = calloc(SAMPLES, (size_t)n);
    double *basis = calloc((size_t)judge_basis_size(s->job), sizeof *basis), value[MODEL_VALUES];
    struct grid_walk walk;
    uint64_t seed = 2;
    int samples = 0;
    grid_walk_begin(&walk, g);
    for (int i = 0; i < SAMPLES && keeps && basis && g->nallowed; i++) {
        const trial_number outer = search_random(&seed) % g->outer;
        const long entry = (long)(search_random(&seed) % (uint64_t)g->nallowed);
        if (!grid_walk_to(&walk, outer))
            continue;
        grid_walk_one(&walk, entry, value);
        judge_basis(s->job, value, basis);
        for (int k = 0; k < n; k++)
            keeps[samples * n + s->station[k].number] = survives(s, g, k, basis, reach);
        samples++;
    }
    if (samples)
        search_order_stations(s, keeps, samples);
    free(keeps);
    free(basis);
}

static void close_shared(void *arg)
{
    struct shared *shared = arg;
    grid_close(&shared->grid);
    free(shared);
}

static enum ek_status open_shared(struct search *s, void **out)
{
    struct shared *shared = calloc(1, sizeof *shared);
    if (!shared)
        FAIL(EK_LACK, "%s: out of memory", s->job->path);
    enum ek_status st = grid_open(s->job, 0, &shared->grid);
    if (st) {
        close_shared(shared);
        return st;
    }
    s->grain = (trial_number)shared->grid.inner * (trial_number)shared->grid.linear;
    order_stations(s, &shared->grid);
    *out = shared;
    return EK_OK;
}

static double cost(const struct search *s, struct trial_range range)
{
    const struct shared *shared = s->shared;
    return (double)range.count / (double)shared->grid.linear + 1;
}

static void close_own(void *arg)
{
    struct own *own = arg;
    free(own->lo);
    free(own->hi);
    free(own->basis);
    free(own);
}

static enum ek_status open_own(const struct search *s, void **out)
{
    const struct shared *shared = s->shared;
    struct own *own = model_alloc(sizeof *own);
    if (!own)
        FAIL(EK_LACK, "%s: out of memory", s->job->path);
    const size_t n = (size_t)shared->grid.nmix * MODEL_LANES;
    own->lo = model_alloc(n * sizeof *own->lo);
    own->hi = model_alloc(n * sizeof *own->hi);
    own->basis = malloc((size_t)judge_basis_size(s->job) * sizeof *own->basis);
    if (!own->lo || !own->hi || !own->basis) {
        close_own(own);
        FAIL(EK_LACK, "%s: out of memory for a worker", s->job->path);
    }
    grid_walk_begin(&own->walk, &shared->grid);
    *out = own;
    return EK_OK;
}

const struct search_method_ops search_single = {
    .name = "single",
    .summary = "one source; linear parameters by intervals",
    .open = open_shared,
    .close = close_shared,
    .bytes = grid_bytes,
    .cost = cost,
    .worker_open = open_own,
    .worker_close = close_own,
    .run = run,
    .geometries = true,
    .finish = finish_number,
};
