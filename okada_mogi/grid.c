/* okada_mogi/grid.c – tables of values, the inner list, walks. */
#include "okada_mogi/grid.h"

#include <math.h>

/* The inner list has at least ENOUGH places, if there are as many, to fill lanes; it grows up to
 * PLENTY to take a constraint's axes in. */
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
            else /* a table, and lists where the axis is an inner one */
                n += (places + PLENTY) * (double)(2 * model_values(m) + 4);
        }
        n += directions * (double)(m->nbasis + m->nparameters + 1);
    }
    return (size_t)fmin(n * sizeof(double), 0x1p62);
}

/* ---- constraints ------------------------------------------------------------------------------*/

/* When a constraint on one source can be decided. */
enum moment { OUTER, INNER, LATE };

static unsigned bits_of(const struct grid *g, int begin, int end)
{
    unsigned bits = 0;
    for (int a = begin; a < end; a++)
        bits |= 1u << g->job->parameter[g->axis[a].axis];
    return bits;
}

static enum moment moment_of(const struct grid *g, const struct model_constraint *c)
{
    if (!(c->looks_at & ~bits_of(g, 0, g->nouter)))
        return OUTER;
    return c->looks_at & ~bits_of(g, g->nouter, g->naxes) ? LATE : INNER;
}

/* The constraints that are decided at this moment hold. */
static bool allows(const struct grid *g, enum moment when, const double *x)
{
    for (int i = 0; i < g->job->nconstraints; i++) {
        const struct job_constraint *c = &g->job->constraint[i];
        if (job_concerns(c, g->source, -1) && moment_of(g, c->what) == when &&
            !job_holds(c, x, NULL))
            return false;
    }
    return true;
}

bool grid_late_allows(const struct grid *g, const double *x)
{
    return allows(g, LATE, x);
}

/* ---- opening ----------------------------------------------------------------------------------*/

static const struct trial_axis *axis_of(const struct grid *g, int a)
{
    return &g->job->axis[g->axis[a].axis];
}

static int parameter_of(const struct grid *g, int a)
{
    return g->job->parameter[g->axis[a].axis];
}

static enum ek_status check(const struct grid *g)
{
    return arena_check(&g->arena, "the grid of source %d", g->source + 1);
}

static enum ek_status open_geometry(struct grid *g)
{
    const struct job *job = g->job;
    for (int a = 0; a < job->naxes; a++) {
        const int p = job->parameter[a];
        if (job->source[a] != g->source || job_role(job, a) != MODEL_GEOMETRY)
            continue;
        struct grid_axis *x = &g->axis[g->naxes++];
        *x = (struct grid_axis){
            .axis = a, .first = model_values_before(g->model, p), .n = job_width(job, a)};
        x->table = ARENA_NEW(&g->arena, job->axis[a].n * x->n, double);
        TRY(check(g));
        job_tabulate(job, a, x->table);
    }
    return EK_OK;
}

/* Some constraint looks at inner and outer axes, and would be inner with one more axis or so. */
static bool straddled(const struct grid *g)
{
    const unsigned geometry = bits_of(g, 0, g->naxes), inner = bits_of(g, g->nouter, g->naxes);
    for (int i = 0; i < g->job->nconstraints; i++) {
        const struct job_constraint *c = &g->job->constraint[i];
        if (job_concerns(c, g->source, -1) && !(c->what->looks_at & ~geometry) &&
            c->what->looks_at & inner && moment_of(g, c->what) == LATE)
            return true;
    }
    return false;
}

static void divide_axes(struct grid *g)
{
    g->nouter = g->naxes;
    g->inner = 1;
    g->outer = 1;
    while (g->nouter && (g->nouter == g->naxes || g->inner < ENOUGH || straddled(g))) {
        const long n = axis_of(g, g->nouter - 1)->n;
        if (g->nouter < g->naxes && g->inner > PLENTY / n)
            break;
        g->inner *= n;
        g->nouter--;
    }
    for (int a = 0; a < g->nouter; a++)
        g->outer *= (trial_number)axis_of(g, a)->n;
}

/* The inner parameters at a place into x; its values into entry i of the list, unless i < 0. */
static void set_inner(struct grid *g, long place, long i, double *x)
{
    for (int a = g->naxes - 1; a >= g->nouter; a--) {
        const struct grid_axis *axis = &g->axis[a];
        const long n = axis_of(g, a)->n, at = place % n;
        place /= n;
        x[parameter_of(g, a)] = trial_value(axis_of(g, a), at);
        for (int v = 0; v < axis->n && i >= 0; v++)
            g->value[axis->first + v][i] = axis->table[at * axis->n + v];
    }
}

