/* cu/rank/survive.c – lends memory to ranks, watches over them and launches them anew. */
#include "cu/rank/survive.h"
#include "cu/rank/cluster.h"
#include "cu/rank/guard.h"
#include "src/clock.h"
#include "src/nohup.h"
#include "src/process.h"
#include "src/self.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Names run and launch to what is launched: "id number". */
static const char *const mark = "CU_SURVIVE";

enum { RANKS = 1024, TRIES = 5, TICK = 200 /* ms */ };

/* Seconds: a frozen rank may go on within */
static const double THAW = 2;
/* … a launch that has lost a rank ends by itself within … */
static const double MOURNING = 3;
/* … a keeper that launches nobody ends after: all were lost, all have left. */
static const double LINGER = 60, FAREWELL = 5;

enum word { BYE = 'b', OVER = 'o' };

struct hello {
    uint64_t launch, bytes;
    int64_t guard; /* the process that waits for this one, 0: none */
};

struct rank {
    int fd;
    pid_t pid, guard;
    uint64_t launch; /* 0 until it has said hello */
    double frozen;   /* since when, 0: it is not */
    bool waits;      /* for the memory */
    bool left;       /* it has said that it goes */
};

static struct keeper {
    int listens, memory;           /* -1: none */
    uint64_t bytes, launch;        /* of the memory; the present one, from 1 */
    const volatile uint64_t *kept; /* the run's number, NULL until somebody takes the memory */
    int n;
    struct rank rank[RANKS];
    struct pollfd poll[RANKS + 1];
    double lost;            /* since when a rank of this launch is lost, 0: none is */
    double alone, patience; /* since when nobody is there, and how long that may be */
    bool served;            /* a rank of this launch was here */
    bool over;
    pid_t child;   /* what was launched, 0: nothing */
    pid_t stopped; /* one of its processes that is, when last looked for */
    double looked, since;
} k = {.memory = -1, .patience = 60};

static struct {
    char id[64];
    uint64_t launch;
    int fd;
} here = {.fd = -1};

static volatile sig_atomic_t told, warned; /* signals that ask to end, to save */

/* ---- calling ----------------------------------------------------------------------------------*/

/* Of the abstract namespace: no file. */
static socklen_t address_of(const char *id, struct sockaddr_un *a)
{
    char host[65] = "";
    gethostname(host, sizeof host - 1);
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    const int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "ek %.38s %s", id, host);
    const size_t most = sizeof a->sun_path - 1;
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       ((size_t)n < most ? (size_t)n : most));
}

/* Of the same user; who else could listen there? */
static bool is_ours(int fd, pid_t *pid)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    const bool ours = !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
                      peer.uid == geteuid() && peer.pid > 1;
    *pid = peer.pid;
    return ours;
}

