/* cu/plan.c – lists of tasks for each unit. */
#include "cu/plan.h"

#include <stdlib.h>
#include <string.h>

enum ek_status plan_open(struct plan *p, size_t n, int ncu)
{
    *p = (struct plan){.n = n, .ncu = ncu};
    size_t bytes = (size_t)ncu * sizeof *p->list;
    p->task = calloc(n ? n : 1, sizeof *p->task);
    p->list = aligned_alloc(_Alignof(struct plan_list), bytes);
    if (!p->task || !p->list) {
        plan_close(p);
        FAIL(EK_LACK, "schedule: out of memory for a plan of %zu tasks on %d units", n, ncu);
    }
    memset(p->list, 0, bytes);
    for (size_t i = 0; i < n; i++)
        p->task[i] = i;
    return EK_OK;
}

void plan_close(struct plan *p)
{
    free(p->task);
    free(p->list);
    *p = (struct plan){0};
}

/* Counting sort by owner: stable, so every unit keeps the given order. */
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

void plan_set_chunk(struct plan *p, int cu, struct ek_range r)
{
    struct plan_list *l = &p->list[cu];
    l->at = l->begin = r.begin;
    l->end = r.end;
}

void plan_set_static(struct plan *p, int cu, int m, struct ek_range r)
{
    unsigned __int128 n = r.end - r.begin;
    for (int c = 0; c < m; c++)
        plan_set_chunk(p, cu + c,
                       (struct ek_range){r.begin + (size_t)(n * (unsigned)c / (unsigned)m),
                                         r.begin + (size_t)(n * (unsigned)(c + 1) / (unsigned)m)});
}

void plan_rewind(struct plan *p)
{
    for (int c = 0; c < p->ncu; c++)
        p->list[c].at = p->list[c].begin;
}

struct ek_range plan_next(struct plan *p, int cu, size_t most)
{
    struct plan_list *l = &p->list[cu];
    size_t at = l->at;
    if (at == l->end)
        return (struct ek_range){0, 0};
    struct ek_range r = {p->task[at], p->task[at] + 1};
    while (++at < l->end && p->task[at] == r.end && r.end - r.begin < most)
        r.end++;
    l->at = at;
    return r;
}

void plan_counter_begin(struct plan_counter *c, const struct sched_job *job, int chunk)
{
    c->n = job->n;
    c->chunk = (size_t)chunk > job->grain ? (size_t)chunk : job->grain;
    plan_counter_rewind(c);
}

void plan_counter_rewind(struct plan_counter *c)
{
    atomic_store_explicit(&c->taken, 0, memory_order_relaxed);
}

struct ek_range plan_counter_next(struct plan_counter *c)
{
    /* Asking again after the end must not add for ever: a look first keeps `taken` bounded. */
    if (atomic_load_explicit(&c->taken, memory_order_relaxed) >= c->n)
        return (struct ek_range){0, 0};
    size_t at = atomic_fetch_add_explicit(&c->taken, c->chunk, memory_order_relaxed);
    if (at >= c->n)
        return (struct ek_range){0, 0};
    return (struct ek_range){at, c->n - at < c->chunk ? c->n : at + c->chunk};
}
