/* okada_mogi/search_join.c – several sources, exactly, as a join instead of a product.
 *
 * Predictions add. So the trials of the last source are tabulated once by their predictions; for
 * each trial of the other sources the table is searched for predictions that complete it to the
 * observations. A table that does not fit into memory is made in blocks, anew for each batch. */
#include "okada_mogi/grid.h"
#include "okada_mogi/join_table.h"
#include "okada_mogi/search_method.h"

static const double table_bytes = 1 << 30; /* largest block */

struct shared {
    struct arena arena;
    int nlevels; /* sources, slowest first */
    struct grid grid[JOB_SOURCES];
    struct join_columns columns;
    double *least, *most; /* [level][columns] range of what sources from this level on can add */
    trial_number block;   /* outer places of the last level in a block */
    bool whole;           /* one table holds the last source */
    struct join_table table;
    double evaluations;
    double reach; /* that the table's cells are sized for */
};

/* One thread's. */
struct own {
    struct arena arena;
    struct grid_walk walk[JOB_SOURCES];
    double *basis;           /* [level][judge_basis_size()] of the present geometries */
    double *missing;         /* [level + 1][columns] observed - predicted, standard deviations */
    float *window;           /* scratch of join_table_find() */
    struct join_table table; /* a block, unless the shared table is whole */
    struct judge_source source[JOB_SOURCES];
    double reach;
    bool knows;         /* the sources of the device's query whose answers are being judged: */
    trial_number asked; /* with this one the query began */
    struct judge_source answering[JOB_SOURCES];
};

static const struct grid *last_grid(const struct shared *shared)
{
    return &shared->grid[shared->nlevels - 1];
}

/* ---- the descent through the sources ----------------------------------------------------------*/

/* State of a descent. */
struct descent {
    struct search_worker *w;
    const struct shared *shared;
    const struct join_table *table;
    struct judge_source *source; /* [sources] the chosen ones */
    trial_number trial;          /* sum of their parts of the job's trial number */
};

static trial_number row_trial(const struct join_table *t, const struct join_row *row)
{
    const struct grid *g = t->grid;
    return g->step * grid_trial(g, t->outer[row->geometry], t->entry[row->geometry],
                                (long)row->linear / g->namplitude,
                                (long)row->linear % g->namplitude);
}

const struct join_table *search_join_table(const struct search *s)
{
    const struct shared *shared = s->shared;
    return shared->whole ? &shared->table : NULL;
}

static enum ek_status found(void *arg, const struct join_row *row)
{
    struct descent *d = arg;
    const struct join_table *t = d->table;
    const struct grid *g = t->grid;
    const long m = (long)row->linear / g->namplitude, a = (long)row->linear % g->namplitude;
    d->source[g->source] =
        (struct judge_source){t->basis + (size_t)row->geometry * (size_t)judge_basis_size(g->job),
                              g->weight + m * g->model->nbasis, grid_amplitude(g, a)};
    return search_judge_sources(d->w, d->trial + row_trial(t, row), d->source);
}

/* A device's query: where a descent would be. */
static struct descent asked(struct search_worker *w, trial_number trial)
{
    const struct shared *shared = w->search->shared;
    struct own *own = w->own;
    if (!own->knows || own->asked != trial)
        judge_place(w->judge, trial, own->answering);
    own->knows = true;
    own->asked = trial;
    return (struct descent){w, shared, &shared->table, own->answering, trial};
}

enum ek_status search_join_judge(struct search_worker *w, trial_number trial, long row)
{
    struct descent d = asked(w, trial);
    return found(&d, &d.table->row[row]);
}

enum ek_status search_join_ask(struct search_worker *w, trial_number trial, const double *target)
{
    struct descent d = asked(w, trial);
    return join_table_find(d.table, target, search_reach(w), ((struct own *)w->own)->window, found,
                           &d);
}