static int call(void)
{
    struct sockaddr_un a;
    pid_t pid;
    const socklen_t size = address_of(here.id, &a);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && !connect(fd, (struct sockaddr *)&a, size) && is_ours(fd, &pid))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int receive_memory(int fd)
{
    char byte;
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec io = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    int memory = -1;
    ssize_t n;
    while ((n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS)
        memcpy(&memory, CMSG_DATA(c), sizeof memory);
    return memory;
}

enum ek_status survive_take(size_t bytes, uint64_t **out)
{
    const struct hello hello = {here.launch, bytes, guard_guarded() ? getppid() : 0};
    const double until = clock_now() + THAW; /* it may be about to listen */
    while ((here.fd = call()) < 0 && clock_now() < until)
        poll(NULL, 0, TICK / 10);
    const int memory = here.fd >= 0 && send(here.fd, &hello, sizeof hello, MSG_NOSIGNAL) > 0
                           ? receive_memory(here.fd)
                           : -1;
    void *at =
        memory < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (memory >= 0)
        close(memory);
    if (at == MAP_FAILED)
        FAIL(EK_UNAVAILABLE, "the keeper of this node does not lend %.1f MB for --survive: %s",
             1e-6 * (double)bytes, strerror(errno));
    *out = at;
    return EK_OK;
}

void survive_leave(bool over)
{
    const char word = over ? OVER : BYE;
    if (here.fd >= 0)
        send(here.fd, &word, 1, MSG_NOSIGNAL);
}

bool survive_launched(void)
{
    return getenv(mark) != NULL;
}

/* ---- keeping ----------------------------------------------------------------------------------*/

static void kill_ranks(uint64_t before, int number)
{
    for (int i = 0; i < k.n; i++)
        if (k.rank[i].launch && k.rank[i].launch < before)
            kill(k.rank[i].pid, number);
}

static void make_memory(uint64_t bytes)
{
    k.memory = memfd_create("evenkeel", MFD_CLOEXEC);
    if (k.memory < 0 || ftruncate(k.memory, (off_t)bytes))
        return;
    void *at = mmap(NULL, sizeof *k.kept, PROT_READ, MAP_SHARED, k.memory, 0);
    k.kept = at == MAP_FAILED ? NULL : at;
    k.bytes = bytes;
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
    memcpy(CMSG_DATA(&control.header), &k.memory, sizeof k.memory);
    sendmsg(fd, &m, MSG_NOSIGNAL);
}

/* A launch gets the memory when nobody of an earlier one is left. */
static void lend_to_all(void)
{
    for (int i = 0; i < k.n; i++)
        if (k.rank[i].launch && k.rank[i].launch < k.launch)
            return;
    for (int i = 0; i < k.n; i++)
        if (k.rank[i].waits) {
            lend(k.rank[i].fd);
            k.rank[i].waits = false;
        }
}

static void drop(int i)
{
    const struct rank *r = &k.rank[i];
    const bool present = r->launch && r->launch == k.launch;
    if (present && !r->left && !k.lost)
        k.lost = clock_now();
    if (present)
        k.patience = k.lost > 0 ? LINGER : FAREWELL;
    close(r->fd);
    k.rank[i] = k.rank[--k.n];
    k.alone = clock_now();
}

static void greet(struct rank *r, const struct hello *hello)
{
    r->launch = hello->launch;
    r->guard = (pid_t)hello->guard;
    if (k.launch < r->launch) {
        k.launch = r->launch;
        k.lost = 0;
    }
    k.served = true;
    kill_ranks(k.launch, SIGKILL);
    if (k.memory < 0)
        make_memory(hello->bytes);
    r->waits = hello->bytes == k.bytes;
    if (!r->waits) /* another problem's, or there is no memory: it will notice */
        shutdown(r->fd, SHUT_RDWR);
}

static void listen_to(int i)
{
    struct hello hello;
    const ssize_t n = recv(k.rank[i].fd, &hello, sizeof hello, MSG_DONTWAIT);
    if (n == sizeof hello)
        greet(&k.rank[i], &hello);
    else if (n == 1)
        k.rank[i].left = true;
    if (n == 1 && !memcmp(&hello, &(char){OVER}, 1) && !k.lost)
        k.over = true;
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        drop(i);
}

static void welcome(void)
{
    struct rank r = {.fd = accept4(k.listens, NULL, NULL, SOCK_CLOEXEC)};
    if (r.fd >= 0 && (!is_ours(r.fd, &r.pid) || k.n == RANKS))
        close(r.fd);
    else if (r.fd >= 0)
        k.rank[k.n++] = r;
}

static void end_frozen(pid_t pid)
{
    status_warn("process %d has been stopped for %.0f s: it is replaced", (int)pid, THAW);
    kill(pid, SIGKILL);
}

/* A rank that is frozen, or whose guard is, is as good as dead. */
static void watch_frozen(struct rank *r, double now)
{
    if (!process_is_frozen(r->pid) && !process_is_frozen(r->guard)) {
        r->frozen = 0;
    } else if (!(r->frozen > 0)) {
        r->frozen = now;
    } else if (now > r->frozen + THAW) {
        end_frozen(r->pid);
        if (r->guard)
            kill(r->guard, SIGKILL);
        r->frozen = 0;
    }
}

/* Where one is lost, the others end at once, and their launcher if it does not follow. */
static void watch_ranks(void)
{
    const double now = clock_now();
    for (int i = 0; i < k.n; i++)
        watch_frozen(&k.rank[i], now);
    if (!(k.lost > 0))
        return;
    kill_ranks(k.launch + 1, now > k.lost + THAW ? SIGKILL : SURVIVE_DISMISSED);
    if (k.child && now > k.lost + MOURNING)
        kill(-k.child, SIGKILL);
}

/* One look around. */
static void keep(void)
{
    k.poll[0] = (struct pollfd){k.listens, POLLIN, 0};
    for (int i = 0; i < k.n; i++)
        k.poll[i + 1] = (struct pollfd){k.rank[i].fd, POLLIN, 0};
    const int n = k.n;
    if (poll(k.poll, (nfds_t)n + 1, TICK) > 0) {
        for (int i = n - 1; i >= 0; i--) /* the last takes the place of one that goes */
            if (k.poll[i + 1].revents)
                listen_to(i);
        if (k.poll[0].revents)
            welcome();
    }
    lend_to_all();
    watch_ranks();
}

/* -1: somebody else listens, or nobody can. */
static int listen_here(void)
{
    struct sockaddr_un a;
    const socklen_t size = address_of(here.id, &a);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && !bind(fd, (struct sockaddr *)&a, size) && !listen(fd, RANKS))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* The keeper of a node without the first process; holds nothing of its launcher. */
static void keep_alone(void)
{
    const int null = open("/dev/null", O_RDWR);
    setsid();
    prctl(PR_SET_NAME, "ek-keeper");
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    for (int fd = (int)sysconf(_SC_OPEN_MAX) < 4096 ? (int)sysconf(_SC_OPEN_MAX) : 4096; fd-- > 3;)
        if (fd != k.listens)
            close(fd);
    k.alone = clock_now();
    while (!k.over && (k.n || clock_now() < k.alone + k.patience))
        keep();
    _exit(0);
}

/* ---- launching --------------------------------------------------------------------------------*/

static void on_signal(int number)
{
    if (number == SIGUSR1)
        warned = 1;
    else if (number != SIGCHLD)
        told++;
}

static void catch_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGCHLD};
    const struct sigaction act = {.sa_handler = on_signal};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &act, NULL);
    if (nohup_given())
        signal(SIGHUP, SIG_IGN);
}

