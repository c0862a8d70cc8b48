/* kirchhoff/ray_device.c – advances the rays of a front on a device. */
#include "kirchhoff/ray_device.h"

enum { STATE, LAYERS, MEDIUM, NODES, BUFFERS };
enum { GROUP = 64 };
static const size_t one = sizeof(double);

struct ray_device {
    struct backend *backend;
    struct backend_program *program;
    struct backend_mem *mem[BUFFERS];
    size_t room[2];      /* bytes of STATE and LAYERS */
    size_t first, count; /* rays of the front that are on the device */
};

/* ---- opening ----------------------------------------------------------------------------------*/

static enum ek_status build(struct ray_device *d)
{
    static const char *const texts[] = {"kirchhoff/kernels/ray.c"};
    static const struct backend_kernel kernels[] = {{"ray_advance", {GROUP, 1, 1}}};
    return backend_build_texts(d->backend, texts, 1, "", kernels, 1, &d->program);
}

static enum ek_status send(struct ray_device *d, int buffer, const void *from, size_t bytes)
{
    TRY(backend_alloc(d->backend, bytes, &d->mem[buffer]));
    return backend_send(d->backend, BACKEND_COMPUTE, d->mem[buffer], from, bytes);
}

static enum ek_status send_medium(struct ray_device *d, const struct ray_field *f)
{
    static const float none[4];
    TRY(send(d, MEDIUM, &f->medium, sizeof f->medium));
    TRY(send(d, NODES, f->node ? f->node : none,
             f->node ? grid_nodes(&f->grid) * sizeof none : sizeof none));
    return backend_wait(d->backend, BACKEND_COMPUTE);
}

enum ek_status ray_device_open(struct backend_device which, const struct ray_field *field,
                               struct ray_device **d)
{
    NEW(struct ray_device, made, 1, "out of memory for a device");
    enum ek_status st = backend_open(which, &made->backend);
    THEN(st, build(made));
    THEN(st, send_medium(made, field));
    return HAND_OUT(st, made, d, ray_device_close);
}

void ray_device_close(struct ray_device *d)
{
    if (!d)
        return;
    for (int b = 0; d->backend && b < BUFFERS; b++)
        backend_free(d->backend, d->mem[b]);
    backend_unbuild(d->backend, d->program);
    backend_close(d->backend);
    free(d);
}

/* ---- rays -------------------------------------------------------------------------------------*/

/* Enlarges a buffer to half as much again as asked for; its content is lost. */
static enum ek_status make_room(struct ray_device *d, int buffer, size_t bytes)
{
    if (bytes <= d->room[buffer])
        return EK_OK;
    backend_free(d->backend, d->mem[buffer]);
    d->mem[buffer] = NULL;
    d->room[buffer] = 0;
    TRY(backend_alloc(d->backend, bytes + bytes / 2, &d->mem[buffer]));
    d->room[buffer] = bytes + bytes / 2;
    return EK_OK;
}

static enum ek_status send_rays(struct ray_device *d, const struct front *f)
{
    const size_t row = d->count * one;
    const struct backend_rect rows = {
        .width = row, .rows = RAY_ROWS, .slices = 1, .dst_row = row, .src_row = f->room * one};
    TRY(make_room(d, STATE, RAY_ROWS * row));
    return backend_write(d->backend, BACKEND_COMPUTE, d->mem[STATE], f->state + d->first, &rows);
}

enum ek_status ray_device_start(struct ray_device *d, const struct front *f, size_t first,
                                size_t count, const struct ray_layer *layer, size_t layers)
{
    d->first = first;
    d->count = count;
    TRY(send_rays(d, f));
    TRY(make_room(d, LAYERS, layers * sizeof *layer));
    TRY(backend_send(d->backend, BACKEND_COMPUTE, d->mem[LAYERS], layer, layers * sizeof *layer));
    const struct backend_arg arg[] = {
        backend_arg_mem(d->mem[STATE]), backend_arg_int((int)count),
        backend_arg_int((int)count),    backend_arg_mem(d->mem[MEDIUM]),
        backend_arg_mem(d->mem[NODES]), backend_arg_mem(d->mem[LAYERS]),
        backend_arg_int((int)layers)};
    return backend_launch_items(d->backend, d->program, 0, count, sizeof arg / sizeof *arg, arg);
}

enum ek_status ray_device_finish(struct ray_device *d, struct front *f)
{
    const size_t bytes = RAY_ROWS * d->count * one;
    OWNED_MEMORY double *rows = malloc(bytes);
    if (!rows)
        FAIL(EK_UNAVAILABLE, "out of memory for %zu rays", d->count);
    TRY(backend_fetch(d->backend, BACKEND_COMPUTE, rows, d->mem[STATE], bytes));
    TRY(backend_wait(d->backend, BACKEND_COMPUTE));
    for (size_t r = 0; r < RAY_ROWS; r++)
        memcpy(f->state + r * f->room + d->first, rows + r * d->count, d->count * one);
    return EK_OK;
}
