/* okada_mogi/join_table.c – builds the table, sorts its rows into cells, looks rows up. */
#include "okada_mogi/join_table.h"
#include "okada_mogi/judge.h"
#include "src/sort.h"

typedef float rows __attribute__((vector_size(4 * JOIN_LANES), aligned(4), may_alias));
typedef int rows_mask __attribute__((vector_size(4 * JOIN_LANES)));

/* Sort key of a row. */
struct key {
    long cell;
    float within;
    unsigned row;
};

/* ---- columns ----------------------------------------------------------------------------------*/

enum ek_status join_columns_open(const struct job *job, struct join_columns *c)
{
    const struct stations *s = &job->stations;
    const size_t n = (size_t)s->ncomponents;
    *c = (struct join_columns){.n = 0};
    c->at = ARENA_NEW(&c->arena, n, int);
    c->observed = ARENA_NEW(&c->arena, n, double);
    c->sigma = ARENA_NEW(&c->arena, n, double);
    c->slack = ARENA_NEW(&c->arena, n, double);
    TRY(arena_check(&c->arena, "the components of %s", job->path));
    for (int i = 0; i < 3 * s->n; i++) {
        if (isnan(s->observed[i]) || scenes_adrift(&job->scenes, i / 3))
            continue;
        c->at[c->n] = i;
        c->slack[c->n] = judge_slack(job) / s->sigma[i];
        c->sigma[c->n] = s->sigma[i];
        c->observed[c->n++] = s->observed[i] / s->sigma[i];
    }
    return EK_OK;
}

void join_columns_close(struct join_columns *c)
{
    arena_free(&c->arena);
    *c = (struct join_columns){.n = 0};
}

void join_columns_swap(struct join_columns *c, const int *swap, int nswaps)
{
    double *const list[] = {c->observed, c->sigma, c->slack};
    for (int i = 0; i < nswaps; i++) {
        const int at = c->at[i], k = swap[i];
        c->at[i] = c->at[k];
        c->at[k] = at;
        for (int l = 0; l < 3; l++) {
            const double x = list[l][i];
            list[l][i] = list[l][k];
            list[l][k] = x;
        }
    }
}

/* ---- rows -------------------------------------------------------------------------------------*/

double join_table_rows(const struct grid *g, trial_number begin, trial_number end)
{
    return (double)(end - begin) * (double)g->nallowed * (double)g->linear;
}

double join_table_bytes(const struct grid *g, trial_number begin, trial_number end)
{
    const double row = (double)g->job->stations.ncomponents * sizeof(float) +
                       sizeof(struct join_row) + 2 * sizeof(struct key);
    const double geometry =
        (double)judge_basis_size(g->job) * sizeof(double) + sizeof(trial_number) + sizeof(long);
    const double n = join_table_rows(g, begin, end);
    return n * row + n / (double)g->linear * geometry;
}

static enum ek_status check(const struct join_table *t)
{
    return arena_check(&t->arena, "the table of source %d", t->grid->source + 1);
}

/* Lists every geometry that the grid allows, with its basis responses. */
static enum ek_status list_geometries(struct join_table *t, trial_number begin, trial_number end)
{
    const struct grid *g = t->grid;
    const size_t size = (size_t)judge_basis_size(g->job);
    const size_t room = (size_t)(end - begin) * (size_t)g->nallowed;
    double value[MODEL_VALUES];
    struct grid_walk walk;
    t->outer = ARENA_NEW(&t->arena, room, trial_number);
    t->entry = ARENA_NEW(&t->arena, room, long);
    t->basis = ARENA_NEW(&t->arena, room * size, double);
    TRY(check(t));
    grid_walk_begin(&walk, g);
    for (trial_number o = begin; o < end; o++) {
        if (!grid_walk_to(&walk, o))
            continue;
        for (long i = 0; i < g->nallowed; i++) {
            grid_walk_one(&walk, i, value);
            judge_basis(g->job, value, t->basis + (size_t)t->ngeometries * size);
            t->outer[t->ngeometries] = o;
            t->entry[t->ngeometries++] = i;
        }
    }
    return EK_OK;
}

/* Puts a row's predictions into the columns; false: some are undefined, so that nothing accepts the
 * row, and it could not be sorted. */
static bool set_row(struct join_table *t, const double *basis, long linear)
{
    const struct grid *g = t->grid;
    const struct join_columns *c = t->columns;
    const int nbasis = g->model->nbasis;
    const double *weight = g->weight + linear / g->namplitude * nbasis;
    const double amplitude = grid_amplitude(g, linear % g->namplitude);
    bool defined = true;
    for (int k = 0; k < c->n; k++) {
        const double *b = basis + c->at[k] / 3 * 3 * nbasis + c->at[k] % 3;
        double sum = 0;
        for (int i = 0; i < nbasis; i++)
            sum += weight[i] * b[3 * i];
        t->v[(size_t)k * (size_t)t->room + (size_t)t->nrows] =
            (float)(amplitude * sum / c->sigma[k]);
        defined &= !isnan(sum);
    }
    return defined;
}