/* Whether sources from `level` on can add what is missing, in every column. */
static bool can_add(const struct shared *shared, int level, const double *missing, double reach)
{
    const int n = shared->columns.n;
    const double *least = shared->least + level * n, *most = shared->most + level * n;
    for (int c = 0; c < n; c++) {
        const double more = reach + shared->columns.slack[c];
        if (missing[c] < least[c] - more || missing[c] > most[c] + more)
            return false;
    }
    return true;
}

static bool touches(const struct search_worker *w, trial_number first, trial_number count)
{
    return trial_overlap((struct trial_range){first, count}, w->range).count > 0;
}

static enum ek_status descend(struct descent *d, int level);

/* Chooses direction m and amplitude a of a geometry with known basis responses, and descends. */
static enum ek_status take(struct descent *d, int level, long entry, long m, long a)
{
    const struct shared *shared = d->shared;
    const struct grid *g = &shared->grid[level];
    struct own *own = d->w->own;
    const int n = shared->columns.n, nbasis = g->model->nbasis;
    const double *basis = own->basis + level * judge_basis_size(g->job);
    const double *weight = g->weight + m * nbasis, amplitude = grid_amplitude(g, a);
    const double *missing = own->missing + level * n;
    double *left = own->missing + (level + 1) * n, x[MODEL_PARAMETERS];
    grid_walk_parameters(&own->walk[level], entry, m, a, x);
    if (!grid_late_allows(g, x))
        return EK_OK;
    for (int c = 0; c < n; c++) {
        const double *b =
            basis + shared->columns.at[c] / 3 * 3 * nbasis + shared->columns.at[c] % 3;
        double sum = 0;
        for (int i = 0; i < nbasis; i++)
            sum += weight[i] * b[3 * i];
        left[c] = missing[c] - amplitude * sum / shared->columns.sigma[c];
    }
    d->source[g->source] = (struct judge_source){basis, weight, amplitude};
    return can_add(shared, level + 1, left, own->reach) ? descend(d, level + 1) : EK_OK;
}

static enum ek_status descend_geometry(struct descent *d, int level, trial_number outer, long entry)
{
    const struct grid *g = &d->shared->grid[level];
    struct own *own = d->w->own;
    double value[MODEL_VALUES];
    const trial_number before = d->trial;
    enum ek_status st = EK_OK;
    grid_walk_one(&own->walk[level], entry, value);
    judge_basis(g->job, value, own->basis + level * judge_basis_size(g->job));
    d->w->evaluations += g->job->stations.n;
    for (long m = 0; m < g->ndirections && !st; m++)
        for (long a = 0; a < g->namplitude && !st; a++) {
            d->trial = before + grid_trial(g, outer, entry, m, a) * g->step;
            if (touches(d->w, d->trial, g->step))
                st = take(d, level, entry, m, a);
        }
    d->trial = before;
    return st;
}

/* Visits all trials of the source at this level that are in the batch. */
static enum ek_status descend(struct descent *d, int level)
{
    const struct shared *shared = d->shared;
    const struct grid *g = &shared->grid[level];
    struct own *own = d->w->own;
    if (level == shared->nlevels - 1 && d->w->asker.ask)
        return d->w->asker.ask(d->w->asker.arg, d->trial, own->missing + level * shared->columns.n);
    if (level == shared->nlevels - 1)
        return join_table_find(d->table, own->missing + level * shared->columns.n, own->reach,
                               own->window, found, d);
    const trial_number geometry = (trial_number)g->linear * g->step;
    const trial_number block = (trial_number)g->inner * geometry;
    const trial_number end = d->w->range.first + d->w->range.count - 1;
    const trial_number first = d->w->range.first > d->trial ? d->w->range.first - d->trial : 0;
    for (trial_number o = first / block; o < g->outer && o <= (end - d->trial) / block; o++) {
        if (!grid_walk_to(&own->walk[level], o))
            continue;
        for (long i = 0; i < g->nallowed; i++)
            if (touches(d->w, d->trial + o * block + (trial_number)g->place[i] * geometry,
                        geometry))
                TRY(descend_geometry(d, level, o, i));
    }
    return EK_OK;
}

