/* okada_mogi/device_axes.c – trials (brute) or geometries (one source) on a device: it tests all of
 * them, given by axes, and returns candidates as bits. */
#include "okada_mogi/device.h"
#include "okada_mogi/grid.h"
#include "okada_mogi/kernels/found.h"
#include "src/sort.h"

enum { AHEAD = 4 };                                         /* pieces queued on the device */
enum { AXES, TABLE, CONDITIONS, ALLOWED, STATIONS, FOUND }; /* FOUND: one for each of these */
enum { AXIS = 8, CONDITION = 10, STATION = 11 };            /* numbers in a row */
enum { MOST_SPAN = 32, ENOUGH_ITEMS = 1 << 16, MOST_ITEMS = 1 << 20, MOST_AXES = 4, PIECES = 8 };
enum { MOST_PLACES = 1 << 20 };                     /* largest table of a condition */
enum { FOUND_ROOM = FOUND_ITEMS + 2 * MOST_ITEMS }; /* ints of found.h */
static const double anything = 1e300;

/* Part of a range of places, for one launch; each item tests `span` of them. */
struct piece {
    trial_number first;
    long count, items;
    int span;
};

struct axes {
    int naxes;
    long axes[JOB_AXES * AXIS], row[AHEAD][JOB_AXES * AXIS]; /* row: with a launch's first place */
    struct trial_axis grid[JOB_AXES];
    int nconditions, nstations;
    double *table;
    size_t table_room, table_used;
    int *found[AHEAD];
    struct piece piece; /* being judged, */
    const int *judged;  /* and what was found in it */
};

static enum ek_status out_of_memory(const struct search_device *d)
{
    FAIL(EK_UNAVAILABLE, "%s: out of memory for the grid", d->search->job->path);
}

/* ---- tables -----------------------------------------------------------------------------------*/

/* Room for n more numbers at the table's end; NULL: out of memory. */
static double *extend(struct axes *x, size_t n)
{
    if (x->table_used + n > x->table_room) {
        const size_t room = 2 * (x->table_used + n);
        double *more = realloc(x->table, room * sizeof *more);
        if (!more)
            return NULL;
        x->table = more;
        x->table_room = room;
    }
    x->table_used += n;
    return x->table + x->table_used - n;
}

/* Appends the weights of all directions of a source; sets *offset, and step of direction axes. */
static enum ek_status add_weights(struct search_device *d, int source, long *offset, long *step)
{
    struct axes *x = d->own;
    const struct job *job = d->search->job;
    const int nbasis = job->model->nbasis;
    double p[MODEL_PARAMETERS] = {0};
    long n = 1;
    for (int a = job->naxes - 1; a >= 0; a--)
        if (job->source[a] == source && job_role(job, a) == MODEL_DIRECTION) {
            step[a] = n;
            n *= job->axis[a].n;
        }
    *offset = (long)x->table_used;
    double *weights = extend(x, (size_t)(n * nbasis));
    if (!weights || n > 1 << 30)
        return out_of_memory(d);
    for (long m = 0; m < n; m++) {
        for (int a = 0; a < job->naxes; a++)
            if (job->source[a] == source && job_role(job, a) == MODEL_DIRECTION)
                p[job->parameter[a]] = trial_value(&job->axis[a], m / step[a] % job->axis[a].n);
        model_weigh(job->model, p, weights + m * nbasis);
    }
    return EK_OK;
}

static enum ek_status add_axis(struct search_device *d, const struct grid_axis *axis, long weights,
                               long step)
{
    struct axes *x = d->own;
    const struct job *job = d->search->job;
    const struct trial_axis *grid = &job->axis[axis->axis];
    const enum model_role role = job_role(job, axis->axis);
    const size_t n = axis->table ? (size_t)grid->n * (size_t)axis->n : 0;
    const long row[AXIS] = {grid->n,
                            0,
                            role,
                            job->source[axis->axis],
                            (long)x->table_used,
                            axis->n,
                            role == MODEL_DIRECTION ? step : axis->first,
                            weights};
    double *table = extend(x, n);
    if (!table)
        return out_of_memory(d);
    if (n)
        memcpy(table, axis->table, n * sizeof *table);
    memcpy(x->axes + AXIS * x->naxes, row, sizeof row);
    x->grid[x->naxes++] = *grid;
    return EK_OK;
}

