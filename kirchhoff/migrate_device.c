/* kirchhoff/migrate_device.c – chunks on a device. Tables stay there while there is room; two
 * batches take turns, one being summed while the next one is read, filtered and sent. */
#include "kirchhoff/migrate_device.h"
#include "cu/bench/memory.h"
#include "cu/team/thread_pool.h"
#include "src/clock.h"
#include "src/kernel.h"
#include "kirchhoff/kernels/migrate.h"
#include "kirchhoff/kernels/device.h"

enum { STAGES = 2, BATCH_TRACES = 4096, CPU_ROWS = 16 << 20 };
enum { PIECES = 4 }; /* of a batch's traces: one is summed while the next is filtered */
enum { SUMMED = 0, SENT = STAGES }; /* events of stage i: SUMMED + i, SENT + i */
#define MOST_ROWS ((size_t)8 << 30) /* bytes, so that an int counts their nodes */
enum { ROWS, SUM, CLEAR, KERNELS };
/* Buffers that live as long as the device is open. */
enum { B_SHAPE, B_CELLS, B_PARTS, B_PAR, B_ROWS, B_SUMS, B_FOLDS, BUFFERS };
/* Buffers of a stage. */
enum { F_ENDS, F_TRACES, F_SAMPLES, STAGE_BUFFERS };

/* A batch on the host, and its buffers on the device. */
struct stage {
    struct batch *batch;
    struct backend_mem *mem[STAGE_BUFFERS];
    bool busy; /* the device may still be summing it */
};

struct migrate_device {
    const struct migrate *m;
    struct backend *backend;
    struct backend_program *program;
    struct backend_mem *buffer[BUFFERS];
    struct tables_device *tables;
    struct stage stage[STAGES];
    size_t chunks;           /* in a batch */
    size_t rows;             /* rows (one for an end and column) that there is room for */
    double *sums;            /* fetched from the device */
    struct resum_sum *again; /* [m->resum->n] of the range at hand */
    long silent;             /* traces without signal in it */
    const struct cu *cu;     /* the threads that feed the device */
    const struct batch *at;  /* whose points are being summed again */
    float *folds;
    struct arena arena;
};

/* ---- buffers ----------------------------------------------------------------------------------*/

static enum ek_status make(struct migrate_device *d, struct backend_mem **mem, size_t bytes)
{
    return backend_alloc(d->backend, bytes ? bytes : 8, mem);
}

static enum ek_status put(struct migrate_device *d, struct backend_mem *mem, const void *from,
                          size_t bytes)
{
    return backend_send(d->backend, BACKEND_FEED, mem, from, bytes);
}

static enum ek_status make_filled(struct migrate_device *d, int which, const void *from,
                                  size_t bytes)
{
    TRY(make(d, &d->buffer[which], bytes));
    TRY(put(d, d->buffer[which], from, bytes));
    return backend_wait(d->backend, BACKEND_FEED);
}

/* Cells and weights that interpolate the tables at the image's nodes; places of columns, and the
 * aperture. */
static enum ek_status send_plan(struct migrate_device *d)
{
    const struct nodes_plan *p = &d->m->nodes;
    const struct sum_plan *s = &d->m->sum;
    const struct grid *g = &d->m->grid;
    const size_t nx = (size_t)g->n[0], ny = (size_t)g->n[1], n = nx + ny + (size_t)p->axis[2].n;
    const size_t depths = (size_t)migrate_span(s->nodes, s->fine);
    const size_t all = 2 * n + nx + ny + 2 * depths;
    int *cells = ARENA_NEW(&d->arena, n, int);
    float *parts = ARENA_NEW(&d->arena, all, float), *x = parts + 2 * n, *y = x + nx;
    TRY(arena_check(&d->arena, "a device's plan"));
    for (size_t a = 0, at = 0; a < 3; at += (size_t)p->axis[a++].n) {
        memcpy(cells + at, p->axis[a].cell, (size_t)p->axis[a].n * sizeof *cells);
        memcpy(parts + at, p->axis[a].part, (size_t)p->axis[a].n * sizeof *parts);
        memcpy(parts + n + at, p->axis[a].way, (size_t)p->axis[a].n * sizeof *parts);
    }
    for (size_t i = 0; i < nx; i++)
        x[i] = migrate_place(d->m, 0, (int)i);
    for (size_t j = 0; j < ny; j++)
        y[j] = migrate_place(d->m, 1, (int)j);
    memcpy(y + ny, s->reach_at, depths * sizeof *y);
    memcpy(y + ny + depths, s->taper_at, depths * sizeof *y);
    TRY(make_filled(d, B_CELLS, cells, n * sizeof *cells));
    return make_filled(d, B_PARTS, parts, all * sizeof *parts);
}

