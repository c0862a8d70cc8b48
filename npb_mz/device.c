/* npb_mz/device.c – steps, moves and exchanges of the zones that live on one device. */
#include "npb_mz/device.h"
#include "src/clock.h"
#include "src/embed.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LAUNCHES = 16, MAX_ARGUMENTS = 12 };

/* Kernels of kernels/faces.c, behind the solver's own. */
enum { FACES_COPY, FACES_PACK, FACES_UNPACK, FACES_KERNELS };
static const char *const faces_kernels[] = {"faces_copy", "faces_pack", "faces_unpack"};

/* Buffers, by the letter that stands for them in a launch. */
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

struct device {
    const struct mz *mz;
    struct backend *backend;
    struct backend_program *program;
    struct backend_mem *mem[BUFFERS];
    size_t size[BUFFERS];  /* bytes */
    struct zone_row *rows; /* [nzones + 1], as on the device */
    int nlaunches;
    long scratch_points;   /* of a batch, at most */
    long faces_generation; /* of the lists in B_COPY, B_OUT, B_IN */
};

/* Of the fields of all zones. */
static size_t device_bytes(const struct mz *mz)
{
    const long point = 3 * MZ_VARS + ZONE_PRIMS;
    return (size_t)(mz->points * point + mz->size_carried) * sizeof(double);
}

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

static enum ek_status write_buffer(struct device *d, enum buffer b, const void *from, size_t bytes)
{
    if (!bytes)
        return EK_OK;
    const struct backend_rect all = backend_linear(0, 0, bytes);
    return backend_write(d->backend, BACKEND_COMPUTE, d->mem[b], from, &all);
}

static enum ek_status wait_all(struct device *d)
{
    return backend_wait(d->backend, BACKEND_COMPUTE);
}

/* ---- opening --------------------------------------------------------------------------------- */

static enum ek_status build(struct device *d)
{
    const char *const texts[] = {"npb_mz/kernels/rhs.c", d->mz->ops->text,
                                 "npb_mz/kernels/faces.c"};
    struct backend_kernel kernels[MAX_LAUNCHES + FACES_KERNELS];
    int n = 0;
    for (const struct mz_launch *l = d->mz->ops->launches; l->kernel; l++)
        kernels[n++] = (struct backend_kernel){l->kernel, {ZONE_GROUP, 1, 1}};
    d->nlaunches = n;
    for (int i = 0; i < FACES_KERNELS; i++)
        kernels[n++] = (struct backend_kernel){faces_kernels[i], {ZONE_GROUP, 1, 1}};
    char *text = embed_join(texts, 3);
    if (!text)
        FAIL(EK_UNAVAILABLE, "%s: kernel texts are missing or memory is", d->mz->ops->name);
    enum ek_status st = backend_build(d->backend, text, "", kernels, n, &d->program);
    free(text);
    return st;
}

/* A batch's scratch may take an eighth of the memory, but must hold the largest zone. */
static long batch_points(const struct device *d)
{
    const long largest = d->mz->most_volume;
    const size_t point = (size_t)d->mz->ops->device_scratch * sizeof(double);
    long most = point ? (long)(d->backend->info.memory / 8 / point) : d->mz->points;
    if (d->backend->info.is_cpu || most < largest)
        most = largest;
    return most < d->mz->points ? most : d->mz->points;
}

static enum ek_status check_memory(const struct device *d)
{
    const size_t scratch =
        (size_t)d->scratch_points * (size_t)d->mz->ops->device_scratch * sizeof(double);
    const double need = 1e-6 * (double)(device_bytes(d->mz) + scratch);
    const double have = 1e-6 * (double)d->backend->info.memory;
    if (need > have)
        FAIL(EK_UNAVAILABLE,
             "%s class %c needs %.1f MB on device %s:%d, which has %.1f MB; "
             "choose a smaller class or a layout without this device",
             d->mz->ops->name, d->mz->class->letter, need, d->backend->ops->name, d->backend->index,
             have);
    return EK_OK;
}

static enum ek_status open_fields(struct device *d)
{
    const struct mz *mz = d->mz;
    const size_t points = (size_t)mz->points, scratch = (size_t)d->scratch_points;
    const size_t bytes[] = {[B_U] = MZ_VARS * points * sizeof(double),
                            [B_FORCING] = MZ_VARS * points * sizeof(double),
                            [B_W] = MZ_VARS * points * sizeof(double),
                            [B_PRIM] = ZONE_PRIMS * points * sizeof(double),
                            [B_SCRATCH] =
                                scratch * (size_t)mz->ops->device_scratch * sizeof(double),
                            [B_CARRIED] = (size_t)mz->size_carried * sizeof(double),
                            [B_CONSTS] = sizeof mz->consts,
                            [B_ZONES] = (size_t)(mz->nzones + 1) * sizeof *d->rows};
    for (size_t b = 0; b < sizeof bytes / sizeof *bytes; b++)
        TRY(size_buffer(d, (enum buffer)b, bytes[b]));
    return EK_OK;
}

