/* tests/fakegpu/queue.c – queues and events of the fake devices, and the copies and launches on
 * them. Work is delayed until someone waits, so that a forgotten wait gives wrong numbers. */
#include "tests/fakegpu/fake.h"
#include "src/clock.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct stream;
struct graph;

struct event {
    struct gpu *gpu;
    struct stream *stream; /* where it was last recorded, NULL: never */
    long number;           /* index of that piece of work */
    double time;
    bool timeless;         /* created without timing */
    struct moment *moment; /* of the last record */
};

/* A piece of work on a queue. */
struct work {
    enum { COPY, LAUNCH, RECORD, AFTER } kind;
    struct box box;
    struct function *function;
    size_t grid[3], group[3];
    unsigned char arg[ARGS][8];
    struct event *event;
    struct moment *moment; /* RECORD, AFTER: on the virtual clock, or NULL */
    struct stream *stream; /* AFTER: up to its piece `number` */
    long number;
    double called;       /* the caller's clock */
    bool linked;         /* LAUNCH: follows another of its graph */
    struct graph *graph; /* LAUNCH: or NULL */
};

/* Launches captured from a queue. */
struct graph {
    struct gpu *gpu;
    struct work *work; /* [n] */
    long n, queued;    /* launches not yet done */
};

struct stream {
    struct gpu *gpu;
    struct work *work; /* [room], pieces done … queued-1 wait at [0 …] */
    long done, queued, room;
    bool eager;
    double clock;           /* virtual time at which its work is done */
    struct graph *captured; /* or NULL */
};

static _Thread_local const struct stream *capturing; /* by this thread */
static const struct stream *capturing_alone;         /* global mode: no thread may do anything else
                                                      * meanwhile */

bool queue_captures(const char *what)
{
    const struct stream *s = capturing ? capturing : capturing_alone;
    if (s)
        gpu_complain("device %d: %s while launches are captured", s->gpu->index, what);
    return s;
}

/* ---- doing it -------------------------------------------------------------------------------- */

static void copy_box(const struct box *b)
{
    for (size_t z = 0; z < b->slices; z++)
        for (size_t y = 0; y < b->rows; y++)
            memmove(b->dst + z * b->dst_slice + y * b->dst_row,
                    b->src + z * b->src_slice + y * b->src_row, b->width);
}

/* The part of a launch that is run, by FAKEGPU_SAMPLE; returns how many times as much is priced. */
static double sampled(const struct work *w, size_t grid[3])
{
    const size_t part = (size_t)setting("FAKEGPU_SAMPLE", 1), groups = w->grid[0] / w->group[0];
    memcpy(grid, w->grid, sizeof w->grid);
    grid[0] = (groups + part - 1) / part * w->group[0];
    return (double)w->grid[0] / (double)grid[0] * (double)setting("FAKEGPU_SCALE", 1);
}

/* Addresses were checked at launch, but a buffer may have been freed since. */
static void run_kernel(struct gpu *g, const struct work *w)
{
    const struct pocl *cl = pocl_open();
    const struct function *f = w->function;
    for (int i = 0; i < f->nargs; i++) {
        unsigned char *address;
        memcpy(&address, w->arg[i], sizeof address);
        if (f->size[i])
            cl->SetKernelArg(f->kernel, (cl_uint)i, f->size[i], w->arg[i]);
        else if (!address || gpu_owns(g, address, 1))
            cl->SetKernelArgSVMPointer(f->kernel, (cl_uint)i, address);
        else
            g->lost = true;
    }
    if (g->lost) {
        gpu_complain("kernel %s runs on device %d after one of its buffers was freed", f->name,
                     g->index);
        return;
    }
    size_t grid[3];
    sampled(w, grid);
    if (cl->EnqueueNDRangeKernel(g->queue, f->kernel, 3, NULL, grid, w->group, 0, NULL, NULL) ||
        cl->Finish(g->queue))
        g->lost = true;
}

static void drain(struct stream *s, long number);

/* Advances the queue's clock by the cost of the work; cpu: seconds that it took PoCL's cpus. */
static void charge(struct stream *s, const struct work *w, double cpu)
{
    const double from = w->called > s->clock ? w->called : s->clock;
    const struct box *b = &w->box;
    const size_t *grid = w->grid, *group = w->group;
    const size_t items = group[0] * group[1] * group[2];
    const size_t scale = (size_t)setting("FAKEGPU_SCALE", 1);
    size_t run[3];
    int addresses = 0;
    s->clock = from;
    for (int i = 0; w->kind == LAUNCH && i < w->function->nargs; i++)
        addresses += !w->function->size[i];
    if (w->kind == LAUNCH)
        s->clock = price_launch(s->gpu, from, w->function->name,
                                grid[0] * grid[1] * grid[2] / items * scale, items, addresses,
                                cpu * sampled(w, run), w->linked);
    else if (w->kind == COPY)
        s->clock = price_copy(s->gpu, from, b->engine, b->width * b->rows * b->slices);
}