static enum ek_status list_rows(struct join_table *t)
{
    const struct grid *g = t->grid;
    const size_t size = (size_t)judge_basis_size(g->job);
    double x[MODEL_PARAMETERS];
    struct grid_walk walk;
    t->room = t->ngeometries * g->linear + JOIN_LANES;
    t->row = ARENA_NEW(&t->arena, t->room, struct join_row);
    t->v = ARENA_NEW(&t->arena, t->columns->n * t->room, float);
    TRY(check(t));
    grid_walk_begin(&walk, g);
    for (long i = 0; i < t->ngeometries; i++) {
        grid_walk_to(&walk, t->outer[i]);
        for (long k = 0; k < g->linear; k++) {
            grid_walk_parameters(&walk, t->entry[i], k / g->namplitude, k % g->namplitude, x);
            if (!grid_late_allows(g, x))
                continue;
            if (set_row(t, t->basis + (size_t)i * size, k))
                t->row[t->nrows++] = (struct join_row){(unsigned)i, (unsigned)k};
        }
    }
    return EK_OK;
}

/* ---- cells ------------------------------------------------------------------------------------*/

static const float *column(const struct join_table *t, int c)
{
    return t->v + (size_t)c * (size_t)t->room;
}

static void divide_column(struct join_table *t, int c, double reach)
{
    float least = INFINITY, most = -INFINITY;
    t->ncells[c] = 1;
    t->first[c] = 0;
    t->width[c] = INFINITY;
    if (c >= t->columns->n)
        return;
    for (long i = 0; i < t->nrows; i++) {
        least = fminf(least, column(t, c)[i]);
        most = fmaxf(most, column(t, c)[i]);
    }
    const double range = (double)most - (double)least;
    if (!(range > 0) || !isfinite(range) || !(reach < range))
        return;
    t->first[c] = least;
    t->ncells[c] = (int)fmin(ceil(range / reach), JOIN_CELLS);
    t->width[c] = range / t->ncells[c];
}

/* The cell of a value along column c, clamped to 0 .. ncells - 1; NaN: 0. */
static int cell_along(const struct join_table *t, int c, double value)
{
    const double at = (value - t->first[c]) / t->width[c];
    return at > 0 ? (int)fmin(at, t->ncells[c] - 1) : 0;
}

static long cell_of(const struct join_table *t, long row)
{
    long cell = 0;
    for (int c = 0; c < 2; c++)
        cell = cell * t->ncells[c] +
               (c < t->columns->n ? cell_along(t, c, (double)column(t, c)[row]) : 0);
    return cell;
}

SORT_BY(by_key, struct key, SORT_UP(cell) ?: SORT_UP(within))

/* Sorts the keys by cell (counting sort) and sets t->cell; sort_rows() sorts within cells. */
static void count_cells(struct join_table *t, const struct key *key, struct key *sorted)
{
    const long n = (long)t->ncells[0] * t->ncells[1];
    for (long i = 0; i < t->nrows; i++)
        t->cell[key[i].cell + 1]++;
    for (long c = 0; c < n; c++)
        t->cell[c + 1] += t->cell[c];
    for (long i = t->nrows - 1; i >= 0; i--)
        sorted[--t->cell[key[i].cell + 1]] = key[i];
    /* entry c + 1 now holds the first row of cell c */
    memmove(t->cell, t->cell + 1, (size_t)n * sizeof *t->cell);
    t->cell[n] = t->nrows;
}

static void permute(struct join_table *t, const struct key *key, void *scratch)
{
    struct join_row *row = scratch;
    for (long i = 0; i < t->nrows; i++)
        row[i] = t->row[key[i].row];
    memcpy(t->row, row, (size_t)t->nrows * sizeof *row);
    float *from = scratch;
    for (int c = 0; c < t->columns->n; c++) {
        float *v = t->v + (size_t)c * (size_t)t->room;
        memcpy(from, v, (size_t)t->nrows * sizeof *from);
        for (long i = 0; i < t->nrows; i++)
            v[i] = from[key[i].row];
        for (long i = t->nrows; i < t->room; i++)
            v[i] = NAN;
    }
}

static enum ek_status sort_rows(struct join_table *t, double reach)
{
    const size_t n = (size_t)t->nrows + 1;
    divide_column(t, 0, reach);
    divide_column(t, 1, reach);
    OWNED(arena_free) struct arena scratch = {0};
    t->cell = ARENA_NEW(&t->arena, (size_t)t->ncells[0] * (size_t)t->ncells[1] + 2, long);
    struct key *key = ARENA_NEW(&scratch, n, struct key);
    struct key *sorted = ARENA_NEW(&scratch, n, struct key);
    TRY(check(t));
    TRY(arena_check(&scratch, "sorting the table of source %d", t->grid->source + 1));
    for (long i = 0; i < t->nrows; i++)
        key[i] = (struct key){cell_of(t, i), t->columns->n > 2 ? column(t, 2)[i] : 0, (unsigned)i};
    count_cells(t, key, sorted);
    for (long c = 0; c < (long)t->ncells[0] * t->ncells[1]; c++)
        qsort(sorted + t->cell[c], (size_t)(t->cell[c + 1] - t->cell[c]), sizeof *sorted, by_key);
    permute(t, sorted, key);
    return EK_OK;
}

