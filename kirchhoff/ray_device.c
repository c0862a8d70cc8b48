/* kirchhoff/ray_device.c – the rays of a front on a device. */
#include "kirchhoff/ray_device.h"
#include "src/embed.h"

#include <stdlib.h>
#include <string.h>

enum { STATE, MEDIUM, NODES, BUFFERS };
enum { GROUP = 64 };
static const size_t one = sizeof(double);

struct ray_device {
    struct backend *backend;
    struct backend_program *program;
    struct backend_mem *mem[BUFFERS];
    size_t room;         /* rays */
    size_t first, count; /* of the front, that are here */
};

/* ---- opening ----------------------------------------------------------------------------------*/

static enum ek_status build(struct ray_device *d)
{
    static const char *const texts[] = {"kirchhoff/kernels/ray.c"};
    static const struct backend_kernel kernels[] = {{"ray_advance", {GROUP, 1, 1}}};
    char *text = embed_join(texts, 1);
    if (!text)
        FAIL(EK_LACK, "out of memory for the rays' kernel");
    const enum ek_status st =
        d->backend->ops->build(d->backend->dev, text, "", kernels, 1, &d->program);
    free(text);
    return st;
}

static enum ek_status send(struct ray_device *d, int buffer, const void *from, size_t bytes)
{
    const struct backend_rect all = backend_linear(0, 0, bytes);
    const struct backend_ops *ops = d->backend->ops;
    TRY(ops->alloc(d->backend->dev, bytes, &d->mem[buffer]));
    return ops->write(d->backend->dev, BACKEND_COMPUTE, d->mem[buffer], from, &all);
}

static enum ek_status send_medium(struct ray_device *d, const struct ray_field *f)
{
    static const float none[4];
    TRY(send(d, MEDIUM, f->number, sizeof f->number));
    TRY(send(d, NODES, f->node ? f->node : none,
             f->node ? grid_nodes(&f->grid) * sizeof none : sizeof none));
    return d->backend->ops->wait(d->backend->dev, BACKEND_COMPUTE);
}

enum ek_status ray_device_open(struct backend_device which, const struct ray_field *field,
                               struct ray_device **d)
{
    struct ray_device *made = calloc(1, sizeof *made);
    if (!made)
        FAIL(EK_LACK, "out of memory for a device");
    enum ek_status st = backend_open(which, &made->backend);
    if (!st)
        st = build(made);
    if (!st)
        st = send_medium(made, field);
    if (st)
        ray_device_close(made);
    else
        *d = made;
    return st;
}

void ray_device_close(struct ray_device *d)
{
    if (!d)
        return;
    for (int b = 0; d->backend && b < BUFFERS; b++)
        if (d->mem[b])
            d->backend->ops->free(d->backend->dev, d->mem[b]);
    if (d->program)
        d->backend->ops->unbuild(d->backend->dev, d->program);
    backend_close(d->backend);
    free(d);
}

/* ---- rays -------------------------------------------------------------------------------------*/

static enum ek_status make_room(struct ray_device *d, size_t rays)
{
    const struct backend_ops *ops = d->backend->ops;
    const size_t room = rays + rays / 2;
    if (rays <= d->room)
        return EK_OK;
    if (d->mem[STATE])
        ops->free(d->backend->dev, d->mem[STATE]);
    d->mem[STATE] = NULL;
    d->room = 0;
    TRY(ops->alloc(d->backend->dev, RAY_ROWS * room * one, &d->mem[STATE]));
    d->room = room;
    return EK_OK;
}

enum ek_status ray_device_send(struct ray_device *d, const struct front *f, size_t first,
                               size_t count)
{
    const struct backend_rect rows = {.width = count * one,
                                      .rows = RAY_ROWS,
                                      .slices = 1,
                                      .dst_row = count * one,
                                      .src_row = f->room * one};
    d->first = first;
    d->count = count;
    TRY(make_room(d, count));
    return d->backend->ops->write(d->backend->dev, BACKEND_COMPUTE, d->mem[STATE], f->state + first,
                                  &rows);
}

enum ek_status ray_device_advance(struct ray_device *d, double h, int steps)
{
    const int count = (int)d->count;
    const struct backend_arg arg[] = {
        backend_arg_mem(d->mem[STATE]),  backend_arg_int(count),         backend_arg_int(count),
        backend_arg_mem(d->mem[MEDIUM]), backend_arg_mem(d->mem[NODES]), backend_arg_double(h),
        backend_arg_int(steps)};
    return d->backend->ops->launch(d->backend->dev, BACKEND_COMPUTE, d->program, 0,
                                   (int[3]){count, 1, 1}, sizeof arg / sizeof *arg, arg);
}

enum ek_status ray_device_fetch(struct ray_device *d, struct front *f)
{
    const size_t bytes = RAY_ROWS * d->count * one;
    const struct backend_rect all = backend_linear(0, 0, bytes);
    const struct backend_ops *ops = d->backend->ops;
    double *rows = malloc(bytes);
    enum ek_status st = rows ? EK_OK : status_fail(EK_LACK, "out of memory for %zu rays", d->count);
    if (!st)
        st = ops->read(d->backend->dev, BACKEND_COMPUTE, rows, d->mem[STATE], &all);
    if (!st)
        st = ops->wait(d->backend->dev, BACKEND_COMPUTE);
    for (size_t r = 0; !st && r < RAY_ROWS; r++)
        memcpy(f->state + r * f->room + d->first, rows + r * d->count, d->count * one);
    free(rows);
    return st;
}