static enum ek_status run(struct search_worker *w, struct trial_range range)
{
    const struct shared *shared = w->search->shared;
    struct own *own = w->own;
    struct descent d = {w, shared, &shared->table, own->source, 0};
    own->reach = search_reach(w);
    if (!range.count)
        return EK_OK;
    if (shared->whole)
        return descend(&d, 0);
    const trial_number outer = last_grid(shared)->outer;
    enum ek_status st = EK_OK;
    d.table = &own->table;
    for (trial_number o = 0; o < outer && !st; o += shared->block) {
        const trial_number end = outer - o < shared->block ? outer : o + shared->block;
        st = join_table_open(last_grid(shared), &shared->columns, o, end, shared->reach,
                             &own->table, &w->evaluations);
        THEN(st, descend(&d, 0));
        join_table_close(&own->table);
    }
    return st;
}

/* ---- shared data ------------------------------------------------------------------------------*/

/* Sources in the order of their axes. */
static enum ek_status open_grids(struct shared *shared, const struct job *job)
{
    for (int a = 0; a < job->naxes; a++)
        if (!a || job->source[a] != job->source[a - 1])
            TRY(grid_open(job, job->source[a], &shared->grid[shared->nlevels++]));
    return EK_OK;
}

/* Which columns a trial survives. */
static void set_keeps(const void *arg, const double *u, bool *keeps)
{
    const struct shared *shared = arg;
    const struct join_columns *c = &shared->columns;
    for (int k = 0; k < c->n; k++)
        keeps[k] = !(fabs(u[c->at[k]] / c->sigma[k] - c->observed[k]) > shared->reach);
}

/* Widens least .. most to all predictions of a geometry, with any direction and amplitude. */
static void extend_by(const struct shared *shared, const struct grid *g, const double *basis,
                      double *least, double *most)
{
    const int nbasis = g->model->nbasis;
    for (int c = 0; c < shared->columns.n; c++) {
        const int at = shared->columns.at[c];
        for (long m = 0; m < g->ndirections; m++) {
            double sum = 0;
            for (int b = 0; b < nbasis; b++)
                sum += g->weight[m * nbasis + b] * basis[at / 3 * 3 * nbasis + 3 * b + at % 3];
            const double x = sum * g->amplitude.min / shared->columns.sigma[c];
            const double y = sum * g->amplitude.max / shared->columns.sigma[c];
            least[c] = fmin(least[c], fmin(x, y));
            most[c] = fmax(most[c], fmax(x, y));
        }
    }
}

/* Range of what one level can add; infinite if computing it would take long. */
static void extend(struct shared *shared, int level, double *basis, double *least, double *most)
{
    const struct grid *g = &shared->grid[level];
    const bool quick = join_table_rows(g, 0, g->outer) / (double)g->namplitude < 1e6;
    double value[MODEL_VALUES];
    struct grid_walk walk;
    for (int c = 0; c < shared->columns.n; c++) {
        least[c] = quick ? INFINITY : -INFINITY;
        most[c] = -least[c];
    }
    grid_walk_begin(&walk, g);
    for (trial_number o = 0; quick && o < g->outer; o++)
        for (long i = 0; grid_walk_to(&walk, o) && i < g->nallowed; i++) {
            grid_walk_one(&walk, i, value);
            judge_basis(g->job, value, basis);
            shared->evaluations += g->job->stations.n;
            extend_by(shared, g, basis, least, most);
        }
}

/* Sets shared->least and most, [levels + 1][columns]; the last level is 0. */
static enum ek_status bound_levels(struct shared *shared, const struct job *job)
{
    const int n = shared->columns.n, levels = shared->nlevels;
    double *basis = ARENA_NEW(&shared->arena, judge_basis_size(job), double);
    shared->least = ARENA_NEW(&shared->arena, (levels + 1) * n, double);
    shared->most = ARENA_NEW(&shared->arena, (levels + 1) * n, double);
    TRY(arena_check(&shared->arena, "the bounds of %s", job->path));
    for (int level = levels - 1; level > 0; level--) {
        double *least = shared->least + level * n, *most = shared->most + level * n;
        extend(shared, level, basis, least, most);
        for (int c = 0; c < n; c++) {
            least[c] += least[n + c];
            most[c] += most[n + c];
        }
    }
    return EK_OK;
}

