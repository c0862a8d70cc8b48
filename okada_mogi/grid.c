/* okada_mogi/grid.c – builds the tables of values and the inner list; walks. */
#include "okada_mogi/grid.h"
#include "okada_mogi/judge.h"
#include "src/sort.h"

#include <limits.h>

/* The inner list has at least ENOUGH places (if the grid has), to fill lanes; it may grow to PLENTY
 * to include all axes of a constraint. */
enum { ENOUGH = 64, PLENTY = 8192 };

bool grid_fits(const struct job *job)
{
    for (int a = 1; a < job->naxes; a++) {
        const bool same = job->source[a] == job->source[a - 1];
        if (same && job_role(job, a) == MODEL_GEOMETRY && job_role(job, a - 1) != MODEL_GEOMETRY)
            return false;
        for (int b = 0; b < a - 1 && !same; b++)
            if (job->source[b] == job->source[a])
                return false;
    }
    return true;
}

size_t grid_bytes(const struct job *job)
{
    const struct model *m = job->model;
    double n = 0;
    for (int s = 0; s < job->nsources; s++) {
        double directions = 1;
        for (int a = 0; a < job->naxes; a++) {
            const double places = (double)job->axis[a].n;
            if (job->source[a] != s || job_role(job, a) == MODEL_AMPLITUDE)
                continue;
            if (job_role(job, a) == MODEL_DIRECTION)
                directions *= places;
            else /* a table, and lists if the axis is an inner one */
                n += (places + PLENTY) * (double)(2 * model_values(m) + 4);
        }
        n += directions * (double)(m->nbasis + m->nparameters + 1);
    }
    return (size_t)fmin(n * sizeof(double), 0x1p62);
}

/* ---- conditions -------------------------------------------------------------------------------*/

static const struct trial_axis *axis_of(const struct grid *g, int a)
{
    return &g->job->axis[g->axis[a].axis];
}

static int parameter_of(const struct grid *g, int a)
{
    return g->job->parameter[g->axis[a].axis];
}

/* Source of an axis, relative to the grid's first. */
static int source_of(const struct grid *g, int a)
{
    return g->job->source[g->axis[a].axis] - g->source;
}

/* Parameters (bits) of a source that vary along axes begin .. end - 1. */
static unsigned bits_of(const struct grid *g, int source, int begin, int end)
{
    unsigned bits = 0;
    for (int a = begin; a < end; a++)
        bits |= source_of(g, a) == source ? 1u << parameter_of(g, a) : 0;
    return bits;
}

/* Whether a condition depends on these axes only / on some of them. */
static bool needs_only(const struct grid *g, const struct grid_condition *c, int begin, int end)
{
    const unsigned looks_at = c->what->what->looks_at;
    return !(looks_at & ~bits_of(g, c->a, begin, end)) &&
           (c->b < 0 || !(looks_at & ~bits_of(g, c->b, begin, end)));
}

static bool needs_some(const struct grid *g, const struct grid_condition *c, int begin, int end)
{
    const unsigned looks_at = c->what->what->looks_at;
    return looks_at & bits_of(g, c->a, begin, end) ||
           (c->b >= 0 && looks_at & bits_of(g, c->b, begin, end));
}

static enum grid_moment moment_of(const struct grid *g, const struct grid_condition *c)
{
    return needs_only(g, c, 0, g->nouter)          ? GRID_OUTER
           : needs_only(g, c, g->nouter, g->naxes) ? GRID_INNER
                                                   : GRID_LATE;
}

/* Whether all conditions that are decided at this moment hold. */
static bool allows(const struct grid *g, enum grid_moment when, const double *x)
{
    const int n = g->model->nparameters;
    for (int i = 0; i < g->nconditions; i++) {
        const struct grid_condition *c = &g->condition[i];
        if (c->when == when && !job_holds(c->what, x + c->a * n, c->b < 0 ? NULL : x + c->b * n))
            return false;
    }
    return true;
}

bool grid_late_allows(const struct grid *g, const double *x)
{
    return allows(g, GRID_LATE, x);
}

bool grid_decides(const struct grid *g)
{
    for (int i = 0; i < g->nconditions; i++)
        if (g->condition[i].when == GRID_LATE)
            return false;
    return true;
}

/* ---- opening ----------------------------------------------------------------------------------*/

static enum ek_status check(const struct grid *g)
{
    return arena_check(&g->arena, "the grid of source %d", g->source + 1);
}

