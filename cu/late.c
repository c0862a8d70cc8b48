/* cu/late.c – idle units take the largest task that is left. */
#include "cu/late.h"

static double cost_of(const struct sched_job *job, size_t task)
{
    return job->cost ? job->cost[task] : 1;
}

static size_t large_tasks(const struct sched_job *job, const size_t *order)
{
    double cost = 0, units = 0;
    int devices = 0;
    size_t large = 0;
    for (size_t t = 0; t < job->n; t++)
        cost += cost_of(job, t);
    for (int c = 0; c < job->ncu; c++) {
        bool device = job->unit[c].kind == CU_DEVICE;
        devices += device;
        units += device ? LATE_DEVICE : 1;
    }
    if (devices == 0 || devices == job->ncu || job->n > UINT32_MAX)
        return 0;
    while (large < job->n && cost_of(job, order[large]) > cost / units / 2)
        large++;
    return large;
}

void late_begin(struct late *l, const struct sched_job *job, const size_t *order)
{
    size_t large = large_tasks(job, order);
    l->job = job;
    l->order = order;
    atomic_store(&l->small, large);
    atomic_store(&l->large, large);
}

static bool take_large(struct late *l, bool from_front, size_t *place)
{
    uint64_t left = atomic_load_explicit(&l->large, memory_order_relaxed), less;
    do {
        uint64_t first = left >> 32, end = left & UINT32_MAX;
        if (first >= end)
            return false;
        *place = from_front ? first : end - 1;
        less = from_front ? (first + 1) << 32 | end : first << 32 | (end - 1);
    } while (!atomic_compare_exchange_weak_explicit(&l->large, &left, less, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

static bool take_small(struct late *l, size_t *place)
{
    if (atomic_load_explicit(&l->small, memory_order_relaxed) >= l->job->n)
        return false;
    *place = atomic_fetch_add_explicit(&l->small, 1, memory_order_relaxed);
    return *place < l->job->n;
}

struct ek_range late_next(struct late *l, int cu)
{
    size_t place;
    bool device = l->job->unit[cu].kind == CU_DEVICE;
    bool found = device ? take_large(l, true, &place) || take_small(l, &place)
                        : take_small(l, &place) || take_large(l, false, &place);
    if (!found)
        return (struct ek_range){0, 0};
    size_t task = l->order[place];
    return (struct ek_range){task, task + 1};
}
