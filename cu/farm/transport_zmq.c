/* cu/farm/transport_zmq.c – rank 0 is a ROUTER, the others are DEALERs whose routing id is their
 * rank. The sockets' monitors tell which peer is lost: its connection or its heartbeat ended. */
#include "cu/farm/transport_zmq.h"
#include "src/clock.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

/* Milliseconds: between two heartbeats; without one until a peer counts as lost; for a handshake.
 */
enum { HEARTBEAT = 500, SILENCE = 1500, GREETING = 5000, KEY_TEXT = 41, BACKLOG = 1024 };
/* Seconds: until rank 0 must have answered; the same where connections are refused; until a worker
 * must have noticed that rank 0 has ended. */
static const double CALLING = 30, REFUSED = 0.5, NOTICED = 10;

/* A worker's connection, as its monitor sees it. */
enum line_state { LINE_CALLING, LINE_UP, LINE_DOWN };

/* A rank's connection, as rank 0 sees it. */
struct rank_line {
    int fd;     /* its descriptor; -1: none, or it belongs to a newer connection */
    bool ended; /* but its last messages may still be waiting */
};

struct zmq_transport {
    const struct family *family;
    void *context, *socket, *monitor;
    zmq_msg_t message;      /* the last one received */
    int peer;               /* its sender, where it is still to be delivered; else -1 */
    struct rank_line *line; /* rank 0: [size]; a worker: NULL */
    /* worker: shared with the thread that reads the monitor */
    pthread_t thread;
    bool attended;
    atomic_bool ends, calls;    /* calls: the main thread is in receive() or open() */
    atomic_int state;           /* enum line_state */
    _Atomic double down;        /* when the connection ended */
    atomic_int greetings;       /* handshakes so far */
    int greeted;                /* handshakes that receive() has reported */
    char answered[FAMILY_CALL]; /* the address of rank 0 that worked: "10.0.0.1 4711" */
};

/* ---- addresses --------------------------------------------------------------------------------*/

/* NONE: no such address here; SILENCE: the network may only be down for a while. */
enum answer { ANSWER_NONE, ANSWER_SILENCE, ANSWER_REFUSED, ANSWER_YES };

static enum answer knock_at(const struct addrinfo *a)
{
    const struct timeval most = {.tv_sec = 2};
    const int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return ANSWER_NONE;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    const bool connected = !connect(fd, a->ai_addr, a->ai_addrlen);
    const int why = errno;
    close(fd);
    return connected             ? ANSWER_YES
           : why == ECONNREFUSED ? ANSWER_REFUSED
           : why == ENETUNREACH  ? ANSWER_NONE
                                 : ANSWER_SILENCE;
}

/* Does anybody listen at this address ("10.0.0.1", "fe80::1")? */
static enum answer knock(const char *address, const char *port)
{
    const struct addrinfo want = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                                  .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    if (getaddrinfo(address, port, &want, &found))
        return ANSWER_NONE;
    const enum answer answer = knock_at(found);
    freeaddrinfo(found);
    return answer;
}

/* Calls f for each of "10.0.0.1,::1 4711" that accepts connections until it returns true. *refused:
 * some machine refused, and no other address was silent. A refusal alone proves nothing, because
 * many machines have addresses such as 127.0.0.1 or that of a container bridge. */
static bool any_address(const char *call, bool (*f)(void *, const char *, const char *), void *arg,
                        bool *refused)
{
    char text[FAMILY_CALL], *rest = text, *port;
    bool refuses = false, silent = false;
    snprintf(text, sizeof text, "%s", call);
    *refused = false;
    if (!(port = strchr(text, ' ')))
        return false;
    *port++ = '\0';
    for (char *address; (address = strsep(&rest, ","));) {
        const enum answer answer = knock(address, port);
        if (answer == ANSWER_YES && f(arg, address, port))
            return true;
        refuses = refuses || answer == ANSWER_REFUSED;
        silent = silent || answer == ANSWER_SILENCE || answer == ANSWER_YES;
    }
    *refused = refuses && !silent;
    return false;
}

static bool is_enough(void *arg, const char *address, const char *port)
{
    (void)arg, (void)address, (void)port;
    return true;
}

static bool nobody_listens(const struct zmq_transport *t)
{
    bool refused;
    return !any_address(t->answered, is_enough, NULL, &refused) && refused;
}

/* ---- a worker's connection --------------------------------------------------------------------*/

