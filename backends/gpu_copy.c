/* backends/gpu_copy.c – copies within a GPU, between it and the host, and between two GPUs.
 *
 * Host data passes through pinned chunks in packed form: the device's copy engine works while the
 * host packs the next chunk, and strided rows cross the bus as one piece. A read's data is unpacked
 * when its chunk is needed again, at the latest in wait(). */
#include "backends/gpu.h"

#include <stdlib.h>

enum { CHUNK = 4 << 20 }; /* bytes: a few hundred microseconds of any bus */
enum {
    SMALL = 64 << 10
};                           /* bytes of a chunk until more pass it: pinning a CHUNK takes a
                                millisecond, longer than all copies of a small job */
enum { SHARED = 256 << 10 }; /* bytes: less is moved faster by one thread alone */

/* ---- boxes ----------------------------------------------------------------------------------- */

/* A transfer of a box between two addresses, one or both on the device. */
struct transfer {
    enum backend_way way;
    unsigned char *dst;
    const unsigned char *src;
    struct backend_rect box;
};

/* Cuts a box into pieces of at most `most` bytes (parts of rows, whole rows or whole slices) and
 * calls `each` on them. */
static enum ek_status by_pieces(struct gpu_state *d, int queue, const struct transfer *t,
                                size_t most,
                                enum ek_status (*each)(struct gpu_state *, int,
                                                       const struct transfer *))
{
    const struct backend_rect *r = &t->box;
    const size_t width = r->width < most ? r->width : most;
    const size_t fit = width < r->width ? 1 : most / width;
    const size_t rows = fit < r->rows ? fit : r->rows;
    const size_t deep = rows < r->rows ? 1 : fit / rows;
    const size_t slices = deep < r->slices ? deep : r->slices;
    for (size_t z = 0; z < r->slices; z += slices)
        for (size_t y = 0; y < r->rows; y += rows)
            for (size_t x = 0; x < r->width; x += width) {
                struct transfer piece = *t;
                struct backend_rect *p = &piece.box;
                p->width = r->width - x < width ? r->width - x : width;
                p->rows = r->rows - y < rows ? r->rows - y : rows;
                p->slices = r->slices - z < slices ? r->slices - z : slices;
                p->dst_offset += x + y * r->dst_row + z * r->dst_slice;
                p->src_offset += x + y * r->src_row + z * r->src_slice;
                TRY(each(d, queue, &piece));
            }
    return EK_OK;
}

static enum ek_status send_row(struct gpu_state *d, int queue, const struct transfer *t)
{
    int (*const call[])(void *, const void *, size_t,
                        void *) = {[BACKEND_WRITE] = d->driver->write,
                                   [BACKEND_READ] = d->driver->read,
                                   [BACKEND_WITHIN] = d->driver->copy};
    return gpu_check(d,
                     call[t->way](t->dst + t->box.dst_offset, t->src + t->box.src_offset,
                                  t->box.width, d->stream[queue]),
                     "copying");
}

static enum ek_status send_rows(struct gpu_state *d, int queue, const struct transfer *t)
{
    return by_pieces(d, queue, t, t->box.width, send_row);
}

/* Whether the drivers accept the pitches: rows do not overlap, slices are whole numbers of rows. */
static bool takes(size_t width, size_t rows, size_t row, size_t slice)
{
    return row >= width && slice % row == 0 && slice >= rows * row;
}

