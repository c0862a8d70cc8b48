/* cu/farm/transport_lasting.c – numbers messages, keeps them until they are confirmed, and takes
 * each of the other side's once and in order. */
#include "cu/farm/transport_lasting.h"
#include "src/random.h"

/* Messages of more bytes are confirmed at once, lest the sender keep many of them. */
enum { BULKY = 1 << 16 };

/* Before each message; number 0: there is none. A side is a random number, since the
 * processes of a restarted container may have the same ids again. */
struct head {
    uint32_t side, number;
    uint32_t heard; /* number of the last message from the other side */
    uint32_t calls; /* how often the worker has renewed the connection */
};

struct letter {
    struct letter *next;
    size_t bytes;
    struct head head;
    char message[];
};

struct line {
    uint32_t side; /* the other one; 0: not known */
    uint32_t sent, heard, calls;
    bool cut;
    struct letter *first, *last; /* not confirmed */
};

struct lasting {
    struct transport below;
    uint32_t side, calls;
    int peers;
    struct line line[]; /* [peers] */
};

static void put(struct lasting *t, int peer, struct letter *l)
{
    l->head.side = t->side;
    l->head.calls = t->calls;
    l->head.heard = t->line[peer].heard;
    t->below.ops->send(t->below.st, peer, &l->head, l->bytes); /* what is lost will be repeated */
}

static void confirm(struct lasting *t, int peer)
{
    struct letter empty = {.bytes = sizeof empty.head};
    put(t, peer, &empty);
}

static enum ek_status send_message(void *st, int peer, const void *data, size_t bytes)
{
    struct lasting *t = st;
    struct line *line = &t->line[peer];
    struct letter *l = malloc(sizeof *l + bytes);
    if (!l) { /* no failure of the run: the peer counts as lost, others may go on */
        status_warn("out of memory for a message of %zu bytes", bytes);
        return EK_UNAVAILABLE;
    }
    *l = (struct letter){.bytes = sizeof l->head + bytes, .head = {.number = ++line->sent}};
    memcpy(l->message, data, bytes);
    *(line->first ? &line->last->next : &line->first) = l;
    line->last = l;
    if (!line->cut)
        put(t, peer, l);
    return EK_OK;
}

/* Forgets the messages up to this number. */
static void forget(struct line *line, uint32_t number)
{
    for (struct letter *l; (l = line->first) && l->head.number <= number; free(l))
        line->first = l->next;
}

static void repeat(struct lasting *t, int peer)
{
    t->line[peer].cut = false;
    for (struct letter *l = t->line[peer].first; l; l = l->next)
        put(t, peer, l);
}

/* What the message is: the next one of its line, a sign of life, or nothing. The first one after a
 * loss may be older than that, so what follows the worker's call counts. */
static enum transport_event_kind understand(struct lasting *t, int peer, const struct head *head,
                                            size_t bytes)
{
    struct line *line = &t->line[peer];
    bool renewed = line->cut;
    if (line->side && line->side != head->side) {
        forget(line, UINT32_MAX);
        *line = (struct line){.side = 0};
    }
    line->side = head->side;
    renewed |= head->calls > line->calls;
    line->calls = head->calls;
    forget(line, head->heard);
    const bool is_next = head->number == line->heard + 1;
    line->heard += is_next;
    if (renewed)
        repeat(t, peer);
    if (bytes > BULKY)
        confirm(t, peer);
    return is_next ? TRANSPORT_MESSAGE : renewed ? TRANSPORT_RENEWED : TRANSPORT_NOTHING;
}

static enum ek_status receive(void *st, double seconds, struct transport_event *e)
{
    struct lasting *t = st;
    struct head head;
    TRY(t->below.ops->receive(t->below.st, seconds, e));
    if (e->kind == TRANSPORT_LOST) {
        t->line[e->peer].cut = true;
    } else if (e->kind == TRANSPORT_RENEWED) {
        t->calls++;
        confirm(t, 0); /* a sign of life, on which rank 0 repeats its own */
        repeat(t, 0);
        e->kind = TRANSPORT_NOTHING;
    } else if (e->kind == TRANSPORT_MESSAGE) {
        e->kind = TRANSPORT_NOTHING;
        if (e->bytes < sizeof head)
            return EK_OK;
        memcpy(&head, e->data, sizeof head);
        e->kind = understand(t, e->peer, &head, e->bytes);
        e->data = (const char *)e->data + sizeof head;
        e->bytes -= sizeof head;
    }
    return EK_OK;
}

static double now(void *st)
{
    const struct lasting *t = st;
    return t->below.ops->now(t->below.st);
}

static void close_transport(void *st)
{
    struct lasting *t = st;
    t->below.ops->close(t->below.st);
    for (int p = 0; p < t->peers; p++)
        forget(&t->line[p], UINT32_MAX);
    free(t);
}

enum ek_status transport_lasting_open(struct transport *t, int peers)
{
    static const struct transport_ops ops = {"lasting", send_message, receive, now,
                                             close_transport};
    struct lasting *made = calloc(1, sizeof *made + (size_t)peers * sizeof made->line[0]);
    if (!made)
        FAIL(EK_UNAVAILABLE, "out of memory for %d connections", peers);
    TRY_OR(random_unique(&made->side, sizeof made->side), free(made));
    made->side |= 1;
    made->below = *t;
    made->peers = peers;
    *t = (struct transport){&ops, made};
    return EK_OK;
}
