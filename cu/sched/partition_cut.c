/* cu/sched/partition_cut.c – builds partitions: by list scheduling, longest task first, or as
 * stretches of consecutive tasks that end together. */
#include "cu/sched/partition.h"

#include <math.h>
#include <string.h>

void partition_load(struct partition *d, const int *owner)
{
    const size_t n = d->job->n;
    const bool launches = d->launches;
    double *restrict load = d->load, *restrict full = d->full;
    memset(load, 0, 2 * (size_t)d->job->ncu * sizeof *load);
    for (size_t t = 0; t < n; t++) {
        const int c = owner[t];
        double sec = estimate_seconds(d->e, c, t);
        if (launches && (t == 0 || owner[t - 1] != c))
            sec += estimate_launch(d->e, c);
        load[c] += sec;
        full[c] += sec + partition_transfer(d, d->memory[c], t);
    }
}

/* ---- lists ------------------------------------------------------------------------------------*/
/* When a task that takes `sec` at slowdown 1 ends in a group. */
static double end_at(const struct partition *d, int group, double sec)
{
    return d->top[group] + d->slowdown[group] * sec + d->begin[group];
}

static double transfer_in(const struct partition *d, const struct partition_class *k, size_t t)
{
    return d->weight > 0 ? d->weight * partition_transfer(d, k->memory, t) : 0;
}

/* When the task ends first in a class. */
static double end_in(const struct partition *d, const struct partition_class *k, size_t t)
{
    const double sec = k->seconds[t];
    double end = end_at(d, k->first, sec);
    for (int g = k->first + 1; g < k->end; g++)
        end = partition_less(end, end_at(d, g, sec));
    return end + transfer_in(d, k, t);
}

/* The class, of those allowed, in which the task ends first, at *end; if all times overflow, the
 * first of them. */
static const struct partition_class *first_class(const struct partition *d, enum partition_by by,
                                                 size_t t, double *end)
{
    const int pick = d->pick[t];
    const bool within = by == PARTITION_BY_MEMORY && pick != PARTITION_ANY;
    const struct partition_class *k = d->class + (within ? d->class_of[pick] : 0),
                                 *last = d->class + (within ? d->class_of[pick + 1] : d->nclasses),
                                 *best = NULL;
    *end = INFINITY;
    for (; k < last; k++) {
        if (!within && pick != PARTITION_ANY && pick != k->kind)
            continue;
        const double here = end_in(d, k, t);
        best = !best || here < *end ? k : best;
        *end = partition_less(here, *end);
    }
    return best;
}

/* Assigns the task to where it ends first. */
static int place(struct partition *d, enum partition_by by, size_t t)
{
    double end;
    const struct partition_class *k = first_class(d, by, t, &end);
    const double sec = k->seconds[t], transfer = transfer_in(d, k, t);
    int best = k->first; /* loops may round differently */
    while (best + 1 < k->end && end_at(d, best, sec) + transfer > end * (1 + 1e-12))
        best++;
    struct partition_group *g = &d->group[best];
    const int unit = g->heap.top->unit;
    plan_heap_add(&g->heap, d->slowdown[best] * sec + d->begin[best] + transfer);
    d->top[best] = g->heap.top->load;
    d->slowdown[best] = d->e->slowdown[g->heap.top->unit];
    d->begin[best] = estimate_launch(d->e, g->heap.top->unit);
    return unit;
}

void partition_pack(struct partition *d, enum partition_by by, int *owner)
{
    for (int g = 0; g < d->ngroups; g++) {
        plan_heap_fill(&d->group[g].heap, d->group[g].unit, d->group[g].units);
        d->top[g] = 0;
        d->slowdown[g] = d->e->slowdown[d->group[g].unit[0]];
        d->begin[g] = estimate_launch(d->e, d->group[g].unit[0]);
    }
    for (size_t i = 0; i < d->job->n; i++)
        owner[d->order[i]] = place(d, by, d->order[i]);
}

/* ---- stretches --------------------------------------------------------------------------------*/
/* The s-th unit of a cut; -1: it is a cut by memory nodes. */
static int unit_of(const struct partition *d, enum partition_by by, int s)
{
    if (by == PARTITION_BY_MEMORY)
        return -1;
    return d->member[by == PARTITION_BY_UNIT ? s : d->nmembers - 1 - s];
}

/* Seconds of tasks begin .. end-1 on a whole memory node whose units share each evenly: sec[0..].
 */
static void share_evenly(const struct partition *d, int memory, size_t begin, size_t end,
                         double *restrict sec)
{
    const struct partition_class *k = d->class + d->class_of[memory],
                                 *last = d->class + d->class_of[memory + 1];
    const bool moves = d->weight > 0 && d->bound;
    memset(sec, 0, (end - begin) * sizeof *sec);
    for (; k < last; k++) {
        const double *restrict alone = k->seconds, each = k->capacity / k->units;
        for (size_t t = begin; !moves && t < end; t++)
            sec[t - begin] += k->capacity / partition_more(alone[t], 1e-300);
        for (size_t t = begin; moves && t < end; t++) {
            const double transfer = d->weight * partition_transfer(d, memory, t);
            sec[t - begin] += k->capacity / partition_more(alone[t] + each * transfer, 1e-300);
        }
    }
    for (size_t i = 0; i < end - begin; i++)
        sec[i] = sec[i] > 0 ? 1 / sec[i] : INFINITY;
}

