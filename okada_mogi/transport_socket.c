/* okada_mogi/transport_socket.c – a frame is a length and so many bytes; the first one of a
 * connection says who calls. */
#include "okada_mogi/transport_socket.h"
#include "src/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Seconds in which rank 0 must answer; and if nobody listens there. */
static const double CALLING = 30, REFUSED = 0.5;
static const uint64_t most_bytes = (uint64_t)1 << 40;

/* What a caller sends first. */
struct hello {
    uint64_t secret, rank;
};

/* One connection and what has come over it so far: a frame and perhaps more. */
struct line {
    int fd, peer; /* peer -1: has not said hello */
    char *data;
    size_t have, room, used; /* used: bytes of the frame that receive() has given out */
};

struct socket_transport {
    const struct family *family;
    struct line *line;   /* [n] */
    struct pollfd *poll; /* [n + 1] */
    size_t n, room;
    size_t turn; /* line to look at first, so that none is overheard */
};

/* ---- lines ------------------------------------------------------------------------------------*/

static void hang_up(struct socket_transport *s, size_t i)
{
    close(s->line[i].fd);
    free(s->line[i].data);
    s->line[i] = s->line[--s->n];
}

static enum ek_status add_line(struct socket_transport *s, int fd, int peer)
{
    const int on = 1;
    if (s->n == s->room) {
        const size_t room = 2 * s->room + 16;
        struct line *line = realloc(s->line, room * sizeof *line);
        if (line)
            s->line = line;
        struct pollfd *polls = realloc(s->poll, (room + 1) * sizeof *polls);
        if (polls)
            s->poll = polls;
        if (!line || !polls) {
            close(fd);
            FAIL(EK_LACK, "out of memory for %zu connections", room);
        }
        s->room = room;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    s->line[s->n++] = (struct line){.fd = fd, .peer = peer};
    return EK_OK;
}

static struct line *line_of(const struct socket_transport *s, int peer)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->line[i].peer == peer)
            return &s->line[i];
    return NULL;
}