static enum ek_status add_axes(struct search_device *d)
{
    const struct grid *g = d->search->grid;
    const struct job *job = d->search->job;
    long offset[JOB_SOURCES] = {0}, step[JOB_AXES] = {0};
    for (int s = 0; s < job->nsources; s++)
        TRY(add_weights(d, s, &offset[s], step));
    for (int a = 0; a < g->naxes; a++)
        TRY(add_axis(d, &g->axis[a], offset[job->source[g->axis[a].axis]], step[g->axis[a].axis]));
    return EK_OK;
}

/* ---- conditions -------------------------------------------------------------------------------*/

static int parameter_of(const struct search_device *d, long axis)
{
    return d->search->job->parameter[d->search->grid->axis[axis].axis];
}

/* Fills the row of a condition on one source: the axes that it depends on, with steps. Returns the
 * size of its table; 0: the device's axes do not decide it, or the table would be too large. */
static long condition_row(const struct search_device *d, const struct grid_condition *c, long *row)
{
    const struct axes *x = d->own;
    const struct grid *g = d->search->grid;
    unsigned seen = 0;
    long places = 1;
    row[0] = 0;
    for (int a = x->naxes - 1; a >= 0; a--) {
        const int p = parameter_of(d, a);
        if (g->job->source[g->axis[a].axis] != c->a || !(c->what->what->looks_at >> p & 1))
            continue;
        if (row[0] == MOST_AXES || places > MOST_PLACES / x->grid[a].n)
            return 0;
        row[2 + 2 * row[0]] = a;
        row[3 + 2 * row[0]++] = places;
        places *= x->grid[a].n;
        seen |= 1u << p;
    }
    return seen == c->what->what->looks_at ? places : 0;
}

static void fill_condition(const struct search_device *d, const struct job_constraint *c,
                           const long *row, long places, int *allowed)
{
    const struct axes *x = d->own;
    double p[MODEL_PARAMETERS] = {0};
    for (long place = 0; place < places; place++) {
        for (long i = 0; i < row[0]; i++) {
            const struct trial_axis *axis = &x->grid[row[2 + 2 * i]];
            p[parameter_of(d, row[2 + 2 * i])] =
                trial_value(axis, place / row[3 + 2 * i] % axis->n);
        }
        const long bit = row[1] + place;
        if (job_holds(c, p, NULL))
            allowed[bit / 32] |= (int)(1u << bit % 32);
    }
}

static enum ek_status add_conditions(struct search_device *d)
{
    struct axes *x = d->own;
    const struct grid *g = d->search->grid;
    const size_t most = (size_t)g->nconditions + 1;
    long used = 0;
    OWNED_MEMORY long *rows = calloc(most, CONDITION * sizeof *rows);
    OWNED_MEMORY int *allowed = calloc(most, MOST_PLACES / 8 + 8);
    if (!rows || !allowed)
        return out_of_memory(d);
    for (int i = 0; i < g->nconditions; i++) {
        long *row = rows + CONDITION * x->nconditions;
        const long places = g->condition[i].b < 0 ? condition_row(d, &g->condition[i], row) : 0;
        if (!places)
            continue;
        row[1] = used;
        fill_condition(d, g->condition[i].what, row, places, allowed);
        used += places;
        x->nconditions++;
    }
    TRY(search_device_write(d, CONDITIONS, rows,
                            (size_t)(x->nconditions * CONDITION) * sizeof *rows));
    return search_device_write(d, ALLOWED, allowed, (size_t)(used / 32 + 1) * sizeof *allowed);
}

/* ---- opening ----------------------------------------------------------------------------------*/

static void close(struct search_device *d)
{
    struct axes *x = d->own;
    free(x->table);
    for (int slot = 0; slot < AHEAD; slot++)
        free(x->found[slot]);
    free(x);
}

