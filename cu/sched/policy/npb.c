/* cu/sched/policy/npb.c – how the NPB-MZ benchmarks balance zones among processes: bin packing by
 * size (Jin & Van der Wijngaart 2004, NAS-03-010). The process with the fewest points (the first
 * among equals) gets the largest remaining zone, or one at most 5 % smaller that has larger faces
 * towards the zones it already has. All processes count as equally fast, and nothing moves later.
 *
 * As release 3.3.1 does it: the bins, the 5 %, and that only a strictly larger face takes
 * precedence over size. Different from it: size is the declared work, which grows a little faster
 * than the number of points; equal zones come in order of their numbers, where the suite's own sort
 * shuffles them; and SP-MZ and LU-MZ deal blocks of their grid of zones by default, bins only on
 * request (NPB_MZ_BLOAD=2). */
#include "cu/sched/plan.h"

#include <string.h>

enum { LOOKS = 1024 }; /* at most this many tasks of similar size are compared */

static const double ALIKE = 0.05; /* of the larger size */

/* Bytes that a task exchanges with the tasks that unit `cu` already has. */
static double shared(const struct sched_job *job, const int *unit_of, size_t task, int cu)
{
    double bytes = 0;
    for (size_t i = job->first[task]; i < job->first[task + 1]; i++)
        if (unit_of[job->neighbour[i]] == cu)
            bytes += job->face_bytes[i];
    return bytes;
}

/* Index in left[0..n-1], places in `order` sorted by size, of the task to take next. */
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
    .summary = "as NPB-MZ: the largest zone to the least loaded unit, near those it has",
    .begin = begin,
    PLAN_FIXED,
};
