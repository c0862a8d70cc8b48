/* src/process.c – reads /proc; tries to start threads. */
#include "src/process.h"
#include "src/checksum.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static bool begins(const char *text, const char *const *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strncmp(text, out[i], strlen(out[i])))
            return true;
    return false;
}

char **process_environment(const char *const *out, size_t n)
{
    size_t all = 0, kept = 0;
    while (environ[all])
        all++;
    char **env = calloc(all + 2, sizeof *env);
    for (size_t i = 0; env && i < all; i++)
        if (!begins(environ[i], out, n))
            env[kept++] = environ[i];
    return env;
}

static void *wait_for(void *mutex)
{
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    return NULL;
}

int process_startable(int wanted, size_t stack)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    OWNED_MEMORY pthread_t *thread = calloc((size_t)wanted + 1, sizeof *thread);
    pthread_attr_t attributes;
    int n = 0;
    pthread_attr_init(&attributes);
    if (stack && pthread_attr_setstacksize(&attributes, stack))
        wanted = 0;
    pthread_mutex_lock(&mutex);
    while (thread && n < wanted && !pthread_create(&thread[n], &attributes, wait_for, &mutex))
        n++;
    pthread_mutex_unlock(&mutex);
    pthread_attr_destroy(&attributes);
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    return n;
}

uint64_t process_space(void)
{
    struct {
        char boot[40], node[64];
        uint64_t pids;
    } space = {0};
    struct stat found;
    OWNED_STREAM FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!f || !fread(space.boot, 1, sizeof space.boot, f)) /* some sandboxes */
        gethostname(space.node, sizeof space.node);
    space.pids = stat("/proc/self/ns/pid", &found) ? 0 : found.st_ino;
    return checksum_of("processes", &space, sizeof space);
}

/* Its state letter; '?': there is no such process. Allocates nothing. */
static char state_of(pid_t pid, pid_t *parent)
{
    char path[32], text[512], state = '?';
    int above = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    const int fd = pid > 1 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *after = strrchr(text, ')'); /* of its name, which may hold any letter */
    if (!after || sscanf(after + 1, " %c %d", &state, &above) != 2)
        state = '?';
    *parent = above;
    return state;
}

bool process_is_frozen(pid_t pid)
{
    pid_t parent;
    return state_of(pid, &parent) == 'T';
}

/* A snapshot of all processes. */
struct look {
    size_t n, room;
    struct seen {
        pid_t pid, parent;
        char state;
    } * of;
};

static struct look look_around(void)
{
    struct look l = {0};
    DIR *all = opendir("/proc");
    for (const struct dirent *e; all && (e = readdir(all));) {
        struct seen one = {.pid = atoi(e->d_name)};
        one.state = state_of(one.pid, &one.parent);
        if (one.state == '?' || MUTED(arena_grow(&l.of, &l.room, l.n, sizeof *l.of, "processes")))
            continue;
        l.of[l.n++] = one;
    }
    if (all)
        closedir(all);
    return l;
}

static const struct seen *find(const struct look *l, pid_t pid)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->of[i].pid == pid)
            return &l->of[i];
    return NULL;
}

static bool is_below(const struct look *l, pid_t pid, pid_t top)
{
    const struct seen *at = find(l, pid);
    for (size_t depth = 0; at && at->pid != top && depth < l->n; depth++)
        at = find(l, at->parent);
    return at && at->pid == top;
}

static bool has_children(const struct look *l, pid_t pid)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->of[i].parent == pid)
            return true;
    return false;
}

pid_t process_frozen_below(pid_t top)
{
    struct look l = look_around();
    pid_t found = 0;
    for (size_t i = 0; i < l.n && !found; i++)
        if (l.of[i].state == 'T' && is_below(&l, l.of[i].pid, top))
            found = l.of[i].pid;
    free(l.of);
    return found;
}

bool process_outlives_all_below(pid_t top)
{
    struct look l = look_around();
    bool dead = false, alive = false;
    for (size_t i = 0; i < l.n && !alive; i++) {
        const struct seen *p = &l.of[i];
        if (p->state == 'Z' || !has_children(&l, p->pid)) {
            const bool below = is_below(&l, p->pid, top);
            dead = dead || (below && p->state == 'Z');
            alive = below && p->state != 'Z';
        }
    }
    free(l.of);
    return dead && !alive;
}
