/* mcsem/cell.c – a cell, block of pairs by block of pairs: fill the rows, weigh them, square them.
 *
 * A row is [nfreq][2][columns] as in shared.h. Weighing turns it into rows of [r J] / sigma, real
 * and imaginary parts: the residual replaces the field in column 0. */
#include "mcsem/cell_work.h"
#include "mcsem/matmul.h"

enum { BLOCK = 64 };      /* pairs of a block per thread; a device's blocks are larger */
enum { SQUARE_ROWS = 4 }; /* rows of the square that a thread computes at a time */
#define CHECK_TOLERANCE 1e-9

const char *const cell_modes[] = {"exact", "shared", NULL};

/* ---- opening --------------------------------------------------------------------------------- */

static void alloc_worker(struct arena *arena, struct cell_worker *k, size_t layers, size_t nfreq)
{
    k->field = ARENA_NEW(arena, nfreq, double complex);
    k->derivative = ARENA_NEW(arena, nfreq * layers, double complex);
    k->parts = ARENA_NEW(arena, nfreq, double);
    k->size = ARENA_NEW(arena, nfreq, double);
}

static enum ek_status open_all(struct cell_work *w, struct backend *device)
{
    const int layers = 1 + w->earth->nwater + w->earth->nz;
    const size_t threads = (size_t)w->width, columns = (size_t)w->columns;
    const size_t most = cell_largest(w->survey);
    w->block = (size_t)w->width * BLOCK;
    if (device)
        TRY(cell_ahead_open(w, device, layers));
    w->worker = ARENA_NEW(&w->arena, threads, struct cell_worker);
    w->pair = ARENA_NEW(&w->arena, most, struct survey_pair);
    w->rows = ARENA_NEW(&w->arena, w->block * cell_row_size(w), double);
    w->square = ARENA_NEW(&w->arena, columns * columns, double);
    w->squares = ARENA_NEW(&w->arena, most * (size_t)w->survey->nfreq, double);
    w->parts = ARENA_NEW(&w->arena, most * (size_t)w->survey->nfreq, double);
    for (int t = 0; w->worker && t < w->width; t++)
        alloc_worker(&w->arena, &w->worker[t], (size_t)layers, (size_t)w->survey->nfreq);
    TRY(arena_check(&w->arena, "the cells of a unit of %d threads", w->width));
    for (int t = 0; t < w->width; t++)
        TRY(forward_open(layers, w->survey->nfreq, &w->worker[t].forward));
    return shared_open(layers, w->width, &w->shared);
}

enum ek_status cell_open(const struct survey *survey, const struct earth *earth,
                         const struct cell_options *options, int width, struct backend *device,
                         struct cell_work **work)
{
    struct backend *computes = earth->vertical ? NULL : device;
    NEW(struct cell_work, w, 1, "out of memory for the cells of a unit");
    w->survey = survey;
    w->earth = earth;
    w->options = *options;
    w->compared = options->misfit.spread;
    w->width = width;
    w->columns = shared_columns(earth_unknowns(earth));
    const enum ek_status st = open_all(w, computes);
    return HAND_OUT(st, w, work, cell_close);
}

void cell_close(struct cell_work *w)
{
    if (!w)
        return;
    for (int t = 0; w->worker && t < w->width; t++)
        forward_close(w->worker[t].forward);
    shared_close(w->shared);
    mcsem_device_close_tables(w->device);
    mcsem_device_close(w->device);
    arena_free(&w->arena);
    free(w);
}

void cell_set_spread(struct cell_work *w, double spread, double compared)
{
    w->options.misfit.spread = spread;
    w->compared = compared;
}

size_t cell_sums(int nz)
{
    return cell_sum_at(1 + nz, 0) + CELL_STATISTICS;
}

/* ---- filling --------------------------------------------------------------------------------- */

/* Number of the block's pairs in exact mode. */
static size_t exact_pairs(const struct cell_work *w)
{
    const size_t left = w->near > w->first ? w->near - w->first : 0;
    return left < w->n ? left : w->n;
}

/* Has the device compute the block's pairs in exact mode. */
static enum ek_status compute_block_on_device(struct cell_work *w)
{
    const struct device_share share = {w->layers, &w->pair[w->first], exact_pairs(w), w->filter,
                                       false};
    return mcsem_device_pairs(w->device, &share, 1, w->survey->nfreq, w->survey->freq,
                              FORWARD_BELOW, w->sum);
}

/* Weighs row i of the block; the field in column 0 moves to the response. */
static void weigh(const struct cell_work *w, size_t i, double *row)
{
    const int nfreq = w->survey->nfreq, columns = w->columns;
    const size_t at = (w->first + i) * (size_t)nfreq;
    const size_t pair = w->survey->first[w->cell] + w->first + i;
    for (int q = 0; q < nfreq; q++, row += 2 * columns) {
        const double complex field = row[0] + I * row[columns];
        struct device_weight by;
        w->squares[at + (size_t)q] = cell_weigh(w, pair, q, field, &by);
        w->response[at + (size_t)q] = field;
        for (int c = 0; c < columns; c++) {
            const double x = row[c], y = row[columns + c];
            row[c] = by.has_re * (by.re * x - by.im * y);
            row[columns + c] = by.has_im * (by.re * y + by.im * x);
        }
        row[0] = by.residual_re;
        row[columns] = by.residual_im;
    }
}