static enum ek_status send_shape(struct migrate_device *d)
{
    const struct migrate *m = d->m;
    const struct nodes_plan *p = &m->nodes;
    const struct migrate_shape shape = {
        .nx = m->grid.n[0],
        .ny = m->grid.n[1],
        .nz = m->image->depths,
        .nodes = p->nodes,
        .fine = m->sum.fine,
        .end = p->end,
        .depths = p->depths,
        .rows = m->travel->grid.n[1],
        .columns = m->travel->grid.n[0] * m->travel->grid.n[1],
        .stride = {p->stride[0], p->stride[1]},
        .levels = m->sum.levels,
        .level_stride = (int)m->bank->stride,
        .step = {p->step[0], p->step[1], p->step[2]},
        .beyond = p->beyond,
    };
    TRY(make_filled(d, B_SHAPE, &shape, sizeof shape));
    return make_filled(d, B_PAR, m->par, PAR_COUNT * sizeof *m->par);
}

/* ---- how much fits ----------------------------------------------------------------------------*/

static size_t stage_bytes(const struct migrate_device *d, size_t traces)
{
    return traces * (d->m->bank->size * sizeof(float) + sizeof(struct batch_trace) +
                     2 * sizeof(struct nodes_end));
}

/* Bytes for rows out of `left`, what the image leaves. More columns at once fill a GPU better; a
 * CPU only needs the rows of one column, which then stay in its caches. */
static size_t room_of_rows(const struct backend_info *info, size_t left, size_t column)
{
    const size_t small = column < CPU_ROWS ? (size_t)CPU_ROWS : column;
    const size_t most = info->is_cpu ? small : MOST_ROWS;
    const size_t rows = left / 4 < most ? left / 4 : most;
    return rows < info->max_alloc ? rows : info->max_alloc;
}

/* Batches of some thousand traces if there is room: up to a quarter of what the image leaves goes
 * to the two batches, up to a quarter to rows, the rest to tables. */
static enum ek_status divide_memory(struct migrate_device *d, size_t *slots)
{
    char need[32], have[32];
    const struct backend_info *info = &d->backend->info;
    const struct migrate *m = d->m;
    const size_t image = image_bytes(&m->grid, &m->classes);
    const size_t longest = batch_longest(m->survey), all = info->memory / 10 * 8;
    const size_t wanted = BATCH_TRACES / longest ? BATCH_TRACES / longest : 1;
    const size_t left = all > image ? all - image : 0;
    const size_t row = nodes_row(&m->nodes) * sizeof(float);
    d->chunks = wanted < m->survey->nchunks ? wanted : m->survey->nchunks;
    while (d->chunks > 1 && STAGES * stage_bytes(d, d->chunks * longest) > left / 4)
        d->chunks /= 2;
    const size_t traces = d->chunks * longest, both = STAGES * stage_bytes(d, traces);
    const size_t most = 2 * traces * m->image->columns;
    d->rows = room_of_rows(info, left, 2 * traces * row) / row;
    d->rows = d->rows < most ? d->rows : most;
    const size_t taken = both + d->rows * row, rest = left > taken ? left - taken : 0;
    *slots = (rest < info->max_alloc ? rest : info->max_alloc) / m->travel->bytes;
    if (*slots > (size_t)m->travel->nodes)
        *slots = (size_t)m->travel->nodes;
    if (d->rows < 2 * traces || *slots < 2 * TRAVELTIME_CORNERS)
        FAIL(EK_UNAVAILABLE,
             "%s: the image takes %s and a chunk some more, the device has %s; leave it out, or "
             "make --chunk or --grid smaller",
             d->backend->label, memory_text(image, need, sizeof need),
             memory_text(info->memory, have, sizeof have));
    return EK_OK;
}

/* ---- opening ----------------------------------------------------------------------------------*/

