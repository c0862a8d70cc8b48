/* cu/sched/bootstrap.c – idle units help themselves. */
#include "cu/sched/bootstrap.h"
#include "cu/sched/estimate.h"

#include <math.h>
#include <stdlib.h>

/* Tasks up to this share of what a CPU unit would do in the step are small. */
static const double SMALL = 0.125;

static double cost_of(const struct sched_job *job, size_t task)
{
    return job->cost ? job->cost[task] : 1;
}

/* What a CPU unit would do in the step. */
static double fair_share(const struct bootstrap *l)
{
    double cost = 0;
    for (size_t t = 0; t < l->job->n; t++)
        cost += cost_of(l->job, t);
    return cost / (l->job->ncu + (ESTIMATE_DEVICE - 1) * l->devices);
}

static size_t large_tasks(const struct bootstrap *l, const size_t *order, double share)
{
    size_t large = 0;
    if (l->devices == 0 || l->devices == l->job->ncu)
        return 0;
    while (large < l->job->n && cost_of(l->job, order[large]) > share / 2)
        large++;
    return large;
}

enum ek_status bootstrap_open(struct bootstrap *l, const struct sched_job *job, const size_t *order)
{
    size_t n = job->n <= UINT32_MAX ? job->n : 0;
    l->job = job;
    l->order = order;
    l->unit = aligned_alloc(_Alignof(struct bootstrap_unit), (size_t)job->ncu * sizeof *l->unit);
    if (!l->unit)
        FAIL(EK_UNAVAILABLE, "schedule: out of memory for %d units", job->ncu);
    for (int c = 0; c < job->ncu; c++) {
        l->unit[c].stretch = 0;
        l->devices += job->unit[c].kind == CU_DEVICE;
    }
    double share = fair_share(l);
    size_t large = n ? large_tasks(l, order, share) : 0;
    if (n && job->first && l->devices && cost_of(job, order[0]) < SMALL * share) {
        l->order = NULL;
        large = n;
    }
    size_t cpus = (size_t)(job->ncu - l->devices), few = n > cpus ? n - cpus : 0;
    few = few > (size_t)l->devices ? few : (size_t)l->devices; /* the others get one each */
    l->reserve = l->order ? (large + 1) / 2 : 0;
    l->reserve = l->reserve < few ? l->reserve : few;
    atomic_store(&l->absent, l->devices);
    atomic_store(&l->small, job->ncu == 1 ? 0 : large);
    atomic_store(&l->large, large);
    return EK_OK;
}

void bootstrap_close(struct bootstrap *l)
{
    free(l->unit);
    l->unit = NULL;
}

/* Devices begin with as much as a CPU unit would get if all were alike, and double it while much is
 * left: one that is slow after all never comes far. */
static size_t stretch_of(struct bootstrap *l, int cu, size_t left)
{
    struct bootstrap_unit *u = &l->unit[cu];
    size_t most = left / (4 * (size_t)l->devices), units = 4 * (size_t)l->job->ncu;
    if (!u->stretch) {
        u->stretch = l->order ? 1 : (l->job->n + units - 1) / units;
        atomic_fetch_sub(&l->absent, 1);
    }
    size_t now = u->stretch < most ? u->stretch : most;
    u->stretch *= l->order ? 1 : 2;
    return now ? now : 1;
}

/* Places of the part for devices: *count of them from *place on. */
static bool take_large(struct bootstrap *l, int cu, size_t *place, size_t *count)
{
    bool device = l->job->unit[cu].kind == CU_DEVICE;
    uint64_t left = atomic_load_explicit(&l->large, memory_order_relaxed), less;
    do {
        uint64_t first = left >> 32, end = left & UINT32_MAX;
        bool kept = !device && atomic_load(&l->absent) > 0 && end - first <= l->reserve;
        if (first >= end || kept)
            return false;
        *count = device ? stretch_of(l, cu, end - first) : 1;
        *place = device ? first : end - 1;
        less = device ? (first + *count) << 32 | end : first << 32 | (end - 1);
    } while (!atomic_compare_exchange_weak_explicit(&l->large, &left, less, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

static bool take_small(struct bootstrap *l, size_t *place)
{
    if (atomic_load_explicit(&l->small, memory_order_relaxed) >= l->job->n)
        return false;
    *place = atomic_fetch_add_explicit(&l->small, 1, memory_order_relaxed);
    return *place < l->job->n;
}

struct ek_range bootstrap_next(struct bootstrap *l, int cu)
{
    if (l->job->ncu == 1) /* nobody else to share with */
        return atomic_exchange(&l->small, l->job->n) ? (struct ek_range){0, 0}
                                                     : (struct ek_range){0, l->job->n};
    size_t place, count = 1;
    bool device = l->job->unit[cu].kind == CU_DEVICE;
    bool found = device ? take_large(l, cu, &place, &count) || take_small(l, &place)
                        : take_small(l, &place) || take_large(l, cu, &place, &count);
    if (!found)
        return (struct ek_range){0, 0};
    if (l->order)
        return (struct ek_range){l->order[place], l->order[place] + 1};
    return (struct ek_range){l->job->n - place - count, l->job->n - place};
}