static enum ek_status open_table(struct shared *shared)
{
    const struct grid *last = last_grid(shared);
    const double whole = join_table_bytes(last, 0, last->outer);
    shared->block = whole > table_bytes
                        ? (trial_number)fmax((double)last->outer * table_bytes / whole, 1)
                        : last->outer;
    shared->whole = shared->block == last->outer;
    return shared->whole ? join_table_open(last, &shared->columns, 0, last->outer, shared->reach,
                                           &shared->table, &shared->evaluations)
                         : EK_OK;
}

static void close_shared(void *arg)
{
    struct shared *shared = arg;
    join_table_close(&shared->table);
    for (int i = 0; i < JOB_SOURCES; i++)
        grid_close(&shared->grid[i]);
    join_columns_close(&shared->columns);
    arena_free(&shared->arena);
    free(shared);
}

static enum ek_status fill(struct shared *shared, struct search *s)
{
    int swap[SEARCH_ORDERED], n;
    TRY(open_grids(shared, s->job));
    TRY(join_columns_open(s->job, &shared->columns));
    shared->reach = judge_reach(s->job, search_best_bound(s->best));
    TRY(search_order_by_trials(s, shared->columns.n, set_keeps, shared, swap, &n));
    join_columns_swap(&shared->columns, swap, n);
    TRY(bound_levels(shared, s->job));
    return open_table(shared);
}

static enum ek_status open_shared(struct search *s, void **out)
{
    NEW(struct shared, shared, 1, "%s: out of memory", s->job->path);
    TRY_OR(fill(shared, s), close_shared(shared));
    const struct grid *g = &shared->grid[shared->nlevels - 2];
    s->grain = (trial_number)g->linear * g->step;
    if (shared->whole)
        s->order = (trial_number)shared->grid[0].linear * shared->grid[0].step;
    s->prepared = shared->evaluations;
    *out = shared;
    return EK_OK;
}

/* The grids, and the last source's table or a block of it. */
static size_t bytes(const struct job *job)
{
    struct grid g = {.job = job, .model = job->model, .linear = 1, .nallowed = 1, .outer = 1};
    double rows = 1;
    for (int a = 0; a < job->naxes; a++)
        if (job->source[a] == job->source[job->naxes - 1])
            rows *= (double)job->axis[a].n;
    return grid_bytes(job) + (size_t)fmin(rows * join_table_bytes(&g, 0, 1), table_bytes);
}

static double cost(const struct search *s, struct trial_range range)
{
    const struct shared *shared = s->shared;
    return (double)range.count / (double)shared->grid[shared->nlevels - 2].step + 1;
}

static void close_own(void *arg)
{
    struct own *own = arg;
    join_table_close(&own->table);
    arena_free(&own->arena);
    free(own);
}

static enum ek_status open_own(const struct search *s, void **out)
{
    const struct shared *shared = s->shared;
    struct own *own = model_alloc(sizeof *own);
    if (!own)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", s->job->path);
    const size_t n = (size_t)shared->columns.n, levels = (size_t)shared->nlevels;
    own->basis = ARENA_NEW(&own->arena, levels * (size_t)judge_basis_size(s->job), double);
    own->missing = ARENA_NEW(&own->arena, (levels + 1) * n, double);
    own->window = ARENA_NEW(&own->arena, 2 * n, float);
    TRY_OR(arena_check(&own->arena, "a worker of %s", s->job->path), close_own(own));
    memcpy(own->missing, shared->columns.observed, n * sizeof *own->missing);
    for (size_t i = 0; i < levels; i++)
        grid_walk_begin(&own->walk[i], &shared->grid[i]);
    *out = own;
    return EK_OK;
}

const struct search_method_ops search_join = {
    .open = open_shared,
    .close = close_shared,
    .bytes = bytes,
    .cost = cost,
    .worker_open = open_own,
    .worker_close = close_own,
    .run = run,
};
