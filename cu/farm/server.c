/* cu/farm/server.c – answers the workers' messages. */
#include "cu/farm/server.h"
#include "src/process.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* What the server knows of a rank. */
struct peer {
    struct farm_worker is;
    int waits; /* questions without an answer */
    int run;   /* of its last message */
    struct farm_capacity capacity;
    pid_t pid, guard;
    uint64_t space;
    double missed; /* when its connection ended; 0: it is up */
    bool ended, retired;
};

struct server {
    struct transport transport;
    struct server_ops ops;
    int size;
    uint64_t job;
    pthread_mutex_t lock; /* of what follows */
    struct coordinator *coordinator;
    int run;
    struct peer *peer; /* [size] */
    struct arena arena;
};

enum ek_status server_open(const struct transport *t, int size, uint64_t job,
                           const struct server_ops *server_ops, struct server **s)
{
    NEW(struct server, made, 1, "out of memory for %d ranks", size);
    *made =
        (struct server){.transport = *t, .ops = *server_ops, .size = size, .job = job, .run = -1};
    pthread_mutex_init(&made->lock, NULL);
    made->peer = ARENA_NEW(&made->arena, size, struct peer);
    const enum ek_status st = arena_check(&made->arena, "%d ranks", size);
    return HAND_OUT(st, made, s, server_close);
}

void server_close(struct server *s)
{
    if (!s)
        return;
    pthread_mutex_destroy(&s->lock);
    arena_free(&s->arena);
    free(s);
}

void server_begin(struct server *s, int run, struct coordinator *c)
{
    LOCKED(&s->lock);
    s->run = run;
    s->coordinator = c;
    for (int r = 1; c && r < s->size; r++)
        if (s->peer[r].retired) /* before this run */
            coordinator_lost(c, r);
}

struct farm_worker server_worker(struct server *s, int rank)
{
    LOCKED(&s->lock);
    return s->peer[rank].is;
}

/* A frozen guard is woken up, so that it sees its child dead. */
void server_end_frozen(struct server *s)
{
    LOCKED(&s->lock);
    const uint64_t here = process_space();
    for (int r = 1; r < s->size; r++) {
        const struct peer *p = &s->peer[r];
        const bool ours = p->space == here;
        if (ours && process_is_frozen(p->pid))
            kill(p->pid, SIGKILL);
        if (ours && process_is_frozen(p->guard))
            kill(p->guard, SIGCONT);
    }
}

/* ---- answers, under the lock ------------------------------------------------------------------*/

static void lose(struct server *s, int rank)
{
    s->peer[rank].waits = 0;
    s->peer[rank].is.here = false;
    if (s->coordinator)
        coordinator_lost(s->coordinator, rank);
}

static void retire(struct server *s, int rank)
{
    s->peer[rank].missed = 0;
    s->peer[rank].retired = true;
    lose(s, rank);
}

/* The rank is out of reach. */
static void miss(struct server *s, int rank)
{
    struct peer *p = &s->peer[rank];
    const bool was_here = p->is.here;
    p->is.here = false;
    if (s->ops.grace <= 0)
        lose(s, rank);
    else if (p->ended)
        retire(s, rank);
    else if (was_here)
        p->missed = s->transport.ops->now(s->transport.st);
}

static void retire_overdue(struct server *s)
{
    const double now = s->transport.ops->now(s->transport.st);
    for (int r = 1; r < s->size; r++)
        if (s->peer[r].missed > 0 && now - s->peer[r].missed > s->ops.grace)
            retire(s, r);
}

void server_ended(struct server *s, int rank)
{
    LOCKED(&s->lock);
    s->peer[rank].ended = true;
    if (s->peer[rank].missed > 0)
        retire(s, rank);
}

static bool answer(struct server *s, int rank, enum message_kind kind, struct farm_batch batch)
{
    const struct message_answer a = {
        .kind = kind, .run = (uint32_t)s->peer[rank].run, .batch = batch};
    const size_t more = batch.text ? strlen(batch.text) + 1 : 0;
    OWNED_MEMORY char *all = malloc(sizeof a + more);
    s->peer[rank].waits--;
    if (all) {
        memcpy(all, &a, sizeof a);
        memcpy(all + sizeof a, more ? batch.text : "", more);
    }
    const bool sent = all && !s->transport.ops->send(s->transport.st, rank, all, sizeof a + more);
    if (!sent)
        miss(s, rank);
    return sent;
}

static void brief(const struct server *s, struct farm_batch *batch)
{
    if (s->ops.brief && batch->tasks.end > batch->tasks.begin)
        s->ops.brief(s->ops.arg, batch);
}