enum ek_status join_table_open(const struct grid *g, const struct join_columns *columns,
                               trial_number begin, trial_number end, double reach,
                               struct join_table *t, double *evaluations)
{
    *t = (struct join_table){.grid = g, .columns = columns};
    if (join_table_rows(g, begin, end) > 4e9)
        FAIL(EK_UNAVAILABLE,
             "%s: a table of %g rows is too large; choose fewer values for source %d", g->job->path,
             join_table_rows(g, begin, end), g->source + 1);
    enum ek_status st = list_geometries(t, begin, end);
    THEN(st, list_rows(t));
    THEN(st, sort_rows(t, reach));
    if (st)
        join_table_close(t);
    else
        *evaluations += (double)t->ngeometries * g->job->stations.n;
    return st;
}

void join_table_close(struct join_table *t)
{
    arena_free(&t->arena);
    *t = (struct join_table){.grid = NULL};
}

/* ---- looking up -------------------------------------------------------------------------------*/

/* Each column's window, widened for the rounding of target and table to single precision. */
static void set_window(const struct join_columns *columns, const double *r, double reach,
                       float *low, float *high)
{
    for (int c = 0; c < columns->n; c++) {
        const double width = reach * (1 + 1e-6) + 2.5e-7 * (fabs(r[c]) + reach) + columns->slack[c];
        low[c] = (float)(r[c] - width);
        high[c] = (float)(r[c] + width);
    }
}

/* First row of begin .. end - 1 whose column is at least `value`; end: none. */
static long lower_bound(const float *v, long begin, long end, float value)
{
    SORT_BISECT(begin, end, v[middle] < value)
    return begin;
}

/* Which of the rows i .. i + JOIN_LANES - 1 (bits) are within all columns' windows. */
static unsigned within(const struct join_table *t, long i, const float *low, const float *high)
{
    rows_mask in = {0};
    in = ~in;
    for (int c = 0; c < t->columns->n; c++) {
        const rows v = *(const rows *)(column(t, c) + i);
        in &= (v >= low[c]) & (v <= high[c]);
        int64_t any[JOIN_LANES / 2];
        memcpy(any, &in, sizeof any);
        if (!(any[0] | any[1] | any[2] | any[3]))
            return 0;
    }
    unsigned bits = 0;
    for (int l = 0; l < JOIN_LANES; l++)
        bits |= in[l] ? 1u << l : 0;
    return bits;
}

static enum ek_status find_in_cell(const struct join_table *t, long cell, const float *low,
                                   const float *high,
                                   enum ek_status (*found)(void *arg, const struct join_row *row),
                                   void *arg)
{
    long i = t->cell[cell], end = t->cell[cell + 1];
    if (t->columns->n > 2 && low[2] > -INFINITY) {
        i = lower_bound(column(t, 2), i, end, low[2]);
        end = lower_bound(column(t, 2), i, end, nextafterf(high[2], INFINITY));
    }
    for (; i < end; i += JOIN_LANES) {
        const unsigned bits = within(t, i, low, high);
        for (int l = 0; bits && l < JOIN_LANES && i + l < end; l++)
            if (bits >> l & 1)
                TRY(found(arg, &t->row[i + l]));
    }
    return EK_OK;
}

enum ek_status join_table_find(const struct join_table *t, const double *r, double reach,
                               float *window,
                               enum ek_status (*found)(void *arg, const struct join_row *row),
                               void *arg)
{
    const int n = t->columns->n;
    float *low = window, *high = window + n;
    int begin[2] = {0, 0}, end[2] = {0, 0};
    if (!t->nrows)
        return EK_OK;
    set_window(t->columns, r, reach, low, high);
    for (int c = 0; c < 2 && c < n; c++) {
        const double last = t->first[c] + t->width[c] * t->ncells[c];
        if (t->ncells[c] > 1 && (high[c] < t->first[c] || low[c] > nextafter(last, INFINITY)))
            return EK_OK;
        begin[c] = cell_along(t, c, (double)low[c]);
        end[c] = cell_along(t, c, (double)high[c]);
    }
    for (int i = begin[0]; i <= end[0]; i++)
        for (int k = begin[1]; k <= end[1]; k++)
            TRY(find_in_cell(t, (long)i * t->ncells[1] + k, low, high, found, arg));
    return EK_OK;
}