static void run(struct stream *s, const struct work *w)
{
    const double begin = price_wanted() ? price_kernel_clock() : 0;
    if (w->kind == LAUNCH) {
        run_kernel(s->gpu, w);
        w->function->queued--;
        if (w->graph)
            w->graph->queued--;
    }
    if (price_wanted())
        charge(s, w, price_kernel_clock() - begin);
    switch (w->kind) {
    case LAUNCH:
        break;
    case COPY:
        copy_box(&w->box);
        break;
    case RECORD:
        w->event->time = w->moment ? s->clock : clock_now();
        if (w->moment)
            w->moment->time = s->clock;
        break;
    case AFTER:
        drain(w->stream, w->number);
        if (w->moment && w->moment->time > s->clock)
            s->clock = w->moment->time;
        break;
    }
}

/* Does all work up to piece `number`. The caller holds the device's lock. */
static void drain(struct stream *s, long number)
{
    while (s->done < number && !s->gpu->lost) {
        struct work w = s->work[0];
        s->done++;
        memmove(s->work, s->work + 1, (size_t)(s->queued - s->done) * sizeof *s->work);
        run(s, &w);
    }
}

/* Does the work up to piece `number`; the host waits until then, or for the event's `moment`. */
static int drain_locked(struct stream *s, long number, const struct moment *moment)
{
    pthread_mutex_lock(&s->gpu->lock);
    price_wait(s->gpu);
    drain(s, number);
    price_waited(s->gpu, moment ? moment->time : s->clock);
    int code = s->gpu->lost ? LAUNCH_FAILED : OK;
    pthread_mutex_unlock(&s->gpu->lock);
    return code;
}

/* ---- queueing it ----------------------------------------------------------------------------- */

/* Checks that the queue's device is the calling thread's and is not lost. */
static int enter(const struct stream *s)
{
    const struct gpu *g = gpu_current();
    if (!s || g != s->gpu) {
        gpu_complain("a queue of device %d is used with device %d as the current one",
                     s ? s->gpu->index : -1, g ? g->index : -1);
        return INVALID_HANDLE;
    }
    return g->lost ? LAUNCH_FAILED : OK;
}

static int capture(struct graph *g, const struct work *w)
{
    if (w->kind != LAUNCH && queue_captures("something other than a launch is queued"))
        return NOT_WHILE_CAPTURING;
    struct work *more = realloc(g->work, (size_t)(g->n + 1) * sizeof *more);
    if (!more)
        return OUT_OF_MEMORY;
    g->work = more;
    more[g->n] = *w;
    more[g->n].linked = g->n > 0;
    g->n++;
    return OK;
}

/* A launch of a graph costs the host no call of its own. */
static int append(struct stream *s, const struct work *w)
{
    if (s->captured)
        return capture(s->captured, w);
    pthread_mutex_lock(&s->gpu->lock);
    const long waiting = s->queued - s->done;
    if (waiting == s->room) {
        s->room = 2 * s->room + 16;
        s->work = realloc(s->work, (size_t)s->room * sizeof *s->work);
    }
    int code = s->work ? OK : OUT_OF_MEMORY;
    if (!code) {
        s->work[waiting] = *w;
        s->work[waiting].called = w->linked ? s->gpu->host : price_call(s->gpu);
        s->queued++;
        if (w->kind == LAUNCH)
            w->function->queued++;
        if (w->kind == RECORD) {
            w->event->stream = s;
            w->event->number = s->queued;
        }
        if (s->eager)
            drain(s, s->queued);
    }
    pthread_mutex_unlock(&s->gpu->lock);
    return code;
}

int queue_copy(void *stream, const struct box *b)
{
    struct stream *s = stream;
    int code = enter(s);
    return code ? code : append(s, &(struct work){.kind = COPY, .box = *b});
}

