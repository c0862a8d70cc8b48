/* npb_mz/tasks.c – describes zones to policies. */
#include "npb_mz/tasks.h"
#include "npb_mz/device.h"

#include <stdlib.h>

enum ek_status tasks_open(const struct mz *mz, struct tasks *tasks)
{
    const size_t n = (size_t)mz->nzones;
    *tasks = (struct tasks){.n = 0};
    tasks->zone = calloc(n, sizeof *tasks->zone);
    tasks->task = calloc(n, sizeof *tasks->task);
    tasks->cost = calloc(n, sizeof *tasks->cost);
    tasks->bytes = calloc(n, sizeof *tasks->bytes);
    tasks->first = calloc(n + 1, sizeof *tasks->first);
    tasks->neighbour = calloc(MZ_SIDES * n, sizeof *tasks->neighbour);
    tasks->face_bytes = calloc(MZ_SIDES * n, sizeof *tasks->face_bytes);
    if (!tasks->zone || !tasks->task || !tasks->cost || !tasks->bytes || !tasks->first ||
        !tasks->neighbour || !tasks->face_bytes)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for %zu zones", mz->ops->name, n);
    return EK_OK;
}

void tasks_close(struct tasks *tasks)
{
    free(tasks->zone);
    free(tasks->task);
    free(tasks->cost);
    free(tasks->bytes);
    free(tasks->first);
    free(tasks->neighbour);
    free(tasks->face_bytes);
    *tasks = (struct tasks){.n = 0};
}

static void describe(struct tasks *tasks, const struct mz *mz, int t)
{
    const int zone = tasks->zone[t];
    size_t at = tasks->first[t];
    tasks->cost[t] = mz_zone_mop(mz, zone);
    tasks->bytes[t] = (double)device_zone_bytes(mz, zone);
    for (int side = 0; side < MZ_SIDES; side++) {
        const int behind = tasks->task[mz->zone[zone].neighbour[side]];
        if (behind < 0)
            continue;
        tasks->neighbour[at] = (size_t)behind;
        tasks->face_bytes[at++] =
            (double)mz_face_size(mz, zone, (enum mz_side)side) * sizeof(double);
    }
    tasks->first[t + 1] = at;
}

void tasks_number(struct tasks *tasks, const struct mz *mz, const bool *among,
                  struct sched_job *job)
{
    tasks->n = 0;
    for (int zone = 0; zone < mz->nzones; zone++) {
        const bool counts = !among || among[zone];
        tasks->task[zone] = counts ? tasks->n : -1;
        if (counts)
            tasks->zone[tasks->n++] = zone;
    }
    for (int t = 0; t < tasks->n; t++)
        describe(tasks, mz, t);
    *job = (struct sched_job){.n = (size_t)tasks->n,
                              .number = tasks->zone,
                              .all = (size_t)mz->nzones,
                              .grain = 1,
                              .cost = tasks->cost,
                              .bytes = tasks->bytes,
                              .first = tasks->first,
                              .neighbour = tasks->neighbour,
                              .face_bytes = tasks->face_bytes};
}