/* Fills rows i .. i+n-1 of the block from the table, or in exact mode where cancellation forbids
 * it. */
static void fill_by_table(const struct cell_work *w, int thread, size_t i, size_t n)
{
    struct cell_worker *k = &w->worker[thread];
    const size_t pair = w->first + i;
    shared_rows(w->shared, thread, pair - w->near, (int)n, cell_row(w, i));
    for (size_t j = 0; j < n && !k->status; j++)
        if (cell_cancels(w, pair + j, cell_row(w, i + j))) {
            k->exact++;
            k->status = cell_fill_exactly(w, k, pair + j, CELL_FEW_FILTER, cell_row(w, i + j));
        }
}

/* Fills rows i .. i+n-1 of the block, whose first pairs may be in exact mode. */
static void fill_rows(const struct cell_work *w, int thread, size_t i, size_t n)
{
    struct cell_worker *k = &w->worker[thread];
    const size_t all = exact_pairs(w);
    const size_t exact = i >= all ? 0 : all - i < n ? all - i : n;
    for (size_t j = i; j < i + exact && !k->status; j++)
        if (w->device)
            cell_put_sums(w, w->sum + j * cell_numbers(w), cell_row(w, j));
        else
            k->status = cell_fill_exactly(w, k, w->first + j, w->filter, cell_row(w, j));
    if (exact < n && !k->status)
        fill_by_table(w, thread, i + exact, n - exact);
}

static void fill_phase(void *arg, int thread)
{
    struct cell_work *w = arg;
    struct cell_worker *k = &w->worker[thread];
    k->status = EK_OK;
    for (size_t i = (size_t)thread * SHARED_ROWS; i < w->n; i += (size_t)w->width * SHARED_ROWS) {
        const size_t n = w->n - i < SHARED_ROWS ? w->n - i : SHARED_ROWS;
        fill_rows(w, thread, i, n);
        for (size_t j = i; j < i + n && !k->status; j++)
            weigh(w, j, cell_row(w, j));
    }
}

static void square_phase(void *arg, int thread)
{
    const struct cell_work *w = arg;
    const int rows = (int)w->n * w->survey->nfreq * 2;
    for (int i = thread * SQUARE_ROWS; i < w->columns; i += w->width * SQUARE_ROWS)
        matmul_square(w->columns, rows, w->rows, w->columns, w->square, w->columns, i,
                      i + SQUARE_ROWS);
}

/* Adds the blocks from pair `first` of the cell on to the square. */
static enum ek_status add_blocks(struct cell_work *w, size_t first, struct thread_pool *pool)
{
    const size_t pairs = cell_pairs(w);
    for (w->first = first; w->first < pairs; w->first += w->block) {
        w->n = pairs - w->first < w->block ? pairs - w->first : w->block;
        if (w->device && exact_pairs(w))
            TRY(compute_block_on_device(w));
        thread_pool_run(pool, w->width, fill_phase, w);
        for (int t = 0; t < w->width; t++)
            if (w->worker[t].status)
                return w->worker[t].status;
        thread_pool_run(pool, w->width, square_phase, w);
    }
    return EK_OK;
}

/* ---- a cell ---------------------------------------------------------------------------------- */

/* Stores the triangle; adds up the losses in the order of the data. */
static void put_sums(const struct cell_work *w, double *sums)
{
    const size_t nfreq = (size_t)w->survey->nfreq, first = w->survey->first[w->cell];
    struct misfit_bin *bins = cell_bins(sums, earth_unknowns(w->earth));
    struct misfit_options compared = w->options.misfit;
    double loss = 0, other = 0;
    compared.spread = w->compared;
    for (int i = 0; i <= earth_unknowns(w->earth); i++)
        memcpy(sums + cell_sum_at(i, 0), w->square + (size_t)i * (size_t)w->columns,
               (size_t)(i + 1) * sizeof *sums);
    for (size_t i = 0; i < cell_pairs(w) * nfreq; i++) {
        const struct survey_datum *datum = &w->survey->datum[first * nfreq + i];
        const double square = w->squares[i], counts = 0.5 * survey_numbers(datum);
        struct misfit_bin *bin = &bins[misfit_bin(square)];
        bin->data += counts;
        bin->square += counts * square;
        loss += counts * misfit_loss(&w->options.misfit, square);
        other += counts * misfit_loss(&compared, square);
    }
    sums[cell_sums(earth_unknowns(w->earth)) - 1] = other;
    if (w->options.misfit.robust)
        sums[0] = loss;
}

/* Copies the device's responses of n pairs of the current cell from pair `first` on, which are
 * number `from` of the call's fields and number `at` of those weighed. */
static void copy_responses(struct cell_work *w, const struct cell_call *c, size_t first, size_t n,
                           size_t from, size_t at)
{
    const size_t nfreq = (size_t)w->survey->nfreq;
    memcpy(w->response + first * nfreq, c->field + from * nfreq, n * nfreq * sizeof *w->response);
    memcpy(w->squares + first * nfreq, c->squares + at * nfreq, n * nfreq * sizeof *w->squares);
}