int queue_launch(void *stream, struct function *f, const unsigned grid[3], const unsigned group[3],
                 void *const *args)
{
    struct stream *s = stream;
    struct work w = {.kind = LAUNCH, .function = f};
    int code = enter(s);
    if (code)
        return code;
    if (f->gpu != s->gpu) {
        gpu_complain("kernel %s of device %d is launched on device %d", f->name, f->gpu->index,
                     s->gpu->index);
        return INVALID_HANDLE;
    }
    for (int i = 0; i < 3; i++)
        if (f->group[0] && f->group[i] != group[i]) {
            gpu_complain("kernel %s is launched with %u in direction %d, its text says %zu",
                         f->name, group[i], i, f->group[i]);
            return INVALID_VALUE;
        }
    for (int i = 0; i < f->nargs; i++) {
        memcpy(w.arg[i], args[i], f->size[i] ? f->size[i] : sizeof(void *));
        void *address;
        memcpy(&address, w.arg[i], sizeof address);
        if (!f->size[i] && address && !gpu_owns(s->gpu, address, 1)) {
            gpu_complain("kernel %s on device %d gets memory of another device", f->name,
                         s->gpu->index);
            s->gpu->lost = true;
            return LAUNCH_FAILED;
        }
    }
    for (int i = 0; i < 3; i++) {
        w.group[i] = group[i];
        w.grid[i] = (size_t)grid[i] * group[i];
    }
    code = append(s, &w);
    if (fault_due("lost", s->gpu->index, s->gpu->calls[LAUNCHES]))
        s->gpu->lost = true;
    return code;
}

/* ---- what the library shows ------------------------------------------------------------------ */

SHOWN(NAME(cuStreamCreate, hipStreamCreateWithFlags), void **stream, unsigned flags)
{
    struct gpu *g = gpu_current();
    if (g && gpu_fails(g, QUEUES))
        return OUT_OF_MEMORY;
    struct stream *s = g && flags == 1 ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return g ? INVALID_VALUE : INVALID_CONTEXT;
    s->gpu = g;
    s->eager = setting("FAKEGPU_EAGER", 0) == (g->kept[STREAMS] ? 1 : 2);
    gpu_keep(g, STREAMS, 1);
    *stream = s;
    return OK;
}

SHOWN(NAME(cuStreamDestroy_v2, hipStreamDestroy), void *stream)
{
    struct stream *s = stream;
    drain_locked(s, s->queued, NULL);
    gpu_keep(s->gpu, STREAMS, -1);
    free(s->work);
    free(s);
    return OK;
}

SHOWN(NAME(cuStreamSynchronize, hipStreamSynchronize), void *stream)
{
    struct stream *s = stream;
    int code = enter(s);
    if (!code && queue_captures("a queue is waited for"))
        return NOT_WHILE_CAPTURING;
    return code ? code : drain_locked(s, s->queued, NULL);
}

SHOWN(NAME(cuStreamWaitEvent, hipStreamWaitEvent), void *stream, void *event, unsigned flags)
{
    struct stream *s = stream;
    const struct event *e = event;
    int code = enter(s);
    if (code || flags || !e->stream)
        return code ? code : flags ? INVALID_VALUE : OK;
    return append(
        s, &(struct work){
               .kind = AFTER, .moment = e->moment, .stream = e->stream, .number = e->number});
}

SHOWN(NAME(cuEventCreate, hipEventCreateWithFlags), void **event, unsigned flags)
{
    struct gpu *g = gpu_current();
    struct event *e = g && flags <= 3 ? calloc(1, sizeof *e) : NULL;
    if (!e)
        return g ? INVALID_VALUE : INVALID_CONTEXT;
    e->gpu = g;
    e->timeless = flags & 2;
    gpu_keep(g, EVENTS, 1);
    *event = e;
    return OK;
}

SHOWN(NAME(cuEventDestroy_v2, hipEventDestroy), void *event)
{
    struct event *e = event;
    if (e->stream)
        drain_locked(e->stream, e->number, e->moment);
    gpu_keep(e->gpu, EVENTS, -1);
    free(e);
    return OK;
}

SHOWN(NAME(cuEventRecord, hipEventRecord), void *event, void *stream)
{
    struct stream *s = stream;
    struct event *e = event;
    int code = enter(s);
    if (!code && e->gpu != s->gpu)
        code = INVALID_HANDLE;
    if (code)
        return code;
    e->moment = price_moment(s->gpu);
    return append(s, &(struct work){.kind = RECORD, .event = e, .moment = e->moment});
}

