/* kirchhoff/migrate_device.c – chunks on a device: tables stay there as long as there is room, two
 * batches take turns. */
#include "kirchhoff/migrate_device.h"
#include "cu/bench/memory.h"
#include "cu/team/thread_pool.h"
#include "src/arena.h"
#include "src/kernel.h"
#include "kirchhoff/kernels/migrate.h"
#include "kirchhoff/kernels/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FLIGHT = 2, BATCH_TRACES = 4096, CPU_ROWS = 256 << 20 };
enum { SMALL_IMAGE = 1 << 20, LEAST_BATCHES = 4 };
enum { LANDED = 0, BROUGHT = FLIGHT }; /* events of flights */
#define MOST_ROWS ((size_t)8 << 30)    /* an int counts their nodes */
enum { ROWS, SUM, FOLD, CLEAR, KERNELS };
/* Buffers that live as long as the device is open. */
enum { B_SHAPE, B_CELLS, B_PARTS, B_PLACES, B_PAR, B_ROWS, B_SUMS, B_FOLDS, BUFFERS };
/* Those of a batch. */
enum { F_ENDS_I, F_ENDS_F, F_TRACES_I, F_TRACES_F, F_SAMPLES, FLIGHT_BUFFERS };

/* A batch here, and what of it is on the device. */
struct flight {
    struct batch *batch;
    struct backend_mem *mem[FLIGHT_BUFFERS];
    int *ends_i, *traces_i;
    float *ends_f, *traces_f;
    bool flying; /* the device may still be at it */
};