/* Seconds of a task on the s-th unit, or memory node. */
static double seconds_on(const struct partition *d, enum partition_by by, int s, size_t t)
{
    const int cu = unit_of(d, by, s);
    double sec;
    if (cu >= 0)
        return estimate_seconds(d->e, cu, t) + d->weight * partition_transfer(d, d->memory[cu], t);
    share_evenly(d, s, t, t + 1, &sec);
    return sec;
}

/* A task that alone exceeds the bound by this share counts as if the memory node did nothing else.
 */
static const double MUCH = 0.01;

void partition_seconds(const struct partition *d, int memory, size_t begin, size_t end, double *sec)
{
    const double most = d->least * (1 + MUCH);
    double *restrict alone = d->delta;
    share_evenly(d, memory, begin, end, sec);
    for (size_t i = 0; i < end - begin; i++)
        alone[i] = INFINITY;
    for (int i = d->class_of[memory]; i < d->class_of[memory + 1]; i++) {
        const struct partition_class *k = &d->class[i];
        const double *restrict seconds = k->seconds,
                               slowdown = d->e->slowdown[d->group[k->first].unit[0]];
        for (size_t t = begin; t < end; t++)
            alone[t - begin] = partition_less(alone[t - begin], seconds[t] * slowdown);
    }
    for (size_t i = 0; i < end - begin; i++)
        sec[i] = alone[i] > most ? alone[i] : sec[i];
}

/* The same, from the table. */
static double known_seconds_on(const struct partition *d, enum partition_by by, int s, size_t t)
{
    return by == PARTITION_BY_MEMORY && s < d->nodes ? d->node[(size_t)s * d->job->n + t]
                                                     : seconds_on(d, by, s, t);
}

static double capacity_of(const struct partition *d, enum partition_by by, int s, double span)
{
    const int cu = unit_of(d, by, s);
    return cu >= 0 ? span - estimate_launch(d->e, cu) : span * d->use[s];
}

/* Cuts stretches of at most `span` seconds; true if all tasks are placed. */
static bool cut_at(struct partition *d, enum partition_by by, double span)
{
    const bool whole = by == PARTITION_BY_MEMORY;
    const int stretches = whole ? d->nmemories : d->nmembers;
    const size_t n = d->job->n;
    size_t t = 0;
    for (int s = 0; s < stretches && t < n; s++) {
        const double *table = whole && s < d->nodes ? d->node + (size_t)s * n : NULL;
        const int to = whole ? s : unit_of(d, by, s);
        int *pick = whole ? d->pick : d->trial;
        double left = capacity_of(d, by, s, span), sec;
        for (; t < n && (sec = table ? table[t] : seconds_on(d, by, s, t)) <= left; t++) {
            left -= sec;
            pick[t] = to;
        }
    }
    return t == n;
}

/* Bisects for the shortest span; false: none is long enough. */
static bool find_span(struct partition *d, enum partition_by by)
{
    double low = d->least, high = d->least > 0 ? d->least : 1e-9;
    for (int i = 0; !cut_at(d, by, high); i++) {
        if (i == 100)
            return false;
        low = high;
        high += partition_more(2 * (high - d->least), 0.02 * high);
    }
    for (int i = 0; i < 40 && high - low > 5e-4 * high; i++) {
        double middle = (low + high) / 2;
        if (cut_at(d, by, middle))
            high = middle;
        else
            low = middle;
    }
    return cut_at(d, by, high);
}

bool partition_learn_use(struct partition *d)
{
    bool changed = false;
    double *ends = d->link_s, *area = d->link_s + d->nmemories;
    memset(ends, 0, 2 * (size_t)d->nmemories * sizeof *ends);
    for (int c = 0; c < d->job->ncu; c++)
        ends[d->memory[c]] =
            partition_more(ends[d->memory[c]], d->load[c] + d->weight * (d->full[c] - d->load[c]));
    for (size_t t = 0; t < d->job->n; t++)
        area[d->pick[t]] += known_seconds_on(d, PARTITION_BY_MEMORY, d->pick[t], t);
    for (int p = 0; p < d->nmemories; p++) {
        double now = ends[p] > 0 ? partition_less(1, area[p] / ends[p]) : 1;
        changed |= fabs(now - d->use[p]) > 0.002;
        d->use[p] = partition_more(0.1, (d->use[p] + now) / 2);
    }
    return changed;
}

bool partition_cut(struct partition *d, enum partition_by by)
{
    enum { TRIES = 3 };
    for (int p = 0; p < d->nmemories; p++)
        d->use[p] = 1;
    for (int p = 0; by == PARTITION_BY_MEMORY && p < d->nodes; p++)
        share_evenly(d, p, 0, d->job->n, d->node + (size_t)p * d->job->n);
    for (int left = TRIES; find_span(d, by); left--) {
        if (by != PARTITION_BY_MEMORY)
            return true;
        partition_pack(d, by, d->trial);
        if (left == 1 || d->nmemories == 1)
            return true;
        partition_load(d, d->trial);
        if (!partition_learn_use(d))
            return true;
    }
    return false;
}
