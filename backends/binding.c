/* backends/binding.c – affinity of this process's threads. */
#include "backends/binding.h"

#include <dirent.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

bool binding_get(pid_t tid, struct binding *b)
{
    memset(b, 0, sizeof *b);
    return !sched_getaffinity(tid, sizeof b->set, b->set);
}

void binding_set(pid_t tid, const struct binding *b)
{
    sched_setaffinity(tid, sizeof b->set, b->set);
}

int binding_cpus(const struct binding *b)
{
    return CPU_COUNT_S(sizeof b->set, b->set);
}

/* Adds the cpus of all OpenMP places. Not simply all cpus: under taskset the process may not use
 * them. */
static void add_places(struct binding *b)
{
    for (int place = 0; place < omp_get_num_places(); place++) {
        int n = omp_get_place_num_procs(place);
        int *cpu = calloc((size_t)n + 1, sizeof *cpu);
        if (!cpu)
            return;
        omp_get_place_proc_ids(place, cpu);
        for (int i = 0; i < n; i++)
            if (cpu[i] >= 0 && cpu[i] < BINDING_SETS * CPU_SETSIZE)
                CPU_SET(cpu[i] % CPU_SETSIZE, &b->set[cpu[i] / CPU_SETSIZE]);
        free(cpu);
    }
}

bool binding_widen(struct binding *saved)
{
    omp_get_num_places(); /* first, because some runtimes bind this thread on their first call */
    if (!binding_get(0, saved))
        return false;
    struct binding wide = *saved;
    add_places(&wide);
    binding_set(0, &wide);
    return true;
}

int binding_widest_place(void)
{
    int widest = 0;
    if (omp_get_proc_bind() == omp_proc_bind_false)
        return 0;
    for (int place = 0; place < omp_get_num_places(); place++)
        if (omp_get_place_num_procs(place) > widest)
            widest = omp_get_place_num_procs(place);
    return widest;
}

int binding_threads(pid_t *tids, int max)
{
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        return 0;
    int n = 0;
    for (struct dirent *e; n < max && (e = readdir(tasks));)
        if (e->d_name[0] != '.')
            tids[n++] = (pid_t)atoi(e->d_name);
    closedir(tasks);
    return n;
}
