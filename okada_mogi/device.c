/* okada_mogi/device.c – a device in a search: it reports candidates, which workers on the threads
 * that feed it judge. */
#include "okada_mogi/device.h"
#include "cu/team/thread_pool.h"

static enum ek_status fill(struct search_device *d)
{
    const struct job *job = d->search->job;
    if (!d->backend->info.fp64)
        FAIL(EK_UNAVAILABLE, "%s has no double precision; leave it out", d->backend->label);
    if (!job->model->text)
        FAIL(EK_USAGE, "model %s has no code for devices; leave %s out", job->model->name,
             d->backend->label);
    d->worker = calloc((size_t)d->width, sizeof(struct search_worker *));
    d->status = calloc((size_t)d->width, sizeof *d->status);
    if (!d->worker || !d->status)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", d->backend->label);
    for (int t = 0; t < d->width; t++)
        TRY(search_worker_open(d->search, &d->worker[t]));
    return d->ops->open(d);
}

enum ek_status search_device_open(const struct search *s, struct backend *backend, int threads,
                                  struct search_device **d)
{
    NEW(struct search_device, made, 1, "%s: out of memory", backend->label);
    made->search = s;
    made->ops = s->ops->finish ? &search_device_axes : &search_device_join;
    made->backend = backend;
    made->width = threads;
    const enum ek_status st = fill(made);
    return HAND_OUT(st, made, d, search_device_close);
}

void search_device_close(struct search_device *d)
{
    if (!d)
        return;
    if (d->own)
        d->ops->close(d);
    for (int b = 0; b < SEARCH_BUFFERS; b++)
        backend_free(d->backend, d->buffer[b].mem);
    backend_unbuild(d->backend, d->program);
    for (int t = 0; t < d->width && d->worker; t++)
        search_worker_close(d->worker[t]);
    free(d->worker);
    free(d->status);
    free(d);
}

enum ek_status search_device_run(struct search_device *d, struct thread_pool *pool,
                                 struct trial_range range, const struct search_sink *sink)
{
    d->pool = pool;
    return search_run_by(d->worker[0], range, sink, d->ops->run, d);
}

double search_device_evaluations(const struct search_device *d)
{
    double sum = 0;
    for (int t = 0; t < d->width; t++)
        sum += search_evaluations(d->worker[t]);
    return sum;
}