/* The monitor's next event within `wait` ms, 0: none; *value is the event's number. */
static int monitor_event(void *monitor, int wait, int *value)
{
    unsigned char bytes[6] = {0};
    uint16_t event;
    int32_t number, size;
    zmq_pollitem_t item = {.socket = monitor, .events = ZMQ_POLLIN};
    if (zmq_poll(&item, 1, wait) <= 0)
        return 0;
    size = zmq_recv(monitor, bytes, sizeof bytes, 0);
    zmq_recv(monitor, NULL, 0, 0); /* the endpoint */
    if (size != (int)sizeof bytes)
        return 0;
    memcpy(&event, bytes, sizeof event);
    memcpy(&number, bytes + sizeof event, sizeof number);
    *value = number;
    return event;
}

/* Rank 0 has ended, but the computing thread hangs and never returns to learn it; the launcher
 * would wait for ever. */
static void leave_if_nobody_notices(const struct zmq_transport *t)
{
    if (atomic_load(&t->state) != LINE_DOWN || atomic_load(&t->calls) ||
        clock_now() - atomic_load(&t->down) < NOTICED || !nobody_listens(t))
        return;
    status_warn(
        "rank %d: rank 0 has ended, but this rank's computation does not return; the rank exits",
        t->family->rank);
    _exit(status_exit_code(EK_OK));
}

static void *attend(void *arg)
{
    struct zmq_transport *t = arg;
    while (!atomic_load(&t->ends)) {
        int value;
        switch (monitor_event(t->monitor, 200, &value)) {
        case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
            atomic_fetch_add(&t->greetings, 1);
            atomic_store(&t->state, LINE_UP);
            break;
        case ZMQ_EVENT_DISCONNECTED:
            if (atomic_exchange(&t->state, LINE_DOWN) == LINE_UP)
                atomic_store(&t->down, clock_now());
            break;
        default:
            leave_if_nobody_notices(t);
        }
    }
    return NULL;
}

/* Here for programs with a farm; others do without: cu/rank/family.h. */
int family_make_keys(char key[FAMILY_KEY], char secret[FAMILY_KEY])
{
    return zmq_curve_keypair(key, secret);
}

/* ---- opening ----------------------------------------------------------------------------------*/

static void close_transport(void *st)
{
    struct zmq_transport *t = st;
    atomic_store(&t->ends, true);
    if (t->attended)
        pthread_join(t->thread, NULL);
    zmq_msg_close(&t->message);
    if (t->socket)
        zmq_close(t->socket);
    if (t->monitor)
        zmq_close(t->monitor);
    if (t->context)
        zmq_ctx_term(t->context);
    free(t->line);
    free(t);
}

static bool set(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof value) == 0;
}

static bool set_text(void *socket, int option, const char *value)
{
    return zmq_setsockopt(socket, option, value, strlen(value)) == 0;
}

/* Options of both kinds of socket. Messages queue without limit, so that no result is dropped. */
static bool set_all(void *socket)
{
    static const int options[][2] = {
        {ZMQ_HEARTBEAT_IVL, HEARTBEAT},
        {ZMQ_HEARTBEAT_TIMEOUT, SILENCE},
        {ZMQ_HEARTBEAT_TTL, SILENCE},
        {ZMQ_HANDSHAKE_IVL, GREETING},
        {ZMQ_LINGER, 500},
        {ZMQ_SNDHWM, 0},
        {ZMQ_RCVHWM, 0},
        {ZMQ_IPV6, 1},
        {ZMQ_RECONNECT_IVL, 100},
        {ZMQ_RECONNECT_IVL_MAX, 1000},
        {ZMQ_BACKLOG, BACKLOG},
    };
    bool good = true;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        good = good && set(socket, options[i][0], options[i][1]);
    return good;
}

static bool open_monitor(struct zmq_transport *t, int events)
{
    static const char *const at = "inproc://monitor";
    t->monitor = zmq_socket(t->context, ZMQ_PAIR);
    return !zmq_socket_monitor(t->socket, at, events) && t->monitor && !zmq_connect(t->monitor, at);
}

static enum ek_status open_router(struct zmq_transport *t)
{
    char at[64];
    snprintf(at, sizeof at, "tcp://*:%s", strchr(t->family->call, ' ') + 1);
    t->line = malloc((size_t)t->family->size * sizeof *t->line);
    if (!t->line)
        FAIL(EK_UNAVAILABLE, "out of memory for %d ranks", t->family->size);
    for (int r = 0; r < t->family->size; r++)
        t->line[r] = (struct rank_line){.fd = -1};
    if (!open_monitor(t, ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_ACCEPTED) ||
        !set(t->socket, ZMQ_ROUTER_HANDOVER, 1) || !set(t->socket, ZMQ_ROUTER_MANDATORY, 1) ||
        !set(t->socket, ZMQ_CURVE_SERVER, 1) ||
        !set_text(t->socket, ZMQ_CURVE_SECRETKEY, t->family->secret) ||
        !set(t->socket, ZMQ_USE_FD, t->family->listens) || zmq_bind(t->socket, at))
        FAIL(EK_UNAVAILABLE, "rank 0: cannot listen for the other ranks: %s", zmq_strerror(errno));
    return EK_OK;
}

