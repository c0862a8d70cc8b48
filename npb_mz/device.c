/* npb_mz/device.c – steps zones on one device, moves zones to and from it, exchanges their faces.
 */
#include "npb_mz/device.h"
#include "src/clock.h"

enum { MAX_LAUNCHES = 16, MAX_ARGUMENTS = 12, MAX_GRAPHS = 64 };

/* Kernels of kernels/faces.c, behind the solver's own. */
enum { FACES_COPY, FACES_PACK, FACES_UNPACK, FACES_KERNELS };
static const char *const faces_kernels[] = {"faces_copy", "faces_pack", "faces_unpack"};

/* Buffers on the device; the first eight have a letter in the arguments of a launch. */
enum buffer {
    B_U,
    B_FORCING,
    B_W,
    B_PRIM,
    B_SCRATCH,
    B_CARRIED,
    B_CONSTS,
    B_ZONES,
    B_COPY,
    B_OUT,
    B_IN,
    B_OUT_FACES,
    B_IN_FACES,
    BUFFERS
};
static const char buffer_letters[] = "ugwpskcz";

/* Events, see backend_record(): a half of the stage (+ 0, 1) is filled, is computed; faces are
 * packed, have arrived; the exchange is over. */
enum { STAGE_FILLED, STAGE_DONE = 2, FACES_PACKED = 4, FACES_ARRIVED, EXCHANGED };

/* The launches of a batch depend on its zones only, so when a batch comes again they are recorded
 * as a graph. */
struct graph {
    int begin, zones; /* of the batch; 0 zones: unused */
    struct backend_graph *graph;
};

struct device {
    const struct mz *mz;
    struct backend *backend;
    struct backend_program *program;
    struct backend_mem *mem[BUFFERS];
    size_t size[BUFFERS]; /* bytes */
    struct places places;
    size_t staged; /* bytes of zones that came for a step and left, not counted yet */
    const struct mz_launch *launch; /* [nlaunches] of a step */
    int nlaunches;
    struct graph graph[MAX_GRAPHS];
    int next_graph;        /* to be replaced next */
    long faces_generation; /* of the lists in B_COPY, B_OUT, B_IN */
};

size_t device_zone_bytes(const struct mz *mz, int zone)
{
    struct mz_part part[MZ_PARTS];
    mz_parts(mz, zone, part);
    return (part[MZ_U].doubles + part[MZ_CARRIED].doubles + part[MZ_FORCING].doubles) *
           sizeof(double);
}

