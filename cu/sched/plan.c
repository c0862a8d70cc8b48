/* cu/sched/plan.c – lists of tasks for each unit. */
#include "cu/sched/plan.h"
#include "src/sort.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum ek_status plan_open(struct plan *p, const struct sched_job *job)
{
    *p = (struct plan){.n = job->n, .ncu = job->ncu};
    if (job->n > UINT32_MAX)
        FAIL(EK_USAGE, "schedule: %zu tasks are too many; make them larger", job->n);
    p->task = ARENA_NEW(job->arena, job->n, size_t);
    p->list = ARENA_NEW(job->arena, job->ncu, struct plan_list);
    TRY(arena_check(job->arena, "a plan of %zu tasks on %d units", job->n, job->ncu));
    for (size_t i = 0; i < job->n; i++)
        p->task[i] = i;
    return EK_OK;
}

/* Counting sort by owner; stable, so that every unit keeps the given order. */
void plan_assign(struct plan *p, const int *owner, const size_t *order)
{
    for (int c = 0; c < p->ncu; c++)
        p->list[c].end = 0;
    for (size_t i = 0; i < p->n; i++)
        p->list[owner[i]].end++;
    size_t begin = 0;
    for (int c = 0; c < p->ncu; c++) {
        size_t count = p->list[c].end;
        p->list[c].begin = p->list[c].end = begin;
        begin += count;
    }
    for (size_t i = 0; i < p->n; i++)
        p->task[p->list[owner[i]].end++] = order ? order[i] : i;
    plan_rewind(p);
}

static uint64_t entries(size_t first, size_t end)
{
    return (uint64_t)first << 32 | end;
}

static void rewind_list(struct plan_list *l)
{
    atomic_store_explicit(&l->left, entries(l->begin, l->end), memory_order_relaxed);
}

void plan_set_chunk(struct plan *p, int cu, struct ek_range r)
{
    struct plan_list *l = &p->list[cu];
    l->begin = r.begin;
    l->end = r.end;
    rewind_list(l);
}

static int nth(const int *unit, int c)
{
    return unit ? unit[c] : c;
}

void plan_set_static(struct plan *p, const int *unit, int m, struct ek_range r)
{
    unsigned __int128 n = r.end - r.begin;
    for (int c = 0; c < m; c++)
        plan_set_chunk(p, nth(unit, c),
                       (struct ek_range){r.begin + (size_t)(n * (unsigned)c / (unsigned)m),
                                         r.begin + (size_t)(n * (unsigned)(c + 1) / (unsigned)m)});
}

/* Moves the end of a chunk to where the sum of its work is nearest to the target, but not beyond
 * `limit`. */
static size_t move_end(struct ek_range chunk, size_t limit, const double *work, double target)
{
    double sum = 0;
    size_t end = chunk.begin;
    while (end < chunk.end)
        sum += work[end++];
    while (end < limit && sum < target && fabs(target - (sum + work[end])) < target - sum)
        sum += work[end++];
    while (end - chunk.begin > 1 && sum > target &&
           fabs(target - (sum - work[end - 1])) < sum - target)
        sum -= work[--end];
    return end;
}

void plan_walk(struct plan *p, const int *unit, int m, const double *work)
{
    if (m < 1)
        return;
    size_t begin = p->list[nth(unit, 0)].begin, last = p->list[nth(unit, m - 1)].end;
    if (last - begin < (size_t)m)
        return;
    double total = 0;
    for (size_t t = begin; t < last; t++)
        total += work[t];
    for (int c = 0; c < m; c++) {
        size_t end = p->list[nth(unit, c)].end;
        struct ek_range chunk = {begin, end > begin ? end : begin + 1};
        size_t limit = last - (size_t)(m - 1 - c); /* leaves one task for each of the other units */
        chunk.end = c == m - 1 ? last : move_end(chunk, limit, work, total / m);
        plan_set_chunk(p, nth(unit, c), chunk);
        begin = chunk.end;
    }
}

void plan_rewind(struct plan *p)
{
    for (int c = 0; c < p->ncu; c++)
        rewind_list(&p->list[c]);
}

/* Relaxed memory order will do: the beginning of the step orders the units' accesses. */
static bool replace(struct plan_list *l, uint64_t *left, size_t first, size_t end)
{
    return atomic_compare_exchange_weak_explicit(&l->left, left, entries(first, end),
                                                 memory_order_relaxed, memory_order_relaxed);
}

