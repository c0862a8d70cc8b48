/* cu/farm/farm.c – a process of the farm: rank 0, with a thread that serves the others while it
 * computes itself, a worker, or the only process. */
#include "cu/farm/farm.h"
#include "cu/rank/family.h"
#include "cu/farm/transport_lasting.h"
#include "cu/farm/transport_zmq.h"
#include "cu/farm/worker.h"
#include "cu/rank/stop.h"
#include "src/clock.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

/* Seconds: one call of the server; between two checks whether to stop; for workers to learn that
 * the last run is over; for one to come before rank 0, which only deals, works itself. */
static const double LISTENING = 0.02, GLANCE = 0.1, FAREWELL = 2, ALONE = 5;

struct farm {
    const struct family *family;
    struct farm_settings settings;
    struct transport transport;
    int run;
    double rate;
    /* rank 0 */
    struct coordinator *coordinator;
    struct server *server;
    pthread_t thread; /* of the server */
    bool serves;
    unsigned seen;      /* of the coordinator's changes */
    double accompanied; /* when a worker was last here */
    atomic_bool ends;
    atomic_int status; /* of the server's thread */
    /* worker */
    struct worker worker;
    bool gone; /* rank 0 has ended */
};

bool farm_is_worker(const struct farm *f)
{
    return f->family->rank > 0;
}

int farm_size(const struct farm *f)
{
    return f->family->size;
}

/* ---- the serving thread -----------------------------------------------------------------------*/

static bool anybody_here(const struct farm *f)
{
    for (int r = 1; r < f->family->size; r++)
        if (server_worker(f->server, r).here)
            return true;
    return false;
}

/* Goes on after the last run until the workers have left, for FAREWELL seconds at most. */
static void *serve(void *arg)
{
    struct farm *f = arg;
    double end = INFINITY;
    while (!atomic_load(&f->status) && clock_now() < end && (end == INFINITY || anybody_here(f))) {
        atomic_store(&f->status, (int)server_serve(f->server, LISTENING));
        if (family_orphaned())
            stop_request();
        if (atomic_load(&f->ends) && end == INFINITY)
            end = clock_now() + FAREWELL;
    }
    return NULL;
}

static enum ek_status open_server(struct farm *f)
{
    TRY(server_open(&f->transport, f->family->size, f->settings.job, &f->settings.ops, &f->server));
    if (pthread_create(&f->thread, NULL, serve, f))
        FAIL(EK_UNAVAILABLE, "no thread can be made to serve the other ranks");
    f->serves = true;
    return EK_OK;
}

/* ---- opening ----------------------------------------------------------------------------------*/

enum ek_status farm_open(const struct farm_settings *settings, struct farm **f)
{
    NEW(struct farm, made, 1, "out of memory for the farm");
    *made = (struct farm){.family = settings->family ? settings->family : family_here(),
                          .settings = *settings,
                          .run = -1};
    enum ek_status st = EK_OK;
    if (made->family->size > 1)
        st = transport_zmq_open(made->family, &made->transport, &made->gone);
    if (!st && made->transport.ops && settings->ops.grace > 0)
        st = transport_lasting_open(&made->transport, made->family->size);
    if (!st && made->family->size > 1 && !farm_is_worker(made))
        st = open_server(made);
    made->worker = (struct worker){.transport = made->transport,
                                   .job = settings->job,
                                   .capacity = settings->capacity,
                                   .is = {.units = settings->units}};
    return HAND_OUT(st, made, f, farm_close);
}

/* Workers that are not told that the run is over see the connection end, which is the same. */
void farm_close(struct farm *f)
{
    if (!f)
        return;
    if (f->server)
        server_begin(f->server, INT_MAX, NULL);
    atomic_store(&f->ends, true);
    if (f->serves)
        pthread_join(f->thread, NULL);
    if (f->server)
        server_end_frozen(f->server);
    if (f->transport.ops)
        f->transport.ops->close(f->transport.st);
    server_close(f->server);
    worker_end(&f->worker);
    coordinator_close(f->coordinator);
    free(f);
}

