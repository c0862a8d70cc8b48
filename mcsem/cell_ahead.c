/* mcsem/cell_ahead.c – keeps a device busy with cells to come, many cells per call.
 *
 * While the host consumes the cells of call k, the device computes k + 1, and k + 2 is queued. Call
 * k also carries samples of the cells of k + 2, so that their filters are known when k + 2 is
 * prepared, the pairs with which tables of its own cells are to be compared, and these tables.
 * Fields come back as soon as they are ready; their weights are sent while the device works on k +
 * 1, and J'W^2 J comes back. Two calls with samples only come before the first. */
#include "mcsem/cell_work.h"
#include "cu/team/thread_pool.h"

enum { SLOTS = CELL_AHEAD };
_Static_assert((int)SLOTS < (int)DEVICE_SLOTS, "the last one is for blocks");

static struct cell_call *call_at(const struct cell_work *w, int turn)
{
    return &w->call[(turn + CELL_CALLS) % CELL_CALLS];
}

static int slot_at(int turn)
{
    return (turn + CELL_AHEAD) % SLOTS;
}

enum ek_status cell_ahead_open(struct cell_work *w, struct backend *device, int layers)
{
    const size_t nfreq = (size_t)w->survey->nfreq, most = cell_largest(w->survey);
    TRY(mcsem_device_open(device, layers, w->survey->nfreq, w->survey->npairs + CELL_ROUND,
                          w->width, &w->device));
    w->batch = mcsem_device_batch(w->device);
    w->block = w->batch < most ? w->batch : most;
    w->block = w->block > 2 * CELL_SAMPLES ? w->block : 2 * CELL_SAMPLES;
    w->block = w->block > 2 * (size_t)w->width ? w->block : 2 * (size_t)w->width;
    w->sum = ARENA_NEW(&w->arena, w->block * nfreq * (1 + (size_t)layers), double complex);
    w->call = ARENA_NEW(&w->arena, CELL_CALLS, struct cell_call);
    for (struct cell_call *c = w->call; w->call && c < w->call + CELL_CALLS; c++) {
        c->share = ARENA_NEW(&w->arena, DEVICE_SHARES, struct device_share);
        c->cell = ARENA_NEW(&w->arena, DEVICE_SQUARES, int);
        c->pair = ARENA_NEW(&w->arena, w->batch, struct survey_pair);
        c->check = ARENA_NEW(&w->arena, DEVICE_SQUARES, struct device_share);
        c->check_at = ARENA_NEW(&w->arena, DEVICE_SQUARES, size_t);
        c->check_pair = ARENA_NEW(&w->arena, DEVICE_SQUARES * CELL_SAMPLES, struct survey_pair);
        c->exact =
            ARENA_NEW(&w->arena, DEVICE_SQUARES * CELL_SAMPLES * nfreq * (1 + (size_t)layers),
                      double complex);
        c->sample = ARENA_NEW(&w->arena, DEVICE_SQUARES * CELL_SAMPLES, struct survey_pair);
        c->field = ARENA_NEW(&w->arena, 2 * w->batch * nfreq, double complex);
        c->squares = ARENA_NEW(&w->arena, w->batch * nfreq, double);
        c->weight = ARENA_NEW(&w->arena, w->batch * nfreq, struct device_weight);
        c->table = ARENA_NEW(&w->arena, DEVICE_SQUARES, struct cell_table);
        c->triangle = ARENA_NEW(
            &w->arena, DEVICE_SQUARES * cell_sum_at(1 + earth_unknowns(w->earth), 0), double);
    }
    return cell_tables_open(w);
}

/* ---- a call ---------------------------------------------------------------------------------- */

static void empty(struct cell_call *c)
{
    c->cells = c->shares = c->checks = 0;
    c->pairs = c->checked = 0;
    tables_empty(&c->tables);
}

/* Number of pairs of a call so far, without trials. */
static size_t taken(const struct cell_call *c)
{
    return c->pairs + c->checked + c->tables.pairs;
}

/* Adds the current cell, whose pairs 0 .. w->near-1 are in exact mode, and its samples. */
static void add_cell(struct cell_work *w, struct cell_call *c)
{
    struct device_share *check = &c->check[c->checks];
    memcpy(c->pair + c->pairs, w->pair, w->near * sizeof *c->pair);
    c->cell[c->cells] = w->cell;
    c->check_at[c->cells] = c->checked;
    c->checked += check->n;
    c->checks += check->n > 0;
    c->share[c->cells++] = (struct device_share){w->layers, c->pair + c->pairs, w->near, 0, false};
    c->pairs += w->near;
}

