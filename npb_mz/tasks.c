/* npb_mz/tasks.c – describes zones as tasks to policies. */
#include "npb_mz/tasks.h"
#include "npb_mz/device.h"

enum ek_status tasks_open(const struct mz *mz, struct tasks *tasks)
{
    const size_t n = (size_t)mz->nzones;
    *tasks = (struct tasks){.n = 0};
    tasks->zone = ARENA_NEW(&tasks->arena, n, int);
    tasks->task = ARENA_NEW(&tasks->arena, n, int);
    tasks->cost = ARENA_NEW(&tasks->arena, n, double);
    tasks->bytes = ARENA_NEW(&tasks->arena, n, double);
    tasks->first = ARENA_NEW(&tasks->arena, n + 1, size_t);
    tasks->neighbour = ARENA_NEW(&tasks->arena, MZ_SIDES * n, size_t);
    tasks->face_bytes = ARENA_NEW(&tasks->arena, MZ_SIDES * n, double);
    return arena_check(&tasks->arena, "%s, %zu zones", mz->ops->name, n);
}

void tasks_close(struct tasks *tasks)
{
    arena_free(&tasks->arena);
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