static enum ek_status open(struct search_device *d)
{
    const struct job *job = d->search->job;
    char kernel[64];
    struct axes *x = d->own = calloc(1, sizeof *x);
    if (!x)
        return out_of_memory(d);
    for (int slot = 0; slot < AHEAD; slot++)
        if (!(x->found[slot] = malloc(FOUND_ROOM * sizeof *x->found[slot])))
            return out_of_memory(d);
    d->part = (long)ENOUGH_ITEMS * MOST_SPAN;
    TRY(add_axes(d));
    TRY(add_conditions(d));
    TRY(search_device_write(d, TABLE, x->table, x->table_used * sizeof *x->table));
    TRY(search_device_room(d, AXES, sizeof x->axes));
    for (int slot = 0; slot < AHEAD; slot++)
        TRY(search_device_room(d, FOUND + slot, FOUND_ROOM * sizeof *x->found[slot]));
    const char *name = strrchr(job->model->text, '/') + 1;
    snprintf(kernel, sizeof kernel, "%.*s_%s", (int)strcspn(name, "."), name,
             d->search->ops->geometries ? "probe" : "brute");
    return search_device_build(d, job->model->text, kernel);
}

/* ---- batches ----------------------------------------------------------------------------------*/

static enum ek_status write_stations(struct search_device *d)
{
    const struct search *s = d->search;
    struct axes *x = d->own;
    OWNED_MEMORY double *rows = malloc((size_t)(s->nstations + 1) * STATION * sizeof *rows);
    if (!rows)
        return out_of_memory(d);
    x->nstations = 0;
    for (int i = 0; i < s->nstations; i++) {
        const struct search_station *st = &s->station[i];
        const struct search_point *at = &st->point[0];
        double row[STATION] = {at->east[0],  at->north[0], -anything,   anything,
                               -anything,    anything,     -anything,   anything,
                               at->along[0], at->along[1], at->along[2]};
        if (st->npoints > 1 || at->height[0] > 0) /* left to the judge */
            continue;
        for (int c = 0; c < st->ncomponents; c++) {
            row[2 + 2 * st->component[c]] = fmax(d->worker[0]->window[i].low[c], -anything);
            row[3 + 2 * st->component[c]] = fmin(d->worker[0]->window[i].high[c], anything);
        }
        memcpy(rows + x->nstations++ * STATION, row, sizeof row);
    }
    return search_device_write(d, STATIONS, rows, (size_t)x->nstations * STATION * sizeof *rows);
}

static enum ek_status launch(struct search_device *d, const struct piece *p, int found)
{
    const struct axes *x = d->own;
    const struct grid *g = d->search->grid;
    const bool geometries = d->search->ops->geometries;
    struct backend_arg arg[16];
    int n = 0;
    arg[n++] = backend_arg_mem(d->buffer[AXES].mem);
    arg[n++] = backend_arg_int(x->naxes);
    arg[n++] = backend_arg_mem(d->buffer[TABLE].mem);
    arg[n++] = backend_arg_mem(d->buffer[CONDITIONS].mem);
    arg[n++] = backend_arg_int(x->nconditions);
    arg[n++] = backend_arg_mem(d->buffer[ALLOWED].mem);
    arg[n++] = backend_arg_mem(d->buffer[STATIONS].mem);
    arg[n++] = backend_arg_int(x->nstations);
    arg[n++] = backend_arg_int(geometries ? (int)g->ndirections : g->nsources);
    if (geometries) {
        arg[n++] = backend_arg_double(g->amplitude.min - grid_amplitude_slack(g));
        arg[n++] = backend_arg_double(g->amplitude.max + grid_amplitude_slack(g));
    }
    arg[n++] = backend_arg_long(p->count);
    arg[n++] = backend_arg_int(p->span);
    arg[n++] = backend_arg_mem(d->buffer[found].mem);
    return backend_launch_items(d->backend, d->program, 0, (size_t)p->items, n, arg);
}

/* ---- pieces: while the device tests one, the host judges the one before -----------------------*/

