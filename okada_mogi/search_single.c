/* okada_mogi/search_single.c – one source, exactly, without computing most of its trials.
 *
 * Trials that differ only in direction and amplitude share one geometry. A block has one geometry
 * per lane; at each station, the most rejecting first, every direction keeps the interval of
 * amplitudes that all components so far allow, and a lane drops out when no direction has any left.
 * With two basis responses a cheaper test comes first: three components confine the two slip
 * components to three strips of the plane, whose linear dependency tells whether they have a common
 * point. Geometries that survive all stations are finished one at a time, stations in the lanes. */
#include "src/lanes.h"
#include "src/lanes_math.h"
#include "okada_mogi/kernels/interval.h"
#include "okada_mogi/grid.h"
#include "okada_mogi/search_method.h"
#include "okada_mogi/search_rows.h"
#include "src/random.h"
#include "okada_mogi/job.h"

/* Inner products of data (0) and responses (1 ..), whitened. */
struct gram {
    double product[1 + MODEL_BASES][1 + MODEL_BASES];
};

/* ---- chi2 of one source: a quadratic form in its slip components ------------------------------*/
#define GRAM_ROUNDING 1e-9 /* relative; far above the rounding of any order of summation */

/* Adds one datum and its responses z [1 + nbasis], whitened. */
static void add(struct gram *g, int nbasis, const double *z)
{
    for (int a = 0; a <= nbasis; a++)
        for (int b = 0; b <= a; b++)
            g->product[a][b] += z[a] * z[b];
}

/* Correlated east and north are whitened as in the judge. */
static void add_station(const struct stations *s, int i, int nbasis, const double *basis,
                        struct gram *g)
{
    const double *observed = s->observed + 3 * i, *sigma = s->sigma + 3 * i, c = s->correlation[i],
                 *response = basis + 3 * nbasis * i;
    const bool both = stations_correlated(s, i);
    for (int k = 0; k < 3; k++) {
        double z[1 + MODEL_BASES];
        if (isnan(observed[k]))
            continue;
        for (int b = 0; b <= nbasis; b++) {
            const double *x = b ? response + 3 * (b - 1) : observed;
            z[b] = k == 0 && both ? (x[0] / sigma[0] - c * x[1] / sigma[1]) / sqrt(1 - c * c)
                                  : x[k] / sigma[k];
        }
        add(g, nbasis, z);
    }
}

static void add_scene(const struct scene *c, const struct stations *s, int nbasis,
                      const double *basis, struct gram *g, double *work)
{
    double *left = work, *white = work + c->n;
    for (int b = 0; b < nbasis; b++) {
        for (int i = 0; i < c->n; i++)
            left[i] = basis[3 * (nbasis * (c->datum[i] / 3) + b) + c->datum[i] % 3];
        scene_project(c, s, left, white + b * c->n);
    }
    for (int i = 0; i < c->n; i++) {
        double z[1 + MODEL_BASES] = {c->seen[i]};
        for (int b = 0; b < nbasis; b++)
            z[b + 1] = white[b * c->n + i];
        add(g, nbasis, z);
    }
}

/* Doubles of scratch that gram_find() needs. */
static size_t gram_room(const struct job *job)
{
    return (size_t)job->stations.n * (1 + MODEL_BASES);
}

/* Gram matrix of a geometry with basis responses [stations][nbasis][3]. */
static void gram_find(const struct job *job, const double *basis, struct gram *g, double *work)
{
    const int nbasis = job->model->nbasis;
    *g = (struct gram){{{0}}};
    for (int i = 0; i < job->stations.n; i++)
        if (!scenes_hold(&job->scenes, i))
            add_station(&job->stations, i, nbasis, basis, g);
    for (int i = 0; i < job->scenes.n; i++)
        add_scene(&job->scenes.scene[i], &job->stations, nbasis, basis, g, work);
    for (int a = 0; a <= nbasis; a++)
        for (int b = 0; b < a; b++)
            g->product[b][a] = g->product[a][b];
}

