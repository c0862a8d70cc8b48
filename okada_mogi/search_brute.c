/* okada_mogi/search_brute.c – every trial by itself: the forward model, station after station until
 * one does not fit. Consecutive trials lie in the lanes; nothing is shared between them.
 *
 * This is what any opaque model would cost, for experiments with schedules and as the measure of
 * exactness. It works for any order of parameters. */
#include "src/lanes.h"
#include "src/lanes_math.h"
#include "okada_mogi/grid.h"
#include "okada_mogi/search_method.h"
#include "src/arena.h"

#include <math.h>
#include <stdlib.h>

enum { ENOUGH = 64, SAMPLES = 512, VECTORS = MODEL_LANES / LANES };

/* Everything that a trial's response is made of, for one source. Pointers to lanes, or NULL. */
struct numbers {
    double *value[MODEL_VALUES], *weight[MODEL_BASES], *amplitude;
};

/* A constraint on one source, or on a pair of them. */
struct condition {
    const struct job_constraint *what;
    int a, b; /* sources; b = -1: one only */
    enum { OUTER, INNER, LATE } when;
};

/* The fast axes form the inner list: all their places that the constraints allow. */
struct shared {
    struct arena arena; /* of what follows */
    const struct job *job;
    int nvalues, nouter;
    trial_number outer;
    long inner, nallowed, *place;
    double *table[JOB_AXES]; /* [n][width] values of geometry axes, else the parameter */
    int first[JOB_AXES], width[JOB_AXES];
    struct numbers in[JOB_SOURCES]; /* [nallowed and MODEL_LANES more] */
    int nconditions;
    struct condition *condition;
};

/* One thread's: where it is on the outer axes. */
struct own {
    bool begun;
    long place[JOB_AXES];
    double x[JOB_AXES]; /* [source][parameter], inner ones 0 */
    _Alignas(MODEL_ALIGN) double value[JOB_SOURCES][MODEL_VALUES][MODEL_LANES];
    double weight[JOB_SOURCES][MODEL_BASES][MODEL_LANES];
    double amplitude[JOB_SOURCES][MODEL_LANES];
};

/* ---- conditions -------------------------------------------------------------------------------*/

static bool looks_at(const struct job *job, const struct condition *c, int axis)
{
    const int s = job->source[axis];
    return (s == c->a || s == c->b) && c->what->what->looks_at >> job->parameter[axis] & 1;
}

static void set_moment(const struct shared *b, struct condition *c)
{
    bool outer = false, inner = false;
    for (int a = 0; a < b->job->naxes; a++)
        if (looks_at(b->job, c, a)) {
            outer |= a < b->nouter;
            inner |= a >= b->nouter;
        }
    c->when = !inner ? OUTER : outer ? LATE : INNER;
}

static enum ek_status check(const struct shared *b)
{
    return arena_check(&b->arena, "the grid of %s", b->job->path);
}

static enum ek_status list_conditions(struct shared *b)
{
    const struct job *job = b->job;
    const int most = job->nconstraints * job->nsources * job->nsources;
    b->condition = ARENA_NEW(&b->arena, most, struct condition);
    TRY(check(b));
    for (int i = 0; i < job->nconstraints; i++)
        for (int s = 0; s < job->nsources; s++)
            for (int t = -1; t < s; t++)
                if (job_concerns(&job->constraint[i], s, t)) {
                    struct condition *c = &b->condition[b->nconditions++];
                    *c = (struct condition){&job->constraint[i], s, t, LATE};
                    set_moment(b, c);
                }
    return EK_OK;
}

static bool allows(const struct shared *b, int when, const double *x)
{
    const int n = b->job->model->nparameters;
    for (int i = 0; i < b->nconditions; i++) {
        const struct condition *c = &b->condition[i];
        if ((int)c->when == when &&
            !job_holds(c->what, x + c->a * n, c->b < 0 ? NULL : x + c->b * n))
            return false;
    }
    return true;
}

/* ---- tables and the inner list ----------------------------------------------------------------*/