static enum ek_status send_tables(struct device *d)
{
    d->rows = malloc(d->size[B_ZONES]);
    if (!d->rows)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for the table of zones", d->mz->ops->name);
    mz_zone_rows(d->mz, d->rows);
    TRY(write_buffer(d, B_ZONES, d->rows, d->size[B_ZONES]));
    TRY(write_buffer(d, B_CONSTS, &d->mz->consts, sizeof d->mz->consts));
    return wait_all(d);
}

enum ek_status device_open(const struct mz *mz, struct backend *backend, struct device **out)
{
    struct device *d = calloc(1, sizeof *d);
    if (!d)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", mz->ops->name);
    d->mz = mz;
    d->backend = backend;
    d->scratch_points = batch_points(d);
    enum ek_status st = check_memory(d);
    if (!st)
        st = open_fields(d);
    if (!st)
        st = build(d);
    if (!st)
        st = send_tables(d);
    if (st)
        device_close(d);
    else
        *out = d;
    return st;
}

void device_close(struct device *d)
{
    if (!d)
        return;
    for (int b = 0; b < BUFFERS; b++)
        backend_free(d->backend, d->mem[b]);
    if (d->program)
        backend_unbuild(d->backend, d->program);
    free(d->rows);
    free(d);
}

/* ---- a step ---------------------------------------------------------------------------------- */

struct batch {
    int begin, zones;
    int first, last; /* planes run + j + k with interior points in any zone */
};

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* As many of the zones begin .. end-1 as fit the scratch; a CPU device takes one, for its caches.
 */
static struct batch next_batch(const struct device *d, int begin, int end)
{
    struct batch b = {.begin = begin, .first = 2};
    long points = 0;
    for (int i = begin; i < end && !(b.zones && d->backend->info.is_cpu); i++, b.zones++) {
        const struct mz_zone *z = &d->mz->zone[i];
        points += z->volume;
        if (points > d->scratch_points && b.zones)
            break;
        b.last = most(b.last, (z->nx - 2) / ZONE_TILE + (z->ny - 2) + (z->nz - 2));
    }
    return b;
}

static struct backend_arg argument(const struct device *d, const struct mz_launch *l, char letter,
                                   int h)
{
    switch (letter) {
    case 'd':
        return backend_arg_int(l->direction);
    case 'r':
    case 'f':
        return backend_arg_int(h);
    default:
        return backend_arg_mem(d->mem[strchr(buffer_letters, letter) - buffer_letters]);
    }
}

static enum ek_status launch(struct device *d, int number, const struct batch *b, int h)
{
    const struct mz_launch *l = &d->mz->ops->launches[number];
    const struct zone_row *begin = &d->rows[b->begin], *end = begin + b->zones;
    const int global[3] = {ZONE_GROUP * (end->groups[l->grid] - begin->groups[l->grid]), 1, 1};
    struct backend_arg args[MAX_ARGUMENTS];
    int n = 0;
    for (const char *c = l->arguments; *c; c++) {
        args[n++] = argument(d, l, *c, h);
        if (*c == 'z') {
            args[n++] = backend_arg_int(b->begin);
            args[n++] = backend_arg_int(b->zones);
        }
    }
    return backend_launch(d->backend, BACKEND_COMPUTE, d->program, number, global, n, args);
}

/* A batch's time, divided among its zones by what they are declared to cost. */
static void share_time(const struct device *d, const struct batch *b, double sec, double *seconds)
{
    double sum = 0;
    for (int i = 0; i < b->zones; i++)
        sum += mz_zone_mop(d->mz, b->begin + i);
    for (int i = 0; i < b->zones; i++)
        seconds[i] += sec * mz_zone_mop(d->mz, b->begin + i) / sum;
}

enum ek_status device_step(struct device *d, int begin, int end, double *seconds)
{
    for (int at = begin; at < end;) {
        const struct batch b = next_batch(d, at, end);
        const double start = clock_now();
        for (int i = 0; i < d->nlaunches; i++) {
            const char *arguments = d->mz->ops->launches[i].arguments;
            const bool rising = strchr(arguments, 'r'), falling = strchr(arguments, 'f');
            for (int h = b.first; h <= (rising || falling ? b.last : b.first); h++)
                TRY(launch(d, i, &b, rising ? h : b.last - (h - b.first)));
        }
        TRY(wait_all(d));
        share_time(d, &b, clock_now() - start, seconds + (at - begin));
        at += b.zones;
    }
    return EK_OK;
}

