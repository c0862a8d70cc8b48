/* cu/rank/survive_keeper.c – a keeper: lends memory to the ranks of its node and watches over
 * them. */
#include "cu/rank/survive_internal.h"
#include "src/clock.h"
#include "src/process.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Seconds: a launch that has lost a rank ends by itself within … */
static const double MOURNING = 3;
/* … a keeper that launches nobody ends after: all were lost, all have left. */
static const double LINGER = 60, FAREWELL = 5;

struct survive_keeper survive_keeper = {.memory = -1, .patience = 60};
static struct survive_keeper *const k = &survive_keeper;

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

/* A launch gets the memory when nobody of an earlier one is left. */
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
        k->patience = k->lost > 0 ? LINGER : FAREWELL;
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
    if (!r->waits) /* another problem's, or there is no memory: it will notice */
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

void survive_end_frozen(pid_t pid)
{
    status_warn("process %d has been stopped for %.0f s: it is replaced", (int)pid, SURVIVE_THAW);
    kill(pid, SIGKILL);
}

/* A rank that is frozen, or whose guard is, is as good as dead. */
static void watch_frozen(struct survive_rank *r, double now)
{
    if (!process_is_frozen(r->pid) && !process_is_frozen(r->guard)) {
        r->frozen = 0;
    } else if (!(r->frozen > 0)) {
        r->frozen = now;
    } else if (now > r->frozen + SURVIVE_THAW) {
        survive_end_frozen(r->pid);
        if (r->guard)
            kill(r->guard, SIGKILL);
        r->frozen = 0;
    }
}

/* Where one is lost, the others end at once, and their launcher if it does not follow. */
static void watch_ranks(void)
{
    const double now = clock_now();
    for (int i = 0; i < k->n; i++)
        watch_frozen(&k->rank[i], now);
    if (!(k->lost > 0))
        return;
    survive_kill_ranks(k->launch + 1, now > k->lost + SURVIVE_THAW ? SIGKILL : SURVIVE_DISMISSED);
    if (k->child && now > k->lost + MOURNING)
        kill(-k->child, SIGKILL);
}

/* One look around. */
void survive_keep(void)
{
    k->poll[0] = (struct pollfd){k->listens, POLLIN, 0};
    for (int i = 0; i < k->n; i++)
        k->poll[i + 1] = (struct pollfd){k->rank[i].fd, POLLIN, 0};
    const int n = k->n;
    if (poll(k->poll, (nfds_t)n + 1, SURVIVE_TICK) > 0) {
        for (int i = n - 1; i >= 0; i--) /* the last takes the place of one that goes */
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

/* Holds nothing of its launcher. */
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