static enum ek_status open_axes(struct grid *g, bool all)
{
    const struct job *job = g->job;
    const int nvalues = model_values(g->model), nbasis = g->model->nbasis;
    g->nnumbers = all ? nvalues + nbasis + 1 : nvalues;
    for (int a = 0; a < job->naxes; a++) {
        const enum model_role role = job_role(job, a);
        if (!all && (job->source[a] != g->source || role != MODEL_GEOMETRY))
            continue;
        struct grid_axis *x = &g->axis[g->naxes++];
        *x = role == MODEL_DIRECTION ? (struct grid_axis){a, nvalues, nbasis, NULL}
             : role == MODEL_AMPLITUDE
                 ? (struct grid_axis){a, nvalues + nbasis, 1, NULL}
                 : (struct grid_axis){a, model_values_before(g->model, job->parameter[a]),
                                      job_width(job, a), NULL};
        if (role == MODEL_DIRECTION)
            continue;
        x->table = ARENA_NEW(&g->arena, job->axis[a].n * x->n, double);
        TRY(check(g));
        job_tabulate(job, a, x->table);
    }
    return EK_OK;
}

static enum ek_status list_conditions(struct grid *g)
{
    const struct job *job = g->job;
    const int end = g->source + g->nsources;
    g->condition =
        ARENA_NEW(&g->arena, job->nconstraints * g->nsources * g->nsources, struct grid_condition);
    TRY(check(g));
    for (int i = 0; i < job->nconstraints; i++)
        for (int a = g->source; a < end; a++)
            for (int b = -1; b < a; b++)
                if ((b < 0 || b >= g->source) && job_concerns(&job->constraint[i], a, b))
                    g->condition[g->nconditions++] = (struct grid_condition){
                        &job->constraint[i], a - g->source, b < 0 ? b : b - g->source, GRID_LATE};
    return EK_OK;
}

/* Whether some condition depends on inner and outer axes: with more inner axes it could be decided
 * in the list. */
static bool straddled(const struct grid *g)
{
    for (int i = 0; i < g->nconditions; i++) {
        const struct grid_condition *c = &g->condition[i];
        if (needs_only(g, c, 0, g->naxes) && needs_some(g, c, g->nouter, g->naxes) &&
            moment_of(g, c) == GRID_LATE)
            return true;
    }
    return false;
}

/* Whether some source has both inner and outer direction axes: its weights could not be listed. */
static bool is_divided(const struct grid *g)
{
    for (int a = 0; a < g->nouter; a++)
        for (int b = g->nouter; b < g->naxes; b++)
            if (!g->axis[a].table && !g->axis[b].table && source_of(g, a) == source_of(g, b))
                return true;
    return false;
}

static enum ek_status too_many(const struct grid *g)
{
    FAIL(EK_USAGE, "%s: a place of a source has more than 2^63 trials; choose fewer values",
         g->job->path);
}

static enum ek_status divide_axes(struct grid *g)
{
    g->nouter = g->naxes;
    g->inner = g->outer = 1;
    while (g->nouter &&
           (g->nouter == g->naxes || g->inner < ENOUGH || is_divided(g) || straddled(g))) {
        const long n = axis_of(g, g->nouter - 1)->n;
        if (g->nouter < g->naxes && g->inner > PLENTY / n && !is_divided(g))
            break;
        if (g->inner > LONG_MAX / n)
            return too_many(g);
        g->inner *= n;
        g->nouter--;
    }
    for (int a = 0; a < g->nouter; a++)
        g->outer *= (trial_number)axis_of(g, a)->n;
    for (int i = 0; i < g->nconditions; i++)
        g->condition[i].when = moment_of(g, &g->condition[i]);
    return EK_OK;
}

/* ---- the inner list ---------------------------------------------------------------------------*/

static enum ek_status open_lists(struct grid *g)
{
    for (int a = g->nouter; a < g->naxes; a++)
        for (int k = g->axis[a].first; k < g->axis[a].first + g->axis[a].n; k++) {
            double **list = &g->list[source_of(g, a)][k];
            if (!*list)
                *list = ARENA_NEW(&g->arena, g->inner + MODEL_LANES, double);
        }
    g->place = ARENA_NEW(&g->arena, g->inner, long);
    return check(g);
}

/* Fills entry i of the lists with the numbers of an inner place, and x with its parameters. */
static void set_entry(struct grid *g, long place, long i, double *x)
{
    const int weights = model_values(g->model), np = g->model->nparameters;
    double w[MODEL_BASES];
    for (int a = g->naxes - 1; a >= g->nouter; a--) {
        const struct grid_axis *axis = &g->axis[a];
        const long n = axis_of(g, a)->n, at = place % n;
        const int s = source_of(g, a);
        place /= n;
        x[s * np + parameter_of(g, a)] = trial_value(axis_of(g, a), at);
        for (int k = 0; k < axis->n && axis->table; k++)
            g->list[s][axis->first + k][i] = axis->table[at * axis->n + k];
    }
    for (int s = 0; s < g->nsources; s++) {
        if (!g->list[s][weights])
            continue;
        model_weigh(g->model, x + s * np, w);
        for (int k = 0; k < g->model->nbasis; k++)
            g->list[s][weights + k][i] = w[k];
    }
}