/* ---- moving a zone --------------------------------------------------------------------------- */

static const enum buffer buffer_of[MZ_PARTS] = {
    [MZ_U] = B_U, [MZ_CARRIED] = B_CARRIED, [MZ_FORCING] = B_FORCING};

enum ek_status device_carry(struct device *to, struct device *from, int zone, size_t *bytes)
{
    struct device *d = to ? to : from;
    struct mz_part part[MZ_PARTS];
    mz_parts(d->mz, zone, part);
    for (int i = 0; i < (to ? MZ_PARTS : MZ_FORCING); i++) {
        const enum buffer b = buffer_of[i];
        const size_t at = part[i].at * sizeof(double), size = part[i].doubles * sizeof(double);
        const struct backend_rect all = backend_linear(to ? at : 0, from ? at : 0, size);
        if (size && to && from)
            TRY(backend_copy(to->backend, to->mem[b], from->backend, from->mem[b], &all));
        else if (size && to)
            TRY(backend_write(to->backend, BACKEND_COPY, to->mem[b], part[i].host, &all));
        else if (size)
            TRY(backend_read(from->backend, BACKEND_COPY, part[i].host, from->mem[b], &all));
        *bytes += size;
    }
    return to && from ? EK_OK : backend_wait(d->backend, BACKEND_COPY);
}

/* ---- the exchange ---------------------------------------------------------------------------- */

static enum ek_status send_list(struct device *d, enum buffer b, const struct faces_list *l)
{
    const size_t bytes = l->n * sizeof *l->row;
    TRY(size_buffer(d, b, bytes));
    return write_buffer(d, b, l->row, bytes);
}

static enum ek_status follow_plan(struct device *d, const struct faces *faces, int memory)
{
    const struct faces_memory *p = &faces->memory[memory];
    if (d->faces_generation == faces->generation)
        return EK_OK;
    TRY(send_list(d, B_COPY, &p->copy));
    TRY(send_list(d, B_OUT, &p->out));
    TRY(send_list(d, B_IN, &p->in));
    TRY(size_buffer(d, B_OUT_FACES, p->out_size * sizeof(double)));
    TRY(size_buffer(d, B_IN_FACES, p->in_size * sizeof(double)));
    d->faces_generation = faces->generation;
    return EK_OK;
}

static enum ek_status launch_faces(struct device *d, int kernel, enum buffer list, size_t n,
                                   enum buffer faces)
{
    if (!n)
        return EK_OK;
    const struct mz *mz = d->mz;
    const int points = (most(mz->most_nx, mz->most_ny) - 2) * MZ_VARS * (mz->mesh->points[2] - 2);
    const int groups = (points + ZONE_GROUP - 1) / ZONE_GROUP; /* of one face */
    const int global[3] = {ZONE_GROUP * groups * (int)n, 1, 1};
    const struct backend_arg args[] = {
        backend_arg_mem(d->mem[B_U]), backend_arg_mem(d->mem[B_ZONES]),
        backend_arg_mem(d->mem[list]), backend_arg_int(groups), backend_arg_mem(d->mem[faces])};
    return backend_launch(d->backend, BACKEND_COMPUTE, d->program, d->nlaunches + kernel, global,
                          kernel == FACES_COPY ? 4 : 5, args);
}

enum ek_status device_send_faces(struct device *d, const struct faces *faces, int memory,
                                 size_t *bytes)
{
    const struct faces_memory *p = &faces->memory[memory];
    TRY(follow_plan(d, faces, memory));
    TRY(launch_faces(d, FACES_PACK, B_OUT, p->out.n, B_OUT_FACES));
    if (p->out_size) {
        const struct backend_rect all = backend_linear(0, 0, p->out_size * sizeof(double));
        TRY(backend_read(d->backend, BACKEND_COMPUTE, p->out_buffer, d->mem[B_OUT_FACES], &all));
        *bytes += all.width;
    }
    TRY(launch_faces(d, FACES_COPY, B_COPY, p->copy.n, B_OUT_FACES));
    return wait_all(d);
}

enum ek_status device_receive_faces(struct device *d, const struct faces *faces, int memory,
                                    size_t *bytes)
{
    const struct faces_memory *p = &faces->memory[memory];
    if (!p->in_size)
        return EK_OK;
    TRY(write_buffer(d, B_IN_FACES, p->in_buffer, p->in_size * sizeof(double)));
    *bytes += p->in_size * sizeof(double);
    TRY(launch_faces(d, FACES_UNPACK, B_IN, p->in.n, B_IN_FACES));
    return wait_all(d);
}