struct ek_range plan_next(struct plan *p, int cu, size_t most)
{
    struct plan_list *l = &p->list[cu];
    uint64_t left = atomic_load_explicit(&l->left, memory_order_relaxed);
    for (;;) {
        size_t at = left >> 32, end = left & UINT32_MAX;
        if (at >= end)
            return (struct ek_range){0, 0};
        struct ek_range r = {p->task[at], p->task[at] + 1};
        while (++at < end && p->task[at] == r.end && r.end - r.begin < most)
            r.end++;
        if (replace(l, &left, at, end))
            return r;
    }
}

struct ek_range plan_steal(struct plan *p, int victim, size_t most)
{
    struct plan_list *l = &p->list[victim];
    uint64_t left = atomic_load_explicit(&l->left, memory_order_relaxed);
    for (;;) {
        size_t at = left >> 32, end = left & UINT32_MAX;
        size_t from = end;
        while (from > at && end - from < most &&
               (from == end || p->task[from - 1] + 1 == p->task[from]))
            from--;
        if (from >= end)
            return (struct ek_range){0, 0};
        if (replace(l, &left, at, from))
            return (struct ek_range){p->task[from], p->task[end - 1] + 1};
    }
}

struct ek_range plan_entries(const struct plan *p, int cu)
{
    uint64_t left = atomic_load_explicit(&p->list[cu].left, memory_order_relaxed);
    size_t at = left >> 32, end = left & UINT32_MAX;
    return (struct ek_range){at, at < end ? end : at};
}

/* ---- policies that plan once ------------------------------------------------------------------*/
struct ek_range plan_fixed_next(void *st, int cu)
{
    struct plan *p = st;
    return plan_next(p, cu, p->n);
}

void plan_fixed_step(void *st)
{
    plan_rewind(st);
}

enum ek_status plan_by_cost(struct plan *p, const struct sched_job *job,
                            enum ek_status (*assign)(const struct sched_job *job,
                                                     const size_t *order, int *owner))
{
    size_t *order = ARENA_NEW(job->arena, job->n, size_t);
    int *owner = ARENA_NEW(job->arena, job->n, int);
    TRY(plan_open(p, job));
    plan_sort(job->cost, job->n, order);
    TRY(assign(job, order, owner));
    plan_assign(p, owner, order);
    return EK_OK;
}

/* ---- what helps to decide ---------------------------------------------------------------------*/
int plan_units(const struct sched_job *job, enum cu_kind kind, int *unit)
{
    int m = 0;
    for (int c = 0; c < job->ncu; c++)
        if (job->unit[c].kind == kind)
            unit[m++] = c;
    return m;
}

void plan_sort(const double *cost, size_t n, size_t *order)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    if (cost)
        qsort_r(order, n, sizeof *order, sort_places_down, (void *)cost);
}

void plan_divide(const double *cost, struct ek_range r, double sec, const double *each,
                 double *seconds)
{
    double sum = 0;
    if (each) {
        memcpy(seconds + r.begin, each, (r.end - r.begin) * sizeof *each);
        return;
    }
    for (size_t t = r.begin; cost && t < r.end; t++)
        sum += cost[t];
    for (size_t t = r.begin; t < r.end; t++)
        seconds[t] = sum > 0 ? sec * cost[t] / sum : sec / (double)(r.end - r.begin);
}

void plan_heap_fill(struct plan_heap *h, const int *unit, int m)
{
    h->count = m;
    for (int c = 0; c < m; c++)
        h->top[c] = (struct plan_load){0, nth(unit, c)};
}

enum ek_status plan_heap_open(struct plan_heap *h, const struct sched_job *job)
{
    h->top = ARENA_NEW(job->arena, job->ncu, struct plan_load);
    TRY(arena_check(job->arena, "%d units", job->ncu));
    plan_heap_fill(h, NULL, job->ncu);
    return EK_OK;
}

static bool before(struct plan_load a, struct plan_load b)
{
    return (a.load < b.load) | ((a.load == b.load) & (a.unit < b.unit)); /* without branches */
}

int plan_heap_add(struct plan_heap *h, double sec)
{
    struct plan_load *top = h->top, loaded = top[0];
    int chosen = loaded.unit, at = 0;
    loaded.load += sec;
    for (int child; (child = 2 * at + 1) < h->count; at = child) {
        const int other = child + (child + 1 < h->count);
        child = before(top[other], top[child]) ? other : child;
        if (!before(top[child], loaded))
            break;
        top[at] = top[child];
    }
    top[at] = loaded;
    return chosen;
}
