/* cu/rank/survive_keeper.c – a keeper lends memory to the ranks of its node and watches them. */
#include "cu/rank/survive_internal.h"
#include "src/clock.h"
#include "src/process.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Seconds after the loss of a rank when its launcher is killed. */
static const double LAUNCHER_GRACE = 3;
/* Seconds after which a keeper without ranks ends: if some were lost, if all said goodbye. */
static const double AFTER_LOSS = 60, AFTER_GOODBYE = 5;

struct survive_keeper survive_keeper = {.memory = -1, .patience = 60};
static struct survive_keeper *const k = &survive_keeper;

socklen_t survive_address(const char *id, struct sockaddr_un *a)
{
    char host[65] = "";
    gethostname(host, sizeof host - 1);
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    const int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "ek %.38s %s", id, host);
    const size_t most = sizeof a->sun_path - 1;
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       ((size_t)n < most ? (size_t)n : most));
}

bool survive_is_ours(int fd, pid_t *pid)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    const bool ours = !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
                      peer.uid == geteuid() && peer.pid > 1;
    *pid = peer.pid;
    return ours;
}

void survive_kill_ranks(uint64_t before, int number)
{
    for (int i = 0; i < k->n; i++)
        if (k->rank[i].launch && k->rank[i].launch < before)
            kill(k->rank[i].pid, number);
}

static void make_memory(uint64_t bytes)
{
    k->memory = memfd_create("evenkeel", MFD_CLOEXEC);
    if (k->memory < 0 || ftruncate(k->memory, (off_t)bytes))
        return;
    void *at = mmap(NULL, sizeof *k->kept, PROT_READ, MAP_SHARED, k->memory, 0);
    k->kept = at == MAP_FAILED ? NULL : at;
    k->bytes = bytes;
}

static void lend(int fd)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.header = {.cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS,
                            .cmsg_len = CMSG_LEN(sizeof(int))}};
    struct iovec io = {"", 1};
    const struct msghdr m = {.msg_iov = &io,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control.room};
    memcpy(CMSG_DATA(&control.header), &k->memory, sizeof k->memory);
    sendmsg(fd, &m, MSG_NOSIGNAL);
}

/* Lends the memory to waiting ranks once no rank of an earlier launch is left. */
static void lend_to_all(void)
{
    for (int i = 0; i < k->n; i++)
        if (k->rank[i].launch && k->rank[i].launch < k->launch)
            return;
    for (int i = 0; i < k->n; i++)
        if (k->rank[i].waits) {
            lend(k->rank[i].fd);
            k->rank[i].waits = false;
        }
}

static void drop(int i)
{
    const struct survive_rank *r = &k->rank[i];
    const bool present = r->launch && r->launch == k->launch;
    if (present && !r->left && !k->lost)
        k->lost = clock_now();
    if (present)
        k->patience = k->lost > 0 ? AFTER_LOSS : AFTER_GOODBYE;
    close(r->fd);
    k->rank[i] = k->rank[--k->n];
    k->alone = clock_now();
}

static void greet(struct survive_rank *r, const struct survive_hello *hello)
{
    r->launch = hello->launch;
    r->guard = (pid_t)hello->guard;
    if (k->launch < r->launch) {
        k->launch = r->launch;
        k->lost = 0;
    }
    k->served = true;
    survive_kill_ranks(k->launch, SIGKILL);
    if (k->memory < 0)
        make_memory(hello->bytes);
    r->waits = hello->bytes == k->bytes;
    if (!r->waits) /* another size, or no memory: the rank will notice */
        shutdown(r->fd, SHUT_RDWR);
}

static void listen_to(int i)
{
    struct survive_hello hello;
    const ssize_t n = recv(k->rank[i].fd, &hello, sizeof hello, MSG_DONTWAIT);
    if (n == sizeof hello)
        greet(&k->rank[i], &hello);
    else if (n == 1)
        k->rank[i].left = true;
    if (n == 1 && !memcmp(&hello, &(char){SURVIVE_OVER}, 1) && !k->lost)
        k->over = true;
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        drop(i);
}

static void welcome(void)
{
    struct survive_rank r = {.fd = accept4(k->listens, NULL, NULL, SOCK_CLOEXEC)};
    if (r.fd >= 0 && (!survive_is_ours(r.fd, &r.pid) || k->n == SURVIVE_RANKS))
        close(r.fd);
    else if (r.fd >= 0)
        k->rank[k->n++] = r;
}

void survive_kill_stopped(pid_t pid)
{
    status_warn("process %d has been stopped for %.0f s: it is replaced", (int)pid, SURVIVE_STOP);
    kill(pid, SIGKILL);
}

/* Kills a rank that stays stopped, or whose guard does. */
static void watch_stopped(struct survive_rank *r, double now)
{
    if (!process_is_frozen(r->pid) && !process_is_frozen(r->guard)) {
        r->frozen = 0;
    } else if (!(r->frozen > 0)) {
        r->frozen = now;
    } else if (now > r->frozen + SURVIVE_STOP) {
        survive_kill_stopped(r->pid);
        if (r->guard)
            kill(r->guard, SIGKILL);
        r->frozen = 0;
    }
}

/* If a rank is lost, ends the others at once, and their launcher if it does not follow. */
static void watch_ranks(void)
{
    const double now = clock_now();
    for (int i = 0; i < k->n; i++)
        watch_stopped(&k->rank[i], now);
    if (!(k->lost > 0))
        return;
    survive_kill_ranks(k->launch + 1, now > k->lost + SURVIVE_STOP ? SIGKILL : SURVIVE_DISMISSED);
    if (k->child && now > k->lost + LAUNCHER_GRACE)
        kill(-k->child, SIGKILL);
}

void survive_keep(void)
{
    k->poll[0] = (struct pollfd){k->listens, POLLIN, 0};
    for (int i = 0; i < k->n; i++)
        k->poll[i + 1] = (struct pollfd){k->rank[i].fd, POLLIN, 0};
    const int n = k->n;
    if (poll(k->poll, (nfds_t)n + 1, SURVIVE_TICK) > 0) {
        for (int i = n - 1; i >= 0; i--) /* downwards: the last rank replaces one that is dropped */
            if (k->poll[i + 1].revents)
                listen_to(i);
        if (k->poll[0].revents)
            welcome();
    }
    lend_to_all();
    watch_ranks();
}

bool survive_listen(const char *id)
{
    struct sockaddr_un a;
    const socklen_t size = survive_address(id, &a);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const bool listens =
        fd >= 0 && !bind(fd, (struct sockaddr *)&a, size) && !listen(fd, SURVIVE_RANKS);
    if (fd >= 0 && !listens)
        close(fd);
    k->listens = listens ? fd : -1;
    return listens;
}

/* Detaches from the launcher: own session, no inherited files. */
void survive_keep_alone(void)
{
    const int null = open("/dev/null", O_RDWR);
    setsid();
    prctl(PR_SET_NAME, "ek-keeper");
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    for (int fd = (int)sysconf(_SC_OPEN_MAX) < 4096 ? (int)sysconf(_SC_OPEN_MAX) : 4096; fd-- > 3;)
        if (fd != k->listens)
            close(fd);
    k->alone = clock_now();
    while (!k->over && (k->n || clock_now() < k->alone + k->patience))
        survive_keep();
    _exit(0);
}