static bool send_all(int fd, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes) {
        const ssize_t n = send(fd, from, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        from += n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool send_frame(int fd, const void *data, size_t bytes)
{
    const uint64_t length = bytes;
    return send_all(fd, &length, sizeof length) && send_all(fd, data, bytes);
}

/* ---- calling ----------------------------------------------------------------------------------*/

static int call_number(const char *number, int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval most = {.tv_sec = 5};
    if (inet_pton(AF_INET, number, &at.sin_addr) != 1)
        return -1;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    const int failed = connect(fd, (struct sockaddr *)&at, sizeof at), why = errno;
    most.tv_sec = 0;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    if (!failed)
        return fd;
    close(fd);
    errno = why;
    return -1;
}

/* One of "10.0.0.1,127.0.0.1:4711". */
static int call_any(const char *where)
{
    char text[512], *rest = text;
    snprintf(text, sizeof text, "%s", where);
    char *colon = strrchr(text, ':');
    if (!colon)
        return -1;
    *colon = '\0';
    int fd = -1;
    for (char *number; fd < 0 && (number = strsep(&rest, ","));)
        fd = call_number(number, atoi(colon + 1));
    return fd;
}

static enum ek_status call_first(struct socket_transport *s, bool *gone)
{
    const struct hello hello = {s->family->secret, (uint64_t)s->family->rank};
    const double start = clock_now();
    int fd;
    while ((fd = call_any(s->family->call)) < 0) {
        *gone = errno == ECONNREFUSED && clock_now() - start > REFUSED;
        if (*gone)
            return EK_OK;
        if (clock_now() - start > CALLING)
            FAIL(EK_LACK, "rank %d: rank 0 does not answer at %s: %s", s->family->rank,
                 s->family->call, strerror(errno));
        poll(NULL, 0, 200);
    }
    TRY(add_line(s, fd, 0));
    *gone = !send_frame(fd, &hello, sizeof hello);
    return EK_OK;
}

/* ---- receiving --------------------------------------------------------------------------------*/

static bool frame_of(const struct line *l, uint64_t *bytes)
{
    if (l->have < sizeof *bytes)
        return false;
    memcpy(bytes, l->data, sizeof *bytes);
    return l->have >= sizeof *bytes + *bytes;
}

/* The frame given out last makes room. */
static void drop_used(struct line *l)
{
    if (!l->used)
        return;
    memmove(l->data, l->data + l->used, l->have - l->used);
    l->have -= l->used;
    l->used = 0;
}

/* Reads what is there. False: the line is dead. */
static bool hear(struct line *l)
{
    uint64_t bytes = 0;
    if (l->have >= sizeof bytes)
        memcpy(&bytes, l->data, sizeof bytes);
    if (bytes > most_bytes)
        return false;
    const size_t want = l->have + 4096 > bytes + 4096 ? l->have + 4096 : bytes + 4096;
    if (want > l->room) {
        char *more = realloc(l->data, want);
        if (!more)
            return false; /* as good as dead: its batch goes to others */
        l->data = more;
        l->room = want;
    }
    const ssize_t n = recv(l->fd, l->data + l->have, l->room - l->have, MSG_DONTWAIT);
    if (n > 0)
        l->have += (size_t)n;
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool is_number(const struct socket_transport *s, uint64_t rank)
{
    return rank > 0 && rank < (uint64_t)s->family->size;
}

/* The first frame of a line: who is it? One who calls again has lost its old line, and waits until
 * that is known. False: nobody we know. */
static bool meet(struct socket_transport *s, struct line *l)
{
    struct hello hello;
    uint64_t bytes;
    if (!frame_of(l, &bytes))
        return l->have < sizeof bytes + sizeof hello;
    if (bytes != sizeof hello)
        return false;
    memcpy(&hello, l->data + sizeof bytes, sizeof hello);
    if (hello.secret != s->family->secret || !is_number(s, hello.rank))
        return false;
    if (line_of(s, (int)hello.rank))
        return true;
    l->peer = (int)hello.rank;
    l->used = sizeof bytes + sizeof hello;
    drop_used(l);
    return true;
}

static void meet_callers(struct socket_transport *s)
{
    for (size_t i = s->n; i-- > 0;)
        if (s->line[i].peer < 0 && !meet(s, &s->line[i]))
            hang_up(s, i);
}

/* A frame that has come as a whole. */
static bool give(struct socket_transport *s, struct transport_event *e)
{
    for (size_t i = 0; i < s->n; i++)
        drop_used(&s->line[i]);
    meet_callers(s);
    for (size_t k = 0; k < s->n; k++) {
        struct line *l = &s->line[(s->turn + k) % s->n];
        uint64_t bytes;
        if (l->peer < 0 || !frame_of(l, &bytes))
            continue;
        *e = (struct transport_event){TRANSPORT_MESSAGE, l->peer, l->data + sizeof bytes, bytes};
        l->used = sizeof bytes + bytes;
        s->turn = (s->turn + k + 1) % s->n;
        return true;
    }
    return false;
}

static enum ek_status answer_call(struct socket_transport *s)
{
    const int fd = accept4(s->family->listens, NULL, NULL, SOCK_CLOEXEC);
    return fd < 0 ? EK_OK : add_line(s, fd, -1);
}

/* Waits for something to come and takes it in. A line that died is the event. */
static enum ek_status listen_for(struct socket_transport *s, double seconds,
                                 struct transport_event *e)
{
    const bool answers = s->family->listens >= 0;
    for (size_t i = 0; i < s->n; i++)
        s->poll[i] = (struct pollfd){.fd = s->line[i].fd, .events = POLLIN};
    s->poll[s->n] = (struct pollfd){.fd = s->family->listens, .events = POLLIN};
    if (poll(s->poll, s->n + answers, (int)(1e3 * seconds + 0.999)) <= 0)
        return EK_OK;
    const bool called = answers && s->poll[s->n].revents;
    for (size_t i = s->n; i-- > 0;) {
        struct line *l = &s->line[i];
        if (!s->poll[i].revents || hear(l))
            continue;
        const int peer = l->peer;
        hang_up(s, i);
        if (peer < 0)
            continue;
        *e = (struct transport_event){.kind = TRANSPORT_LOST, .peer = peer};
        return EK_OK; /* the rest is heard next time */
    }
    return called ? answer_call(s) : EK_OK;
}

static enum ek_status receive(void *st, double seconds, struct transport_event *e)
{
    struct socket_transport *s = st;
    const double until = clock_now() + seconds;
    *e = (struct transport_event){TRANSPORT_NOTHING, -1, NULL, 0};
    do {
        if (give(s, e))
            return EK_OK;
        const double left = until - clock_now();
        TRY(listen_for(s, left > 0 ? left : 0, e));
    } while (e->kind == TRANSPORT_NOTHING && clock_now() < until);
    if (e->kind == TRANSPORT_NOTHING)
        give(s, e);
    return EK_OK;
}

/* ---- the transport ----------------------------------------------------------------------------*/

static enum ek_status send_message(void *st, int peer, const void *data, size_t bytes)
{
    const struct line *l = line_of(st, peer);
    return l && send_frame(l->fd, data, bytes) ? EK_OK : EK_LOST;
}

static double now(void *st)
{
    (void)st;
    return clock_now();
}

static void close_transport(void *st)
{
    struct socket_transport *s = st;
    while (s->n)
        hang_up(s, s->n - 1);
    free(s->line);
    free(s->poll);
    free(s);
}

static const struct transport_ops ops = {"sockets", send_message, receive, now, close_transport};

enum ek_status transport_socket_open(const struct family *family, struct transport *t, bool *gone)
{
    struct socket_transport *s = calloc(1, sizeof *s);
    if (!s)
        FAIL(EK_LACK, "out of memory for connections");
    s->family = family;
    s->poll = calloc(1, sizeof *s->poll);
    enum ek_status st = !s->poll       ? status_fail(EK_LACK, "out of memory for connections")
                        : family->rank ? call_first(s, gone)
                                       : EK_OK;
    if (st) {
        close_transport(s);
        return st;
    }
    *t = (struct transport){&ops, s};
    return EK_OK;
}
