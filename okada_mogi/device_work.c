/* okada_mogi/device_work.c – what searches on a device share: buffers, launches, trials found. */
#include "okada_mogi/device.h"
#include "cu/team/thread_pool.h"

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

enum ek_status search_device_build(struct search_device *d, const char *text, const char *kernel)
{
    const struct backend_kernel kernels[] = {{kernel, {64, 1, 1}}};
    return backend_build_texts(d->backend, &text, 1, "", kernels, 1, &d->program);
}

/* Copies ints begin .. end - 1 of a buffer. */
static enum ek_status fetch(struct search_device *d, int buffer, int *to, size_t begin, size_t end)
{
    const struct backend_rect r = backend_linear(0, begin * sizeof *to, (end - begin) * sizeof *to);
    TRY(backend_read(d->backend, BACKEND_FEED, to + begin, d->buffer[buffer].mem, &r));
    return backend_wait(d->backend, BACKEND_FEED);
}

enum ek_status search_device_found(struct search_device *d, int event, int buffer, int head,
                                   int most, int *found)
{
    const size_t soon = (size_t)head + 2 * SEARCH_SOON;
    TRY(backend_after(d->backend, BACKEND_FEED, event));
    TRY(fetch(d, buffer, found, 0, soon));
    if (found[0] <= SEARCH_SOON || found[0] > most)
        return EK_OK;
    return fetch(d, buffer, found, soon, (size_t)head + 2 * (size_t)found[0]);
}

/* ---- judging ----------------------------------------------------------------------------------*/

/* BLOCK: consecutive candidates, which share work, that a thread judges at a time. ROUND:
 * candidates per thread before accepted trials are gathered. */
enum { BLOCK = 16, ROUND = 512 };

/* Candidates that all threads judge together. */
struct judging {
    struct search_device *d;
    size_t begin, end;
    enum ek_status (*judge)(struct search_device *d, int thread, size_t i);
};

/* A thread's share: blocks in turn, since expensive candidates cluster. */
static void judge_part(void *arg, int thread)
{
    const struct judging *j = arg;
    const size_t width = (size_t)j->d->width, even = (j->end - j->begin) / (4 * width);
    const size_t block = even < 1 ? 1 : even < BLOCK ? even : BLOCK;
    enum ek_status st = EK_OK;
    for (size_t at = j->begin + (size_t)thread * block; at < j->end && !st; at += width * block)
        for (size_t i = at; i < at + block && i < j->end && !st; i++)
            st = j->judge(j->d, thread, i);
    j->d->status[thread] = st;
}

/* Sets a worker to the leader's part. */
static void follow(struct search_worker *w, const struct search_worker *leader)
{
    memcpy(w->window, leader->window, (size_t)w->search->nstations * sizeof *w->window);
    w->bound = leader->bound;
    w->range = leader->range;
    w->found.n = 0;
    w->full = false;
}

/* Moves all accepted trials to the leader's worker. If they are more than it may hold, it keeps the
 * first ones, all of which are there: each worker judges in ascending order until it is full. */
static enum ek_status gather(struct search_device *d)
{
    struct search_worker *leader = d->worker[0];
    struct accepted *found = &leader->found;
    bool full = false;
    for (int t = 0; t < d->width; t++) {
        const struct accepted *own = &d->worker[t]->found;
        full |= d->worker[t]->full;
        TRY(d->worker[t]->full ? EK_OK : d->status[t]);
        for (size_t i = 0; t > 0 && i < own->n; i++)
            TRY(accepted_add(found, &own->record[i]));
    }
    if (!full && found->n <= SEARCH_HELD)
        return EK_OK;
    accepted_sort(found);
    found->n = SEARCH_HELD;
    leader->full = true;
    return EK_STOPPED;
}

static enum ek_status judge_round(struct judging *j)
{
    struct search_device *d = j->d;
    for (int t = 1; t < d->width; t++)
        follow(d->worker[t], d->worker[0]);
    thread_pool_run(d->pool, d->width, judge_part, j);
    return gather(d);
}

enum ek_status search_device_judge(struct search_device *d, size_t n,
                                   enum ek_status (*judge)(struct search_device *d, int thread,
                                                           size_t i))
{
    const size_t most = ROUND * (size_t)d->width;
    for (size_t i = 0; i < n && d->width == 1; i++)
        TRY(judge(d, 0, i));
    for (size_t at = 0; at < n && d->width > 1; at += most) {
        struct judging j = {d, at, n - at < most ? n : at + most, judge};
        TRY(judge_round(&j));
    }
    return EK_OK;
}