static enum ek_status send_box(struct gpu_state *d, int queue, const struct transfer *t)
{
    struct backend_rect r = t->box;
    if (r.rows * r.slices == 1)
        return send_row(d, queue, t);
    if (r.slices == 1) {
        r.dst_slice = r.rows * r.dst_row;
        r.src_slice = r.rows * r.src_row;
    }
    if (!takes(r.width, r.rows, r.dst_row, r.dst_slice) ||
        !takes(r.width, r.rows, r.src_row, r.src_slice))
        return r.slices == 1 ? send_rows(d, queue, t)
                             : by_pieces(d, queue, t, r.rows * r.width, send_box);
    int code =
        d->vendor->box(t->way, t->dst + r.dst_offset, t->src + r.src_offset, &r, d->stream[queue]);
    if (code == GPU_INVALID_VALUE) /* the pitch exceeds this driver's limit */
        return send_rows(d, queue, t);
    return gpu_check(d, code, "copying");
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* A box in host memory that several threads copy together. */
struct move {
    unsigned char *dst;
    const unsigned char *src;
    const struct backend_rect *box;
    size_t parts;
};

/* One thread's share of the box: a range of slices if there are several, else of rows, else of
 * bytes. */
static void move_part(void *arg, int thread)
{
    const struct move *m = arg;
    struct backend_rect r = *m->box;
    size_t *const n = r.slices > 1 ? &r.slices : r.rows > 1 ? &r.rows : &r.width;
    const size_t dst = r.slices > 1 ? r.dst_slice : r.rows > 1 ? r.dst_row : 1;
    const size_t src = r.slices > 1 ? r.src_slice : r.rows > 1 ? r.src_row : 1;
    const size_t from = *n * (size_t)thread / m->parts;
    *n = *n * ((size_t)thread + 1) / m->parts - from;
    r.dst_offset += from * dst;
    r.src_offset += from * src;
    backend_move(m->dst, m->src, &r);
}

/* Other threads may use BACKEND_COPY, and they must not use the device's pool. */
static void move(const struct gpu_state *d, int queue, unsigned char *dst, const unsigned char *src,
                 const struct backend_rect *r)
{
    const struct backend_pool *pool = queue == BACKEND_COPY ? NULL : d->pool;
    struct move m = {dst, src, r, pool ? (size_t)pool->width : 1};
    if (pool && r->width * r->rows * r->slices >= SHARED)
        pool->run(pool->threads, pool->width, move_part, &m);
    else
        backend_move(dst, src, r);
}

/* Called when the chunk's transfer is done: unpacks the data of a read. */
static void unpack(const struct gpu_state *d, int queue, struct gpu_chunk *c)
{
    if (c->to)
        move(d, queue, c->to, c->byte, &c->unpack_box);
    c->to = NULL;
    c->busy = false;
}

static void free_chunk(const struct gpu_state *d, struct gpu_chunk *c)
{
    if (c->pinned)
        d->driver->pinned_free(c->byte);
    else
        free(c->byte);
    c->byte = NULL;
    c->pinned = false;
    c->size = 0;
}

/* A chunk for this many bytes. */
static enum ek_status open_chunk(struct gpu_state *d, struct gpu_chunk *c, size_t bytes)
{
    void *byte = NULL;
    enum { NO_TIME = 2 };
    if (!c->event) /* else this is another try */
        TRY(gpu_check(d, d->driver->event_create(&c->event, NO_TIME), "creating an event"));
    free_chunk(d, c);
    c->size = bytes > SMALL ? CHUNK : SMALL;
    c->pinned = !d->driver->pinned_alloc(&byte, c->size, 0);
    c->byte = c->pinned ? byte : malloc(c->size);
    if (c->byte)
        return EK_OK;
    c->size = 0;
    FAIL(EK_UNAVAILABLE, "%s: out of host memory for copies", d->label);
}

/* Frees the queue's oldest chunk for reuse by this many bytes. */
static enum ek_status take_chunk(struct gpu_state *d, int queue, size_t bytes,
                                 struct gpu_chunk **chunk)
{
    struct gpu_chunk *c = &d->chunk[queue][d->next_chunk[queue]];
    if (c->busy) {
        TRY(gpu_check(d, d->driver->event_wait(c->event), "copying"));
        unpack(d, queue, c);
    }
    if (!c->byte || c->size < bytes)
        TRY(open_chunk(d, c, bytes));
    d->next_chunk[queue] = (d->next_chunk[queue] + 1) % GPU_CHUNKS;
    *chunk = c;
    return EK_OK;
}

void gpu_copy_finish(struct gpu_state *d, int queue)
{
    for (int i = 0; i < GPU_CHUNKS; i++)
        unpack(d, queue, &d->chunk[queue][(d->next_chunk[queue] + i) % GPU_CHUNKS]);
}

void gpu_copy_close(struct gpu_state *d)
{
    for (int i = 0; i < BACKEND_QUEUES * GPU_CHUNKS; i++) {
        struct gpu_chunk *c = &d->chunk[i / GPU_CHUNKS][i % GPU_CHUNKS];
        if (c->event)
            d->driver->event_destroy(c->event);
        free_chunk(d, c);
    }
}

/* Transfers a piece that fits into a chunk, packed. */
static enum ek_status pass_piece(struct gpu_state *d, int queue, const struct transfer *t)
{
    struct gpu_chunk *c;
    const struct backend_rect *r = &t->box;
    struct backend_rect in = *r, out = *r; /* to the chunk, from it */
    TRY(take_chunk(d, queue, r->width * r->rows * r->slices, &c));
    in.dst_offset = out.src_offset = 0;
    in.dst_row = out.src_row = r->width;
    in.dst_slice = out.src_slice = r->width * r->rows;
    if (t->way == BACKEND_WRITE) {
        move(d, queue, c->byte, t->src, &in);
        TRY(send_box(d, queue, &(struct transfer){BACKEND_WRITE, t->dst, c->byte, out}));
    } else {
        TRY(send_box(d, queue, &(struct transfer){BACKEND_READ, c->byte, t->src, in}));
        c->to = t->dst;
        c->unpack_box = out;
    }
    c->busy = true;
    return gpu_check(d, d->driver->event_record(c->event, d->stream[queue]), "copying");
}

/* ---- the verbs ------------------------------------------------------------------------------- */

enum ek_status gpu_transfer(void *dev, int queue, const struct backend_transfer *of)
{
    struct gpu_state *d = dev;
    const struct transfer t = {of->way, of->dst ? gpu_address(of->dst) : of->to,
                               of->src ? gpu_address(of->src) : of->from, of->box};
    TRY(gpu_use(d));
    return of->way == BACKEND_WITHIN ? send_box(d, queue, &t)
                                     : by_pieces(d, queue, &t, CHUNK, pass_piece);
}

void gpu_use_pool(void *dev, const struct backend_pool *pool)
{
    ((struct gpu_state *)dev)->pool = pool;
}

/* Enables direct access between two devices, once, if they support it; otherwise the driver copies
 * through the host. */
static void enable_peer_access(struct gpu_state *to, const struct gpu_state *from)
{
    const unsigned long long bit = 1ull << (from->device & 63);
    int reaches = 0;
    if (to->device == from->device || to->peers_tried & bit)
        return;
    to->peers_tried |= bit;
    if (!to->driver->device_reaches(&reaches, to->device, from->device) && reaches)
        to->vendor->enable_peer_access(from);
}

enum ek_status gpu_peer(void *dev, int queue, void *from, const struct backend_transfer *t)
{
    struct gpu_state *to = dev;
    const struct gpu_state *other = from;
    const struct backend_rect *r = &t->box;
    TRY(gpu_use(to));
    enable_peer_access(to, other);
    for (size_t i = 0; i < r->slices * r->rows; i++) {
        const size_t y = i % r->rows, z = i / r->rows;
        unsigned char *dst = (unsigned char *)gpu_address(t->dst) + r->dst_offset + y * r->dst_row;
        const unsigned char *src =
            (unsigned char *)gpu_address(t->src) + r->src_offset + y * r->src_row;
        TRY(gpu_check(to,
                      to->vendor->peer(to, dst + z * r->dst_slice, other, src + z * r->src_slice,
                                       r->width, to->stream[queue]),
                      "copying from another device"));
    }
    return EK_OK;
}
