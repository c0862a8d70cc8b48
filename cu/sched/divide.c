/* cu/sched/divide.c – the search for the best division of the tasks among units. */
#include "cu/sched/divide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Offers that a search may look at: what it costs is less than a millisecond. */
enum { MOST_LOOKS = 60000 };

/* A contiguous division this near to the best there could be needs no rival. */
static const double GOOD_ENOUGH = 1.0005;

/* Moving that takes a larger share of the steps to come should be thought of from the start. */
static const double TOLLS_MATTER = 0.001;

/* ---- opening ----------------------------------------------------------------------------------*/
/* Numbers the spaces that have units; the largest one becomes 0. */
static void number_spaces(struct divide *d)
{
    const struct sched_job *job = d->job;
    for (int c = 0; c < job->ncu; c++) {
        int before = 0;
        while (job->unit[before].space != job->unit[c].space)
            before++;
        d->space[c] = before < c ? d->space[before] : d->nspaces++;
        d->units[d->space[c]]++;
    }
    int largest = 0;
    for (int p = 1; p < d->nspaces; p++)
        if (d->units[p] > d->units[largest])
            largest = p;
    for (int c = 0; c < job->ncu; c++)
        d->space[c] = d->space[c] == largest ? 0 : d->space[c] == 0 ? largest : d->space[c];
    int swap = d->units[0];
    d->units[0] = d->units[largest];
    d->units[largest] = swap;
}

static enum ek_status open_sums(struct divide *d)
{
    d->sum = calloc((size_t)d->nspaces, sizeof *d->sum);
    for (int p = 0; d->sum && p < d->nspaces; p++) {
        d->sum[p] = calloc(d->job->n + 1, sizeof **d->sum);
        if (!d->sum[p])
            return EK_LACK;
    }
    return d->sum ? EK_OK : EK_LACK;
}

enum ek_status divide_open(struct divide *d, const struct estimate *e, const struct sched_job *job)
{
    size_t n = job->n ? job->n : 1, ncu = (size_t)job->ncu;
    *d = (struct divide){.e = e, .job = job, .horizon = 1};
    d->space = calloc(4 * ncu + 1, sizeof *d->space);
    d->home = calloc(3 * n, sizeof *d->home);
    d->toll = calloc(3 * n, sizeof *d->toll);
    d->class = calloc(ncu, sizeof *d->class);
    d->group = calloc(ncu, sizeof *d->group);
    d->market = calloc(ncu, sizeof *d->market);
    d->heaps.top = calloc(ncu, sizeof *d->heaps.top);
    d->order = calloc(n, sizeof *d->order);
    d->load = calloc(6 * ncu, sizeof *d->load);
    d->head = calloc(2 * ncu + 1 + n, sizeof *d->head);
    if (d->space && d->home && d->toll && d->class && d->group && d->market && d->heaps.top &&
        d->order && d->load && d->head) {
        d->units = d->space + ncu;
        d->member = d->units + ncu;
        d->links = d->member + ncu;
        d->trial = d->home + n;
        d->pick = d->trial + n;
        d->delta = d->toll + n;
        d->room = d->delta + n;
        d->full = d->load + ncu;
        d->link_s = d->full + ncu;
        d->top = d->link_s + ncu;
        d->pace = d->top + ncu;
        d->use = d->pace + ncu;
        d->cut = d->head + ncu;
        d->follow = d->cut + ncu + 1;
        number_spaces(d);
        if (!open_sums(d))
            return EK_OK;
    }
    divide_close(d);
    FAIL(EK_LACK, "evenkeel: out of memory for %zu tasks on %d units", job->n, job->ncu);
}

void divide_close(struct divide *d)
{
    plan_heap_close(&d->heaps);
    for (int p = 0; d->sum && p < d->nspaces; p++)
        free(d->sum[p]);
    free(d->sum);
    free(d->space);
    free(d->home);
    free(d->toll);
    free(d->class);
    free(d->group);
    free(d->market);
    free(d->order);
    free(d->load);
    free(d->head);
    *d = (struct divide){0};
}

/* ---- what is known now ------------------------------------------------------------------------*/
static int find_class(struct divide *d, int cu)
{
    int k = 0;
    while (k < d->nclasses &&
           (d->class[k].kind != d->e->kind[cu] || d->class[k].space != d->space[cu]))
        k++;
    if (k == d->nclasses)
        d->class[d->nclasses++] =
            (struct divide_class){.kind = d->e->kind[cu], .space = d->space[cu]};
    return k;
}