static void fill_lists(struct grid *g)
{
    double x[JOB_AXES] = {0};
    for (long place = 0; place < g->inner; place++) {
        set_entry(g, place, g->nallowed, x);
        if (allows(g, GRID_INNER, x))
            g->place[g->nallowed++] = place;
    }
    for (long i = 0; i < MODEL_LANES && g->nallowed; i++)
        set_entry(g, g->place[g->nallowed - 1], g->nallowed + i, x);
}

/* ---- directions and amplitudes ----------------------------------------------------------------*/

/* Trials of an axis's source from one value of the axis to the next. */
static trial_number step_of(const struct job *job, int axis)
{
    trial_number step = 1;
    for (int a = job->naxes - 1; a > axis; a--)
        if (job->source[a] == job->source[axis])
            step *= (trial_number)job->axis[a].n;
    return step;
}

static enum ek_status open_linear(struct grid *g)
{
    const struct job *job = g->job;
    int turning[MODEL_PARAMETERS], n = 0;
    trial_number linear = 1;
    for (int a = 0; a < job->naxes; a++) {
        if (job->source[a] != g->source)
            continue;
        linear *= job_role(job, a) == MODEL_GEOMETRY ? 1 : (trial_number)job->axis[a].n;
        if (linear > LONG_MAX)
            return too_many(g);
        if (job_role(job, a) == MODEL_AMPLITUDE) {
            g->amplitude = job->axis[a];
            g->amplitude_step = step_of(job, a);
        } else if (job_role(job, a) == MODEL_DIRECTION) {
            turning[n++] = a;
            g->ndirections *= job->axis[a].n;
        }
    }
    g->namplitude = g->amplitude.n;
    g->linear = (long)linear;
    const size_t np = (size_t)g->model->nparameters, nb = (size_t)g->model->nbasis;
    g->weight = ARENA_NEW(&g->arena, (size_t)g->ndirections * nb, double);
    g->direction = ARENA_NEW(&g->arena, (size_t)g->ndirections * np, double);
    g->direction_offset = ARENA_NEW(&g->arena, g->ndirections, trial_number);
    TRY(check(g));
    for (long m = 0; m < g->ndirections; m++) {
        long rest = m;
        for (int i = n - 1; i >= 0; i--) {
            const struct trial_axis *axis = &job->axis[turning[i]];
            g->direction[(size_t)m * np + (size_t)job->parameter[turning[i]]] =
                trial_value(axis, rest % axis->n);
            g->direction_offset[m] += step_of(job, turning[i]) * (trial_number)(rest % axis->n);
            rest /= axis->n;
        }
        model_weigh(g->model, g->direction + (size_t)m * np, g->weight + (size_t)m * nb);
    }
    return EK_OK;
}

static trial_number step_of_source(const struct grid *g)
{
    trial_number step = 1;
    for (int a = g->job->naxes - 1; g->job->source[a] != g->source; a--)
        step *= (trial_number)g->job->axis[a].n;
    return step;
}

static enum ek_status fill(struct grid *g, bool all)
{
    TRY(open_axes(g, all));
    TRY(list_conditions(g));
    TRY(divide_axes(g));
    TRY(open_lists(g));
    fill_lists(g);
    return all ? EK_OK : open_linear(g);
}

enum ek_status grid_open(const struct job *job, int source, struct grid *g)
{
    const bool all = source == GRID_ALL;
    *g = (struct grid){.job = job,
                       .model = job->model,
                       .source = all ? 0 : source,
                       .nsources = all ? job->nsources : 1,
                       .ndirections = 1,
                       .namplitude = 1,
                       .linear = 1,
                       .amplitude = {1, 1, 1},
                       .step = 1};
    const enum ek_status st = fill(g, all);
    if (st)
        grid_close(g);
    else if (!all)
        g->step = step_of_source(g);
    return st;
}

void grid_close(struct grid *g)
{
    arena_free(&g->arena);
    *g = (struct grid){.job = NULL};
}

double grid_amplitude(const struct grid *g, long a)
{
    return trial_value(&g->amplitude, a);
}

double grid_amplitude_slack(const struct grid *g)
{
    return JUDGE_SLACK * fmax(fabs(g->amplitude.min), fabs(g->amplitude.max));
}

trial_number grid_trial(const struct grid *g, trial_number outer, long allowed, long m, long a)
{
    const trial_number geometry = outer * (trial_number)g->inner + (trial_number)g->place[allowed];
    return geometry * (trial_number)g->linear + (g->direction_offset ? g->direction_offset[m] : 0) +
           g->amplitude_step * (trial_number)a;
}