/* Narrows least .. most to the amplitudes a that may, within rounding, reduce chi2 = c - 2 b a +
 * q a^2 to `chi2`, given the direction's weights [nbasis]. */
static void gram_narrow(const struct gram *g, int nbasis, const double *weight, double chi2,
                        double *least, double *most)
{
    double b = 0, q = 0;
    for (int i = 0; i < nbasis; i++) {
        b += weight[i] * g->product[i + 1][0];
        for (int k = 0; k < nbasis; k++)
            q += weight[i] * weight[k] * g->product[i + 1][k + 1];
    }
    const double c = g->product[0][0];
    const double root = b * b - q * (c - chi2) + GRAM_ROUNDING * (b * b + q * (c + chi2));
    if (!(q > 0) || isnan(root))
        return;
    if (root < 0) {
        *least = INFINITY;
        return;
    }
    const double half = sqrt(root) * (1 + GRAM_ROUNDING) / q + GRAM_ROUNDING * fabs(b / q);
    *least = fmax(*least, b / q - half);
    *most = fmin(*most, b / q + half);
}

enum { SAMPLES = 512, VECTORS = MODEL_LANES / LANES };
#define ROUNDING 1e-13 /* of differences of products, relative to the products; generous */

struct shared {
    struct grid grid;
    struct search_rows *rows; /* of scenes, for rms misfits */
};

/* One thread's. lo, hi: [ndirections][MODEL_LANES] amplitudes that the block's lanes have left. */
struct own {
    struct arena arena;
    struct grid_walk walk;
    double *lo, *hi;
    double *basis; /* responses of the geometry being finished, at the job's stations, */
    double *seen;  /* and at the search's */
    double *work;  /* scratch of gram_find() */
    struct search_sums *sums;
};

/* ---- a block of geometries --------------------------------------------------------------------*/

/* Lanes where the strips low <= g_c . U <= high of three components have a common point U. Widened
 * for rounding, which is all of the dependency if basis responses are parallel. */
static lanes_mask strips_meet(const lanes *b, const struct search_window *w)
{
    lanes middle = REAL(0.0), width = REAL(0.0);
    for (int c = 0; c < 3; c++) {
        const int i = (c + 1) % 3, k = (c + 2) % 3;
        const lanes p = b[i] * b[3 + k], q = b[k] * b[3 + i], lambda = p - q;
        const double at = 0.5 * (w->high[c] + w->low[c]), half = 0.5 * (w->high[c] - w->low[c]);
        middle += lambda * at;
        width += lanes_abs(lambda) * half +
                 (lanes_abs(p) + lanes_abs(q)) * (ROUNDING * (fabs(at) + half));
    }
    return ~(lanes_abs(middle) > width * (1 + JUDGE_SLACK));
}

/* Narrows the intervals of all directions by one station; returns the lanes where some direction
 * has amplitudes left. */
static lanes_mask narrow(const struct grid *g, const struct search_station *station,
                         const struct search_window *w, const lanes *b, double *lo, double *hi)
{
    const int nbasis = g->model->nbasis;
    lanes_mask alive = {0};
    for (long m = 0; m < g->ndirections; m++) {
        const double *weight = g->weight + m * nbasis;
        lanes least = LOAD(lo, m * MODEL_LANES), most = LOAD(hi, m * MODEL_LANES);
        for (int i = 0; i < station->ncomponents; i++) {
            lanes sum = weight[0] * b[station->component[i]];
            for (int k = 1; k < nbasis; k++)
                sum += weight[k] * b[3 * k + station->component[i]];
            interval_narrow(sum, REAL(w->low[i]), REAL(w->high[i]), &least, &most);
        }
        STORE(lo, m * MODEL_LANES, least);
        STORE(hi, m * MODEL_LANES, most);
        alive |= ~(least > most);
    }
    return alive;
}

/* Whether its errors are independent of other stations', and it is no contrast. */
static bool is_alone(const struct job *job, const struct search_station *station)
{
    return (station->npoints == 1 || station->difference) &&
           !(scenes_sill(&job->scenes, station->point[0].number) > 0);
}