/* The groups of one class, whose members follow one another. */
static int sort_class(struct divide *d, int k, int placed)
{
    const double *pace = d->e->pace;
    struct divide_class *class = &d->class[k];
    class->first = d->ngroups;
    for (int c = 0; c < d->job->ncu; c++) {
        if ((d->off && d->off[c]) || d->e->kind[c] != class->kind || d->space[c] != class->space)
            continue;
        int g = class->first;
        while (g < d->ngroups && d->pace[g] != pace[c])
            g++;
        if (g < d->ngroups)
            continue; /* not the first of its group */
        struct divide_group *new = &d->group[d->ngroups];
        *new = (struct divide_group){.first = c, .space = class->space};
        new->unit = d->member + placed;
        new->heap.top = d->heaps.top + placed;
        d->pace[d->ngroups++] = pace[c];
        for (int u = c; u < d->job->ncu; u++)
            if (!(d->off && d->off[u]) && pace[u] == pace[c] && d->e->kind[u] == class->kind &&
                d->space[u] == class->space)
                new->unit[new->units++] = u;
        placed += new->units;
        class->units += new->units;
        class->capacity += new->units / pace[c];
    }
    class->end = d->ngroups;
    return placed;
}

static void sort_units(struct divide *d)
{
    int placed = 0;
    d->nclasses = d->ngroups = 0;
    for (int c = 0; c < d->job->ncu; c++)
        if (!(d->off && d->off[c]))
            find_class(d, c);
    for (int k = 0; k < d->nclasses; k++)
        placed = sort_class(d, k, placed);
}

static int by_key(const void *a, const void *b, void *ctx)
{
    const double *key = ctx;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    if (key[x] != key[y])
        return key[x] < key[y] ? 1 : -1;
    return (x > y) - (x < y);
}

/* Longest first, by the time on the first unit's kind; by cost is nearly that already. */
static void sort_tasks(struct divide *d)
{
    const double *key = d->e->of[d->e->kind[0]].seconds;
    bool sorted = true;
    memcpy(d->order, d->e->order, d->job->n * sizeof *d->order);
    for (size_t i = 1; i < d->job->n && sorted; i++)
        sorted = key[d->order[i - 1]] >= key[d->order[i]];
    if (!sorted)
        qsort_r(d->order, d->job->n, sizeof *d->order, by_key, (void *)key);
}

static int number_of(const struct divide *d, int space)
{
    for (int c = 0; c < d->job->ncu; c++)
        if (d->job->unit[c].space == space)
            return d->space[c];
    return d->nspaces;
}

static void find_homes(struct divide *d)
{
    const struct sched_job *job = d->job;
    int last = CU_SPACE_HOST, number = number_of(d, last);
    d->link = job->link ? *job->link : SCHED_LINK_USUAL;
    d->bound = false;
    d->links[d->nspaces] = job->home != NULL; /* a lost device, or the host */
    for (int c = 0; c < job->ncu; c++)
        d->links[d->space[c]] = job->unit[c].space != CU_SPACE_HOST;
    for (size_t t = 0; t < job->n; t++) {
        int home = job->home ? job->home[t] : CU_SPACE_HOST;
        if (home != last)
            number = number_of(d, last = home);
        double bytes = job->bytes ? job->bytes[t] : 0;
        d->home[t] = number;
        d->toll[t] = d->link.latency + bytes * d->link.per_byte;
        d->bound |= d->toll[t] > 0;
    }
}

void divide_begin(struct divide *d, const bool *off, double horizon)
{
    d->off = off;
    d->horizon = horizon;
    d->looks = MOST_LOOKS;
    sort_units(d);
    sort_tasks(d);
    find_homes(d);
}

/* ---- what a division costs --------------------------------------------------------------------*/
/* The host itself has no link: what crosses goes over those of the devices. */
static double exchange_of(struct divide *d, const int *owner)
{
    const struct sched_job *job = d->job;
    double slowest = 0;
    if (!job->first || d->nspaces == 1)
        return 0;
    memset(d->link_s, 0, (size_t)d->nspaces * sizeof *d->link_s);
    for (size_t t = 0; t < job->n; t++)
        for (size_t i = job->first[t]; i < job->first[t + 1]; i++) {
            int from = d->space[owner[job->neighbour[i]]], to = d->space[owner[t]];
            if (from == to)
                continue;
            double bytes = job->face_bytes ? job->face_bytes[i] : 0;
            double sec = d->link.latency + bytes * d->link.per_byte;
            d->link_s[from] += sec;
            d->link_s[to] += sec;
        }
    for (int p = 0; p < d->nspaces; p++)
        slowest = divide_more(slowest, d->links[p] * d->link_s[p]);
    return slowest;
}

void divide_load(struct divide *d, const int *owner)
{
    memset(d->load, 0, 2 * (size_t)d->job->ncu * sizeof *d->load);
    for (size_t t = 0; t < d->job->n; t++) {
        double sec = estimate_seconds(d->e, owner[t], t);
        d->load[owner[t]] += sec;
        d->full[owner[t]] += sec + divide_toll(d, d->space[owner[t]], t);
    }
}