static enum ek_status size_buffer(struct device *d, enum buffer b, size_t bytes)
{
    if (d->size[b] >= bytes && d->mem[b])
        return EK_OK;
    backend_free(d->backend, d->mem[b]);
    d->mem[b] = NULL;
    TRY(backend_alloc(d->backend, bytes ? bytes : 8, &d->mem[b]));
    d->size[b] = bytes;
    return EK_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int group_of(const struct mz_launch *l)
{
    return l->grid == ZONE_BLOCKS         ? BLOCK_GROUP
           : l->grid == ZONE_BLOCK_POINTS ? BLOCK_SLOTS
                                          : ZONE_GROUP;
}

/* All devices get the same text, so that one of any kind can precompile it for the others. */
static enum ek_status build(struct device *d)
{
    const struct mz_ops *ops = d->mz->ops;
    const char *const texts[] = {"npb_mz/kernels/rhs.c", "npb_mz/kernels/faces.c", ops->text,
                                 ops->waiting_text};
    struct backend_kernel kernels[MAX_LAUNCHES + FACES_KERNELS];
    int n = 0;
    d->launch = ops->waiting && d->backend->info.groups_wait ? ops->waiting : ops->launches;
    for (const struct mz_launch *l = d->launch; l->kernel; l++)
        kernels[n++] = (struct backend_kernel){l->kernel, {group_of(l), 1, 1}};
    d->nlaunches = n;
    for (int i = 0; i < FACES_KERNELS; i++)
        kernels[n++] = (struct backend_kernel){faces_kernels[i], {ZONE_GROUP, 1, 1}};
    return backend_build_texts(d->backend, texts, ops->waiting_text ? 4 : 3, "", kernels, n,
                               &d->program);
}

static enum ek_status open_fields(struct device *d)
{
    const struct places_size size = places_size(&d->places);
    const size_t bytes[] = {
        [B_U] = size.u,       [B_FORCING] = size.forcing, [B_W] = size.w,
        [B_PRIM] = size.prim, [B_SCRATCH] = size.scratch, [B_CARRIED] = size.carried};
    for (size_t b = 0; b < sizeof bytes / sizeof *bytes; b++)
        TRY(size_buffer(d, (enum buffer)b, bytes[b]));
    return EK_OK;
}

static void free_fields(struct device *d)
{
    for (int b = 0; b < BUFFERS; b++) {
        backend_free(d->backend, d->mem[b]);
        d->mem[b] = NULL;
    }
    places_close(&d->places);
}

/* If others use the device, too, less memory is free than it reports: tries smaller sizes. */
static enum ek_status open_places(struct device *d)
{
    const struct backend_info *info = &d->backend->info;
    enum ek_status st = EK_UNAVAILABLE;
    for (size_t memory = info->memory; st == EK_UNAVAILABLE; memory -= memory / 4) {
        TRY(places_open(d->mz, d->backend->label, memory, info->max_alloc, info->is_cpu,
                        &d->places));
        st = MUTED(open_fields(d));
        if (st)
            free_fields(d);
    }
    return st;
}

static enum ek_status send_rows(struct device *d)
{
    if (!d->places.changed)
        return EK_OK;
    TRY(backend_send(d->backend, BACKEND_COMPUTE, d->mem[B_ZONES], d->places.row,
                     d->size[B_ZONES]));
    d->places.changed = false;
    return backend_wait(d->backend, BACKEND_COMPUTE);
}

static enum ek_status send_tables(struct device *d)
{
    const struct mz *mz = d->mz;
    TRY(size_buffer(d, B_CONSTS, sizeof mz->consts));
    TRY(size_buffer(d, B_ZONES, places_size(&d->places).rows));
    TRY(backend_send(d->backend, BACKEND_COMPUTE, d->mem[B_CONSTS], &mz->consts,
                     sizeof mz->consts));
    if (mz_shares_forcing(mz))
        TRY(backend_send(d->backend, BACKEND_COMPUTE, d->mem[B_FORCING], mz->forcing,
                         d->size[B_FORCING]));
    return backend_wait(d->backend, BACKEND_COMPUTE);
}

enum ek_status device_open(const struct mz *mz, struct backend *backend, struct device **out)
{
    NEW(struct device, d, 1, "%s: out of memory", mz->ops->name);
    d->mz = mz;
    d->backend = backend;
    enum ek_status st = open_places(d);
    THEN(st, build(d));
    THEN(st, send_tables(d));
    return HAND_OUT(st, d, out, device_close);
}

void device_close(struct device *d)
{
    if (!d)
        return;
    for (int i = 0; i < MAX_GRAPHS; i++)
        backend_graph_free(d->backend, d->graph[i].graph);
    free_fields(d);
    backend_unbuild(d->backend, d->program);
    free(d);
}

/* ---- a zone's parts -------------------------------------------------------------------------- */

/* A part of a zone on the host, and where it lies on the device. */
struct piece {
    void *host;
    enum buffer buffer;
    struct backend_rect all; /* both offsets are those on the device */
};

/* Lists the parts that move with a zone (the forcing moves only to a device); returns their
 * number. */
static int pieces_of(const struct device *d, int zone, bool forcing, struct piece piece[MZ_PARTS])
{
    static const enum buffer buffers[MZ_PARTS] = {
        [MZ_U] = B_U, [MZ_CARRIED] = B_CARRIED, [MZ_FORCING] = B_FORCING};
    const size_t place = (size_t)d->places.row[zone].place;
    struct mz_part part[MZ_PARTS];
    int n = 0;
    mz_parts(d->mz, zone, part);
    for (int i = 0; i < (forcing ? MZ_PARTS : MZ_FORCING); i++) {
        const size_t before = i == MZ_CARRIED
                                  ? place / (size_t)d->mz->zone[zone].volume * part[i].doubles
                                  : MZ_VARS * place;
        if (part[i].doubles)
            piece[n++] =
                (struct piece){part[i].host, buffers[i],
                               backend_linear(before * sizeof(double), before * sizeof(double),
                                              part[i].doubles * sizeof(double))};
    }
    return n;
}

/* Copies a zone from the host to the device (comes) or back. */
static enum ek_status move_zone(struct device *d, int queue, int zone, bool comes, size_t *bytes)
{
    struct piece piece[MZ_PARTS];
    const int n = pieces_of(d, zone, comes, piece);
    for (int i = 0; i < n; i++) {
        struct backend_rect *all = &piece[i].all;
        struct backend_mem *mem = d->mem[piece[i].buffer];
        *(comes ? &all->src_offset : &all->dst_offset) = 0;
        TRY(comes ? backend_write(d->backend, queue, mem, piece[i].host, all)
                  : backend_read(d->backend, queue, piece[i].host, mem, all));
        *bytes += all->width;
    }
    return EK_OK;
}

/* ---- a step ---------------------------------------------------------------------------------- */

struct batch {
    struct device *device;
    int begin, zones;
    int first, last; /* hyperplanes run + j + k with interior points in any zone */
    bool staged;     /* the zones live on the host and come for this step only */
    int half;        /* of the stage, if staged */
};

/* The next batch of the zones begin .. end-1: as many as fit the scratch, all resident or all
 * staged. A CPU device takes one zone at a time, for its caches. */
static struct batch next_batch(struct device *d, int begin, int end)
{
    const bool resident = d->places.resident[begin];
    struct batch b = {.device = d, .begin = begin, .first = 2, .staged = !resident};
    long points = 0;
    for (int i = begin; i < end && !(b.zones && d->backend->info.is_cpu); i++, b.zones++) {
        const struct mz_zone *z = &d->mz->zone[i];
        points += z->volume;
        if ((points > d->places.scratch && b.zones) || d->places.resident[i] != resident)
            break;
        b.last = (int)mz_max(b.last, (z->nx - 2) / ZONE_TILE + (z->ny - 2) + (z->nz - 2));
    }
    return b;
}

/* How a zone's interior lines along x are divided among work-groups: blocks of wide x high lines,
 * `each` of them a zone. */
struct blocks {
    int wide, high, each;
};

static int share_of(int n, int parts)
{
    return (n + parts - 1) / parts;
}

/* As few blocks as there must be, as fewer lines have neighbours elsewhere then, but one for each
 * of the device's multiprocessors if zones have lines enough. */
static struct blocks blocks_of(const struct batch *b)
{
    const struct mz_zone *z = &b->device->mz->zone[b->begin];
    const int ny = z->ny - 2, nz = z->nz - 2, deep = share_of(nz, BLOCK_HIGH);
    const int parts = b->device->backend->info.compute_units / (b->zones * deep);
    struct blocks s = {.high = share_of(nz, deep)};
    const int most = (int)mz_min(ny, BLOCK_GROUP / s.high);
    s.wide = (int)mz_max(share_of(ny, parts > 1 ? parts : 1), BLOCK_WIDE);
    s.wide = (int)mz_min(s.wide, most);
    s.each = share_of(ny, s.wide) * deep;
    return s;
}

static size_t items_of(const struct batch *b, const struct mz_launch *l)
{
    const struct zone_row *row = &b->device->places.row[b->begin];
    const struct blocks blocks = blocks_of(b);
    const size_t all = (size_t)b->zones * (size_t)blocks.each;
    if (l->grid == ZONE_BLOCKS)
        return BLOCK_GROUP * all;
    if (l->grid == ZONE_BLOCK_POINTS)
        return BLOCK_SLOTS * all * (size_t)share_of(blocks.wide * blocks.high, 4) *
               (size_t)share_of(row->nx - 2, BLOCK_SLOTS / 4);
    return ZONE_GROUP * (size_t)(row[b->zones].groups[l->grid] - row->groups[l->grid]);
}

/* Sets the arguments of one launch from their letters; returns their number. */
static int set_arguments(const struct batch *b, const struct mz_launch *l, int h,
                         struct backend_arg *args)
{
    const struct blocks blocks = blocks_of(b);
    int n = 0;
    for (const char *c = l->arguments; *c; c++) {
        const char *buffer = strchr(buffer_letters, *c);
        if (*c == 'b') {
            args[n++] = backend_arg_int(blocks.wide);
            args[n++] = backend_arg_int(blocks.high);
            continue;
        }
        args[n++] = buffer ? backend_arg_mem(b->device->mem[buffer - buffer_letters])
                           : backend_arg_int(*c == 'd' ? l->direction : h);
        if (*c == 'z') {
            args[n++] = backend_arg_int(b->begin);
            args[n++] = backend_arg_int(b->zones);
        }
    }
    return n;
}

/* Divides a batch's time among its zones by their declared cost. */
static void share_time(const struct device *d, const struct batch *b, double sec, double *seconds)
{
    double sum = 0;
    for (int i = 0; i < b->zones; i++)
        sum += mz_zone_mop(d->mz, b->begin + i);
    for (int i = 0; i < b->zones; i++)
        seconds[i] += sec * mz_zone_mop(d->mz, b->begin + i) / sum;
}

/* Starts all launches of a step of the batch; some are repeated for each hyperplane. */
static enum ek_status launch_all(void *batch)
{
    const struct batch *b = batch;
    const struct device *d = b->device;
    for (int i = 0; i < d->nlaunches; i++) {
        const struct mz_launch *l = &d->launch[i];
        const bool rising = strchr(l->arguments, 'r'), falling = strchr(l->arguments, 'f');
        for (int h = b->first; h <= (rising || falling ? b->last : b->first); h++) {
            struct backend_arg args[MAX_ARGUMENTS];
            const int n = set_arguments(b, l, rising ? h : b->last - (h - b->first), args);
            TRY(backend_launch_items(d->backend, d->program, i, items_of(b, l), n, args));
        }
    }
    return EK_OK;
}

/* The batch's graph; NULL the first time it comes, or if the device has no graphs. The device is
 * idle. */
static struct backend_graph *graph_of(struct device *d, struct batch *b)
{
    struct graph *g = d->graph, *const end = d->graph + MAX_GRAPHS;
    while (g < end && !(g->begin == b->begin && g->zones == b->zones))
        g++;
    if (g < end && !g->graph)
        backend_capture(d->backend, launch_all, b, &g->graph);
    if (g < end)
        return g->graph;
    g = &d->graph[d->next_graph++ % MAX_GRAPHS];
    backend_graph_free(d->backend, g->graph);
    *g = (struct graph){b->begin, b->zones, NULL};
    return NULL;
}

/* Copies the batch to its half of the stage. What was there has left before: the queue is in
 * order. */
static enum ek_status fetch(struct device *d, const struct batch *b)
{
    for (int i = 0; i < b->zones; i++)
        TRY(move_zone(d, BACKEND_FEED, b->begin + i, true, &d->staged));
    return backend_record(d->backend, BACKEND_FEED, STAGE_FILLED + b->half);
}

static enum ek_status send_back(struct device *d, const struct batch *b)
{
    TRY(backend_record(d->backend, BACKEND_COMPUTE, STAGE_DONE + b->half));
    TRY(backend_after(d->backend, BACKEND_FEED, STAGE_DONE + b->half));
    for (int i = 0; i < b->zones; i++)
        TRY(move_zone(d, BACKEND_FEED, b->begin + i, false, &d->staged));
    return EK_OK;
}

/* The first staged batch from zone `at` on, in the given half; zones 0: there is none. */
static struct batch next_staged(struct device *d, int at, int end, int half)
{
    struct batch b = {0};
    for (; at < end && !b.staged; at += b.zones)
        b = next_batch(d, at, end);
    b.half = half;
    return b.staged ? b : (struct batch){0};
}

/* Enters the places of all staged zones in the table of zones. */
static enum ek_status assign_stage(struct device *d, int begin, int end)
{
    int half = 0;
    for (struct batch b = next_staged(d, begin, end, 0); b.zones;
         b = next_staged(d, b.begin + b.zones, end, half)) {
        places_stage(&d->places, b.begin, b.zones, b.half);
        half = !half;
    }
    return send_rows(d);
}

/* While a batch is computed, the next staged one arrives and the last one leaves. */
enum ek_status device_step(struct device *d, int begin, int end, double *seconds)
{
    TRY(assign_stage(d, begin, end));
    double start = clock_now();
    struct batch coming = next_staged(d, begin, end, 0);
    if (coming.zones)
        TRY(fetch(d, &coming));
    for (int at = begin; at < end;) {
        struct batch b = next_batch(d, at, end);
        if (b.staged) {
            b.half = coming.half;
            TRY(backend_after(d->backend, BACKEND_COMPUTE, STAGE_FILLED + b.half));
        }
        struct backend_graph *graph = graph_of(d, &b);
        TRY(graph ? backend_graph_start(d->backend, graph) : launch_all(&b));
        if (b.staged) {
            coming = next_staged(d, at + b.zones, end, !b.half);
            if (coming.zones)
                TRY(fetch(d, &coming));
            TRY(send_back(d, &b));
        }
        TRY(backend_wait(d->backend, BACKEND_COMPUTE));
        const double now = clock_now();
        share_time(d, &b, now - start, seconds + (at - begin));
        start = now;
        at += b.zones;
    }
    return backend_wait(d->backend, BACKEND_FEED);
}

/* ---- moving a zone --------------------------------------------------------------------------- */

bool device_holds(const struct device *d, int zone)
{
    return d->places.resident[zone];
}

static enum ek_status carry_across(struct device *to, struct device *from, int zone, size_t *bytes)
{
    struct piece in[MZ_PARTS], out[MZ_PARTS];
    const int n = pieces_of(to, zone, true, in);
    pieces_of(from, zone, true, out);
    TRY(backend_wait(from->backend, BACKEND_COPY));
    for (int i = 0; i < n; i++) {
        in[i].all.src_offset = out[i].all.src_offset;
        TRY(backend_copy(to->backend, to->mem[in[i].buffer], from->backend, from->mem[in[i].buffer],
                         &in[i].all));
        *bytes += in[i].all.width;
    }
    return EK_OK;
}

/* queue: BACKEND_FEED on the thread of `to`, whose pool then helps to pack; else BACKEND_COPY. */
static enum ek_status carry(struct device *to, struct device *from, int zone, int queue,
                            size_t *bytes)
{
    if (from && !device_holds(from, zone))
        from = NULL;
    if (to && !places_take(&to->places, zone))
        to = NULL;
    if (!to || from)
        queue = BACKEND_COPY;
    struct device *const ends[] = {to, from};
    for (int i = 0; i < 2; i++)
        if (ends[i]) /* the last exchange may not be finished yet */
            TRY(backend_after(ends[i]->backend, queue, EXCHANGED));
    if (to && from)
        return carry_across(to, from, zone, bytes);
    if (!to && !from)
        return EK_OK;
    TRY(move_zone(to ? to : from, queue, zone, to, bytes));
    return backend_wait(to ? to->backend : from->backend, queue);
}

enum ek_status device_carry(struct device *to, struct device *from, int zone, size_t *bytes)
{
    return carry(to, from, zone, BACKEND_FEED, bytes);
}

enum ek_status device_settle(struct device *d, int memory, int *home)
{
    size_t uncounted = 0;
    (void)MUTED(backend_wait(d->backend, BACKEND_FEED)); /* a lost device fails at its next use */
    places_keep(&d->places, home, memory);
    for (int zone = 0; zone < d->mz->nzones; zone++) {
        if (home[zone] != memory || device_holds(d, zone))
            continue;
        TRY(carry(d, NULL, zone, BACKEND_COPY, &uncounted));
        if (!device_holds(d, zone))
            home[zone] = 0;
    }
    return EK_OK;
}

/* ---- the exchange ---------------------------------------------------------------------------- */

static enum ek_status send_list(struct device *d, enum buffer b, const struct faces_list *l)
{
    const size_t bytes = l->n * sizeof *l->row;
    TRY(size_buffer(d, b, bytes));
    return backend_send(d->backend, BACKEND_COMPUTE, d->mem[b], l->row, bytes);
}

static enum ek_status follow_plan(struct device *d, const struct faces *faces, int memory)
{
    const struct faces_memory *p = &faces->memory[memory];
    if (d->faces_generation == faces->generation)
        return EK_OK;
    TRY(send_list(d, B_COPY, &p->copy));
    TRY(send_list(d, B_OUT, &p->out));
    TRY(send_list(d, B_IN, &p->in));
    TRY(size_buffer(d, B_OUT_FACES, p->to[faces->nmemories + 1] * sizeof(double)));
    TRY(size_buffer(d, B_IN_FACES, p->from[faces->nmemories + 1] * sizeof(double)));
    d->faces_generation = faces->generation;
    return EK_OK;
}

static enum ek_status launch_faces(struct device *d, int kernel, enum buffer list, size_t n,
                                   enum buffer faces)
{
    if (!n)
        return EK_OK;
    const struct mz *mz = d->mz;
    const long points = (mz_max(mz->max_nx, mz->max_ny) - 2) * MZ_VARS * (mz->mesh->points[2] - 2);
    const long global[3] = {(points + FACES_EACH - 1) / FACES_EACH, (long)n, 1};
    const struct backend_arg args[] = {
        backend_arg_mem(d->mem[B_U]), backend_arg_mem(d->mem[B_ZONES]),
        backend_arg_mem(d->mem[list]), backend_arg_mem(d->mem[faces])};
    return backend_launch(d->backend, BACKEND_COMPUTE, d->program, d->nlaunches + kernel, global,
                          kernel == FACES_COPY ? 3 : 4, args);
}

bool device_reaches(const struct device *to, const struct device *from)
{
    return backend_reaches(to->backend, from->backend);
}

void device_buffers(const struct device *d, double **out, double **in)
{
    *out = backend_address(d->backend, d->mem[B_OUT_FACES]);
    *in = backend_address(d->backend, d->mem[B_IN_FACES]);
}

enum ek_status device_send_faces(struct device *d, const struct faces *faces, int memory,
                                 size_t *bytes)
{
    const struct faces_memory *p = &faces->memory[memory];
    const size_t to_host = p->to[1] * sizeof(double);
    TRY(backend_wait(d->backend, BACKEND_FEED)); /* for the faces that came last */
    *bytes += d->staged;
    d->staged = 0;
    TRY(send_rows(d));
    TRY(follow_plan(d, faces, memory));
    TRY(launch_faces(d, FACES_PACK, B_OUT, p->out.n, B_OUT_FACES));
    TRY(backend_record(d->backend, BACKEND_COMPUTE, FACES_PACKED));
    TRY(launch_faces(d, FACES_COPY, B_COPY, p->copy.n, B_OUT_FACES));
    TRY(backend_record(d->backend, BACKEND_COMPUTE, EXCHANGED));
    if (!p->out.n)
        return EK_OK;
    TRY(backend_after(d->backend, BACKEND_FEED, FACES_PACKED));
    TRY(backend_fetch(d->backend, BACKEND_FEED, p->out_buffer, d->mem[B_OUT_FACES], to_host));
    *bytes += to_host;
    return backend_wait(d->backend, BACKEND_FEED);
}

/* Copies what another device has packed for this one. The other does not pack again before this
 * one's zones have been computed or moved away, which waits for this copy. */
static enum ek_status pull_faces(struct device *d, const struct faces *faces, int memory, int from,
                                 size_t *bytes)
{
    const struct faces_memory *p = &faces->memory[memory], *other = &faces->memory[from];
    const size_t at = p->from[from], n = p->from[from + 1] - at;
    const struct backend_rect all =
        backend_linear(at * sizeof(double), other->to[memory] * sizeof(double), n * sizeof(double));
    *bytes += all.width;
    return n ? backend_pull(d->backend, BACKEND_FEED, d->mem[B_IN_FACES], other->device->backend,
                            other->device->mem[B_OUT_FACES], &all)
             : EK_OK;
}

/* Faces that other ranks sent to device memory are there already. Those that were received on the
 * host, because their zone was there before, are copied. */
static enum ek_status take_mail(struct device *d, const struct faces *faces, int memory,
                                size_t *bytes)
{
    const struct faces_memory *p = &faces->memory[memory];
    for (size_t i = 0; i < p->in.n && faces->mails_devices; i++) {
        const long *row = p->in.row[i];
        const double *face = remote_face(faces->remote, (int)row[0], (int)row[1]);
        if ((size_t)row[2] < p->from[faces->nmemories])
            continue;
        const struct backend_rect all =
            backend_linear((size_t)row[2] * sizeof *face, 0,
                           mz_face_size(d->mz, (int)row[0], (enum mz_side)row[1]) * sizeof *face);
        if (face)
            TRY(backend_write(d->backend, BACKEND_FEED, d->mem[B_IN_FACES], face, &all));
        *bytes += all.width;
    }
    return EK_OK;
}

enum ek_status device_receive_faces(struct device *d, const struct faces *faces, int memory,
                                    size_t *bytes)
{
    const struct faces_memory *p = &faces->memory[memory];
    const size_t from_host = p->from[1] * sizeof(double);
    if (!p->in.n)
        return EK_OK;
    for (int from = 1; from < faces->nmemories; from++)
        TRY(pull_faces(d, faces, memory, from, bytes));
    TRY(take_mail(d, faces, memory, bytes));
    TRY(backend_send(d->backend, BACKEND_FEED, d->mem[B_IN_FACES], p->in_buffer, from_host));
    *bytes += from_host;
    TRY(backend_record(d->backend, BACKEND_FEED, FACES_ARRIVED));
    TRY(backend_after(d->backend, BACKEND_COMPUTE, FACES_ARRIVED));
    TRY(launch_faces(d, FACES_UNPACK, B_IN, p->in.n, B_IN_FACES));
    return backend_record(d->backend, BACKEND_COMPUTE, EXCHANGED);
}