static enum ek_status open_stage(struct migrate_device *d, struct stage *f)
{
    TRY(batch_open(d->m, d->chunks, &f->batch));
    const size_t n = (size_t)f->batch->room;
    const size_t bytes[STAGE_BUFFERS] = {
        [F_ENDS] = 2 * n * sizeof *f->batch->end,
        [F_TRACES] = n * sizeof *f->batch->trace,
        [F_SAMPLES] = n * d->m->bank->size * sizeof(float),
    };
    for (int b = 0; b < STAGE_BUFFERS; b++)
        TRY(make(d, &f->mem[b], bytes[b]));
    return EK_OK;
}

static void close_stage(struct migrate_device *d, struct stage *f)
{
    for (int b = 0; b < STAGE_BUFFERS; b++)
        backend_free(d->backend, f->mem[b]);
    batch_close(f->batch);
}

static enum ek_status build(struct migrate_device *d)
{
    static const struct backend_kernel kernels[KERNELS] = {[ROWS] = {"migrate_rows", {64, 1, 1}},
                                                           [SUM] = {"migrate_sum", {64, 1, 1}},
                                                           [CLEAR] = {"migrate_clear", {64, 1, 1}}};
    const char *text = "kirchhoff/kernels/migrate.c";
    return backend_build_texts(d->backend, &text, 1, "-DKERNEL_NO_FMA", kernels, KERNELS,
                               &d->program);
}

static enum ek_status fill(struct migrate_device *d)
{
    size_t slots;
    const struct image *image = d->m->image;
    if (!d->backend->info.fp64)
        FAIL(EK_UNAVAILABLE, "%s has no double precision; leave it out", d->backend->label);
    TRY(divide_memory(d, &slots));
    d->sums = ARENA_NEW(&d->arena, image_points(image), double);
    d->folds = ARENA_NEW(&d->arena, image_points(image), float);
    d->again = ARENA_NEW(&d->arena, d->m->resum->n, struct resum_sum);
    TRY(arena_check(&d->arena, "the image of %s", d->backend->label));
    memory_large_pages(d->sums, image_points(image) * sizeof *d->sums);
    TRY(build(d));
    TRY(send_plan(d));
    TRY(send_shape(d));
    TRY(make(d, &d->buffer[B_SUMS], image_points(image) * sizeof *d->sums));
    TRY(make(d, &d->buffer[B_FOLDS], image_points(image) * sizeof *d->folds));
    for (int f = 0; f < STAGES; f++)
        TRY(open_stage(d, &d->stage[f]));
    TRY(make(d, &d->buffer[B_ROWS], d->rows * nodes_row(&d->m->nodes) * sizeof(float)));
    return tables_device_open(d->backend, d->m->travel, slots, &d->tables);
}

enum ek_status migrate_device_open(const struct migrate *m, struct backend *backend,
                                   struct migrate_device **out)
{
    NEW(struct migrate_device, d, 1, "%s: out of memory", backend->label);
    d->m = m;
    d->backend = backend;
    const enum ek_status st = fill(d);
    return HAND_OUT(st, d, out, migrate_device_close);
}

void migrate_device_close(struct migrate_device *d)
{
    if (!d)
        return;
    tables_device_close(d->tables);
    for (int f = 0; f < STAGES; f++)
        close_stage(d, &d->stage[f]);
    for (int b = 0; b < BUFFERS; b++)
        backend_free(d->backend, d->buffer[b]);
    backend_unbuild(d->backend, d->program);
    arena_free(&d->arena);
    free(d);
}

/* ---- a batch ----------------------------------------------------------------------------------*/

static enum ek_status await_stage(struct migrate_device *d, struct stage *f)
{
    if (!f->busy)
        return EK_OK;
    f->busy = false;
    return backend_reach(d->backend, SUMMED + (int)(f - d->stage));
}

/* Completes an end by what a device needs. */
static void complete_end(struct nodes_end *end, const struct tables_device *tables)
{
    static const float around_nothing[4] = {1e15F, -1e15F, 1e15F, -1e15F};
    memcpy(end->box, around_nothing, sizeof end->box);
    for (int m = 0; m < end->corners.n; m++)
        end->slot[m] = tables->at[end->corners.node[m]];
}

