/* mcsem/cell_tables.c – tables of cells that the device computes ahead: which cells have one, and
 * whether it is good enough. All decisions are those of cell_choose.c for the coarsest table; where
 * it does not suffice, the host makes a denser one. */
#include "mcsem/cell_work.h"
#include "cu/team/thread_pool.h"

/* Elements of a pair, on average at most; doubles of the device's room: per cell, in all. */
enum { ELEMENTS = 12, CELL_ROOM = 1 << 23, MOST_ROOM = 1 << 27 };
#define SHARE_OF_MEMORY (1. / 16)

/* cell_call's `cancels`, by the field's approximate size and by itself. */
enum { BY_SIZE = 1, BY_FIELD = 2 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

enum ek_status cell_tables_open(struct cell_work *w)
{
    const struct backend_info *info = mcsem_device_info(w->device);
    const size_t nfreq = (size_t)w->survey->nfreq, cells = (size_t)w->survey->ncells;
    const size_t layers = 1 + (size_t)w->earth->nwater + (size_t)w->earth->nz;
    const struct tables_limits most = {
        .cells = DEVICE_SQUARES,
        .pairs = w->batch,
        .elements = ELEMENTS * w->batch,
        .room = least(least((size_t)(SHARE_OF_MEMORY * (double)info->memory), info->max_alloc) /
                          sizeof(double),
                      least(MOST_ROOM, cells * CELL_ROOM))};
    if (w->options.mode == CELL_SHARED)
        TRY(mcsem_device_open_tables(w->device, &most, &w->tables));
    if (!w->tables)
        return EK_OK;
    w->again = ARENA_NEW(&w->arena, w->batch, struct survey_pair);
    w->again_share = ARENA_NEW(&w->arena, DEVICE_SQUARES, struct device_share);
    w->again_field = ARENA_NEW(&w->arena, w->batch * nfreq, double complex);
    for (struct cell_call *c = w->call; c && c < w->call + CELL_CALLS; c++) {
        tables_open(&c->tables, &most, &w->arena);
        c->parts = ARENA_NEW(&w->arena, 2 * w->batch * nfreq, double);
        c->cancels = ARENA_NEW(&w->arena, w->batch, unsigned char);
        c->interpolated = ARENA_NEW(&w->arena, DEVICE_SQUARES * CELL_SAMPLES * nfreq * (1 + layers),
                                    double complex);
    }
    return EK_OK;
}

/* ---- adding a cell --------------------------------------------------------------------------- */

size_t cell_table_pairs(const struct cell_work *w)
{
    const size_t pairs = cell_pairs(w) + CELL_ROUND;
    return w->tables && w->near < cell_pairs(w) && pairs <= w->batch ? pairs : 0;
}

/* Arguments of look_part(). */
struct look {
    struct cell_work *work;
    struct tables *tables;
};

/* A thread's part of the pairs that a table would serve. */
static void look_part(void *arg, int thread)
{
    const struct look *l = arg;
    struct cell_work *w = l->work;
    struct cell_worker *k = &w->worker[thread];
    struct pair_element element[PAIR_ELEMENTS];
    double share[PAIR_ELEMENTS];
    const struct survey_pair *pair = w->pair + w->near;
    const size_t n = cell_pairs(w) - w->near;
    k->needs = shared_nothing;
    k->unfit = k->full = false;
    for (size_t i = (size_t)thread; i < n && !k->unfit; i += (size_t)w->width) {
        const int elements = shared_look(&w->layers, &pair[i], &k->needs, element, share);
        k->unfit = !elements;
        if (elements && !k->full)
            k->full = !tables_put(l->tables, i, &w->layers, &pair[i], element, share, elements);
    }
}

/* Lays the table out; *worthwhile: there is to be one. Returns whether all elements are stored. */
static enum ek_status lay_out(struct cell_work *w, struct tables *t, double *worth,
                              bool *worthwhile, bool *stored)
{
    struct shared_needs needs = shared_nothing;
    struct look l = {w, t};
    *worth = cell_worth(w);
    *worthwhile = *stored = true;
    thread_pool_run(w->pool, w->width, look_part, &l);
    for (int k = 0; k < w->width; k++) {
        shared_join(&needs, &w->worker[k].needs);
        *worthwhile &= !w->worker[k].unfit;
        *stored &= !w->worker[k].full;
    }
    return *worthwhile ? shared_place(w->shared, &w->layers, w->pair + w->near, w->survey->nfreq,
                                      w->survey->freq, &needs, 0, worth, worthwhile)
                       : EK_OK;
}

enum ek_status cell_table_add(struct cell_work *w, struct cell_call *c, bool *fits)
{
    struct cell_table *table = &c->table[c->cells];
    struct tables *t = &c->tables;
    const size_t elements = atomic_load(&t->elements), n = cell_pairs(w) - w->near;
    const struct device_span span = {t->pairs, n};
    bool worthwhile;
    TRY(lay_out(w, t, &table->worth, &worthwhile, fits));
    *fits = *fits && worthwhile;
    if (*fits) {
        table->sample = cell_choose_samples(w->pair + w->near, 0, n);
        TRY(tables_add(t, w->shared, n, table->sample.pair, (size_t)table->sample.n,
                       4 * w->layers.n * c->cells, fits));
    }
    if (*fits) {
        table->span = span;
    } else {
        table->sample.n = 0;
        tables_drop(t, elements);
    }
    if (!worthwhile)
        w->near = cell_pairs(w);
    return EK_OK;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Arguments of the parts below. */
struct judging {
    struct cell_work *work;
    struct cell_call *call;
};

/* Compares a sample with exact mode. */
static void compare(const struct judging *g, int thread, int k, size_t i)
{
    struct cell_work *w = g->work;
    const struct cell_call *c = g->call;
    struct cell_table *t = &c->table[k];
    const size_t at = c->check_at[k] + i, nfreq = (size_t)w->survey->nfreq;
    const double *parts = c->parts + (t->span.first + t->sample.pair[i]) * 2 * nfreq;
    const double floor = cell_floor(&w->options, &c->check_pair[at]);
    double *row = cell_row(w, 2 * (size_t)thread), *exact = row + cell_row_size(w);
    double *sizes = w->worker[thread].parts;
    cell_put_sums(w, c->interpolated + at * cell_numbers(w), row);
    cell_put_sums(w, c->exact + at * cell_numbers(w), exact);
    for (size_t q = 0; q < nfreq; q++)
        sizes[q] = parts[2 * q];
    t->difference = fmax(t->difference, cell_difference(w, row, exact, NULL, floor));
    t->error = fmax(t->error, cell_difference(w, row, exact, sizes, floor));
}

static void compare_part(void *arg, int thread)
{
    const struct judging *g = arg;
    for (int k = thread; k < g->call->cells; k += g->work->width)
        for (int i = 0; i < g->call->table[k].sample.n; i++)
            compare(g, thread, k, (size_t)i);
}

/* Sees which pairs' parts cancel; a thread's part of each cell. */
static void cancel_part(void *arg, int thread)
{
    const struct judging *g = arg;
    const struct cell_work *w = g->work;
    const struct cell_call *c = g->call;
    const size_t nfreq = (size_t)w->survey->nfreq;
    for (int k = 0; k < c->cells; k++) {
        const struct cell_table *t = &c->table[k];
        const struct survey_pair *pair =
            w->survey->pair + w->survey->first[c->cell[k]] + c->share[k].n;
        for (size_t i = (size_t)thread; i < t->span.n; i += (size_t)w->width) {
            const size_t at = (t->span.first + i) * nfreq;
            const double complex *field = c->field + c->tabled * nfreq + at;
            const double floor = cell_floor(&w->options, &pair[i]), *parts = c->parts + 2 * at;
            unsigned char how = 0;
            for (size_t q = 0; q < nfreq; q++) {
                const double size = hypot(creal(field[q]), cimag(field[q]));
                if (cell_error_dominates(w, t->error, parts[2 * q], parts[2 * q + 1], floor))
                    how |= BY_SIZE;
                if (cell_error_dominates(w, t->error, parts[2 * q], size, floor))
                    how |= BY_FIELD;
            }
            c->cancels[t->span.first + i] = how;
        }
    }
}

/* Decides on the table of cell k; lists the pairs that exact mode must compute again. */
static size_t judge(struct cell_work *w, struct cell_call *c, int k, size_t listed, int *shares)
{
    struct cell_table *t = &c->table[k];
    const unsigned char *cancels = c->cancels + t->span.first;
    const struct survey_pair *pair = w->survey->pair + w->survey->first[c->cell[k]] + c->share[k].n;
    size_t few = 0;
    for (size_t i = 0; i < t->span.n; i++)
        few += (cancels[i] & BY_SIZE) != 0;
    t->good =
        t->span.n && t->difference <= w->options.tolerance && few <= cell_few_others(t->span.n, 0);
    if (!t->good)
        t->span.n = 0;
    for (size_t i = 0; i < t->span.n; i++)
        if (cancels[i] & BY_FIELD)
            w->again[listed + t->cancelled++] = cell_shift(w->earth, c->cell[k], &pair[i]);
    if (t->cancelled)
        w->again_share[(*shares)++] = (struct device_share){c->share[k].layers, w->again + listed,
                                                            t->cancelled, CELL_FEW_FILTER, false};
    return listed + t->cancelled;
}

/* Computes the listed pairs, and puts them in place of what the tables gave. */
static enum ek_status compute_again(struct cell_work *w, struct cell_call *c, int slot, int shares)
{
    const int spare = DEVICE_SLOTS - 1;
    const size_t nfreq = (size_t)w->survey->nfreq;
    size_t from = 0;
    if (!shares)
        return EK_OK;
    TRY(mcsem_device_begin(w->device, spare, w->again_share, shares, w->survey->nfreq,
                           w->survey->freq, FORWARD_BELOW));
    TRY(mcsem_device_fields(w->device, spare, w->again_field));
    for (int k = 0; k < c->cells; k++) {
        const struct device_span *span = &c->table[k].span;
        for (size_t i = span->first; i < span->first + span->n; i++) {
            if (!(c->cancels[i] & BY_FIELD))
                continue;
            memcpy(c->field + (c->tabled + i) * nfreq, w->again_field + from * nfreq,
                   nfreq * sizeof *c->field);
            TRY(mcsem_device_replace(w->device, slot, i, spare, from++));
        }
    }
    return EK_OK;
}

enum ek_status cell_tables_judge(struct cell_work *w, struct cell_call *c, int slot)
{
    struct judging g = {w, c};
    int shares = 0;
    size_t listed = 0;
    if (!c->tables.pairs)
        return EK_OK;
    TRY(mcsem_device_parts(w->device, slot, c->parts));
    w->layers = c->share->layers; /* their number is the same for all cells */
    for (int k = 0; k < c->cells; k++) {
        const struct cell_table *t = &c->table[k];
        if (t->span.n)
            TRY(mcsem_device_sums(
                w->device, slot, c->tabled + t->span.first + tables_padded(t->span.n),
                (size_t)t->sample.n, c->interpolated + c->check_at[k] * cell_numbers(w)));
    }
    thread_pool_run(w->pool, w->width, compare_part, &g);
    thread_pool_run(w->pool, w->width, cancel_part, &g);
    for (int k = 0; k < c->cells; k++)
        listed = judge(w, c, k, listed, &shares);
    return compute_again(w, c, slot, shares);
}