/* Adds the current cell to the call, unless it has nothing for the device or too much; *full: it is
 * for the next call. */
static enum ek_status take_cell(struct cell_work *w, struct cell_call *c, bool *full)
{
    const size_t all = cell_table_pairs(w);
    bool fits = false;
    c->table[c->cells] = (struct cell_table){.good = false};
    *full = c->cells && (w->layers.n != c->share->layers.n || all > w->batch - taken(c));
    if (*full)
        return EK_OK;
    if (all)
        TRY(cell_table_add(w, c, &fits));
    else
        TRY(cell_reject_table(w));
    *full = all && !fits && w->near < cell_pairs(w) && c->cells;
    if (*full)
        return EK_OK;
    cell_add_samples(w, c->check_pair + c->checked, &c->check[c->checks]);
    const size_t pairs = w->near + c->check[c->checks].n;
    *full = pairs <= w->batch && pairs > w->batch - taken(c);
    if (!*full && pairs && pairs <= w->batch)
        add_cell(w, c); /* else it is computed block by block */
    return EK_OK;
}

/* Fills a call with cells of the list from `first` on. */
static enum ek_status gather(struct cell_work *w, size_t first, struct cell_call *c)
{
    bool full = false;
    empty(c);
    for (c->end = first; c->end < w->nlist && c->cells < DEVICE_SQUARES; c->end++) {
        cell_select(w, w->m, w->list[c->end]);
        if (cell_pairs(w))
            TRY(take_cell(w, c, &full));
        if (full)
            break;
    }
    return EK_OK;
}

static enum ek_status begin_call(struct cell_work *w, struct cell_call *c, int slot)
{
    if (!c->shares)
        return EK_OK;
    c->tabled = 0;
    for (int k = 0; k < c->shares; k++)
        c->tabled += c->share[k].n;
    TRY(mcsem_device_begin(w->device, slot, c->share, c->shares, w->survey->nfreq, w->survey->freq,
                           FORWARD_BELOW));
    return mcsem_device_tables(w->device, slot, &c->tables);
}

/* Starts call `turn`, with the samples of the call CELL_AHEAD later. */
static enum ek_status begin(struct cell_work *w, int turn)
{
    struct cell_call *c = call_at(w, turn), *later = call_at(w, turn + CELL_AHEAD);
    TRY(gather(w, call_at(w, turn + CELL_AHEAD - 1)->end, later));
    memcpy(c->share + c->cells, c->check, (size_t)c->checks * sizeof *c->check);
    c->shares = c->cells + c->checks;
    later->has_trials = !c->cells || c->share->layers.n == later->share->layers.n;
    if (later->has_trials)
        c->shares += cell_add_trials(later, c->share + c->shares);
    return begin_call(w, c, slot_at(turn));
}

/* Fetches the fields of call `turn`, and chooses the filters of the call CELL_AHEAD later. */
static enum ek_status collect(struct cell_work *w, int turn)
{
    struct cell_call *c = call_at(w, turn), *later = call_at(w, turn + CELL_AHEAD);
    if (c->shares)
        TRY(mcsem_device_fields(w->device, slot_at(turn), c->field));
    if (c->checked)
        TRY(mcsem_device_sums(w->device, slot_at(turn), c->pairs, c->checked, c->exact));
    TRY(cell_tables_judge(w, c, slot_at(turn)));
    if (later->has_trials) {
        cell_judge_trials(w, later, c->share + c->cells + c->checks,
                          c->field + (c->pairs + c->checked) * (size_t)w->survey->nfreq);
        return EK_OK;
    }
    struct device_share *share =
        later->share + later->cells; /* a call of its own, as the number of layers differs */
    double complex *field = later->field;
    const int trials = cell_add_trials(later, share);
    if (trials) {
        TRY(mcsem_device_begin(w->device, SLOTS, share, trials, w->survey->nfreq, w->survey->freq,
                               FORWARD_FIELD));
        TRY(mcsem_device_fields(w->device, SLOTS, field));
    }
    cell_judge_trials(w, later, share, field);
    return EK_OK;
}

/* Arguments of weigh_part(). */
struct weighing {
    const struct cell_work *work;
    struct cell_call *call;
};