/* Copies the device's results for the pairs of the current cell that it has computed. */
static void copy_device_square(struct cell_work *w, const struct cell_call *c, int k)
{
    const int unknowns = earth_unknowns(w->earth);
    const double *from = c->triangle + (size_t)k * cell_sum_at(1 + unknowns, 0);
    const size_t near = c->share[k].n, first = (size_t)(c->share[k].pair - c->pair);
    const struct device_span *span = &c->table[k].span;
    for (int i = 0; i <= unknowns; i++)
        memcpy(w->square + (size_t)i * (size_t)w->columns, from + cell_sum_at(i, 0),
               (size_t)(i + 1) * sizeof *from);
    copy_responses(w, c, 0, near, first, first);
    copy_responses(w, c, near, span->n, c->tabled + span->first, c->pairs + span->first);
}

/* The device has computed all pairs of cell c. */
static void take_from_device(struct cell_work *w, int c, const struct cell_call *call, int k,
                             double *sums, struct cell_report *report)
{
    const struct cell_table *t = &call->table[k];
    w->cell = c;
    copy_device_square(w, call, k);
    report->exact = call->share[k].n + t->cancelled;
    report->filter = call->share[k].n ? call->share[k].filter : 0;
    report->density = 0;
    report->difference = t->difference;
    report->ahead = true;
    put_sums(w, sums);
}

enum ek_status cell_compute(struct cell_work *w, struct thread_pool *pool, const double *m, int c,
                            double *sums, double complex *response, struct cell_report *report)
{
    const struct cell_call *ahead;
    int k;
    *report = (struct cell_report){.density = -1};
    w->response = response;
    memset(sums, 0, cell_sums(earth_unknowns(w->earth)) * sizeof *sums);
    TRY(cell_ahead_next(w, c, &ahead, &k));
    if (ahead && ahead->table[k].good) {
        take_from_device(w, c, ahead, k, sums, report);
        return EK_OK;
    }
    cell_select(w, m, c);
    if (!cell_pairs(w))
        return EK_OK;
    if (w->near < cell_pairs(w)) {
        const bool checked = ahead && ahead->checks;
        const struct cell_table *table = ahead ? &ahead->table[k] : NULL;
        const double complex *exact =
            checked ? ahead->exact + ahead->check_at[k] * cell_numbers(w) : NULL;
        TRY(cell_choose_density(w, pool, exact, table && table->sample.n ? table : NULL, report));
        if (report->density < 0)
            w->near = cell_pairs(w);
    }
    memset(w->square, 0, (size_t)w->columns * (size_t)w->columns * sizeof *w->square);
    const bool known = ahead && w->near && ahead->share[k].n == w->near;
    if (known) {
        report->filter = ahead->share[k].filter;
        copy_device_square(w, ahead, k);
    } else if (w->near) {
        TRY(cell_choose_filter(w, report));
    }
    for (int t = 0; t < w->width; t++)
        w->worker[t].exact = 0;
    TRY(add_blocks(w, known ? w->near : 0, pool));
    report->exact = w->near;
    for (int t = 0; t < w->width; t++)
        report->exact += w->worker[t].exact;
    put_sums(w, sums);
    return EK_OK;
}

/* ---- checking -------------------------------------------------------------------------------- */

static int cell_of(const struct survey *s, size_t pair)
{
    int c = 0;
    while (s->first[c + 1] <= pair)
        c++;
    return c;
}

static enum ek_status check_pair(struct forward *f, const struct survey *s,
                                 const struct earth_layers *layers, const struct survey_pair *p,
                                 double floor, double complex *field)
{
    const struct forward_control control = {CHECK_TOLERANCE, floor};
    int which;
    TRY(forward_choose(f, layers, p, s->nfreq, s->freq, &control, &which, NULL, NULL));
    return forward_pair(f, layers, p, s->nfreq, s->freq, which, FORWARD_FIELD, field, NULL);
}

enum ek_status cell_check(const struct survey *s, const struct earth *earth,
                          const struct cell_options *options, size_t pair,
                          const double complex *response, double *difference)
{
    const int cell = cell_of(s, pair);
    const struct survey_pair seen = cell_shift(earth, cell, &s->pair[pair]);
    const double floor = cell_floor(options, &seen);
    OWNED_MEMORY NEW(struct earth_layers, layers, 1, "out of memory for a pair");
    OWNED_MEMORY NEW(double complex, field, s->nfreq, "out of memory for a pair");
    OWNED(owned_forward_close) struct forward *f = NULL;
    earth_column(earth, cell, NULL, layers);
    TRY(forward_open(layers->n, s->nfreq, &f));
    TRY(check_pair(f, s, layers, &seen, floor, field));
    *difference = 0;
    for (int q = 0; q < s->nfreq; q++)
        *difference = fmax(*difference, cabs(response[q] - field[q]) / fmax(cabs(field[q]), floor));
    return EK_OK;
}
