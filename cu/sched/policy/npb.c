/* cu/sched/policy/npb.c – how the NPB-MZ benchmarks themselves balance zones among processes: bin
 * packing by size (Jin & Van der Wijngaart 2004, NAS-03-010). The process with the least points, of
 * equals the first, gets the largest zone that is left, or one at most 5 % smaller that has larger
 * faces towards the zones that the process has. All processes count as equally fast, and nothing
 * moves later.
 *
 * Certain, as release 3.3.1 does it: bins, the 5 %, that it takes a strictly larger face to come
 * before the largest. Not the same: size is declared work here, which grows a little faster than
 * points; equal zones come by number, where the suite's own sort shuffles them; and SP-MZ and LU-MZ
 * deal blocks of their grid of zones by default, bins on request (NPB_MZ_BLOAD=2). */
#include "cu/sched/plan.h"

#include <string.h>

enum { LOOKS = 1024 }; /* tasks of about the same size that are compared, at most */

static const double ALIKE = 0.05; /* of the larger size */

/* Bytes that a task exchanges with those that unit `cu` has. */
static double shared(const struct sched_job *job, const int *unit_of, size_t task, int cu)
{
    double bytes = 0;
    for (size_t i = job->first[task]; i < job->first[task + 1]; i++)
        if (unit_of[job->neighbour[i]] == cu)
            bytes += job->face_bytes[i];
    return bytes;
}

/* Of left[0..n-1], sorted by size: the place of the one to take. */
static size_t best_of(const struct sched_job *job, const size_t *order, const size_t *left,
                      size_t n, const int *unit_of, int cu)
{
    const double size = job->cost ? job->cost[order[left[0]]] : 1;
    double most = -1;
    size_t best = 0;
    if (!job->first)
        return 0;
    for (size_t i = 0; i < n && i < LOOKS; i++) {
        const size_t task = order[left[i]];
        if (job->cost && size - job->cost[task] > ALIKE * size)
            break;
        const double bytes = shared(job, unit_of, task, cu);
        if (bytes > most) {
            most = bytes;
            best = i;
        }
    }
    return best;
}

static void pack(const struct sched_job *job, const size_t *order, int *owner,
                 struct plan_heap *heap, size_t *left, int *unit_of)
{
    for (size_t i = 0; i < job->n; i++) {
        left[i] = i;
        unit_of[i] = -1;
    }
    for (size_t i = 0; i < job->n; i++) {
        const int cu = heap->top->unit;
        const size_t at = best_of(job, order, left + i, job->n - i, unit_of, cu);
        const size_t taken = left[i + at], task = order[taken];
        memmove(left + i + 1, left + i, at * sizeof *left);
        owner[taken] = unit_of[task] = plan_heap_add(heap, job->cost ? job->cost[task] : 1);
    }
}

static enum ek_status assign(const struct sched_job *job, const size_t *order, int *owner)
{
    struct plan_heap heap;
    size_t *left = ARENA_NEW(job->arena, job->n, size_t);
    int *unit_of = ARENA_NEW(job->arena, job->n, int);
    TRY(plan_heap_open(&heap, job));
    pack(job, order, owner, &heap, left, unit_of);
    return EK_OK;
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    return plan_by_cost(st, job, assign);
}

const struct sched_ops sched_npb = {
    .name = "npb",
    .summary = "by size as NPB-MZ does: the largest to the least loaded, beside its own",
    .begin = begin,
    PLAN_FIXED,
};
