/* src/cgroup.c – reads the limits of this process's control groups. */
#include "src/cgroup.h"

#include <limits.h>

/* Reads a limit from a file; false if it sets none. */
typedef bool read_limit(const char *file, double *limit);

static bool read_bytes(const char *file, double *limit)
{
    OWNED_STREAM FILE *f = fopen(file, "re");
    return f && fscanf(f, "%lf", limit) == 1 && *limit > 0 && *limit < 0x1p62; /* "max" is none */
}

/* Bytes of files in memory that are not in use, from memory.stat. Version 1 has another line for
 * the group with those below it. */
static double read_idle(const char *file)
{
    double total = 0, own = 0, number;
    char line[256], name[200];
    OWNED_STREAM FILE *f = fopen(file, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%199s %lf", name, &number) == 2) {
            total = strcmp(name, "total_inactive_file") ? total : number;
            own = strcmp(name, "inactive_file") ? own : number;
        }
    return total > 0 ? total : own;
}

/* A limit of memory less what the group has taken of it; files in memory that are not in use do not
 * count. */
static bool read_room(const char *file, double *room)
{
    char other[PATH_MAX + 32];
    const int folder = (int)(strrchr(file, '/') - file);
    double taken = 0;
    if (!read_bytes(file, room))
        return false;
    snprintf(other, sizeof other, "%.*s/%s", folder, file,
             strstr(file, "memory.max") ? "memory.current" : "memory.usage_in_bytes");
    if (!read_bytes(other, &taken))
        taken = 0;
    snprintf(other, sizeof other, "%.*s/memory.stat", folder, file);
    const double used = taken - read_idle(other);
    *room -= used > 0 ? used : 0;
    *room = *room > 1 ? *room : 1; /* 0 would be no limit */
    return true;
}

/* cpu.max: "QUOTA PERIOD"; version 1 has a file for each. */
static bool read_quota(const char *file, double *limit)
{
    char other[PATH_MAX];
    double period = 0;
    OWNED_STREAM FILE *f = fopen(file, "re");
    const int n = f ? fscanf(f, "%lf %lf", limit, &period) : 0;
    const char *quota = strstr(file, "cpu.cfs_quota_us");
    if (n == 1 && quota) {
        snprintf(other, sizeof other, "%.*scpu.cfs_period_us", (int)(quota - file), file);
        if (!read_bytes(other, &period))
            period = 0;
    }
    *limit = period > 0 ? *limit / period : 0;
    return n > 0 && *limit > 0;
}

/* The lowest limit in the files `name` of the group `path` below `root` and of all above it. */
static double lowest(const char *root, const char *path, const char *name, read_limit *read)
{
    char file[PATH_MAX], at[PATH_MAX];
    double least = 0, limit;
    snprintf(at, sizeof at, "%s", path);
    for (;;) {
        if (snprintf(file, sizeof file, "%s%s/%s", root, at, name) < (int)sizeof file &&
            read(file, &limit) && (!least || limit < least))
            least = limit;
        char *slash = strrchr(at, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* Whether a comma-separated list contains the word. */
static bool lists(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ',') && (!at[n] || at[n] == ','))
            return true;
    return false;
}

/* The lowest limit of a controller: its file in version 1 and in version 2. */
static double find(const char *controller, const char *name_1, const char *name_2, read_limit *read)
{
    char line[PATH_MAX + 128], own_1[PATH_MAX] = "", own_2[PATH_MAX] = "", root_1[64];
    OWNED_STREAM FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && fgets(line, sizeof line, f)) {
        char *list = strchr(line, ':'), *path = list ? strchr(++list, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        if (!*list)
            snprintf(own_2, sizeof own_2, "%s", path);
        else if (lists(list, controller))
            snprintf(own_1, sizeof own_1, "%s", path);
    }
    snprintf(root_1, sizeof root_1, "/sys/fs/cgroup/%s", controller);
    const double a = lowest(root_1, own_1, name_1, read);
    const double b = lowest("/sys/fs/cgroup", own_2, name_2, read);
    return !a || (b && b < a) ? b : a;
}

size_t cgroup_memory(void)
{
    return (size_t)find("memory", "memory.limit_in_bytes", "memory.max", read_bytes);
}

size_t cgroup_memory_room(void)
{
    return (size_t)find("memory", "memory.limit_in_bytes", "memory.max", read_room);
}

double cgroup_cpus(void)
{
    return find("cpu", "cpu.cfs_quota_us", "cpu.max", read_quota);
}