/* Lanes (bits) of a block that survive a station; chi2: the largest acceptable. */
static unsigned screen(const struct grid *g, const struct search_station *station,
                       const struct search_window *window, const double *out, struct own *own,
                       double chi2, unsigned alive)
{
    const int width = 3 * g->model->nbasis;
    const bool strips = g->model->nbasis == 2 && station->ncomponents == 3;
    const bool sums = isfinite(chi2) && is_alone(g->job, station);
    for (int v = 0; v < VECTORS; v++) {
        lanes b[3 * MODEL_BASES];
        const unsigned mine = ((1u << LANES) - 1) << (v * LANES);
        if (!(alive & mine))
            continue;
        for (int k = 0; k < width; k++)
            b[k] = LOAD(out, k * MODEL_LANES + v * LANES);
        lanes_mask meet = {0};
        meet = strips ? strips_meet(b, window) : ~meet;
        if (sums)
            meet &= search_sums_add(own->sums, g->job, station, b, v, chi2);
        if (lanes_any(meet) && (!sums || g->job->accept.nk))
            meet &= narrow(g, station, window, b, own->lo + v * LANES, own->hi + v * LANES);
        alive &= ~mine | lanes_bits_of(meet) << (v * LANES);
    }
    return alive;
}

static void all_amplitudes(const struct grid *g, struct own *own)
{
    const double slack = grid_amplitude_slack(g);
    for (long i = 0; i < g->ndirections * MODEL_LANES; i++) {
        own->lo[i] = g->amplitude.min - slack;
        own->hi[i] = g->amplitude.max + slack;
    }
}

/* ---- one geometry -----------------------------------------------------------------------------*/

/* The places of an axis with values in least .. most, widened for rounding. */
static void places_within(const struct trial_axis *axis, double least, double most, long *begin,
                          long *end)
{
    const double step = (axis->max - axis->min) / fmax((double)(axis->n - 1), 1);
    *begin = 0;
    *end = axis->n;
    if (!(step > 0))
        return;
    const double from = ceil((least - axis->min) / step - 1e-6);
    const double to = floor((most - axis->min) / step + 1e-6);
    *begin = from > 0 ? (long)fmin(from, (double)axis->n) : 0;
    *end = to < (double)axis->n - 1 ? (long)fmax(to + 1, 0) : axis->n;
}

/* LANES directions from number m on; the last one is repeated if there are fewer. */
struct directions {
    lanes weight[MODEL_BASES], least, most; /* least .. most: amplitudes left */
};

static void begin_directions(const struct grid *g, long m, struct directions *x)
{
    const int nbasis = g->model->nbasis;
    const double slack = grid_amplitude_slack(g);
    for (int k = 0; k < nbasis; k++)
        for (int l = 0; l < LANES; l++)
            x->weight[k][l] =
                g->weight[(m + l < g->ndirections ? m + l : g->ndirections - 1) * nbasis + k];
    x->least = REAL(g->amplitude.min - slack);
    x->most = REAL(g->amplitude.max + slack);
}

/* Narrows by one station with basis responses [nbasis][3]; false: no direction has any left. */
static bool narrow_directions(const struct grid *g, const struct search_station *station,
                              const struct search_window *w, const double *basis,
                              struct directions *x)
{
    for (int c = 0; c < station->ncomponents; c++) {
        lanes sum = x->weight[0] * basis[station->component[c]];
        for (int k = 1; k < g->model->nbasis; k++)
            sum += x->weight[k] * basis[3 * k + station->component[c]];
        interval_narrow(sum, REAL(w->low[c]), REAL(w->high[c]), &x->least, &x->most);
    }
    return lanes_any(~(x->least > x->most));
}

/* The first amplitude of a direction (whose first trial is `first`) at or after `trial`. */
static long amplitude_from(const struct grid *g, trial_number first, trial_number trial)
{
    const trial_number n = (trial_number)g->namplitude,
                       step = g->amplitude_step ? g->amplitude_step : 1,
                       place = trial > first ? (trial - first + step - 1) / step : 0;
    return (long)(place < n ? place : n);
}