/* Index of the first of n ascending places that is at or after `place`; n: none. */
static long first_from(const long *places, long n, trial_number place)
{
    long begin = 0, end = n;
    SORT_BISECT(begin, end, (trial_number)places[middle] < place)
    return begin;
}

long grid_entry(const struct grid *g, long place)
{
    const long at = first_from(g->place, g->nallowed, (trial_number)place);
    return at < g->nallowed && g->place[at] == place ? at : -1;
}

/* ---- walks ------------------------------------------------------------------------------------*/

void grid_walk_begin(struct grid_walk *w, const struct grid *g)
{
    const int amplitude = model_values(g->model) + g->model->nbasis;
    *w = (struct grid_walk){.grid = g};
    for (int s = 0; s < g->nsources; s++)
        model_fill(w->lane[s][amplitude], 1);
}

static void set_outer(struct grid_walk *w, int a, long place)
{
    const struct grid *g = w->grid;
    const struct grid_axis *axis = &g->axis[a];
    const int s = source_of(g, a);
    w->place[a] = place;
    w->x[s * g->model->nparameters + parameter_of(g, a)] = trial_value(axis_of(g, a), place);
    for (int k = 0; k < axis->n && axis->table; k++)
        model_fill(w->lane[s][axis->first + k], axis->table[place * axis->n + k]);
}

static void set_weights(struct grid_walk *w)
{
    const struct model *m = w->grid->model;
    const int weights = model_values(m);
    double weight[MODEL_BASES];
    for (int s = 0; s < w->grid->nsources; s++) {
        model_weigh(m, w->x + s * m->nparameters, weight);
        for (int k = 0; k < m->nbasis; k++)
            model_fill(w->lane[s][weights + k], weight[k]);
    }
}

bool grid_walk_to(struct grid_walk *w, trial_number outer)
{
    const struct grid *g = w->grid;
    bool turned = !w->begun;
    for (int a = g->nouter - 1; a >= 0; a--) {
        const trial_number n = (trial_number)axis_of(g, a)->n;
        const long place = (long)(outer % n);
        outer /= n;
        if (w->begun && w->place[a] == place)
            continue;
        set_outer(w, a, place);
        turned |= !g->axis[a].table;
    }
    if (turned)
        set_weights(w);
    w->begun = true;
    return g->nallowed && allows(g, GRID_OUTER, w->x);
}

enum ek_status grid_walk_over(struct grid_walk *w, struct trial_range range,
                              enum ek_status (*block)(void *arg, trial_number outer, long first,
                                                      long n),
                              void *arg)
{
    const struct grid *g = w->grid;
    const trial_number linear = (trial_number)g->linear, inner = (trial_number)g->inner;
    const trial_number begin = range.first / linear; /* places that have trials in the range */
    const trial_number end = (range.first + range.count - 1) / linear + 1;
    for (trial_number o = begin / inner; o * inner < end && range.count; o++) {
        const trial_number first = o * inner;
        if (!grid_walk_to(w, o))
            continue;
        long i = first < begin ? first_from(g->place, g->nallowed, begin - first) : 0;
        const long last = first_from(g->place, g->nallowed, end - first);
        for (; i < last; i += MODEL_LANES)
            TRY(block(arg, o, i, last - i < MODEL_LANES ? last - i : MODEL_LANES));
    }
    return EK_OK;
}

void grid_walk_numbers(const struct grid_walk *w, int source, long i,
                       const double *number[GRID_NUMBERS])
{
    const struct grid *g = w->grid;
    for (int k = 0; k < g->nnumbers; k++)
        number[k] = g->list[source][k] ? g->list[source][k] + i : w->lane[source][k];
}

void grid_walk_one(const struct grid_walk *w, long i, double *value)
{
    const double *number[GRID_NUMBERS];
    grid_walk_numbers(w, 0, i, number);
    for (int v = 0; v < w->grid->nnumbers; v++)
        value[v] = number[v][0];
}

void grid_walk_parameters(const struct grid_walk *w, long i, long m, long a, double *x)
{
    const struct grid *g = w->grid;
    const int n = g->model->nparameters, amplitude = model_amplitude(g->model);
    long place = g->place[i];
    for (int p = 0; p < n; p++)
        x[p] = w->x[p] + g->direction[m * n + p];
    for (int k = g->naxes - 1; k >= g->nouter; k--) {
        const struct trial_axis *axis = axis_of(g, k);
        x[parameter_of(g, k)] = trial_value(axis, place % axis->n);
        place /= axis->n;
    }
    if (amplitude >= 0)
        x[amplitude] = grid_amplitude(g, a);
}
