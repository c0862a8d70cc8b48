/* kirchhoff/migrate_host.c – migrates a chunk on the cores of a unit: the threads first share the
 * traces, to read and filter them, then the tiles of the image. */
#include "cu/team/thread_pool.h"
#include "kirchhoff/migrate.h"
#include "src/kernel.h"
#include "kirchhoff/kernels/migrate.h"

#include <stdatomic.h>

/* Scratch memory of one thread. */
struct thread_own {
    float *rows;    /* [room for ends][IMAGE_TILE] rows of nodes */
    bool *made;     /* [ends] whether the rows above the current tile exist */
    float *scratch; /* for computing a row */
    struct sum_nodes nodes;
    float *counts; /* [classes][IMAGE_TILE][nodes] for the fold of the current tile, see sum.h */
    bool *counted; /* [classes] whether its counts are in use */
};

struct migrate_worker {
    const struct migrate *m;
    struct batch *batch;
    int width;
    struct thread_own *own; /* [width] */
    atomic_size_t tile;     /* tiles of the current chunk taken so far */
    size_t first;           /* the tile to begin with; differs, so that units do not collide */
    _Atomic int status;
    struct resum_sum *again; /* [m->resum->n] of the current chunk */
    double *levels;          /* [room][bank->size] traces being demigrated, or NULL */
    const double *image;     /* being demigrated; NULL: migration */
    float *out;              /* [segy->n][ns] demigrated traces */
    struct arena arena;
};

/* ---- opening ----------------------------------------------------------------------------------*/

static void open_own(struct migrate_worker *w, struct thread_own *own)
{
    const size_t ends = 2 * (size_t)w->batch->room, nodes = (size_t)w->m->image->nodes;
    const size_t classes = (size_t)w->m->image->classes.n;
    own->rows = ARENA_NEW(&w->arena, ends * IMAGE_TILE * nodes_row(&w->m->nodes), float);
    own->made = ARENA_NEW(&w->arena, ends, bool);
    own->scratch = ARENA_NEW(&w->arena, nodes_scratch(&w->m->nodes), float);
    own->nodes =
        (struct sum_nodes){ARENA_NEW(&w->arena, nodes, float), ARENA_NEW(&w->arena, nodes, float),
                           ARENA_NEW(&w->arena, nodes, float), ARENA_NEW(&w->arena, nodes, float),
                           ARENA_NEW(&w->arena, nodes, float), ARENA_NEW(&w->arena, nodes, float),
                           ARENA_NEW(&w->arena, nodes, int)};
    own->counts = ARENA_NEW(&w->arena, classes * IMAGE_TILE * nodes, float);
    own->counted = ARENA_NEW(&w->arena, classes, bool);
}

static enum ek_status fill(struct migrate_worker *w, int width)
{
    w->own = ARENA_NEW(&w->arena, width, struct thread_own);
    w->again = ARENA_NEW(&w->arena, w->m->resum->n, struct resum_sum);
    TRY(arena_check(&w->arena, "a unit's threads"));
    TRY(batch_open(w->m, 1, &w->batch));
    for (; w->width < width; w->width++)
        open_own(w, &w->own[w->width]);
    return arena_check(&w->arena, "the nodes of %d ends; make --chunk smaller", 2 * w->batch->room);
}

enum ek_status migrate_worker_open(const struct migrate *m, int width, struct migrate_worker **out)
{
    NEW(struct migrate_worker, w, 1, "out of memory");
    w->m = m;
    const enum ek_status st = fill(w, width);
    return HAND_OUT(st, w, out, migrate_worker_close);
}

void migrate_worker_close(struct migrate_worker *w)
{
    if (!w)
        return;
    arena_free(&w->arena);
    batch_close(w->batch);
    free(w);
}

/* ---- a tile -----------------------------------------------------------------------------------*/

static float *row_of(const struct migrate_worker *w, const struct thread_own *own, int end, int c)
{
    return own->rows + ((size_t)end * IMAGE_TILE + (size_t)c) * nodes_row(&w->m->nodes);
}