struct divide_cost divide_predict(struct divide *d, const int *owner)
{
    double first = 0;
    struct divide_cost cost = {0};
    divide_load(d, owner);
    for (int c = 0; c < d->job->ncu; c++) {
        cost.makespan = divide_more(cost.makespan, d->load[c]);
        first = divide_more(first, d->full[c]);
    }
    cost.moving = first - cost.makespan;
    cost.exchange = exchange_of(d, owner);
    return cost;
}

/* ---- the search -------------------------------------------------------------------------------*/
struct search {
    double doubt, best;
    double exchange; /* of the contiguous division; INFINITY before it is known */
    int *owner;
    struct divide_cost cost;
};

static void compare(struct divide *d, struct search *s)
{
    struct divide_cost c = divide_predict(d, d->trial);
    double total = divide_total(d, c);
    if (c.exchange > s->exchange)
        total += s->doubt * c.makespan;
    if (total < s->best) {
        s->best = total;
        s->cost = c;
        memcpy(s->owner, d->trial, d->job->n * sizeof *s->owner);
    }
}

static void pick_all(struct divide *d, int what)
{
    for (size_t t = 0; t < d->job->n; t++)
        d->pick[t] = what;
}

static void try_contiguous(struct divide *d, struct search *s)
{
    divide_cut(d);
    divide_pack(d, DIVIDE_BY_SPACE, d->trial);
    divide_improve(d, d->trial, false);
    s->exchange = exchange_of(d, d->trial);
    compare(d, s);
    if (d->nspaces > 1) {
        divide_improve(d, d->trial, true);
        compare(d, s);
    }
}

static void try_pick(struct divide *d, struct search *s, enum divide_by by)
{
    divide_pack(d, by, d->trial);
    divide_improve(d, d->trial, true);
    compare(d, s);
}

static void try_spaces(struct divide *d, struct search *s)
{
    for (int p = 0; p < d->nspaces; p++)
        if (d->sum[p][d->job->n] < s->best) {
            pick_all(d, p);
            divide_pack(d, DIVIDE_BY_SPACE, d->trial);
            divide_improve(d, d->trial, false);
            compare(d, s);
        }
}

static void try_present(struct divide *d, struct search *s, const int *present)
{
    for (size_t t = 0; t < d->job->n; t++)
        if (d->off && d->off[present[t]])
            return;
    memcpy(d->trial, present, d->job->n * sizeof *d->trial);
    divide_improve(d, d->trial, true);
    compare(d, s);
}

/* Kinds differ in speed alone: the ratio of their times is the same for all tasks. */
static bool in_proportion(const struct divide *d)
{
    const struct estimate_kind *of = d->e->of;
    for (int k = 1; k < d->nclasses; k++) {
        const double *a = of[d->class[0].kind].seconds, *b = of[d->class[k].kind].seconds;
        double least = INFINITY, most = 0;
        for (size_t t = 0; a != b && t < d->job->n; t++) {
            double ratio = b[t] / a[t];
            least = divide_less(least, ratio);
            most = divide_more(most, ratio);
        }
        if (a != b && !(most <= 1.01 * least))
            return false;
    }
    return true;
}

/* The makespan if all units ended at once, for kinds in proportion. */
static double ideal(const struct divide *d)
{
    double rate = 0;
    for (int p = 0; p < d->nspaces; p++)
        rate += 1 / d->sum[p][d->job->n];
    return 1 / rate;
}

static void try_prices(struct divide *d, struct search *s)
{
    double least = divide_price(d);
    try_pick(d, s, DIVIDE_BY_KIND);
    if (s->best <= GOOD_ENOUGH * least || d->looks <= 0)
        return;
    divide_free(d);
    try_pick(d, s, DIVIDE_BY_KIND);
}

/* With tolls in mind while tasks are given to units (or not: then they count only in comparisons).
 */
static void search_shapes(struct divide *d, struct search *s, bool proportional)
{
    try_contiguous(d, s);
    if (proportional && (d->nspaces == 1 || s->best <= GOOD_ENOUGH * ideal(d)))
        return;
    if (!proportional && d->looks > 0)
        try_prices(d, s);
    if (d->looks <= 0)
        return;
    pick_all(d, DIVIDE_ANY);
    try_pick(d, s, DIVIDE_BY_KIND);
}

struct divide_cost divide_search(struct divide *d, const int *present, double doubt, int *owner)
{
    struct search s = {.doubt = doubt, .best = INFINITY, .exchange = INFINITY, .owner = owner};
    if (!d->job->n)
        return s.cost;
    bool proportional = in_proportion(d);
    d->weight = 0;
    search_shapes(d, &s, proportional);
    if (s.cost.moving > TOLLS_MATTER * d->horizon * s.cost.makespan) {
        d->looks = d->looks > MOST_LOOKS / 4 ? d->looks : MOST_LOOKS / 4;
        d->weight = 1 / d->horizon;
        search_shapes(d, &s, proportional);
        try_spaces(d, &s);
    }
    if (present && s.cost.moving > 0)
        try_present(d, &s, present);
    return s.cost;
}
