/* okada_mogi/device.c – a device in a search: it says what cannot be left out, the worker on
 * its managing thread does the rest. */
#include "okada_mogi/device.h"
#include "src/arena.h"

#include <stdlib.h>

/* ---- buffers and launches ---------------------------------------------------------------------*/

enum ek_status search_device_room(struct search_device *d, int buffer, size_t bytes)
{
    struct search_buffer *b = &d->buffer[buffer];
    if (b->mem && b->bytes >= bytes)
        return EK_OK;
    backend_free(d->backend, b->mem);
    *b = (struct search_buffer){0};
    TRY(backend_alloc(d->backend, bytes ? bytes : 8, &b->mem));
    b->bytes = bytes ? bytes : 8;
    return EK_OK;
}

enum ek_status search_device_write(struct search_device *d, int buffer, const void *from,
                                   size_t bytes)
{
    TRY(search_device_room(d, buffer, bytes));
    TRY(backend_send(d->backend, BACKEND_COMPUTE, d->buffer[buffer].mem, from, bytes));
    return backend_wait(d->backend, BACKEND_COMPUTE);
}

enum ek_status search_device_read(struct search_device *d, int buffer, void *to, size_t bytes)
{
    TRY(backend_fetch(d->backend, BACKEND_COMPUTE, to, d->buffer[buffer].mem, bytes));
    return backend_wait(d->backend, BACKEND_COMPUTE);
}

enum ek_status search_device_build(struct search_device *d, const char *text, const char *kernel)
{
    const struct backend_kernel kernels[] = {{kernel, {64, 1, 1}}};
    return backend_build_texts(d->backend, &text, 1, "", kernels, 1, &d->program);
}

/* ---- opening and running ----------------------------------------------------------------------*/

static bool joins(const struct search_device *d)
{
    return !d->search->ops->finish;
}

static enum ek_status fill(struct search_device *d)
{
    const struct job *job = d->search->job;
    if (!d->backend->info.fp64)
        FAIL(EK_UNAVAILABLE, "%s has no double precision; leave it out", d->backend->label);
    if (!job->model->text)
        FAIL(EK_USAGE, "model %s has no code for devices; leave %s out", job->model->name,
             d->backend->label);
    TRY(search_worker_open(d->search, &d->worker));
    return joins(d) ? search_device_join_open(d) : search_device_axes_open(d);
}

enum ek_status search_device_open(const struct search *s, struct backend *backend,
                                  struct search_device **d)
{
    NEW(struct search_device, made, 1, "%s: out of memory", backend->label);
    made->search = s;
    made->backend = backend;
    const enum ek_status st = fill(made);
    if (st)
        search_device_close(made);
    else
        *d = made;
    return st;
}

void search_device_close(struct search_device *d)
{
    if (!d)
        return;
    if (d->own && joins(d))
        search_device_join_close(d);
    else if (d->own)
        search_device_axes_close(d);
    for (int b = 0; b < SEARCH_BUFFERS; b++)
        backend_free(d->backend, d->buffer[b].mem);
    backend_unbuild(d->backend, d->program);
    search_worker_close(d->worker);
    free(d);
}

enum ek_status search_device_run(struct search_device *d, struct trial_range range,
                                 const struct search_sink *sink)
{
    return search_run_by(d->worker, range, sink,
                         joins(d) ? search_device_join_run : search_device_axes_run, d);
}

double search_device_evaluations(const struct search_device *d)
{
    return search_evaluations(d->worker);
}