/* Extends an end's box of midpoints by that of a trace. */
static void widen(float *box, const struct batch_trace *t)
{
    box[0] = fminf(box[0], t->mx);
    box[1] = fmaxf(box[1], t->mx);
    box[2] = fminf(box[2], t->my);
    box[3] = fmaxf(box[3], t->my);
}

/* Kernels launched from now on wait for the copies queued so far. */
static enum ek_status order_after_copies(struct migrate_device *d, const struct stage *f)
{
    const int event = SENT + (int)(f - d->stage);
    TRY(backend_record(d->backend, BACKEND_FEED, event));
    return backend_after(d->backend, BACKEND_COMPUTE, event);
}

/* What make_rows() needs: tables and ends. */
static enum ek_status send_ends(struct migrate_device *d, struct stage *f)
{
    const struct batch *b = f->batch;
    TRY(tables_device_bring(d->tables, b->node, b->nnodes,
                            SUMMED + (int)(f == d->stage))); /* the other stage's */
    for (int e = 0; e < b->nends; e++)
        complete_end(&b->end[e], d->tables);
    for (int t = 0; t < b->ntraces; t++) {
        widen(b->end[b->trace[t].source].box, &b->trace[t]);
        widen(b->end[b->trace[t].receiver].box, &b->trace[t]);
    }
    TRY(put(d, f->mem[F_ENDS], b->end, (size_t)b->nends * sizeof *b->end));
    return order_after_copies(d, f);
}

/* Bytes from .. from + bytes - 1 of an array, to the same place in `mem`. */
static enum ek_status put_part(struct migrate_device *d, struct backend_mem *mem, const void *array,
                               size_t from, size_t bytes)
{
    const struct backend_rect part = backend_linear(from, from, bytes);
    return backend_write(d->backend, BACKEND_FEED, mem, array, &part);
}

/* Reads and filters traces from .. to-1. */
static enum ek_status send_traces(struct migrate_device *d, struct stage *f, int from, int to)
{
    const size_t first = (size_t)from, n = (size_t)(to - from);
    const size_t trace = sizeof *f->batch->trace;
    const size_t samples = d->m->bank->size * sizeof(float);
    TRY(batch_fill(f->batch, from, to, d->cu));
    TRY(put_part(d, f->mem[F_TRACES], f->batch->trace, first * trace, n * trace));
    TRY(put_part(d, f->mem[F_SAMPLES], f->batch->sample, first * samples, n * samples));
    return order_after_copies(d, f);
}

static enum ek_status launch(struct migrate_device *d, int kernel, long items, int nargs,
                             const struct backend_arg *args)
{
    return backend_launch_items(d->backend, d->program, kernel, (size_t)items, nargs, args);
}

#define MEM(x) backend_arg_mem(x)
#define INT(x) backend_arg_int(x)

/* Rows of a batch's ends at image columns first .. first+columns-1. */
static enum ek_status make_rows(struct migrate_device *d, const struct stage *f, int first,
                                int columns)
{
    struct backend_mem *const *b = d->buffer;
    const int nends = f->batch->nends;
    const struct backend_arg rows[] = {
        MEM(d->tables->mem), MEM(f->mem[F_ENDS]), MEM(b[B_SHAPE]), MEM(b[B_CELLS]), MEM(b[B_PARTS]),
        MEM(b[B_PAR]),       MEM(b[B_ROWS]),      INT(nends),      INT(first),      INT(columns)};
    return launch(d, ROWS, (long)nends * columns * d->m->image->nodes, sizeof rows / sizeof *rows,
                  rows);
}

/* Traces from .. to-1 of a batch to columns whose rows are there. */
static enum ek_status sum_traces(struct migrate_device *d, const struct stage *f, int from, int to,
                                 int first, int columns)
{
    struct backend_mem *const *b = d->buffer, *const *m = f->mem;
    const struct backend_arg sum[] = {MEM(b[B_ROWS]),  MEM(m[F_TRACES]), MEM(m[F_SAMPLES]),
                                      MEM(b[B_SHAPE]), MEM(b[B_PARTS]),  MEM(b[B_PAR]),
                                      MEM(b[B_SUMS]),  MEM(b[B_FOLDS]),  INT(from),
                                      INT(to),         INT(first),       INT(columns)};
    return launch(d, SUM, columns * (long)d->m->image->depths, sizeof sum / sizeof *sum, sum);
}