SHOWN(NAME(cuEventSynchronize, hipEventSynchronize), void *event)
{
    const struct event *e = event;
    const int code = e->stream ? enter(e->stream) : OK;
    return code || !e->stream ? code : drain_locked(e->stream, e->number, e->moment);
}

SHOWN(NAME(cuEventElapsedTime, hipEventElapsedTime), float *milliseconds, void *from, void *to)
{
    const struct event *a = from, *b = to;
    if (!a->stream || !b->stream || a->timeless || b->timeless)
        return INVALID_HANDLE;
    *milliseconds = (float)(1e3 * (b->time - a->time));
    return OK;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static int destroy_graph(struct graph *g)
{
    gpu_keep(g->gpu, KEPT_GRAPHS, -1);
    free(g->work);
    free(g);
    return OK;
}

SHOWN(NAME(cuStreamBeginCapture_v2, hipStreamBeginCapture), void *stream, int mode)
{
    struct stream *s = stream;
    const int code = enter(s);
    if (code || s->captured || mode < 0 || mode > 2)
        return code ? code : INVALID_VALUE;
    s->captured = calloc(1, sizeof *s->captured);
    s->captured->gpu = s->gpu;
    capturing = s;
    capturing_alone = mode == 0 ? s : capturing_alone;
    return OK;
}

SHOWN(NAME(cuStreamEndCapture, hipStreamEndCapture), void *stream, void **graph)
{
    struct stream *s = stream;
    struct graph *g = s->captured;
    const int code = enter(s);
    if (!g)
        return code ? code : INVALID_VALUE;
    s->captured = NULL;
    capturing = NULL;
    capturing_alone = s == capturing_alone ? NULL : capturing_alone;
    gpu_keep(s->gpu, KEPT_GRAPHS, 1);
    if (code)
        destroy_graph(g);
    else
        *graph = g;
    return code;
}

static void count_launches(const struct graph *g, int one)
{
    for (long i = 0; i < g->n; i++)
        g->work[i].function->in_graphs += one;
}

SHOWN(NAME(cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags), void **exec, void *graph,
      unsigned long long flags)
{
    const struct graph *g = graph;
    if (flags || gpu_fails(g->gpu, GRAPHS))
        return flags ? INVALID_VALUE : OUT_OF_MEMORY;
    struct graph *r = calloc(1, sizeof *r);
    *r = *g;
    r->work = malloc((size_t)g->n * sizeof *r->work + 1);
    if (g->n)
        memcpy(r->work, g->work, (size_t)g->n * sizeof *r->work);
    count_launches(r, 1);
    gpu_keep(g->gpu, KEPT_GRAPHS, 1);
    *exec = r;
    return OK;
}

SHOWN(NAME(cuGraphDestroy, hipGraphDestroy), void *graph)
{
    return destroy_graph(graph);
}

SHOWN(NAME(cuGraphExecDestroy, hipGraphExecDestroy), void *exec)
{
    const struct graph *g = exec;
    if (g->queued && !g->gpu->lost) {
        gpu_complain("device %d: a graph is destroyed while it is queued", g->gpu->index);
        g->gpu->lost = true;
    }
    count_launches(exec, -1);
    return destroy_graph(exec);
}

SHOWN(NAME(cuGraphLaunch, hipGraphLaunch), void *exec, void *stream)
{
    struct graph *g = exec;
    struct stream *s = stream;
    int code = enter(s);
    if (!code && g->gpu != s->gpu)
        code = INVALID_HANDLE;
    for (long i = 0; i < g->n && !code; i++) {
        struct work w = g->work[i];
        w.graph = g;
        g->queued++;
        code = append(s, &w);
    }
    return code;
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Checks that both sides of a box are within the right device's memory. */
static int check_ends(const struct box *b, struct gpu *to, struct gpu *from)
{
    const size_t slices = b->slices - 1, rows = b->rows - 1;
    struct gpu *lock = gpu_current();
    if (!lock)
        return INVALID_CONTEXT;
    bool dst = !to || gpu_owns(to, b->dst, slices * b->dst_slice + rows * b->dst_row + b->width);
    bool src =
        !from || gpu_owns(from, b->src, slices * b->src_slice + rows * b->src_row + b->width);
    if (dst && src)
        return OK;
    gpu_complain("device %d: a copy %s memory that does not belong to the device", lock->index,
                 dst ? "from" : "to");
    return INVALID_VALUE;
}

static int copy(void *stream, const struct box *b, struct gpu *to, struct gpu *from)
{
    int code = b->width && b->rows && b->slices ? check_ends(b, to, from) : OK;
    struct box priced = *b;
    priced.engine = !to ? ENGINE_OUT : !from ? ENGINE_IN : to == from ? ENGINE_WORK : ENGINE_PEER;
    return code ? code : queue_copy(stream, &priced);
}

static struct box line(void *dst, const void *src, size_t bytes)
{
    return (struct box){.dst = dst, .src = src, .width = bytes, .rows = 1, .slices = 1};
}

SHOWN(NAME(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync), void *dst, const void *src, size_t bytes,
      void *stream)
{
    const struct box b = line(dst, src, bytes);
    return copy(stream, &b, gpu_current(), NULL);
}

SHOWN(NAME(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync), void *dst, const void *src, size_t bytes,
      void *stream)
{
    const struct box b = line(dst, src, bytes);
    return copy(stream, &b, NULL, gpu_current());
}

SHOWN(NAME(cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync), void *dst, const void *src, size_t bytes,
      void *stream)
{
    const struct box b = line(dst, src, bytes);
    return copy(stream, &b, gpu_current(), gpu_current());
}

/* One side of a strided copy: first byte, row and slice pitch. */
struct ends {
    unsigned char *at;
    bool on_device;
    size_t row, slice;
};

static int copy_sides(void *stream, struct ends dst, struct ends src, const size_t size[3])
{
    const struct box b = {dst.at,  src.at,    size[0], size[1],   size[2],
                          dst.row, dst.slice, src.row, src.slice, ENGINE_WORK};
    const size_t pitch = (size_t)setting("FAKEGPU_PITCH", INT_MAX);
    if (dst.row > pitch || src.row > pitch)
        return INVALID_VALUE;
    if (dst.row < size[0] || src.row < size[0] || dst.slice < size[1] * dst.row ||
        src.slice < size[1] * src.row)
        return INVALID_VALUE;
    return copy(stream, &b, dst.on_device ? gpu_current() : NULL,
                src.on_device ? gpu_current() : NULL);
}

/* Without peer access the driver would copy through the host: reported as a bug. */
static int copy_peer(void *stream, struct box b, struct gpu *to, struct gpu *from)
{
    if (to != from && !to->lost && !(to->peers >> from->index & 1))
        gpu_complain("device %d copies from %d without peer access", to->index, from->index);
    return copy(stream, &b, to, from);
}

#if FAKE_HIP
SHOWN(hipMemcpyPeerAsync, void *dst, int to, const void *src, int from, size_t bytes, void *stream)
{
    int n;
    struct gpu *g = gpu_list(&n);
    return to < 0 || to >= n || from < 0 || from >= n
               ? INVALID_DEVICE
               : copy_peer(stream, line(dst, src, bytes), &g[to], &g[from]);
}

/* hipMemcpy3DParms */
struct side {
    void *array;
    size_t x, y, z;
    unsigned char *at;
    size_t pitch, width, height;
};
struct job {
    struct side src, dst;
    size_t size[3];
    int kind;
};

SHOWN(hipMemcpy3DAsync, const struct job *j, void *stream)
{
    enum { TO_DEVICE = 1, TO_HOST, ON_DEVICE };
    if (j->kind < TO_DEVICE || j->kind > ON_DEVICE)
        return INVALID_VALUE;
    const struct side *d = &j->dst, *s = &j->src;
    return copy_sides(
        stream, (struct ends){d->at, j->kind != TO_HOST, d->pitch, d->pitch * d->height},
        (struct ends){s->at, j->kind != TO_DEVICE, s->pitch, s->pitch * s->height}, j->size);
}
#else
SHOWN(cuMemcpyPeerAsync, void *dst, void *to, const void *src, void *from, size_t bytes,
      void *stream)
{
    return copy_peer(stream, line(dst, src, bytes), to, from);
}

/* CUDA_MEMCPY3D */
struct side {
    size_t x, y, z, lod;
    int type;
    unsigned char *host, *device;
    void *array, *reserved;
    size_t pitch, height;
};
struct job {
    struct side src, dst;
    size_t size[3];
};

static struct ends ends_of(const struct side *s)
{
    enum { HOST = 1, DEVICE = 2 };
    const bool on_device = s->type == DEVICE;
    return (struct ends){on_device ? s->device : s->host, on_device, s->pitch,
                         s->pitch * s->height};
}

SHOWN(cuMemcpy3DAsync_v2, const struct job *j, void *stream)
{
    return copy_sides(stream, ends_of(&j->dst), ends_of(&j->src), j->size);
}
#endif
