/* okada_mogi/hub.c – messages in, batches out. */
#include "okada_mogi/hub.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What the hub knows of a rank. */
struct guest {
    struct hub_worker said;
    int waits; /* for so many answers */
    int run;   /* that it asks for */
};

struct hub {
    struct transport transport;
    struct hub_ops ops;
    int size;
    uint64_t job;
    pthread_mutex_t lock; /* of what follows */
    struct coordinator *coordinator;
    int run;
    struct guest *guest; /* [size] */
};

enum ek_status hub_open(const struct transport *t, int size, uint64_t job,
                        const struct hub_ops *hub_ops, struct hub **h)
{
    struct hub *made = calloc(1, sizeof *made);
    struct guest *guest = calloc((size_t)size, sizeof *guest);
    if (!made || !guest) {
        free(made);
        free(guest);
        FAIL(EK_LACK, "out of memory for %d ranks", size);
    }
    *made = (struct hub){
        .transport = *t, .ops = *hub_ops, .size = size, .job = job, .run = -1, .guest = guest};
    pthread_mutex_init(&made->lock, NULL);
    *h = made;
    return EK_OK;
}

void hub_close(struct hub *h)
{
    if (!h)
        return;
    pthread_mutex_destroy(&h->lock);
    free(h->guest);
    free(h);
}

void hub_begin(struct hub *h, int run, struct coordinator *c)
{
    pthread_mutex_lock(&h->lock);
    h->run = run;
    h->coordinator = c;
    pthread_mutex_unlock(&h->lock);
}

struct hub_worker hub_worker(struct hub *h, int rank)
{
    pthread_mutex_lock(&h->lock);
    const struct hub_worker said = h->guest[rank].said;
    pthread_mutex_unlock(&h->lock);
    return said;
}

/* ---- answers, under the lock ------------------------------------------------------------------*/

static void answer(struct hub *h, int rank, enum message_kind kind, struct trial_range batch)
{
    const struct message_answer a = {
        .kind = kind, .run = (uint32_t)h->guest[rank].run, .batch = batch};
    h->guest[rank].waits--;
    h->transport.ops->send(h->transport.st, rank, &a, sizeof a); /* if it is lost, we hear of it */
}

/* What there is for a rank that waits: a run that is over, a batch, or nothing yet (false). */
static bool try_answer(struct hub *h, int rank)
{
    struct guest *g = &h->guest[rank];
    struct trial_range batch = {0, 0};
    enum coordinator_answer next = COORDINATOR_WAIT;
    if (g->run < h->run || (g->run == h->run && !h->coordinator))
        next = COORDINATOR_DONE;
    else if (g->run == h->run)
        next =
            coordinator_next(h->coordinator, rank, h->transport.ops->now(h->transport.st), &batch);
    if (next != COORDINATOR_WAIT)
        answer(h, rank, next == COORDINATOR_BATCH ? MESSAGE_BATCH : MESSAGE_END, batch);
    return next != COORDINATOR_WAIT;
}

static void answer_waiting(struct hub *h)
{
    for (int r = 1; r < h->size; r++)
        while (h->guest[r].waits && try_answer(h, r))
            ;
}

/* ---- messages ---------------------------------------------------------------------------------*/

static void lose(struct hub *h, int rank)
{
    h->guest[rank].waits = 0;
    h->guest[rank].said.here = false;
    if (h->coordinator)
        coordinator_lost(h->coordinator, rank);
}

/* What the batch brought, unless it is of a run that is over, or somebody else's by now. */
static enum ek_status take(struct hub *h, int rank, const struct message_ask *ask,
                           const struct accepted_record *record)
{
    struct guest *g = &h->guest[rank];
    g->said.rate = ask->rate;
    g->said.units = (int)ask->units;
    if (!ask->done.count || (int)ask->run != h->run || !h->coordinator ||
        !coordinator_report(h->coordinator, rank, ask->done,
                            h->transport.ops->now(h->transport.st)))
        return EK_OK;
    if (h->ops.take)
        TRY(h->ops.take(h->ops.arg, ask->done, record, ask->records, ask->evaluations));
    coordinator_taken(h->coordinator, ask->done);
    return EK_OK;
}

static enum ek_status hear(struct hub *h, const struct transport_event *e)
{
    struct message_ask ask;
    if (e->bytes < sizeof ask)
        return EK_OK;
    memcpy(&ask, e->data, sizeof ask);
    struct guest *g = &h->guest[e->peer];
    g->run = (int)ask.run;
    g->said.here = true;
    g->waits++;
    const size_t tail = e->bytes - sizeof ask;
    if (ask.version != MESSAGE_VERSION || ask.job != h->job ||
        tail / sizeof(struct accepted_record) != ask.records) {
        answer(h, e->peer, MESSAGE_REFUSED, (struct trial_range){0, 0});
        return EK_OK;
    }
    struct accepted_record *record = malloc(tail + 1); /* frames are not aligned */
    if (!record)
        FAIL(EK_LACK, "out of memory for %zu accepted trials of rank %d", (size_t)ask.records,
             e->peer);
    memcpy(record, (const char *)e->data + sizeof ask, tail);
    enum ek_status st = take(h, e->peer, &ask, record);
    free(record);
    return st;
}

enum ek_status hub_serve(struct hub *h, double seconds)
{
    struct transport_event e;
    TRY(h->transport.ops->receive(h->transport.st, seconds, &e));
    pthread_mutex_lock(&h->lock);
    enum ek_status st = EK_OK;
    if (e.kind == TRANSPORT_MESSAGE)
        st = hear(h, &e);
    else if (e.kind == TRANSPORT_LOST)
        lose(h, e.peer);
    if (!st)
        answer_waiting(h);
    pthread_mutex_unlock(&h->lock);
    return st;
}
