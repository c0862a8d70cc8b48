/* cu/bench/memory.c – available memory, and large pages. */
#include "cu/bench/memory.h"
#include "cu/rank/cluster.h"
#include "src/cgroup.h"

#include <sys/mman.h>
#include <unistd.h>

/* MemAvailable of the system, bytes; 0: unknown. */
static size_t system_available(void)
{
    size_t found = 0;
    char line[256];
    OWNED_STREAM FILE *f = fopen("/proc/meminfo", "re");
    while (f && !found && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %zu", &found) != 1)
            found = 0;
    return found * 1024;
}

size_t memory_available(void)
{
    const size_t system = system_available(), limit = cgroup_memory_room();
    return !system || (limit && limit < system) ? limit : system;
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