/* Queues the test of a piece, behind earlier work. */
static enum ek_status begin_piece(struct search_device *d, const struct piece *p, int slot)
{
    static const int nothing[FOUND_ITEMS];
    struct axes *x = d->own;
    long place[JOB_AXES], *row = x->row[slot];
    const size_t bytes = (size_t)(x->naxes * AXIS) * sizeof *row;
    memcpy(row, x->axes, bytes);
    trial_place(x->grid, x->naxes, p->first, place);
    for (int a = 0; a < x->naxes; a++)
        row[AXIS * a + 1] = place[a];
    TRY(backend_send(d->backend, BACKEND_COMPUTE, d->buffer[AXES].mem, row, bytes));
    TRY(backend_send(d->backend, BACKEND_COMPUTE, d->buffer[FOUND + slot].mem, nothing,
                     sizeof nothing));
    TRY(launch(d, p, FOUND + slot));
    return backend_record(d->backend, BACKEND_COMPUTE, slot);
}

/* Judges what item i of the piece has found. */
static enum ek_status judge_item(struct search_device *d, int thread, size_t i)
{
    const struct axes *x = d->own;
    const int *f = x->judged + FOUND_ITEMS + 2 * i;
    for (unsigned bits = (unsigned)f[1]; bits; bits &= bits - 1)
        TRY(d->search->ops->finish(
            d->worker[thread],
            x->piece.first + (trial_number)((long)f[0] * x->piece.span + __builtin_ctz(bits))));
    return EK_OK;
}

static enum ek_status judge_piece(struct search_device *d, const struct piece *p, int *found)
{
    struct axes *x = d->own;
    const size_t n = (size_t)found[0];
    for (int k = 0; k < FOUND_TALLIES; k++)
        d->worker[0]->evaluations += found[1 + 2 * k] + 65536.0 * found[2 + 2 * k];
    qsort(found + FOUND_ITEMS, n, 2 * sizeof *found, sort_by_int);
    x->piece = *p;
    x->judged = found;
    return search_device_judge(d, n, judge_item);
}

/* The next piece before `end`: about 1 / PIECES of all, at least `least` places. */
static struct piece next_piece(trial_number first, trial_number end, trial_number all,
                               trial_number least)
{
    const trial_number most = (trial_number)MOST_ITEMS * MOST_SPAN;
    trial_number count = all / PIECES + 1;
    count = count < least ? least : count > most ? most : count;
    struct piece p = {first, (long)(end - first < count ? end - first : count), 0, MOST_SPAN};
    const long even = (p.count + ENOUGH_ITEMS - 1) / ENOUGH_ITEMS;
    p.span = even < MOST_SPAN ? (int)even : MOST_SPAN;
    p.items = (p.count + p.span - 1) / p.span;
    return p;
}

/* Several pieces are queued before the host judges the first: what it finds in one may take it
 * longer than the device takes for the next. */
static enum ek_status run_pieces(struct search_device *d, trial_number at, trial_number end)
{
    struct axes *x = d->own;
    const trial_number all = end - at;
    struct piece p[AHEAD];
    for (int begun = 0, judged = 0; at < end || judged < begun;) {
        if (at < end && begun < judged + AHEAD) {
            const int slot = begun++ % AHEAD;
            p[slot] = next_piece(at, end, all, (trial_number)d->part);
            at += (trial_number)p[slot].count;
            TRY(begin_piece(d, &p[slot], slot));
        } else {
            const int slot = judged++ % AHEAD;
            TRY(search_device_found(d, slot, FOUND + slot, FOUND_ITEMS, MOST_ITEMS,
                                    x->found[slot]));
            TRY(judge_piece(d, &p[slot], x->found[slot]));
        }
    }
    return backend_wait(d->backend, BACKEND_COMPUTE);
}

static enum ek_status run(void *device)
{
    struct search_device *d = device;
    const struct trial_range range = d->worker[0]->range;
    const trial_number per = (trial_number)d->search->grid->linear; /* trials of a place */
    if (!range.count)
        return EK_OK;
    const trial_number end = (range.first + range.count - 1) / per + 1;
    TRY(write_stations(d));
    const enum ek_status st = run_pieces(d, range.first / per, end);
    if (st) { /* copies in flight must not reach our memory later */
        (void)MUTED(backend_wait(d->backend, BACKEND_FEED));
        (void)MUTED(backend_wait(d->backend, BACKEND_COMPUTE));
    }
    return st;
}

const struct search_device_ops search_device_axes = {.open = open, .close = close, .run = run};