/* Weighs pair i of a cell, number `at` of the call's pairs to be weighed, with these fields. */
static void weigh_pair(const struct weighing *g, int cell, size_t i, size_t at,
                       const double complex *field)
{
    const struct cell_work *w = g->work;
    struct cell_call *c = g->call;
    const size_t nfreq = (size_t)w->survey->nfreq, pair = w->survey->first[cell] + i;
    for (size_t q = 0, datum = at * nfreq; q < nfreq; q++, datum++) {
        struct device_weight *to = &c->weight[datum];
        c->squares[datum] = cell_weigh(w, pair, (int)q, field[q], to);
        to->loop = pair_loop_factor(&w->survey->pair[pair], forward_line(w->survey->freq[q]));
    }
}

/* A thread's contiguous part of the pairs: those of the shares, then those of the tables. */
static void weigh_part(void *arg, int thread)
{
    const struct weighing *g = arg;
    const struct cell_call *c = g->call;
    const size_t width = (size_t)g->work->width, t = (size_t)thread,
                 all = c->pairs + c->tables.pairs;
    const size_t begin = all * t / width, end = all * (t + 1) / width;
    const size_t nfreq = (size_t)g->work->survey->nfreq;
    for (size_t k = 0, first = 0; k < (size_t)c->cells; first += c->share[k++].n)
        for (size_t i = begin > first ? begin - first : 0; i < c->share[k].n && first + i < end;
             i++)
            weigh_pair(g, c->cell[k], i, first + i, c->field + (first + i) * nfreq);
    for (size_t k = 0; k < (size_t)c->cells; k++) {
        const struct device_span *span = &c->table[k].span;
        const size_t first = c->pairs + span->first;
        for (size_t i = begin > first ? begin - first : 0; i < span->n && first + i < end; i++)
            weigh_pair(g, c->cell[k], c->share[k].n + i, first + i,
                       c->field + (c->tabled + span->first + i) * nfreq);
    }
}

/* Sends the weights of call `turn` and starts its J'W^2 J. */
static enum ek_status square(struct cell_work *w, int turn)
{
    struct cell_call *c = call_at(w, turn);
    struct weighing g = {w, c};
    struct device_span table[DEVICE_SQUARES];
    if (!c->cells)
        return EK_OK;
    for (int k = 0; k < c->cells; k++)
        table[k] = c->table[k].span;
    thread_pool_run(w->pool, w->width, weigh_part, &g);
    return mcsem_device_square(w->device, slot_at(turn), c->cells, table, c->weight);
}

/* ---- the list -------------------------------------------------------------------------------- */

enum ek_status cell_begin(struct cell_work *w, struct thread_pool *pool, const double *m,
                          const int *cell, size_t n)
{
    if (!w->device)
        return EK_OK;
    w->pool = pool;
    mcsem_device_feed(w->device, pool);
    TRY(mcsem_device_wait(w->device));
    w->m = m;
    w->list = cell;
    w->nlist = n;
    w->ndone = 0;
    w->turn = -CELL_AHEAD - 1;
    for (struct cell_call *c = w->call; c < w->call + CELL_CALLS; c++) {
        empty(c);
        c->end = 0;
    }
    for (int turn = -CELL_AHEAD; turn < 0; turn++)
        TRY(begin(w, turn));
    return EK_OK;
}

/* Advances to the next call. */
static enum ek_status go_on(struct cell_work *w)
{
    const int turn = ++w->turn;
    TRY(collect(w, turn));
    TRY(square(w, turn));
    TRY(begin(w, turn + CELL_AHEAD));
    const struct cell_call *c = call_at(w, turn);
    return c->cells ? mcsem_device_squares(w->device, c->triangle) : EK_OK;
}

enum ek_status cell_ahead_next(struct cell_work *w, int cell, const struct cell_call **call, int *k)
{
    const struct cell_call *c;
    *call = NULL;
    if (w->ndone == w->nlist)
        return EK_OK;
    while (w->turn < -CELL_AHEAD || w->ndone >= call_at(w, w->turn)->end) {
        const enum ek_status st = go_on(w);
        if (st) {
            w->nlist = w->ndone;
            (void)MUTED(mcsem_device_wait(w->device));
            return st;
        }
    }
    w->ndone++;
    c = call_at(w, w->turn);
    for (*k = 0; *k < c->cells && c->cell[*k] != cell; ++*k)
        ;
    *call = *k < c->cells ? c : NULL;
    return EK_OK;
}
