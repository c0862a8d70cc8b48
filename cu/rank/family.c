/* cu/rank/family.c – guards broadcast rank 0's address by MPI; children inherit it in CU_FAMILY. */
#include "cu/rank/family.h"
#include "cu/rank/cluster.h"
#include "cu/rank/guard.h"
#include "src/self.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RESTARTS = 5, QUEUE = 1024 };

/* Variable that passes "rank size socket key secret call" to the child's images. */
static const char *const mark = "CU_FAMILY";

static struct family here = {.size = 1, .listens = -1};

const struct family *family_here(void)
{
    return &here;
}

bool family_orphaned(void)
{
    return here.size > 1 && !guard_guarded();
}

/* Whether other nodes can connect to this address; link-local ones differ in meaning there. */
static bool is_reachable(const struct ifaddrs *a)
{
    const struct sockaddr_in6 *six = (const void *)a->ifa_addr;
    if (!a->ifa_addr || !(a->ifa_flags & IFF_UP) || a->ifa_flags & IFF_LOOPBACK)
        return false;
    return a->ifa_addr->sa_family == AF_INET ||
           (a->ifa_addr->sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr));
}

/* Lists this node's addresses, the loopback last: from other nodes it leads to themselves. */
static void list_addresses(char *text, size_t room)
{
    struct ifaddrs *all = NULL;
    size_t used = 0;
    char number[NI_MAXHOST];
    if (getifaddrs(&all))
        all = NULL;
    for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
        const bool four = is_reachable(a) && a->ifa_addr->sa_family == AF_INET;
        const socklen_t size = four ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
        if (is_reachable(a) && used < room - 128 &&
            !getnameinfo(a->ifa_addr, size, number, sizeof number, NULL, 0, NI_NUMERICHOST))
            used += (size_t)snprintf(text + used, room - used, "%s,", number);
    }
    freeifaddrs(all);
    snprintf(text + used, room - used, "127.0.0.1");
}

/* A listening socket for IPv6 and IPv4, or for IPv4 if the node has nothing else; -1 on failure. */
static int listen_somewhere(int *port)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_ANY)}};
    socklen_t size = sizeof six;
    const int both = 0;
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    if (fd < 0 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both) ||
        bind(fd, (struct sockaddr *)&six, sizeof six)) {
        if (fd >= 0)
            close(fd);
        fd = socket(AF_INET, SOCK_STREAM, 0);
        if (fd < 0 || bind(fd, (struct sockaddr *)&four, sizeof four))
            return -1;
    }
    if (listen(fd, QUEUE) || getsockname(fd, (struct sockaddr *)&six, &size))
        return -1;
    *port = ntohs(six.sin6_port); /* at the same offset in both address families */
    return fd;
}

enum ek_status family_listen(struct family *f)
{
    int port = 0;
    if (!family_make_keys)
        FAIL(EK_UNAVAILABLE, "this program is linked without cu/farm");
    f->listens = listen_somewhere(&port);
    if (f->listens < 0 || family_make_keys(f->key, f->secret))
        FAIL(EK_UNAVAILABLE, "no socket for the other ranks: %s", strerror(errno));
    list_addresses(f->call, sizeof f->call - 8);
    snprintf(f->call + strlen(f->call), 8, " %d", port);
    return EK_OK;
}

/* Tells all guards rank 0's address and key; MPI is finalized when this returns. */
static enum ek_status introduce(void)
{
    char text[sizeof here + 64];
    const struct cluster_launch l = cluster_launch();
    struct family rank_0 = {.listens = -1, .secret = "-"};
    TRY(cluster_open());
    const enum ek_status st = l.rank ? EK_OK : family_listen(&rank_0);
    if (!st) {
        cluster_share(rank_0.key, sizeof rank_0.key);
        cluster_share(rank_0.call, sizeof rank_0.call);
    }
    cluster_close(st);
    snprintf(text, sizeof text, "%d %d %d %s %s %s", l.rank, l.size, rank_0.listens, rank_0.key,
             rank_0.secret, rank_0.call);
    if (setenv(mark, text, 1))
        FAIL(EK_UNAVAILABLE, "out of memory");
    return EK_OK;
}

static enum ek_status remember(void)
{
    const char *text = getenv(mark);
    if (!text || sscanf(text, "%d %d %d %40s %40s %511[^\n]", &here.rank, &here.size, &here.listens,
                        here.key, here.secret, here.call) != 6)
        FAIL(EK_UNAVAILABLE, "%s is lost: this program is not to be started by its own child",
             mark);
    return EK_OK;
}

enum ek_status family_open(void)
{
    if (cluster_launch().size < 2)
        return EK_OK;
    if (guard_guarded())
        return remember();
    TRY(introduce());
    const bool first = cluster_launch().rank == 0;
    TRY(guard_fork(first ? 0 : RESTARTS, first));
    if (self_arguments())
        execv(self_path(), self_arguments());
    FAIL(EK_UNAVAILABLE, "%s: cannot be executed again: %s", self_path(), strerror(errno));
}