/* Connects to one address and waits for the handshake; false: try another address. */
static bool call(void *arg, const char *address, const char *port)
{
    struct zmq_transport *t = arg;
    const int before = atomic_load(&t->greetings);
    const double start = clock_now();
    char at[128];
    snprintf(at, sizeof at, strchr(address, ':') ? "tcp://[%s]:%s" : "tcp://%s:%s", address, port);
    if (zmq_connect(t->socket, at))
        return false;
    while (atomic_load(&t->greetings) == before && clock_now() < start + 1e-3 * GREETING)
        poll(NULL, 0, 1);
    if (atomic_load(&t->greetings) == before) {
        zmq_disconnect(t->socket, at);
        return false;
    }
    snprintf(t->answered, sizeof t->answered, "%s %s", address, port);
    return true;
}

static enum ek_status call_rank_0(struct zmq_transport *t, bool *gone)
{
    const double start = clock_now();
    bool refused;
    while (!any_address(t->family->call, call, t, &refused)) {
        *gone = refused && clock_now() - start > REFUSED;
        if (*gone)
            return EK_OK;
        if (clock_now() - start > CALLING)
            FAIL(EK_UNAVAILABLE,
                 "rank %d: rank 0 does not answer at %s: is there a firewall between the nodes?",
                 t->family->rank, t->family->call);
        poll(NULL, 0, 100);
    }
    t->greeted = 1;
    return EK_OK;
}

static enum ek_status open_dealer(struct zmq_transport *t, bool *gone)
{
    char own[KEY_TEXT], secret[KEY_TEXT], name[16];
    snprintf(name, sizeof name, "%d", t->family->rank);
    if (!open_monitor(t, ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED) ||
        zmq_curve_keypair(own, secret) || !set_text(t->socket, ZMQ_ROUTING_ID, name) ||
        !set_text(t->socket, ZMQ_CURVE_SERVERKEY, t->family->key) ||
        !set_text(t->socket, ZMQ_CURVE_PUBLICKEY, own) ||
        !set_text(t->socket, ZMQ_CURVE_SECRETKEY, secret))
        FAIL(EK_UNAVAILABLE, "rank %d: ZeroMQ: %s", t->family->rank, zmq_strerror(errno));
    if (pthread_create(&t->thread, NULL, attend, t))
        FAIL(EK_UNAVAILABLE, "rank %d: no thread can be made to listen to rank 0", t->family->rank);
    t->attended = true;
    return call_rank_0(t, gone);
}

/* ---- receiving --------------------------------------------------------------------------------*/

static int rank_of_id(const struct zmq_transport *t, zmq_msg_t *id)
{
    char text[16] = "";
    const size_t size = zmq_msg_size(id);
    if (!size || size >= sizeof text)
        return -1;
    memcpy(text, zmq_msg_data(id), size);
    const int rank = atoi(text);
    return rank > 0 && rank < t->family->size ? rank : -1;
}

/* Takes a waiting message into t->message, with its sender in t->peer, -1: nobody. false: there is
 * none. */
static bool take_message(struct zmq_transport *t)
{
    zmq_msg_t id;
    int peer = 0;
    if (t->line) {
        zmq_msg_init(&id);
        const bool there = zmq_msg_recv(&id, t->socket, ZMQ_DONTWAIT) >= 0;
        peer = there ? rank_of_id(t, &id) : -1;
        zmq_msg_close(&id);
        if (!there)
            return false;
    }
    if (zmq_msg_recv(&t->message, t->socket, ZMQ_DONTWAIT) < 0)
        return false;
    t->peer = peer;
    return true;
}

/* Rank 0: notes which connections have ended, and whether a newer one has the descriptor of one
 * that did; false: nothing has happened. Called between taking a message and delivering it: its
 * descriptor may be one that another rank's ended connection had before. */
static bool note_ends(struct zmq_transport *t)
{
    bool noted = false;
    for (int fd, event; (event = monitor_event(t->monitor, 0, &fd)); noted = true)
        for (int r = 1; r < t->family->size; r++) {
            struct rank_line *line = &t->line[r];
            if (line->fd != fd)
                continue;
            if (event == ZMQ_EVENT_DISCONNECTED)
                line->ended = true;
            else if (line->ended)
                line->fd = -1;
        }
    return noted;
}

/* Reports a rank whose connection has ended. Only when no message is waiting: one that a lost rank
 * had sent before, delivered after this, would say that the rank is there. */