/* The device computes rows and sums the first traces while the host filters the next ones. Columns
 * whose rows do not fit follow in windows, with all traces. */
static enum ek_status sum_batch(struct migrate_device *d, struct stage *f)
{
    const int columns = (int)d->m->image->columns, n = f->batch->ntraces;
    const size_t fit = d->rows / (size_t)f->batch->nends;
    const int window = fit < (size_t)columns ? (int)fit : columns;
    TRY(send_ends(d, f));
    TRY(make_rows(d, f, 0, window));
    for (int p = 0, from = 0; p < PIECES; p++) {
        const int to = (int)((long)n * (p + 1) / PIECES);
        if (to == from)
            continue;
        TRY(send_traces(d, f, from, to));
        TRY(sum_traces(d, f, from, to, 0, window));
        from = to;
    }
    for (int first = window; first < columns; first += window) {
        const int some = columns - first < window ? columns - first : window;
        TRY(make_rows(d, f, first, some));
        TRY(sum_traces(d, f, 0, n, first, some));
    }
    return backend_record(d->backend, BACKEND_COMPUTE, SUMMED + (int)(f - d->stage));
}

static void resum_part(void *arg, int thread)
{
    struct migrate_device *d = arg;
    for (int q = thread; q < d->m->resum->n; q += thread_pool_width(d->cu))
        resum_add(d->m->resum, d->at, q, &d->again[q]);
}

/* Sends chunks begin .. end - 1 and queues their sums; the host's threads sum points again. */
static enum ek_status sum_next(struct migrate_device *d, struct stage *f, size_t begin, size_t end)
{
    TRY(await_stage(d, f));
    enum ek_status st = batch_begin(f->batch, begin, end, d->cu);
    if (!st)
        st = sum_batch(d, f);
    f->busy = !st;
    d->at = f->batch;
    if (!st)
        thread_pool_run_on(d->cu, resum_part, d);
    if (!st)
        st = backend_wait(d->backend, BACKEND_FEED); /* the cache may drop the tables */
    else
        (void)MUTED(backend_wait(d->backend, BACKEND_FEED));
    d->silent += f->batch->silent;
    batch_end(f->batch);
    return st;
}

/* ---- a range ----------------------------------------------------------------------------------*/

static enum ek_status clear(struct migrate_device *d)
{
    const size_t points = image_points(d->m->image);
    const struct backend_arg args[] = {MEM(d->buffer[B_SUMS]), MEM(d->buffer[B_FOLDS]),
                                       backend_arg_long((long)points)};
    return launch(d, CLEAR, (long)(points / CLEAR_SPAN + 1), 3, args);
}

static enum ek_status fetch(struct migrate_device *d)
{
    const struct image *image = d->m->image;
    TRY(backend_fetch(d->backend, BACKEND_COMPUTE, d->sums, d->buffer[B_SUMS],
                      image_points(image) * sizeof *d->sums));
    TRY(backend_fetch(d->backend, BACKEND_COMPUTE, d->folds, d->buffer[B_FOLDS],
                      image_points(image) * sizeof *d->folds));
    return backend_wait(d->backend, BACKEND_COMPUTE);
}

enum ek_status migrate_device_run(struct migrate_device *d, const struct cu *cu, size_t begin,
                                  size_t *end, double until)
{
    enum ek_status st = clear(d);
    int turn = 0;
    d->cu = cu;
    d->silent = 0;
    memset(d->again, 0, (size_t)d->m->resum->n * sizeof *d->again);
    for (size_t c = begin, to; c < *end && !st; c = to, turn ^= 1) {
        to = *end - c < d->chunks ? *end : c + d->chunks;
        st = sum_next(d, &d->stage[turn], c, to);
        if (clock_now() >= until)
            *end = to;
    }
    THEN(st, fetch(d));
    if (st) { /* copies still queued must not read memory that is freed next */
        (void)MUTED(backend_wait(d->backend, BACKEND_FEED));
        (void)MUTED(backend_wait(d->backend, BACKEND_COMPUTE));
    }
    for (int f = 0; f < STAGES; f++)
        d->stage[f].busy = false;
    return st;
}

void migrate_device_add(struct migrate_device *d)
{
    image_add(d->m->image, d->sums, d->folds);
    resum_take(d->m->resum, d->again);
    atomic_fetch_add(&d->m->image->silent, d->silent);
}