/* In a group of its own, so that a terminal's signals reach it through us alone. */
static void execute(char **argv)
{
    char text[96];
    const int null = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(null, 0);
    snprintf(text, sizeof text, "%d", (int)k.launch - 1);
    setenv("CU_LAUNCH", text, 1);
    execv("/bin/sh", argv);
    _exit(127);
}

/* sh -c "exec LAUNCH env CU_SURVIVE=… PROGRAM ARGUMENTS…": env, for launchers that pass nothing of
 * ours to other nodes. */
static enum ek_status launch(const char *command)
{
    char **words = self_arguments(), *script, **argv;
    size_t n = 0;
    while (words && words[n])
        n++;
    argv = calloc(n + 5, sizeof *argv);
    if (!n || !argv ||
        asprintf(&script, "exec %s env %s='%s %d' \"$@\"", command, mark, here.id,
                 (int)++k.launch) < 0)
        FAIL(EK_UNAVAILABLE, "out of memory");
    const char *const first[] = {"sh", "-c", script, "sh", self_path()};
    memcpy(argv, first, sizeof first);
    memcpy(argv + 5, words + 1, (n - 1) * sizeof *argv);
    k.served = k.over = false;
    k.lost = 0;
    k.child = fork();
    if (!k.child)
        execute(argv);
    setpgid(k.child, k.child);
    free(script);
    free(argv);
    if (k.child < 0)
        FAIL(EK_UNAVAILABLE, "no process can be made: %s", strerror(errno));
    return EK_OK;
}

/* One rank tells the others, and all end with 4; launchers would kill them. */
static void tell(int number)
{
    kill(k.n && told < 2 ? k.rank[0].pid : k.child, number);
}

/* One that is stopped before it has said hello, or the launcher: once a second, that costs. */
static void watch_launch(void)
{
    const double now = clock_now();
    if (now < k.looked + 1)
        return;
    k.looked = now;
    const pid_t stopped = process_frozen_below(k.child);
    if (stopped != k.stopped)
        k.since = now;
    k.stopped = stopped;
    if (stopped && now > k.since + THAW)
        end_frozen(stopped);
}

/* Exit code of the launch. */
static int watch(void)
{
    int status, passed = 0;
    while (waitpid(k.child, &status, WNOHANG) != k.child) {
        keep();
        watch_launch();
        if (passed < told)
            tell(SIGTERM);
        if (warned)
            tell(SIGUSR1);
        passed = told;
        warned = 0;
    }
    k.child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Ended as it was meant to, or in a way that it would again. */
static bool is_final(int code)
{
    return told || code == EK_OK || code == EK_USAGE || code == EK_STOPPED ||
           (code < 128 && (k.over || !k.served));
}

static int launch_until_final(const char *command)
{
    uint64_t best = 0;
    for (int fruitless = 0;;) {
        if (launch(command))
            return EK_UNAVAILABLE;
        const int code = watch();
        if (code == EK_OK && !k.served && !told)
            return status_fail(EK_USAGE,
                               "--launch '%s' ended, but no rank came to this node: give what "
                               "stands before a program, for at least one rank here",
                               command);
        if (is_final(code))
            return told && code ? EK_STOPPED : code;
        const uint64_t kept = k.kept ? *k.kept : 0;
        fruitless = kept > best ? 0 : fruitless + 1;
        best = kept;
        if (fruitless == TRIES)
            return status_fail(EK_UNAVAILABLE,
                               "%d launches in a row were lost before they got "
                               "any further; the last one ended with %d",
                               TRIES, code);
        status_warn("ranks are lost; all are launched again and go on from step %" PRIu64
                    ", which is kept in memory",
                    kept);
    }
}

static enum ek_status supervise(const char *command)
{
    snprintf(here.id, sizeof here.id, "%d-%.0f", (int)getpid(), 1e6 * clock_now());
    k.listens = listen_here();
    if (k.listens < 0)
        FAIL(EK_UNAVAILABLE, "no socket for the ranks: %s", strerror(errno));
    prctl(PR_SET_NAME, "ek-keeper");
    catch_signals();
    const int code = launch_until_final(command);
    kill_ranks(UINT64_MAX, SIGKILL);
    _exit(code); /* nothing was printed that is not out */
}

enum ek_status survive_begin(const char *command)
{
    const char *text = getenv(mark);
    if (!text && cluster_launch().size > 1)
        FAIL(EK_USAGE,
             "--survive launches the ranks itself: leave out mpirun, add --launch 'mpirun -n %d'",
             cluster_launch().size);
    if (!text)
        return supervise(command);
    if (sscanf(text, "%63s %" SCNu64, here.id, &here.launch) != 2)
        FAIL(EK_USAGE, "%s='%s': leave it to --survive", mark, text);
    const int fd = call();
    if (fd >= 0)
        close(fd);
    else if ((k.listens = listen_here()) >= 0 && !fork())
        keep_alone();
    else if (k.listens >= 0)
        close(k.listens);
    return EK_OK;
}