/* Computes an end's rows for the tile's columns when the first trace needs them. */
static void make_rows(const struct migrate_worker *w, struct thread_own *own, int end, size_t first,
                      int columns)
{
    const int ny = w->m->grid.n[1];
    if (own->made[end])
        return;
    for (int c = 0; c < columns; c++)
        nodes_fill(&w->m->nodes, w->m->travel, &w->batch->end[end],
                   (int)((first + (size_t)c) / (size_t)ny), (int)((first + (size_t)c) % (size_t)ny),
                   own->scratch, row_of(w, own, end, c));
    own->made[end] = true;
}

static float distance(const struct migrate *m, const struct batch_trace *t, size_t column)
{
    const int ny = m->grid.n[1];
    const float x = migrate_place(m, 0, (int)(column / (size_t)ny));
    const float y = migrate_place(m, 1, (int)(column % (size_t)ny));
    return sqrtf((x - t->mx) * (x - t->mx) + (y - t->my) * (y - t->my));
}

/* Prefetches the next trace's samples while this one is summed: neighbours in a chunk read nearly
 * the same ones. */
static void fetch_next(const struct migrate *m, const struct sum_nodes *n, const float *sample)
{
    const float top = m->sum.par[PAR_TOP];
    for (int k = 0; k < m->sum.nodes; k += MIGRATE_BLOCK / MIGRATE_STEP) {
        const size_t level = m->sum.levels > 1 ? (size_t)n->level[k] : 0;
        __builtin_prefetch(sample + level * m->bank->stride + (int)migrate_reach(n->u[k], top));
    }
}

static float *counts_of(const struct migrate_worker *w, const struct thread_own *own, int k, int c)
{
    return own->counts + ((size_t)k * IMAGE_TILE + (size_t)c) * (size_t)w->m->sum.nodes;
}

static void begin_counts(const struct migrate_worker *w, struct thread_own *own, int k)
{
    const size_t n = IMAGE_TILE * (size_t)w->m->sum.nodes;
    if (!own->counted[k])
        memset(counts_of(w, own, k, 0), 0, n * sizeof *own->counts);
    own->counted[k] = true;
}

/* Adds the counts at nodes to the fold at each depth. */
static void end_counts(const struct migrate_worker *w, struct thread_own *own, size_t first,
                       int columns)
{
    const struct sum_plan *p = &w->m->sum;
    for (int k = 0; k < w->m->image->classes.n; k++) {
        for (int c = 0; own->counted[k] && c < columns; c++) {
            const float *counts = counts_of(w, own, k, c);
            float *fold = image_fold(w->m->image, k, first + (size_t)c);
            for (int z = 0; z < p->depths; z++)
                fold[z] += counts[migrate_node(z, p->fine)];
        }
        own->counted[k] = false;
    }
}

/* Adds one trace to the columns of a tile that are within its aperture, or models it from them. */
static void add_trace(const struct migrate_worker *w, struct thread_own *own, int trace,
                      size_t first, int columns)
{
    const struct migrate *m = w->m;
    const struct batch_trace *t = &w->batch->trace[trace];
    const float most = m->sum.reach[m->sum.nodes - 1];
    struct sum_trace s = {.sample = w->batch->sample + (size_t)trace * m->bank->size,
                          .stride = m->bank->stride,
                          .start = t->start,
                          .first = t->first,
                          .last = t->last};
    bool fetched = false;
    begin_counts(w, own, t->gather);
    for (int c = 0; c < columns; c++) {
        const size_t column = first + (size_t)c;
        s.distance = distance(m, t, column);
        if (s.distance >= most)
            continue;
        make_rows(w, own, t->source, first, columns);
        make_rows(w, own, t->receiver, first, columns);
        s.source = row_of(w, own, t->source, c);
        s.receiver = row_of(w, own, t->receiver, c);
        const size_t at = ((size_t)t->gather * m->image->columns + column) * (size_t)m->sum.depths;
        if (w->image)
            sum_spread(&m->sum, &s, &own->nodes, w->image + at,
                       w->levels + (size_t)trace * m->bank->size);
        else
            sum_column(&m->sum, &s, &own->nodes, m->image->sum + at,
                       counts_of(w, own, t->gather, c), image_fold(m->image, t->gather, column));
        if (!fetched && trace + 1 < w->batch->ntraces)
            fetch_next(m, &own->nodes, s.sample + m->bank->size);
        fetched = true;
    }
}