/* Judges the amplitudes least .. most of direction m. */
static enum ek_status judge_direction(struct search_worker *w, const struct grid *g,
                                      trial_number outer, long entry, long m, double least,
                                      double most)
{
    const struct own *own = w->own;
    const trial_number first = grid_trial(g, outer, entry, m, 0), asked = w->range.first;
    long begin, end;
    if (least > most)
        return EK_OK;
    places_within(&g->amplitude, least, most, &begin, &end);
    const long from = amplitude_from(g, first, asked),
               to = amplitude_from(g, first, asked + w->range.count);
    begin = from > begin ? from : begin;
    end = to < end ? to : end;
    for (long i = begin; i < end; i++) {
        const struct judge_source source = {own->basis, g->weight + m * g->model->nbasis,
                                            grid_amplitude(g, i)};
        TRY(search_judge_sources(w, grid_trial(g, outer, entry, m, i), &source));
    }
    return EK_OK;
}

static enum ek_status finish(struct search_worker *w, const struct grid *g, trial_number outer,
                             long entry)
{
    const struct search *s = w->search;
    struct own *own = w->own;
    const int width = 3 * g->model->nbasis;
    const double chi2 = search_chi2(w);
    double value[MODEL_VALUES];
    struct gram gram;
    grid_walk_one(&own->walk, entry, value);
    judge_basis(s->job, value, own->basis);
    w->evaluations += s->job->stations.n;
    if (isfinite(chi2))
        gram_find(s->job, own->basis, &gram, own->work);
    for (int i = 0; i < s->nstations; i++) {
        double mix[3 * MODEL_BASES] = {0};
        const double *seen = search_seen(&s->station[i], g->model->nbasis, own->basis, mix);
        memcpy(own->seen + width * i, seen, (size_t)width * sizeof *seen);
    }
    for (long m = 0; m < g->ndirections; m += LANES) {
        struct directions x;
        bool left = true;
        begin_directions(g, m, &x);
        for (int i = 0; i < s->nstations && left; i++)
            left = narrow_directions(g, &s->station[i], &w->window[i], own->seen + width * i, &x);
        for (int l = 0; left && l < LANES && m + l < g->ndirections; l++) {
            double least = x.least[l], most = x.most[l];
            if (isfinite(chi2))
                gram_narrow(&gram, g->model->nbasis, g->weight + (m + l) * g->model->nbasis, chi2,
                            &least, &most);
            TRY(judge_direction(w, g, outer, entry, m + l, least, most));
        }
    }
    return EK_OK;
}

/* ---- batches ----------------------------------------------------------------------------------*/

/* Searches n <= MODEL_LANES geometries, from entry `first` of the inner list on. */
static enum ek_status run_block(void *worker, trial_number outer, long first, long n)
{
    struct search_worker *w = worker;
    const struct search *s = w->search;
    const struct shared *shared = s->shared;
    const struct grid *g = &shared->grid;
    struct own *own = w->own;
    const double *value[GRID_NUMBERS];
    _Alignas(MODEL_ALIGN) double out[MODEL_BASES * 3 * MODEL_LANES];
    const bool rows = search_rows_count(shared->rows) > 0;
    unsigned alive = (1u << n) - 1;
    const double chi2 = search_chi2(w);
    grid_walk_numbers(&own->walk, 0, first, value);
    all_amplitudes(g, own);
    search_sums_clear(own->sums);
    for (int i = 0; alive && i < s->nstations; i++) {
        if (rows && !s->job->accept.nk && s->station[i].npoints > 1 && !s->station[i].difference)
            continue; /* a contrast: search_rows_screen() uses the scene itself */
        search_respond(g->model, value, &s->station[i], out);
        w->evaluations += s->station[i].npoints * __builtin_popcount(alive);
        alive = screen(g, &s->station[i], &w->window[i], out, own, chi2, alive);
    }
    if (alive && rows && isfinite(chi2))
        alive = search_rows_screen(shared->rows, own->sums, w, value, chi2, alive);
    for (long l = 0; l < n; l++)
        if (alive >> l & 1)
            TRY(finish(w, g, outer, first + l));
    return EK_OK;
}

