/* cu/rank/family.c – guards share one address by MPI; children inherit it in a variable. */
#include "cu/rank/family.h"
#include "cu/rank/cluster.h"
#include "cu/rank/guard.h"
#include "src/self.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LIVES = 5, CALL = 512, QUEUE = 1024 };

/* "rank size socket secret call" for the images that the child executes. */
static const char *const mark = "CU_FAMILY";

static struct family here = {.size = 1, .listens = -1};
static char call_text[CALL];

const struct family *family_here(void)
{
    return &here;
}

bool family_orphaned(void)
{
    return here.size > 1 && !guard_guarded();
}

/* What rank 0 tells the others. */
struct greeting {
    uint64_t secret;
    char call[CALL];
};

/* Numbers of this node, the loopback last: other nodes would meet themselves there. */
static void list_addresses(char *text, size_t room)
{
    struct ifaddrs *all = NULL;
    size_t used = 0;
    char number[INET_ADDRSTRLEN];
    if (getifaddrs(&all))
        all = NULL;
    for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
        if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET || !(a->ifa_flags & IFF_UP) ||
            a->ifa_flags & IFF_LOOPBACK)
            continue;
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)a->ifa_addr)->sin_addr,
                  number, sizeof number);
        if (used + strlen(number) + 32 < room)
            used += (size_t)snprintf(text + used, room - used, "%s,", number);
    }
    freeifaddrs(all);
    snprintf(text + used, room - used, "127.0.0.1");
}

static enum ek_status listen_somewhere(struct greeting *g)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_ANY)}};
    socklen_t size = sizeof at;
    here.listens = socket(AF_INET, SOCK_STREAM, 0);
    if (here.listens < 0 || bind(here.listens, (struct sockaddr *)&at, size) ||
        listen(here.listens, QUEUE) || getsockname(here.listens, (struct sockaddr *)&at, &size) ||
        getrandom(&g->secret, sizeof g->secret, 0) != sizeof g->secret)
        FAIL(EK_LACK, "no socket for the other ranks: %s", strerror(errno));
    list_addresses(g->call, sizeof g->call - 8);
    snprintf(g->call + strlen(g->call), 8, ":%d", ntohs(at.sin_port));
    return EK_OK;
}

/* All guards; MPI has ended when this returns. */
static enum ek_status introduce(void)
{
    struct greeting g = {0};
    char text[CALL + 128];
    const struct cluster_launch l = cluster_launch();
    TRY(cluster_open());
    enum ek_status st = l.rank ? EK_OK : listen_somewhere(&g);
    if (!st)
        cluster_share(&g, sizeof g);
    cluster_close(st);
    snprintf(text, sizeof text, "%d %d %d %" PRIu64 " %s", l.rank, l.size, here.listens, g.secret,
             g.call);
    if (setenv(mark, text, 1))
        FAIL(EK_LACK, "out of memory");
    return EK_OK;
}

static enum ek_status remember(void)
{
    const char *text = getenv(mark);
    if (!text || sscanf(text, "%d %d %d %" SCNu64 " %511s", &here.rank, &here.size, &here.listens,
                        &here.secret, call_text) != 5)
        FAIL(EK_LACK, "%s is lost: this program is not to be started by its own child", mark);
    here.call = call_text;
    return EK_OK;
}

enum ek_status family_open(char **argv)
{
    if (cluster_launch().size < 2)
        return EK_OK;
    if (guard_guarded())
        return remember();
    TRY(introduce());
    const bool first = cluster_launch().rank == 0;
    TRY(guard_fork(first ? 0 : LIVES, first));
    execv(self_path(), argv);
    FAIL(EK_LACK, "%s: cannot be executed again: %s", self_path(), strerror(errno));
}
