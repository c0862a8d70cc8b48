/* cu/bench/memory.c – available memory, and large pages. */
#include "cu/bench/memory.h"
#include "cu/rank/cluster.h"
#include "src/owned.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Files that tell the available memory, their format, and their unit in bytes. */
static const struct source {
    const char *path, *form;
    size_t unit;
} sources[] = {
    {"/proc/meminfo", "MemAvailable: %zu", 1024},
    {"/sys/fs/cgroup/memory.max", "%zu", 1},                   /* a container's limit */
    {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "%zu", 1}, /* the same on older kernels */
};

static size_t ask(const struct source *s)
{
    size_t found = 0;
    char line[256];
    OWNED_STREAM FILE *f = fopen(s->path, "r");
    while (f && !found && fgets(line, sizeof line, f))
        if (sscanf(line, s->form, &found) != 1)
            found = 0;
    return found > SIZE_MAX / s->unit ? 0 : found * s->unit;
}

size_t memory_available(void)
{
    size_t least = 0;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const size_t found = ask(&sources[i]);
        if (found && (!least || found < least))
            least = found;
    }
    return least;
}

size_t memory_here(size_t bytes)
{
    const struct cluster_launch l = cluster_launch();
    return l.size > l.local_size ? bytes / (size_t)l.size * (size_t)l.local_size : bytes;
}

const char *memory_text(size_t bytes, char *text, size_t room)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 999.5 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1000;
    snprintf(text, room, "%.3g %s", value, units[unit]);
    return text;
}

enum ek_status memory_check(const char *problem, size_t bytes)
{
    const size_t here = memory_here(bytes), available = memory_available();
    char need[32], have[32];
    if (available && here > available)
        FAIL(EK_UNAVAILABLE,
             "%s needs %s of memory%s, %s are available; choose a smaller problem%s", problem,
             memory_text(here, need, sizeof need), here < bytes ? " on this node" : "",
             memory_text(available, have, sizeof have),
             cluster_launch().size > 1 ? " or more nodes" : "");
    return EK_OK;
}

void memory_large_pages(void *array, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)array;
    const uintptr_t first = (from + page - 1) / page * page, end = (from + bytes) / page * page;
    if (end > first)
        madvise((char *)array + (first - from), end - first, MADV_HUGEPAGE);
#else
    (void)array, (void)bytes;
#endif
}