/* Processes every `parts`-th trace, beginning with `part`. */
static void add_tile(const struct migrate_worker *w, struct thread_own *own, size_t tile, int part,
                     int parts)
{
    const struct image *image = w->m->image;
    const size_t first = tile * IMAGE_TILE, left = image->columns - first;
    const int columns = left < IMAGE_TILE ? (int)left : IMAGE_TILE;
    memset(own->made, 0, (size_t)w->batch->nends * sizeof *own->made);
    for (int t = part; t < w->batch->ntraces; t += parts)
        add_trace(w, own, t, first, columns);
    if (!w->image)
        end_counts(w, own, first, columns);
}

/* ---- a chunk ----------------------------------------------------------------------------------*/

static void sum_part(void *arg, int thread)
{
    struct migrate_worker *w = arg;
    const size_t tiles = w->m->image->tiles;
    for (size_t i; (i = atomic_fetch_add(&w->tile, 1)) < tiles;) {
        const size_t tile = (i + w->first) % tiles;
        LOCKED(&w->m->image->lock[tile]);
        add_tile(w, &w->own[thread], tile, 0, 1);
    }
    for (int q = thread; q < w->m->resum->n; q += w->width)
        resum_add(w->m->resum, w->batch, q, &w->again[q]);
}

/* Each thread has its own traces, so that a trace is summed in the order of the tiles. */
static void spread_part(void *arg, int thread)
{
    struct migrate_worker *w = arg;
    const size_t ns = (size_t)w->m->segy->ns, size = w->m->bank->size;
    OWNED(owned_filter_bank_scratch_close) struct filter_bank_scratch *scratch = NULL;
    const enum ek_status st = filter_bank_scratch_open(w->m->bank, &scratch);
    if (st) {
        w->status = (int)st;
        return;
    }
    for (size_t tile = 0; tile < w->m->image->tiles; tile++)
        add_tile(w, &w->own[thread], tile, thread, w->width);
    for (int t = thread; t < w->batch->ntraces; t += w->width)
        batch_adjoint(w->batch, t, scratch, w->levels + (size_t)t * size,
                      w->out + w->batch->index[t] * ns);
}

/* Reads the traces, then has all threads of the unit call `sum`. */
static enum ek_status work_on(struct migrate_worker *w, const struct cu *cu, size_t chunk,
                              void (*sum)(void *arg, int thread))
{
    w->status = EK_OK;
    w->tile = 0;
    w->first = cu ? (size_t)cu->index * 7919 : 0;
    enum ek_status st = batch_begin(w->batch, chunk, chunk + 1, cu);
    if (!st)
        st = batch_fill(w->batch, 0, w->batch->ntraces, cu);
    if (!st)
        thread_pool_run(cu ? cu->pool : NULL, w->width, sum, w);
    batch_end(w->batch);
    THEN(st, (enum ek_status)w->status);
    if (!st)
        atomic_fetch_add(&w->m->image->silent, w->batch->silent);
    return st;
}

enum ek_status migrate_chunk(struct migrate_worker *w, const struct cu *cu, size_t chunk)
{
    TRY(work_on(w, cu, chunk, sum_part));
    resum_take(w->m->resum, w->again);
    return EK_OK;
}

enum ek_status migrate_adjoint(struct migrate_worker *w, const struct cu *cu, size_t chunk,
                               const double *image, float *out)
{
    const size_t n = (size_t)w->batch->room * w->m->bank->size;
    if (!w->levels)
        w->levels = ARENA_NEW(&w->arena, n, double);
    TRY(arena_check(&w->arena, "traces under demigration; make --chunk smaller"));
    memset(w->levels, 0, n * sizeof *w->levels);
    w->image = image;
    w->out = out;
    const enum ek_status st = work_on(w, cu, chunk, spread_part);
    w->image = NULL;
    return st;
}
