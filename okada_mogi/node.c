/* okada_mogi/node.c – coordinator, worker or alone. */
#include "okada_mogi/node.h"
#include "cu/rank/family.h"
#include "cu/rank/stop.h"
#include "okada_mogi/hub.h"
#include "okada_mogi/transport_socket.h"
#include "okada_mogi/worker.h"
#include "src/clock.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Seconds. FAREWELL: for workers to hear that the last search is over. */
static const double LISTENING = 0.02, WAITING = 0.1, FAREWELL = 2;

struct node {
    const struct search *search;
    struct ledger *ledger;
    const struct family *family;
    uint64_t job;
    int units, run;
    struct transport transport;
    struct trial_range batch; /* at work, count 0: none */
    struct node_report last;
    /* rank 0 */
    struct pieces tasks;
    struct coordinator *coordinator;
    struct hub *hub;
    pthread_t thread; /* of the hub */
    bool serves;
    atomic_bool ends;
    atomic_int status; /* of the hub's thread */
    /* worker */
    struct worker worker;
    bool gone;    /* rank 0 has ended */
    int asked_in; /* the run in which it asked last, -1: none */
    pthread_mutex_t lock;
    struct accepted found; /* in the batch */
    double evaluations;    /* not reported yet */
};

static bool is_worker(const struct node *n)
{
    return n->family->rank > 0;
}

/* ---- the thread that serves -------------------------------------------------------------------*/

static enum ek_status take(void *arg, struct trial_range batch, const struct accepted_record *r,
                           size_t count, double evaluations)
{
    struct node *n = arg;
    struct accepted found = {0};
    ledger_evaluated(n->ledger, evaluations);
    enum ek_status st = EK_OK;
    for (size_t i = 0; i < count && !st; i++)
        st = accepted_add(&found, &r[i]);
    if (!st)
        st = ledger_put(n->ledger, batch, &found);
    accepted_free(&found);
    return st;
}

static bool anybody_here(const struct node *n)
{
    for (int r = 1; r < n->family->size; r++)
        if (hub_worker(n->hub, r).here)
            return true;
    return false;
}

/* Goes on after the last search until the workers have left, but not for long. */
static void *serve(void *arg)
{
    struct node *n = arg;
    double end = 0;
    while (!atomic_load(&n->status) && !(end > 0 && (!anybody_here(n) || clock_now() > end))) {
        atomic_store(&n->status, (int)hub_serve(n->hub, LISTENING));
        if (family_orphaned())
            stop_request();
        if (atomic_load(&n->ends) && end == 0)
            end = clock_now() + FAREWELL;
    }
    return NULL;
}

static enum ek_status open_hub(struct node *n)
{
    const struct hub_ops ops = {take, n};
    TRY(hub_open(&n->transport, n->family->size, n->job, &ops, &n->hub));
    if (pthread_create(&n->thread, NULL, serve, n))
        FAIL(EK_LACK, "no thread can be made to serve the other ranks");
    n->serves = true;
    return EK_OK;
}

/* ---- opening ----------------------------------------------------------------------------------*/

enum ek_status node_open(const struct search *s, struct ledger *l, uint64_t job_hash, int units,
                         struct node **n)
{
    struct node *made = calloc(1, sizeof *made);
    if (!made)
        FAIL(EK_LACK, "out of memory for the search");
    *made = (struct node){.search = s,
                          .ledger = l,
                          .family = family_here(),
                          .job = job_hash,
                          .units = units,
                          .run = -1,
                          .asked_in = -1};
    pthread_mutex_init(&made->lock, NULL);
    enum ek_status st = EK_OK;
    if (made->family->size > 1)
        st = transport_socket_open(made->family, &made->transport, &made->gone);
    if (!st && made->family->size > 1 && !is_worker(made))
        st = open_hub(made);
    made->worker.transport = made->transport;
    if (st)
        node_close(made);
    else
        *n = made;
    return st;
}

/* Workers that do not hear that the search is over see the connection end: the same to them. */
void node_close(struct node *n)
{
    if (!n)
        return;
    if (n->hub)
        hub_begin(n->hub, INT_MAX, NULL);
    atomic_store(&n->ends, true);
    if (n->serves)
        pthread_join(n->thread, NULL);
    hub_close(n->hub);
    if (n->transport.ops)
        n->transport.ops->close(n->transport.st);
    coordinator_close(n->coordinator);
    pieces_free(&n->tasks);
    accepted_free(&n->found);
    pthread_mutex_destroy(&n->lock);
    free(n);
}

/* ---- a search ---------------------------------------------------------------------------------*/