static enum ek_status out_of_memory(const struct job *job)
{
    FAIL(EK_UNAVAILABLE, "%s: out of memory for the grid", job->path);
}

static enum ek_status open_tables(struct shared *b)
{
    const struct job *job = b->job;
    for (int a = 0; a < job->naxes; a++) {
        b->width[a] = job_width(job, a);
        b->first[a] = model_values_before(job->model, job->parameter[a]);
        b->table[a] = ARENA_NEW(&b->arena, job->axis[a].n * b->width[a], double);
        TRY(check(b));
        job_tabulate(job, a, b->table[a]);
    }
    return EK_OK;
}

/* Some source's direction is of inner and outer axes: weights could not be listed then. */
static bool is_divided(const struct shared *b)
{
    bool outer[JOB_SOURCES] = {false};
    for (int a = 0; a < b->nouter; a++)
        outer[b->job->source[a]] |= job_role(b->job, a) == MODEL_DIRECTION;
    for (int a = b->nouter; a < b->job->naxes; a++)
        if (job_role(b->job, a) == MODEL_DIRECTION && outer[b->job->source[a]])
            return true;
    return false;
}

static void divide_axes(struct shared *b)
{
    const struct job *job = b->job;
    b->inner = b->job->axis[job->naxes - 1].n;
    b->nouter = job->naxes - 1;
    while (b->nouter && (b->inner < ENOUGH || is_divided(b)))
        b->inner *= job->axis[--b->nouter].n;
    b->outer = 1;
    for (int a = 0; a < b->nouter; a++)
        b->outer *= (trial_number)job->axis[a].n;
}

static double *new_list(struct shared *b)
{
    return ARENA_NEW(&b->arena, b->inner + MODEL_LANES, double);
}

/* Lists of what the inner axes decide. */
static enum ek_status open_lists(struct shared *b)
{
    const struct job *job = b->job;
    for (int a = b->nouter; a < job->naxes; a++) {
        struct numbers *in = &b->in[job->source[a]];
        const enum model_role role = job_role(job, a);
        for (int v = 0; role == MODEL_GEOMETRY && v < b->width[a]; v++)
            in->value[b->first[a] + v] = new_list(b);
        for (int w = 0; role == MODEL_DIRECTION && w < job->model->nbasis && !in->weight[w]; w++)
            in->weight[w] = new_list(b);
        if (role == MODEL_AMPLITUDE)
            in->amplitude = new_list(b);
    }
    b->place = ARENA_NEW(&b->arena, b->inner, long);
    return check(b);
}

/* Entry i of the lists is the inner place; its parameters into x. */
static void set_entry(struct shared *b, long place, long i, double *x)
{
    const struct job *job = b->job;
    double w[MODEL_BASES];
    for (int a = job->naxes - 1; a >= b->nouter; a--) {
        const long at = place % job->axis[a].n;
        struct numbers *in = &b->in[job->source[a]];
        place /= job->axis[a].n;
        x[job_at(job, a)] = trial_value(&job->axis[a], at);
        if (job_role(job, a) == MODEL_AMPLITUDE)
            in->amplitude[i] = b->table[a][at];
        for (int v = 0; job_role(job, a) == MODEL_GEOMETRY && v < b->width[a]; v++)
            in->value[b->first[a] + v][i] = b->table[a][at * b->width[a] + v];
    }
    for (int s = 0; s < job->nsources; s++) {
        if (!b->in[s].weight[0])
            continue;
        model_weigh(job->model, x + s * job->model->nparameters, w);
        for (int k = 0; k < job->model->nbasis; k++)
            b->in[s].weight[k][i] = w[k];
    }
}

static void fill_lists(struct shared *b)
{
    double x[JOB_AXES] = {0};
    for (long place = 0; place < b->inner; place++) {
        set_entry(b, place, b->nallowed, x);
        if (allows(b, INNER, x))
            b->place[b->nallowed++] = place;
    }
    for (long i = 0; i < MODEL_LANES && b->nallowed; i++)
        set_entry(b, b->place[b->nallowed - 1], b->nallowed + i, x);
}