/* Answers one question with a batch or the end of the run; false: there is neither yet. */
static bool try_answer(struct server *s, int rank)
{
    struct peer *p = &s->peer[rank];
    struct farm_batch batch = {.tasks = {0, 0}};
    enum coordinator_answer next = COORDINATOR_WAIT;
    if (p->run < s->run || (p->run == s->run && !s->coordinator))
        next = COORDINATOR_DONE;
    else if (p->run == s->run)
        next = coordinator_next(s->coordinator, rank, p->capacity,
                                s->transport.ops->now(s->transport.st), &batch.tasks);
    if (next == COORDINATOR_WAIT)
        return false;
    brief(s, &batch);
    return answer(s, rank, next == COORDINATOR_BATCH ? MESSAGE_BATCH : MESSAGE_END, batch);
}

static void answer_waiting(struct server *s)
{
    for (int r = 1; r < s->size; r++)
        while (s->peer[r].is.here && s->peer[r].waits > 0 && try_answer(s, r))
            ;
}

/* Tells the rank to leave; it gets no batch any more. */
static void dismiss(struct server *s, int rank, enum message_kind why)
{
    s->peer[rank].is.here = false;
    answer(s, rank, why, (struct farm_batch){.tasks = {0, 0}});
    s->peer[rank].waits = 0;
}

static void renew(struct server *s, int rank)
{
    s->peer[rank].missed = 0;
    s->peer[rank].is.here = true;
    if (s->peer[rank].retired)
        dismiss(s, rank, MESSAGE_RETIRED);
}

/* ---- messages ---------------------------------------------------------------------------------*/

/* Accepts the report in a message, unless its run is over or another node has the batch by now. */
static enum ek_status take(struct server *s, int rank, const struct message_ask *ask,
                           const void *result)
{
    struct farm_batch batch = {.tasks = ask->done};
    const double now = s->transport.ops->now(s->transport.st);
    if (ask->done.end <= ask->done.begin || (int)ask->run != s->run || !s->coordinator)
        return EK_OK;
    if (ask->failed ? !coordinator_failed(s->coordinator, rank, ask->done, now)
                    : !coordinator_report(s->coordinator, rank, ask->done, now))
        return EK_OK;
    brief(s, &batch);
    if (s->ops.take)
        TRY(s->ops.take(s->ops.arg, rank, &batch, ask->failed, result, ask->bytes));
    if (!ask->failed)
        coordinator_taken(s->coordinator, ask->done);
    return EK_OK;
}

static void note(struct peer *p, const struct message_ask *ask)
{
    p->run = (int)ask->run;
    p->capacity = ask->capacity;
    p->waits += (int)ask->questions;
    p->pid = ask->pid;
    p->guard = ask->guard;
    p->space = ask->space;
    p->is = (struct farm_worker){.rate = ask->rate, .units = (int)ask->units, .here = true};
}

static enum ek_status hear(struct server *s, const struct transport_event *e)
{
    struct message_ask ask;
    if (e->bytes < sizeof ask)
        return EK_OK;
    memcpy(&ask, e->data, sizeof ask);
    struct peer *p = &s->peer[e->peer];
    if (p->missed > 0 && p->pid != ask.pid)
        lose(s, e->peer); /* another process of this rank */
    p->missed = 0;
    note(p, &ask);
    const size_t tail = e->bytes - sizeof ask;
    if (p->retired)
        return dismiss(s, e->peer, MESSAGE_RETIRED), EK_OK;
    if (ask.version != MESSAGE_VERSION || ask.job != s->job || tail != ask.bytes)
        return dismiss(s, e->peer, MESSAGE_REFUSED), EK_OK;
    OWNED_MEMORY void *result = malloc(tail + 1); /* messages are not aligned */
    if (!result)
        FAIL(EK_UNAVAILABLE, "out of memory for the %zu bytes of a result of rank %d", tail,
             e->peer);
    memcpy(result, (const char *)e->data + sizeof ask, tail);
    return take(s, e->peer, &ask, result);
}

enum ek_status server_serve(struct server *s, double seconds)
{
    struct transport_event e;
    TRY(s->transport.ops->receive(s->transport.st, seconds, &e));
    LOCKED(&s->lock);
    enum ek_status st = EK_OK;
    if (e.kind == TRANSPORT_MESSAGE)
        st = hear(s, &e);
    else if (e.kind == TRANSPORT_LOST)
        miss(s, e.peer);
    else if (e.kind == TRANSPORT_RENEWED)
        renew(s, e.peer);
    retire_overdue(s);
    if (!st)
        answer_waiting(s);
    return st;
}