/* Tasks small enough for all units of all nodes; a node alone gets everything at once. */
static enum ek_status begin_coordinator(struct node *n, const char *schedule)
{
    struct ranges gaps = {0};
    if (n->hub)
        hub_begin(n->hub, n->run - 1, NULL);
    coordinator_close(n->coordinator);
    n->coordinator = NULL;
    enum ek_status st = ledger_begin(n->ledger);
    if (!st)
        st = ledger_gaps(n->ledger, &gaps);
    if (!st)
        st = pieces_cut(&n->tasks, n->search, gaps.range, gaps.n, n->units * n->family->size);
    if (!st)
        st = coordinator_open(schedule, n->family->size, n->tasks.range, n->tasks.cost, n->tasks.n,
                              &n->coordinator);
    if (!st && n->hub)
        hub_begin(n->hub, n->run, n->coordinator);
    ranges_free(&gaps);
    return st;
}

enum ek_status node_begin(struct node *n, const char *schedule)
{
    n->run++;
    n->batch.count = 0;
    n->last = (struct node_report){0};
    n->found.n = 0;
    n->evaluations = 0;
    if (is_worker(n))
        return EK_OK;
    TRY(begin_coordinator(n, schedule));
    ledger_evaluated(n->ledger, search_prepared(n->search));
    return EK_OK;
}

static enum ek_status next_of_ours(struct node *n, struct trial_range *batch)
{
    unsigned seen = 0;
    if (n->batch.count && coordinator_report(n->coordinator, 0, n->batch, clock_now()))
        coordinator_taken(n->coordinator, n->batch);
    n->batch.count = 0;
    for (;;) {
        if (atomic_load(&n->status))
            return (enum ek_status)atomic_load(&n->status);
        if (stop_requested())
            return EK_OK;
        const enum coordinator_answer a =
            coordinator_next(n->coordinator, 0, clock_now(), &n->batch);
        if (a == COORDINATOR_BATCH)
            *batch = n->batch;
        if (a != COORDINATOR_WAIT)
            return EK_OK;
        coordinator_wait(n->coordinator, &seen, WAITING);
    }
}

/* What the batch has brought, and a question. */
static enum ek_status ask_rank_0(struct node *n)
{
    const struct message_ask ask = {.version = MESSAGE_VERSION,
                                    .run = (uint32_t)n->run,
                                    .job = n->job,
                                    .done = n->batch,
                                    .evaluations = n->evaluations,
                                    .rate = n->last.rate,
                                    .units = (uint64_t)n->units,
                                    .records = n->found.n};
    accepted_sort(&n->found);
    TRY(worker_ask(&n->worker, &ask, n->found.record));
    n->batch.count = 0;
    n->found.n = 0;
    n->evaluations = 0;
    return EK_OK;
}

/* Always one question ahead. */
static enum ek_status talk_to_rank_0(struct node *n, struct trial_range *batch)
{
    const bool first = n->run != n->asked_in;
    n->asked_in = n->run;
    for (int i = first ? 0 : 1; i < COORDINATOR_AHEAD; i++)
        TRY(ask_rank_0(n));
    return worker_hear(&n->worker, (uint32_t)n->run, stop_requested, batch);
}

static enum ek_status next_of_rank_0(struct node *n, struct trial_range *batch)
{
    if (n->gone)
        return EK_OK;
    enum ek_status st = talk_to_rank_0(n, batch);
    n->gone = st == EK_LOST;
    if (n->gone)
        st = EK_OK; /* its guard says what there is to say */
    n->batch = *batch;
    return st;
}

enum ek_status node_next(struct node *n, const struct node_report *r, struct trial_range *batch)
{
    *batch = (struct trial_range){0, 0};
    n->last = *r;
    if (!is_worker(n)) {
        ledger_evaluated(n->ledger, r->evaluations);
        return next_of_ours(n, batch);
    }
    n->evaluations += r->evaluations;
    return next_of_rank_0(n, batch);
}

enum ek_status node_put(void *node, struct trial_range range, struct accepted *found)
{
    struct node *n = node;
    if (!is_worker(n))
        return ledger_put(n->ledger, range, found);
    enum ek_status st = EK_OK;
    pthread_mutex_lock(&n->lock);
    for (size_t i = 0; i < found->n && !st; i++)
        st = accepted_add(&n->found, &found->record[i]);
    pthread_mutex_unlock(&n->lock);
    accepted_free(found);
    return st;
}

/* ---- what it was like -------------------------------------------------------------------------*/

double node_rate(const struct node *n)
{
    double sum = n->last.rate;
    for (int r = 1; n->hub && r < n->family->size; r++)
        sum += hub_worker(n->hub, r).rate;
    return sum;
}

json_t *node_json(const struct node *n)
{
    if (!n->hub || !n->coordinator)
        return NULL;
    json_t *list = json_array();
    for (int r = 0; r < n->family->size; r++) {
        const struct coordinator_node c = coordinator_node(n->coordinator, r);
        const struct hub_worker w = hub_worker(n->hub, r);
        json_array_append_new(list, json_pack("{s:i s:f s:i s:f s:f s:i s:i}", "rank", r, "trials",
                                              (double)c.trials, "batches", (int)c.batches, "busy_s",
                                              c.busy, "rate", r ? w.rate : n->last.rate, "lost",
                                              (int)c.lost, "units", r ? w.units : n->units));
    }
    return list;
}