/* ---- outer places -----------------------------------------------------------------------------*/

static void fill_lanes(double *lane, double x)
{
    for (int l = 0; l < MODEL_LANES; l++)
        lane[l] = x;
}

static void set_outer(const struct shared *b, struct own *own, int a, long place)
{
    const struct job *job = b->job;
    const int s = job->source[a];
    const double *row = b->table[a] + place * b->width[a];
    own->place[a] = place;
    own->x[job_at(job, a)] = trial_value(&job->axis[a], place);
    if (job_role(job, a) == MODEL_AMPLITUDE)
        fill_lanes(own->amplitude[s], row[0]);
    for (int v = 0; job_role(job, a) == MODEL_GEOMETRY && v < b->width[a]; v++)
        fill_lanes(own->value[s][b->first[a] + v], row[v]);
}

static void set_weights(const struct shared *b, struct own *own)
{
    const struct model *m = b->job->model;
    double w[MODEL_BASES];
    for (int s = 0; s < b->job->nsources; s++) {
        model_weigh(m, own->x + s * m->nparameters, w);
        for (int k = 0; k < m->nbasis; k++)
            fill_lanes(own->weight[s][k], w[k]);
    }
}

/* False: nothing is allowed there. */
static bool go_to(const struct shared *b, struct own *own, trial_number outer)
{
    bool direction = !own->begun;
    for (int a = b->nouter - 1; a >= 0; a--) {
        const trial_number n = (trial_number)b->job->axis[a].n;
        const long place = (long)(outer % n);
        outer /= n;
        if (own->begun && own->place[a] == place)
            continue;
        set_outer(b, own, a, place);
        direction |= job_role(b->job, a) == MODEL_DIRECTION;
    }
    if (direction)
        set_weights(b, own);
    own->begun = true;
    return allows(b, OUTER, own->x);
}

/* ---- a block of trials ------------------------------------------------------------------------*/

/* Numbers of entries i .. i + MODEL_LANES - 1 for a source. */
static void point_at(const struct shared *b, struct own *own, int s, long i, struct numbers *at)
{
    const struct numbers *in = &b->in[s];
    for (int v = 0; v < b->nvalues; v++)
        at->value[v] = in->value[v] ? in->value[v] + i : own->value[s][v];
    for (int k = 0; k < b->job->model->nbasis; k++)
        at->weight[k] = in->weight[k] ? in->weight[k] + i : own->weight[s][k];
    at->amplitude = in->amplitude ? in->amplitude + i : own->amplitude[s];
}

/* Adds a source's displacements to u [3][MODEL_LANES], which is nothing before the first. */
static void add_source(const struct model *m, const struct numbers *at, const double *out,
                       bool first, double *u)
{
    for (int c = 0; c < 3; c++)
        for (int l = 0; l < MODEL_LANES; l += LANES) {
            lanes sum = LOAD(at->weight[0], l) * LOAD(out, c * MODEL_LANES + l);
            for (int k = 1; k < m->nbasis; k++)
                sum += LOAD(at->weight[k], l) * LOAD(out, (3 * k + c) * MODEL_LANES + l);
            sum *= LOAD(at->amplitude, l);
            if (!first)
                sum += LOAD(u, c * MODEL_LANES + l);
            STORE(u, c * MODEL_LANES + l, sum);
        }
}

/* Lanes (bits) whose displacements lie in the station's windows. */
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

static enum ek_status run_block(struct search_worker *w, trial_number outer, long first, long n)
{
    const struct search *s = w->search;
    const struct shared *b = s->shared;
    const struct job *job = b->job;
    struct numbers at[JOB_SOURCES];
    _Alignas(MODEL_ALIGN) double out[MODEL_BASES * 3 * MODEL_LANES], u[3 * MODEL_LANES];
    unsigned alive = (1u << n) - 1;
    for (int k = 0; k < job->nsources; k++)
        point_at(b, w->own, k, first, &at[k]);
    for (int i = 0; alive && i < s->nstations; i++) {
        const struct search_station *station = &s->station[i];
        for (int k = 0; k < job->nsources; k++) {
            search_respond(job->model, (const double *const *)at[k].value, station, out);
            add_source(job->model, &at[k], out, k == 0, u);
        }
        w->evaluations += job->nsources * __builtin_popcount(alive);
        alive &= compare(station, &w->window[i], u);
    }
    for (long l = 0; l < n; l++)
        if (alive >> l & 1)
            TRY(search_judge_trial(w, outer * (trial_number)b->inner +
                                          (trial_number)b->place[first + l]));
    return EK_OK;
}