static bool next_lost(struct zmq_transport *t, struct transport_event *e)
{
    for (int r = 1; r < t->family->size; r++)
        if (t->line[r].ended) {
            t->line[r] = (struct rank_line){.fd = -1};
            *e = (struct transport_event){.kind = TRANSPORT_LOST, .peer = r};
            return true;
        }
    return false;
}

static void deliver(struct zmq_transport *t, struct transport_event *e)
{
    const int fd = zmq_msg_get(&t->message, ZMQ_SRCFD);
    struct rank_line *line = t->line ? &t->line[t->peer] : NULL;
    if (line && line->fd != fd) {
        const bool reconnected = line->fd >= 0 || line->ended;
        *line = (struct rank_line){.fd = fd};
        if (reconnected) {
            *e = (struct transport_event){.kind = TRANSPORT_LOST, .peer = t->peer};
            return;
        }
    }
    *e = (struct transport_event){TRANSPORT_MESSAGE, t->peer, zmq_msg_data(&t->message),
                                  zmq_msg_size(&t->message)};
    t->peer = -1;
}

/* A worker: reports that its connection was renewed, or is lost. */
static bool line_event(struct zmq_transport *t, struct transport_event *e)
{
    const int greetings = atomic_load(&t->greetings);
    if (greetings != t->greeted) {
        t->greeted = greetings;
        *e = (struct transport_event){.kind = TRANSPORT_RENEWED};
        return true;
    }
    if (atomic_load(&t->state) != LINE_DOWN ||
        (clock_now() - atomic_load(&t->down) < CALLING && !nobody_listens(t)))
        return false;
    *e = (struct transport_event){.kind = TRANSPORT_LOST};
    return true;
}

/* The next event, if there is one. */
static bool next_event(struct zmq_transport *t, struct transport_event *e)
{
    do {
        while (t->peer < 0 && take_message(t))
            ;
        if (t->line ? t->peer < 0 && next_lost(t, e) : line_event(t, e))
            return true;
    } while (t->line && note_ends(t) && t->peer < 0); /* ended since: with its last messages? */
    if (t->peer >= 0)
        deliver(t, e);
    return e->kind != TRANSPORT_NOTHING;
}

static enum ek_status receive(void *st, double seconds, struct transport_event *e)
{
    struct zmq_transport *t = st;
    const double until = clock_now() + seconds;
    *e = (struct transport_event){TRANSPORT_NOTHING, -1, NULL, 0};
    atomic_store(&t->calls, true);
    for (;;) {
        zmq_pollitem_t item[] = {{.socket = t->socket, .events = ZMQ_POLLIN},
                                 {.socket = t->monitor, .events = ZMQ_POLLIN}};
        if (next_event(t, e))
            break;
        const double left = until - clock_now();
        if (left <= 0)
            break;
        const long wait = (long)(1e3 * left) + 1;
        if (zmq_poll(item, t->line ? 2 : 1, t->line || wait < 100 ? wait : 100) < 0 &&
            errno == EINTR)
            break;
    }
    atomic_store(&t->calls, false);
    return EK_OK;
}

/* ---- the transport ----------------------------------------------------------------------------*/

static enum ek_status send_message(void *st, int peer, const void *data, size_t bytes)
{
    struct zmq_transport *t = st;
    char id[16];
    if (t->line) {
        const int n = snprintf(id, sizeof id, "%d", peer);
        if (zmq_send(t->socket, id, (size_t)n, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0)
            return EK_LOST;
    }
    return zmq_send(t->socket, data, bytes, ZMQ_DONTWAIT) < 0 ? EK_LOST : EK_OK;
}

static double now(void *st)
{
    (void)st;
    return clock_now();
}

static const struct transport_ops ops = {"ZeroMQ", send_message, receive, now, close_transport};

enum ek_status transport_zmq_open(const struct family *family, struct transport *t, bool *gone)
{
    NEW(struct zmq_transport, made, 1, "out of memory for connections");
    *made = (struct zmq_transport){.family = family, .peer = -1};
    zmq_msg_init(&made->message);
    atomic_store(&made->calls, true);
    made->context = zmq_ctx_new();
    if (made->context)
        made->socket = zmq_socket(made->context, family->rank ? ZMQ_DEALER : ZMQ_ROUTER);
    enum ek_status st = EK_OK;
    if (!made->socket || !set_all(made->socket))
        st = status_fail(EK_UNAVAILABLE, "ZeroMQ: %s", zmq_strerror(errno));
    THEN(st, family->rank ? open_dealer(made, gone) : open_router(made));
    atomic_store(&made->calls, false);
    if (st || *gone)
        close_transport(made);
    else
        *t = (struct transport){&ops, made};
    return st;
}