static enum ek_status list_inner(struct grid *g)
{
    double x[MODEL_PARAMETERS] = {0};
    g->place = ARENA_NEW(&g->arena, g->inner, long);
    for (int a = g->nouter; a < g->naxes; a++)
        for (int v = 0; v < g->axis[a].n; v++)
            g->value[g->axis[a].first + v] = ARENA_NEW(&g->arena, g->inner + MODEL_LANES, double);
    TRY(check(g));
    for (long place = 0; place < g->inner; place++) {
        set_inner(g, place, g->nallowed, x);
        if (allows(g, INNER, x))
            g->place[g->nallowed++] = place;
    }
    for (long i = 0; i < MODEL_LANES && g->nallowed; i++)
        set_inner(g, g->place[g->nallowed - 1], g->nallowed + i, x);
    return EK_OK;
}

/* Trials from one value of a job's axis to the next, among its source's. */
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
    g->amplitude = (struct trial_axis){1, 1, 1};
    g->ndirections = g->namplitude = 1;
    for (int a = 0; a < job->naxes; a++) {
        if (job->source[a] != g->source)
            continue;
        if (job_role(job, a) == MODEL_AMPLITUDE) {
            g->amplitude = job->axis[a];
            g->amplitude_step = step_of(job, a);
        } else if (job_role(job, a) == MODEL_DIRECTION) {
            turning[n++] = a;
            g->ndirections *= job->axis[a].n;
        }
    }
    g->namplitude = g->amplitude.n;
    g->linear = g->ndirections * g->namplitude;
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

static void number_trials(struct grid *g)
{
    const struct job *job = g->job;
    g->trials = g->outer * (trial_number)g->inner * (trial_number)g->linear;
    g->step = 1;
    for (int a = job->naxes - 1; job->source[a] != g->source; a--)
        g->step *= (trial_number)job->axis[a].n;
}

enum ek_status grid_open(const struct job *job, int source, struct grid *g)
{
    *g = (struct grid){.job = job, .model = job->model, .source = source};
    enum ek_status st = open_geometry(g);
    if (!st) {
        divide_axes(g);
        st = list_inner(g);
    }
    if (!st)
        st = open_linear(g);
    if (st)
        grid_close(g);
    else
        number_trials(g);
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

trial_number grid_trial(const struct grid *g, trial_number outer, long allowed, long m, long a)
{
    const trial_number geometry = outer * (trial_number)g->inner + (trial_number)g->place[allowed];
    return geometry * (trial_number)g->linear + g->direction_offset[m] +
           g->amplitude_step * (trial_number)a;
}

long grid_from(const long *places, long n, trial_number place)
{
    long begin = 0, end = n;
    while (begin < end) {
        const long middle = begin + (end - begin) / 2;
        if ((trial_number)places[middle] < place)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

long grid_entry(const struct grid *g, long place)
{
    const long at = grid_from(g->place, g->nallowed, (trial_number)place);
    return at < g->nallowed && g->place[at] == place ? at : -1;
}

/* ---- walks ------------------------------------------------------------------------------------*/

void grid_walk_begin(struct grid_walk *w, const struct grid *g)
{
    *w = (struct grid_walk){.grid = g};
}

static void set_outer(struct grid_walk *w, int a, long place)
{
    const struct grid *g = w->grid;
    const struct grid_axis *axis = &g->axis[a];
    w->place[a] = place;
    w->x[parameter_of(g, a)] = trial_value(axis_of(g, a), place);
    for (int v = 0; v < axis->n; v++)
        for (int l = 0; l < MODEL_LANES; l++)
            w->lane[axis->first + v][l] = axis->table[place * axis->n + v];
}

bool grid_walk_to(struct grid_walk *w, trial_number outer)
{
    const struct grid *g = w->grid;
    for (int a = g->nouter - 1; a >= 0; a--) {
        const trial_number n = (trial_number)axis_of(g, a)->n;
        const long place = (long)(outer % n);
        outer /= n;
        if (!w->begun || w->place[a] != place)
            set_outer(w, a, place);
    }
    w->begun = true;
    w->allowed = g->nallowed && allows(g, OUTER, w->x);
    return w->allowed;
}

void grid_walk_values(const struct grid_walk *w, long i, const double *value[MODEL_VALUES])
{
    const struct grid *g = w->grid;
    for (int a = 0; a < g->naxes; a++)
        for (int v = g->axis[a].first; v < g->axis[a].first + g->axis[a].n; v++)
            value[v] = a < g->nouter ? w->lane[v] : g->value[v] + i;
}

void grid_walk_one(const struct grid_walk *w, long i, double *value)
{
    const double *lanes[MODEL_VALUES];
    const int n = model_values(w->grid->model);
    grid_walk_values(w, i, lanes);
    for (int v = 0; v < n; v++)
        value[v] = lanes[v][0];
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