enum ek_status farm_begin(struct farm *f, const struct farm_job *job)
{
    f->run++;
    f->seen = 0;
    worker_begin(&f->worker, f->run);
    if (farm_is_worker(f))
        return EK_OK;
    if (f->server)
        server_begin(f->server, f->run - 1, NULL);
    coordinator_close(f->coordinator);
    f->coordinator = NULL;
    TRY(coordinator_open(job, f->family->size, &f->coordinator));
    if (f->server)
        server_begin(f->server, f->run, f->coordinator);
    f->accompanied = f->server ? clock_now() : -INFINITY;
    return EK_OK;
}

/* ---- batches ----------------------------------------------------------------------------------*/

/* Whether rank 0 takes batches itself. */
static bool works(struct farm *f, double now)
{
    if (f->settings.deals && f->server && anybody_here(f))
        f->accompanied = now;
    return !f->settings.deals || now > f->accompanied + ALONE;
}

static enum ek_status next_here(struct farm *f, double until, struct farm_batch *batch, bool *over)
{
    for (;;) {
        enum coordinator_answer a = COORDINATOR_WAIT;
        const double now = clock_now();
        if (atomic_load(&f->status))
            return (enum ek_status)atomic_load(&f->status);
        if (works(f, now))
            a = coordinator_next(f->coordinator, 0, f->settings.capacity, now, &batch->tasks);
        else if (coordinator_over(f->coordinator))
            a = COORDINATOR_DONE;
        *over = a == COORDINATOR_DONE;
        if (a == COORDINATOR_BATCH && f->settings.ops.brief)
            f->settings.ops.brief(f->settings.ops.arg, batch);
        if (a != COORDINATOR_WAIT || now >= until || stop_requested())
            return EK_OK;
        coordinator_wait(f->coordinator, &f->seen, fmin(GLANCE, until - now));
    }
}

static enum ek_status next_from_rank_0(struct farm *f, double until, struct farm_batch *batch,
                                       bool *over)
{
    enum ek_status st = EK_OK;
    if (!f->gone && !f->worker.over)
        st = worker_hear(&f->worker, fmin(GLANCE, fmax(0, until - clock_now())), batch);
    f->gone = f->gone || st == EK_LOST; /* no message: rank 0's guard gives the reason */
    *over = f->gone || (f->worker.over && batch->tasks.end == batch->tasks.begin);
    return st == EK_LOST ? EK_OK : st;
}

enum ek_status farm_next(struct farm *f, double seconds, struct farm_batch *batch, bool *over)
{
    const double until = clock_now() + seconds;
    *batch = (struct farm_batch){.tasks = {0, 0}};
    *over = stop_requested();
    if (*over)
        return EK_OK;
    TRY((farm_is_worker(f) ? next_from_rank_0 : next_here)(f, until, batch, over));
    *over = *over || stop_requested();
    return EK_OK;
}

static enum ek_status report_here(struct farm *f, const struct farm_batch *b, int failed,
                                  const void *result, size_t bytes)
{
    const struct server_ops *ops = &f->settings.ops;
    const double now = clock_now();
    if (failed ? !coordinator_failed(f->coordinator, 0, b->tasks, now)
               : !coordinator_report(f->coordinator, 0, b->tasks, now))
        return EK_OK;
    if (ops->take)
        TRY(ops->take(ops->arg, 0, b, failed, result, bytes));
    if (!failed)
        coordinator_taken(f->coordinator, b->tasks);
    return EK_OK;
}

enum ek_status farm_report(struct farm *f, const struct farm_batch *b, int failed, double rate,
                           const void *result, size_t bytes)
{
    f->rate = rate;
    if (!farm_is_worker(f))
        return report_here(f, b, failed, result, bytes);
    f->worker.is.rate = rate;
    const enum ek_status st =
        f->gone ? EK_OK : worker_report(&f->worker, b->tasks, failed, result, bytes);
    f->gone = f->gone || st == EK_LOST;
    return st == EK_LOST ? EK_OK : st;
}

/* ---- queries ----------------------------------------------------------------------------------*/

struct farm_worker farm_worker(const struct farm *f, int rank)
{
    return rank && f->server ? server_worker(f->server, rank)
                             : (struct farm_worker){f->rate, f->settings.units, true};
}

struct coordinator *farm_coordinator(const struct farm *f)
{
    return f->coordinator;
}

void farm_ended(struct farm *f, int rank)
{
    if (f->server)
        server_ended(f->server, rank);
}
