/* cu/rank/survive.c – the rank's side: connects to the node's keeper and maps its memory. */
#include "cu/rank/survive_internal.h"
#include "cu/rank/cluster.h"
#include "cu/rank/guard.h"
#include "src/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
    char id[64];
    uint64_t launch;
    int fd;
} here = {.fd = -1};

static int call(void)
{
    struct sockaddr_un a;
    pid_t pid;
    const socklen_t size = survive_address(here.id, &a);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && !connect(fd, (struct sockaddr *)&a, size) && survive_is_ours(fd, &pid))
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
    const struct survive_hello hello = {here.launch, bytes, guard_guarded() ? getppid() : 0};
    const double until = clock_now() + SURVIVE_STOP; /* the keeper may not listen yet */
    while ((here.fd = call()) < 0 && clock_now() < until)
        poll(NULL, 0, SURVIVE_TICK / 10);
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
    const char word = over ? SURVIVE_OVER : SURVIVE_BYE;
    if (here.fd >= 0)
        send(here.fd, &word, 1, MSG_NOSIGNAL);
}

int survive_launch_number(void)
{
    return (int)here.launch;
}

enum ek_status survive_begin(const char *command)
{
    const char *text = getenv(SURVIVE_MARK);
    if (!text && cluster_launch().size > 1)
        FAIL(EK_USAGE,
             "--survive launches the ranks itself: leave out mpirun, add --launch 'mpirun -n %d'",
             cluster_launch().size);
    if (!text)
        return survive_launch(command);
    if (sscanf(text, "%63s %" SCNu64, here.id, &here.launch) != 2)
        FAIL(EK_USAGE, "%s='%s': leave it to --survive", SURVIVE_MARK, text);
    const int fd = call();
    if (fd >= 0)
        close(fd);
    else if (survive_listen(here.id) && !fork())
        survive_keep_alone();
    else if (survive_keeper.listens >= 0)
        close(survive_keeper.listens);
    return EK_OK;
}