static enum ek_status run(struct search_worker *w, struct trial_range range)
{
    struct own *own = w->own;
    return grid_walk_over(&own->walk, range, run_block, w);
}

/* Finishes a geometry, given its number among the places of all geometry axes. */
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

/* Whether the station allows some amplitude of some direction. */
static bool survives(const struct search *s, const struct grid *g, int station, const double *basis,
                     double reach)
{
    const struct search_window window = search_window(s, station, reach);
    double mix[3 * MODEL_BASES] = {0};
    const double *seen = search_seen(&s->station[station], g->model->nbasis, basis, mix);
    for (long m = 0; m < g->ndirections; m += LANES) {
        struct directions x;
        begin_directions(g, m, &x);
        if (narrow_directions(g, &s->station[station], &window, seen, &x))
            return true;
    }
    return false;
}

/* Orders the stations by how many of a sample of geometries they reject. */
static void order_stations(struct search *s, const struct grid *g)
{
    const int n = s->nstations;
    const double reach = judge_reach(s->job, search_best_bound(s->best));
    OWNED_MEMORY bool *keeps = calloc(SAMPLES, (size_t)n + 1);
    OWNED_MEMORY double *basis = calloc((size_t)judge_basis_size(s->job), sizeof *basis);
    double value[MODEL_VALUES];
    struct grid_walk walk;
    uint64_t seed = 2;
    int samples = 0, swap[SEARCH_ORDERED];
    grid_walk_begin(&walk, g);
    for (int i = 0; i < SAMPLES && keeps && basis && g->nallowed; i++) {
        const trial_number outer = random_bits(&seed) % g->outer;
        const long entry = (long)(random_bits(&seed) % (uint64_t)g->nallowed);
        if (!grid_walk_to(&walk, outer))
            continue;
        grid_walk_one(&walk, entry, value);
        judge_basis(s->job, value, basis);
        for (int k = 0; k < n; k++)
            keeps[samples * n + k] = survives(s, g, k, basis, reach);
        samples++;
    }
    if (samples)
        search_swap_stations(s, swap, search_order(keeps, samples, n, swap));
}

static void close_shared(void *arg)
{
    struct shared *shared = arg;
    search_rows_close(shared->rows);
    grid_close(&shared->grid);
    free(shared);
}

static enum ek_status open_shared(struct search *s, void **out)
{
    NEW(struct shared, shared, 1, "%s: out of memory", s->job->path);
    enum ek_status st = grid_open(s->job, 0, &shared->grid);
    THEN(st, search_rows_open(s->job, &shared->rows));
    TRY_OR(st, close_shared(shared));
    s->grain = (trial_number)shared->grid.inner * (trial_number)shared->grid.linear;
    s->order = (trial_number)shared->grid.linear;
    s->decided = grid_decides(&shared->grid);
    s->grid = &shared->grid;
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
    arena_free(&own->arena);
    free(own->sums);
    free(own);
}

static enum ek_status open_own(const struct search *s, void **out)
{
    const struct shared *shared = s->shared;
    struct own *own = model_alloc(sizeof *own);
    if (!own)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", s->job->path);
    const size_t n = (size_t)shared->grid.ndirections * MODEL_LANES;
    own->lo = ARENA_NEW(&own->arena, n, double);
    own->hi = ARENA_NEW(&own->arena, n, double);
    own->basis = ARENA_NEW(&own->arena, judge_basis_size(s->job), double);
    own->work = ARENA_NEW(&own->arena, gram_room(s->job), double);
    own->seen = ARENA_NEW(&own->arena, 3 * s->job->model->nbasis * (s->nstations + 1), double);
    own->sums = search_sums_open();
    enum ek_status st = arena_check(&own->arena, "a worker of %s", s->job->path);
    if (!st && !own->sums)
        st = status_fail(EK_UNAVAILABLE, "%s: out of memory", s->job->path);
    TRY_OR(st, close_own(own));
    grid_walk_begin(&own->walk, &shared->grid);
    *out = own;
    return EK_OK;
}

const struct search_method_ops search_single = {
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