struct migrate_device {
    const struct migrate *m;
    struct backend *backend;
    struct backend_program *program;
    struct backend_mem *buffer[BUFFERS];
    struct tables_device *tables;
    struct flight flight[FLIGHT];
    size_t chunks;           /* of a batch */
    int window;              /* image columns that rows are made for at once */
    double *sums;            /* what came back */
    struct resum_sum *again; /* [m->resum->n] of the range at hand */
    const struct cu *cu;     /* who feeds it */
    const struct batch *at;  /* of which points are summed again */
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

/* Where the image lies among the tables' nodes. */
static enum ek_status send_plan(struct migrate_device *d)
{
    const struct nodes_plan *p = &d->m->nodes;
    const size_t n = (size_t)(p->axis[0].n + p->axis[1].n + p->axis[2].n);
    int *cells = ARENA_NEW(&d->arena, n, int);
    float *parts = ARENA_NEW(&d->arena, 2 * n + 4, float);
    TRY(arena_check(&d->arena, "a device's plan"));
    for (size_t a = 0, at = 0; a < 3; at += (size_t)p->axis[a++].n) {
        memcpy(cells + at, p->axis[a].cell, (size_t)p->axis[a].n * sizeof *cells);
        memcpy(parts + at, p->axis[a].part, (size_t)p->axis[a].n * sizeof *parts);
        memcpy(parts + n + 4 + at, p->axis[a].way, (size_t)p->axis[a].n * sizeof *parts);
        parts[n + a] = p->step[a];
    }
    parts[n + 3] = p->beyond;
    TRY(make_filled(d, B_CELLS, cells, n * sizeof *cells));
    return make_filled(d, B_PARTS, parts, (2 * n + 4) * sizeof *parts);
}

static enum ek_status send_places(struct migrate_device *d)
{
    const struct grid *g = &d->m->grid;
    const size_t nx = (size_t)g->n[0], ny = (size_t)g->n[1], nodes = (size_t)d->m->sum.nodes;
    float *x = ARENA_NEW(&d->arena, nx + ny + 2 * nodes, float);
    TRY(arena_check(&d->arena, "a device's plan"));
    for (size_t i = 0; i < nx; i++)
        x[i] = (float)grid_coordinate(g, 0, (int)i);
    for (size_t j = 0; j < ny; j++)
        x[nx + j] = (float)grid_coordinate(g, 1, (int)j);
    memcpy(x + nx + ny, d->m->reach, nodes * sizeof *x);
    memcpy(x + nx + ny + nodes, d->m->taper, nodes * sizeof *x);
    return make_filled(d, B_PLACES, x, (nx + ny + 2 * nodes) * sizeof *x);
}

static enum ek_status send_shape(struct migrate_device *d)
{
    const struct migrate *m = d->m;
    const struct nodes_plan *p = &m->nodes;
    const int shape[SHAPE_COUNT] = {
        [SHAPE_IMAGE_X] = m->grid.n[0],
        [SHAPE_IMAGE_Y] = m->grid.n[1],
        [SHAPE_IMAGE_Z] = m->image->depths,
        [SHAPE_NODES] = p->nodes,
        [SHAPE_DEPTHS] = p->depths,
        [SHAPE_NY] = m->travel->grid.n[1],
        [SHAPE_COLUMNS] = m->travel->grid.n[0] * m->travel->grid.n[1],
        [SHAPE_STRIDE_X] = p->stride[0],
        [SHAPE_STRIDE_Y] = p->stride[1],
        [SHAPE_LEVELS] = m->sum.levels,
        [SHAPE_STRIDE] = (int)filter_bank_stride(m->bank),
        [SHAPE_STEPS] = p->axis[0].n + p->axis[1].n + p->axis[2].n,
        [SHAPE_END] = p->end,
        [SHAPE_FINE] = m->sum.fine,
    };
    TRY(make_filled(d, B_SHAPE, shape, sizeof shape));
    return make_filled(d, B_PAR, m->par, PAR_COUNT * sizeof *m->par);
}

/* ---- how much fits ----------------------------------------------------------------------------*/

static size_t flight_bytes(const struct migrate_device *d, size_t traces)
{
    return traces * (filter_bank_size(d->m->bank) * sizeof(float) + TRACE_INTS * sizeof(int) +
                     TRACE_FLOATS * sizeof(float) +
                     2 * (END_INTS * sizeof(int) + END_FLOATS * sizeof(float)));
}

/* Bytes for rows of what the image leaves: the more columns at once, the fuller a GPU; a cpu has
 * caches. */
static size_t room_of_rows(const struct backend_info *info, size_t left)
{
    const size_t most = info->is_cpu ? (size_t)CPU_ROWS : MOST_ROWS;
    const size_t rows = left / 4 < most ? left / 4 : most;
    return rows < info->max_alloc ? rows : info->max_alloc;
}

/* Batches of some thousand traces where there is room: they take up to a quarter of what the image
 * leaves, rows up to another one, tables the rest. */
static enum ek_status divide_memory(struct migrate_device *d, size_t *slots)
{
    char need[32], have[32];
    const struct backend_info *info = &d->backend->info;
    const struct migrate *m = d->m;
    const size_t image = image_bytes(&m->grid, &m->input.classes, m->sum.fine);
    const size_t longest = batch_longest(m->survey), all = info->memory / 10 * 8;
    const size_t left = all > image ? all - image : 0;
    const size_t row = 2 * nodes_row(&m->nodes) * sizeof(float);
    d->chunks = BATCH_TRACES / longest ? BATCH_TRACES / longest : 1;
    while (d->chunks > 1 && FLIGHT * flight_bytes(d, d->chunks * longest) > left / 4)
        d->chunks /= 2;
    const size_t traces = d->chunks * longest, flights = FLIGHT * flight_bytes(d, traces);
    const size_t window = room_of_rows(info, left) / (traces * row);
    d->window = window < m->image->columns ? (int)window : (int)m->image->columns;
    const size_t rows = (size_t)d->window * traces * row;
    const size_t rest = left > flights + rows ? left - flights - rows : 0;
    *slots = (rest < info->max_alloc ? rest : info->max_alloc) / m->travel->bytes;
    if (*slots > (size_t)m->travel->nodes)
        *slots = (size_t)m->travel->nodes;
    if (d->window < 1 || *slots < 2 * TRAVELTIME_CORNERS)
        FAIL(EK_UNAVAILABLE,
             "%s: the image takes %s and a chunk some more, the device has %s; leave it "
             "out, or make --chunk or --grid smaller",
             d->backend->label, memory_text(image, need, sizeof need),
             memory_text(info->memory, have, sizeof have));
    return EK_OK;
}

/* ---- opening ----------------------------------------------------------------------------------*/

static enum ek_status open_flight(struct migrate_device *d, struct flight *f)
{
    TRY(batch_open(&d->m->input, d->chunks, &f->batch));
    const size_t n = (size_t)f->batch->room;
    const size_t bytes[FLIGHT_BUFFERS] = {
        [F_ENDS_I] = 2 * n * END_INTS * sizeof(int),
        [F_ENDS_F] = 2 * n * END_FLOATS * sizeof(float),
        [F_TRACES_I] = n * TRACE_INTS * sizeof(int),
        [F_TRACES_F] = n * TRACE_FLOATS * sizeof(float),
        [F_SAMPLES] = n * filter_bank_size(d->m->bank) * sizeof(float),
    };
    f->ends_i = arena_take(&d->arena, 1, bytes[F_ENDS_I]);
    f->ends_f = arena_take(&d->arena, 1, bytes[F_ENDS_F]);
    f->traces_i = arena_take(&d->arena, 1, bytes[F_TRACES_I]);
    f->traces_f = arena_take(&d->arena, 1, bytes[F_TRACES_F]);
    TRY(arena_check(&d->arena, "a batch of %zu traces", n));
    for (int b = 0; b < FLIGHT_BUFFERS; b++)
        TRY(make(d, &f->mem[b], bytes[b]));
    return EK_OK;
}

static void close_flight(struct migrate_device *d, struct flight *f)
{
    for (int b = 0; b < FLIGHT_BUFFERS; b++)
        backend_free(d->backend, f->mem[b]);
    batch_close(f->batch);
}

static enum ek_status build(struct migrate_device *d)
{
    static const struct backend_kernel kernels[KERNELS] = {[ROWS] = {"migrate_rows", {64, 1, 1}},
                                                           [SUM] = {"migrate_sum", {64, 1, 1}},
                                                           [FOLD] = {"migrate_fold", {64, 1, 1}},
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
    d->sums = ARENA_NEW(&d->arena, image_sums(image), double);
    d->folds = ARENA_NEW(&d->arena, image_folds(image), float);
    d->again = ARENA_NEW(&d->arena, d->m->resum->n, struct resum_sum);
    TRY(arena_check(&d->arena, "the image of %s", d->backend->label));
    TRY(build(d));
    TRY(send_plan(d));
    TRY(send_places(d));
    TRY(send_shape(d));
    TRY(make(d, &d->buffer[B_SUMS], image_sums(image) * sizeof *d->sums));
    TRY(make(d, &d->buffer[B_FOLDS], image_folds(image) * sizeof *d->folds));
    for (int f = 0; f < FLIGHT; f++)
        TRY(open_flight(d, &d->flight[f]));
    const size_t ends = 2 * (size_t)d->flight[0].batch->room;
    TRY(make(d, &d->buffer[B_ROWS],
             ends * (size_t)d->window * nodes_row(&d->m->nodes) * sizeof(float)));
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
    for (int f = 0; f < FLIGHT; f++)
        close_flight(d, &d->flight[f]);
    for (int b = 0; b < BUFFERS; b++)
        backend_free(d->backend, d->buffer[b]);
    backend_unbuild(d->backend, d->program);
    arena_free(&d->arena);
    free(d);
}

/* ---- a batch ----------------------------------------------------------------------------------*/

static enum ek_status land(struct migrate_device *d, struct flight *f)
{
    if (!f->flying)
        return EK_OK;
    f->flying = false;
    return backend_reach(d->backend, LANDED + (int)(f - d->flight));
}

static void write_end(struct flight *f, const struct tables_device *tables, int e)
{
    const struct nodes_end *end = &f->batch->end[e];
    int *i = f->ends_i + e * END_INTS;
    float *x = f->ends_f + e * END_FLOATS;
    i[END_CORNERS] = end->corners.n;
    i[END_WEIGHT] = end->weight;
    x[END_SCALE] = end->scale;
    x[END_EMERGENCE] = end->emergence;
    x[END_SPACING] = end->spacing[0];
    x[END_SPACING + 1] = end->spacing[1];
    x[END_DATUM] = end->datum;
    x[END_MIDWAY] = end->midway;
    x[END_SQUARE] = end->square;
    x[END_TURN] = end->turn;
    memcpy(x + END_FROM, end->corners.from, sizeof end->corners.from);
    x[END_BOX] = x[END_BOX + 2] = 1e15F; /* around nothing yet */
    x[END_BOX + 1] = x[END_BOX + 3] = -1e15F;
    for (int m = 0; m < end->corners.n; m++) {
        i[END_SLOT + m] = tables_device_slot(tables, end->corners.node[m]);
        x[END_W + m] = end->corners.weight[m];
        x[END_DX + m] = end->corners.dx[m];
        x[END_DY + m] = end->corners.dy[m];
    }
}

/* The end has a trace with this midpoint. */
static void widen(float *box, const struct batch_trace *t)
{
    if (t->mx > 1e15F)
        return; /* left out */
    box[0] = fminf(box[0], t->mx);
    box[1] = fmaxf(box[1], t->mx);
    box[2] = fminf(box[2], t->my);
    box[3] = fmaxf(box[3], t->my);
}

static void write_trace(struct flight *f, int t)
{
    const struct batch_trace *trace = &f->batch->trace[t];
    int *i = f->traces_i + t * TRACE_INTS;
    float *x = f->traces_f + t * TRACE_FLOATS;
    i[TRACE_SOURCE] = trace->source;
    i[TRACE_RECEIVER] = trace->receiver;
    i[TRACE_CLASS] = trace->class;
    x[TRACE_START] = trace->start;
    x[TRACE_FIRST] = trace->first;
    x[TRACE_MX] = trace->mx;
    x[TRACE_MY] = trace->my;
    widen(f->ends_f + trace->source * END_FLOATS + END_BOX, trace);
    widen(f->ends_f + trace->receiver * END_FLOATS + END_BOX, trace);
}

static enum ek_status send(struct migrate_device *d, struct flight *f)
{
    const size_t ends = (size_t)f->batch->nends, traces = (size_t)f->batch->ntraces;
    for (int e = 0; e < f->batch->nends; e++)
        write_end(f, d->tables, e);
    for (int t = 0; t < f->batch->ntraces; t++)
        write_trace(f, t);
    TRY(put(d, f->mem[F_ENDS_I], f->ends_i, ends * END_INTS * sizeof(int)));
    TRY(put(d, f->mem[F_ENDS_F], f->ends_f, ends * END_FLOATS * sizeof(float)));
    TRY(put(d, f->mem[F_TRACES_I], f->traces_i, traces * TRACE_INTS * sizeof(int)));
    TRY(put(d, f->mem[F_TRACES_F], f->traces_f, traces * TRACE_FLOATS * sizeof(float)));
    TRY(put(d, f->mem[F_SAMPLES], f->batch->sample,
            traces * filter_bank_size(d->m->bank) * sizeof(float)));
    const int event = BROUGHT + (int)(f - d->flight);
    TRY(backend_record(d->backend, BACKEND_FEED, event));
    return backend_after(d->backend, BACKEND_COMPUTE, event);
}

static enum ek_status launch(struct migrate_device *d, int kernel, long items, int nargs,
                             const struct backend_arg *args)
{
    return backend_launch_items(d->backend, d->program, kernel, (size_t)items, nargs, args);
}

#define MEM(x) backend_arg_mem(x)
#define INT(x) backend_arg_int(x)

/* All of a batch to image columns first .. first+columns-1. */
static enum ek_status sum_window(struct migrate_device *d, const struct flight *f, int first,
                                 int columns)
{
    struct backend_mem *const *b = d->buffer, *const *m = f->mem;
    const int nends = f->batch->nends, n = f->batch->ntraces;
    const long nodes = d->m->image->nodes, depths = d->m->image->depths;
    const struct backend_arg rows[] = {MEM(tables_device_mem(d->tables)),
                                       MEM(m[F_ENDS_I]),
                                       MEM(m[F_ENDS_F]),
                                       MEM(b[B_SHAPE]),
                                       MEM(b[B_CELLS]),
                                       MEM(b[B_PARTS]),
                                       MEM(b[B_PLACES]),
                                       MEM(b[B_PAR]),
                                       MEM(b[B_ROWS]),
                                       INT(nends),
                                       INT(first),
                                       INT(columns)};
    const struct backend_arg sum[] = {MEM(b[B_ROWS]),    MEM(m[F_TRACES_I]), MEM(m[F_TRACES_F]),
                                      MEM(m[F_SAMPLES]), MEM(b[B_SHAPE]),    MEM(b[B_PLACES]),
                                      MEM(b[B_PAR]),     MEM(b[B_SUMS]),     INT(n),
                                      INT(first),        INT(columns)};
    const struct backend_arg fold[] = {
        MEM(b[B_ROWS]),   MEM(m[F_TRACES_I]), MEM(m[F_TRACES_F]), MEM(b[B_SHAPE]),
        MEM(b[B_PLACES]), MEM(b[B_PAR]),      MEM(b[B_FOLDS]),    INT(n),
        INT(first),       INT(columns)};
    TRY(launch(d, ROWS, (long)nends * columns * nodes, sizeof rows / sizeof *rows, rows));
    TRY(launch(d, SUM, columns * depths, sizeof sum / sizeof *sum, sum));
    return launch(d, FOLD, columns * nodes, sizeof fold / sizeof *fold, fold);
}

static void resum_part(void *arg, int thread)
{
    struct migrate_device *d = arg;
    for (int q = thread; q < d->m->resum->n; q += thread_pool_width(d->cu))
        resum_add(d->m->resum, d->at, q, &d->again[q]);
}

/* Chunks that come next: as many as a batch takes and the tables' slots hold. */
static enum ek_status fly(struct migrate_device *d, struct flight *f, size_t begin, size_t end)
{
    const int columns = (int)d->m->image->columns;
    TRY(land(d, f));
    enum ek_status st = batch_begin(f->batch, begin, end, d->cu);
    if (!st)
        st = tables_device_bring(d->tables, f->batch->node, f->batch->nnodes,
                                 LANDED + (int)(f == d->flight)); /* of the other flight */
    THEN(st, send(d, f));
    for (int first = 0; first < columns && !st; first += d->window)
        st = sum_window(d, f, first, columns - first < d->window ? columns - first : d->window);
    THEN(st, backend_record(d->backend, BACKEND_COMPUTE, LANDED + (int)(f - d->flight)));
    f->flying = !st;
    d->at = f->batch;
    if (!st)
        thread_pool_run_on(d->cu, resum_part, d);
    batch_end(f->batch);
    return st;
}

/* ---- a range ----------------------------------------------------------------------------------*/

static enum ek_status clear(struct migrate_device *d)
{
    const size_t sums = image_sums(d->m->image), folds = image_folds(d->m->image);
    const struct backend_arg args[] = {MEM(d->buffer[B_SUMS]), backend_arg_long((long)sums),
                                       MEM(d->buffer[B_FOLDS]), backend_arg_long((long)folds)};
    return launch(d, CLEAR, (long)(sums / CLEAR_SPAN + 1), 4, args);
}

static enum ek_status fetch(struct migrate_device *d)
{
    const struct image *image = d->m->image;
    TRY(backend_fetch(d->backend, BACKEND_COMPUTE, d->sums, d->buffer[B_SUMS],
                      image_sums(image) * sizeof *d->sums));
    TRY(backend_fetch(d->backend, BACKEND_COMPUTE, d->folds, d->buffer[B_FOLDS],
                      image_folds(image) * sizeof *d->folds));
    return backend_wait(d->backend, BACKEND_COMPUTE);
}

/* A GPU sums a trace into a small image faster than the host filters one: it begins with the first
 * quarter of a range while others are filled, though ends that they share take more rows then. */
static size_t chunks_at_once(const struct migrate_device *d, size_t chunks)
{
    const size_t part = (chunks + LEAST_BATCHES - 1) / LEAST_BATCHES;
    const bool small = image_sums(d->m->image) < SMALL_IMAGE && !d->backend->info.is_cpu;
    return small && part < d->chunks ? part : d->chunks;
}

enum ek_status migrate_device_run(struct migrate_device *d, const struct cu *cu, size_t begin,
                                  size_t end)
{
    const size_t step = chunks_at_once(d, end - begin);
    enum ek_status st = clear(d);
    int turn = 0;
    d->cu = cu;
    memset(d->again, 0, (size_t)d->m->resum->n * sizeof *d->again);
    for (size_t c = begin; c < end && !st; c += step, turn ^= 1)
        st = fly(d, &d->flight[turn], c, end - c < step ? end : c + step);
    THEN(st, fetch(d));
    if (st) { /* what is under way must not read from memory that is given back */
        (void)MUTED(backend_wait(d->backend, BACKEND_FEED));
        (void)MUTED(backend_wait(d->backend, BACKEND_COMPUTE));
    }
    for (int f = 0; f < FLIGHT; f++)
        d->flight[f].flying = false;
    if (!st) {
        image_add(d->m->image, d->sums, d->folds);
        resum_take(d->m->resum, d->again);
    }
    return st;
}