static enum ek_status run(struct search_worker *w, struct trial_range range)
{
    const struct shared *b = w->search->shared;
    const trial_number inner = (trial_number)b->inner, end = range.first + range.count;
    for (trial_number o = range.first / inner; o * inner < end; o++) {
        const trial_number first = o * inner;
        if (!go_to(b, w->own, o))
            continue;
        long i = first < range.first ? grid_from(b->place, b->nallowed, range.first - first) : 0;
        const long last = grid_from(b->place, b->nallowed, end - first);
        for (; i < last; i += MODEL_LANES)
            TRY(run_block(w, o, i, last - i < MODEL_LANES ? last - i : MODEL_LANES));
    }
    return EK_OK;
}

/* ---- the method -------------------------------------------------------------------------------*/

/* Orders the stations by what they do to a sample of trials. */
static enum ek_status order_stations(struct search *s)
{
    const int n = s->nstations;
    const double reach = judge_reach(s->job, search_best_bound(s->best));
    bool *keeps = calloc(SAMPLES, (size_t)n + 1);
    struct judge *judge;
    struct accepted_record record;
    const double *u;
    uint64_t seed = 1;
    int samples = 0;
    if (!keeps)
        return out_of_memory(s->job);
    enum ek_status status = judge_open(s->job, &judge);
    for (int i = 0; i < SAMPLES && !status; i++) {
        const struct trial_range all = {0, s->job->trials};
        if (!judge_trial(judge, trial_random(all, &seed), &record, &u))
            continue;
        for (int k = 0; k < n; k++) {
            const struct search_station *st = &s->station[k];
            bool *keep = &keeps[samples * n + st->id];
            double own[3];
            const double *seen = search_seen(st, 1, u, own);
            *keep = true;
            for (int c = 0; c < st->ncomponents; c++)
                *keep &= !(fabs(seen[st->component[c]] - st->observed[c]) > reach * st->sigma[c]);
        }
        samples++;
    }
    if (samples)
        search_order_stations(s, keeps, samples);
    if (!status)
        judge_close(judge);
    free(keeps);
    return status;
}

static void close_shared(void *arg)
{
    struct shared *b = arg;
    arena_free(&b->arena);
    free(b);
}

static enum ek_status open_shared(struct search *s, void **out)
{
    struct shared *b = calloc(1, sizeof *b);
    if (!b)
        return out_of_memory(s->job);
    b->job = s->job;
    b->nvalues = model_values(s->job->model);
    divide_axes(b);
    enum ek_status st = list_conditions(b);
    if (!st)
        st = open_tables(b);
    if (!st)
        st = open_lists(b);
    if (!st)
        st = order_stations(s);
    if (st) {
        close_shared(b);
        return st;
    }
    fill_lists(b);
    s->grain = (trial_number)b->inner;
    *out = b;
    return EK_OK;
}

static double cost(const struct search *s, struct trial_range range)
{
    (void)s;
    return (double)range.count;
}

static enum ek_status open_own(const struct search *s, void **out)
{
    struct own *own = model_alloc(sizeof *own);
    if (!own)
        return out_of_memory(s->job);
    for (int k = 0; k < JOB_SOURCES; k++)
        fill_lanes(own->amplitude[k], 1);
    *out = own;
    return EK_OK;
}

const struct search_method_ops search_brute = {
    .name = "brute",
    .open = open_shared,
    .close = close_shared,
    .bytes = grid_bytes,
    .cost = cost,
    .worker_open = open_own,
    .worker_close = free,
    .run = run,
    .finish = search_judge_trial,
};
