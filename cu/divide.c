/* cu/divide.c – the search for the best division of the tasks among units. */
#include "cu/divide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t NONE = (size_t)-1;

enum { ALL_SPACES = -1, IMPROVE_LOOKS = 100000 };

struct divide_group {
    int first, space;      /* number of its first unit */
    int units, *unit;      /* into divide.member */
    struct plan_heap heap; /* into divide.heaps */
};

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
    *d = (struct divide){.e = e, .job = job};
    d->link = job->link ? *job->link : SCHED_LINK_USUAL;
    d->space = calloc(ncu, sizeof *d->space);
    d->units = calloc(ncu, sizeof *d->units);
    d->order = calloc(3 * n, sizeof *d->order);
    d->trial = calloc(n, sizeof *d->trial);
    d->load = calloc(2 * ncu + n, sizeof *d->load);
    d->head = calloc(ncu + n, sizeof *d->head);
    d->cut = calloc(ncu + 1, sizeof *d->cut);
    d->group = calloc(ncu, sizeof *d->group);
    d->member = calloc(ncu, sizeof *d->member);
    d->heaps.top = calloc(ncu, sizeof *d->heaps.top);
    if (d->group && d->member && d->heaps.top && d->space && d->units && d->order && d->trial &&
        d->load && d->head && d->cut) {
        number_spaces(d);
        d->seq = d->order + n;
        d->at = d->seq + n;
        d->link_s = d->load + ncu;
        d->key = d->link_s + ncu;
        d->follow = d->head + ncu;
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
    free(d->group);
    free(d->member);
    free(d->sum);
    free(d->space);
    free(d->units);
    free(d->order);
    free(d->trial);
    free(d->load);
    free(d->head);
    free(d->cut);
    *d = (struct divide){0};
}

/* ---- what a division costs --------------------------------------------------------------------*/
/* The host itself has no link: what crosses goes over those of the devices. */
static void carry(struct divide *d, int from, int to, double bytes)
{
    double sec = d->link.latency + bytes * d->link.per_byte;
    d->link_s[d->space[from]] += d->job->unit[from].space == CU_SPACE_HOST ? 0 : sec;
    d->link_s[d->space[to]] += d->job->unit[to].space == CU_SPACE_HOST ? 0 : sec;
}

static double slowest_link(struct divide *d)
{
    double sec = 0;
    for (int p = 0; p < d->nspaces; p++) {
        sec = fmax(sec, d->link_s[p]);
        d->link_s[p] = 0;
    }
    return sec;
}

static double exchange_of(struct divide *d, const int *owner)
{
    const struct sched_job *job = d->job;
    if (!job->first || d->nspaces == 1)
        return 0;
    for (size_t t = 0; t < job->n; t++)
        for (size_t i = job->first[t]; i < job->first[t + 1]; i++) {
            int from = owner[job->neighbour[i]], to = owner[t];
            if (d->space[from] != d->space[to])
                carry(d, from, to, job->face_bytes ? job->face_bytes[i] : 0);
        }
    return slowest_link(d);
}

static double moving_of(struct divide *d, const int *owner, const int *from)
{
    for (size_t t = 0; from && t < d->job->n; t++)
        if (d->space[owner[t]] != d->space[from[t]])
            carry(d, from[t], owner[t], d->job->bytes ? d->job->bytes[t] : 0);
    return slowest_link(d);
}

static double load_units(struct divide *d, const int *owner)
{
    double longest = 0;
    memset(d->load, 0, (size_t)d->job->ncu * sizeof *d->load);
    for (size_t t = 0; t < d->job->n; t++)
        d->load[owner[t]] += estimate_seconds(d->e, owner[t], t);
    for (int c = 0; c < d->job->ncu; c++)
        longest = fmax(longest, d->load[c]);
    return longest;
}

struct divide_cost divide_predict(struct divide *d, const int *owner, const int *from)
{
    return (struct divide_cost){load_units(d, owner), exchange_of(d, owner),
                                moving_of(d, owner, from)};
}

/* ---- longest task first, to where it ends first -----------------------------------------------*/
static bool alike(const struct divide *d, int a, int b)
{
    const struct estimate *e = d->e;
    return d->space[a] == d->space[b] && e->kind[a] == e->kind[b] && e->factor[a] == e->factor[b];
}

static void sort_groups(struct divide *d)
{
    int ncu = d->job->ncu, placed = 0;
    d->ngroups = 0;
    for (int c = 0; c < ncu; c++) {
        int earlier = 0;
        while (!alike(d, earlier, c))
            earlier++;
        if (earlier < c) /* not the first of its group */
            continue;
        struct divide_group *g = &d->group[d->ngroups++];
        *g = (struct divide_group){.first = c, .space = d->space[c], .unit = d->member + placed};
        g->heap.top = d->heaps.top + placed;
        for (int u = c; u < ncu; u++)
            if (alike(d, u, c))
                g->unit[g->units++] = u;
        placed += g->units;
    }
}

/* Gives the tasks at places begin .. end-1 of seq to the units of a space; returns the makespan.
 * owner may be NULL. */
static double pack(struct divide *d, int space, size_t begin, size_t end, int *owner)
{
    double longest = 0;
    for (struct divide_group *g = d->group; g < d->group + d->ngroups; g++)
        plan_heap_fill(&g->heap, g->unit, g->units);
    for (size_t i = 0; i < d->job->n; i++) {
        size_t t = d->order[i];
        struct divide_group *best = NULL;
        double finish = INFINITY, added = 0;
        if (d->at[t] < begin || d->at[t] >= end)
            continue;
        for (struct divide_group *g = d->group; g < d->group + d->ngroups; g++) {
            if (space != ALL_SPACES && g->space != space)
                continue;
            double sec = estimate_seconds(d->e, g->first, t);
            if (g->heap.top->load + sec < finish || !best) {
                best = g;
                added = sec;
                finish = g->heap.top->load + sec;
            }
        }
        int unit = plan_heap_add(&best->heap, added);
        longest = fmax(longest, finish);
        if (owner)
            owner[t] = unit;
    }
    return longest;
}

/* ---- exchanges between the unit that ends last and others -------------------------------------*/
struct offer {
    size_t give, take; /* task of the last unit, task of the other one or NONE */
    int unit;
    double gives, takes; /* change of the loads of the last unit and of the other one */
    double ends;         /* when the later of both would end */
};

static void look(struct divide *d, int last, int other, size_t give, size_t take,
                 struct offer *best)
{
    const struct estimate *e = d->e;
    double gives = -estimate_seconds(e, last, give), takes = estimate_seconds(e, other, give);
    if (take != NONE) {
        gives += estimate_seconds(e, last, take);
        takes -= estimate_seconds(e, other, take);
    }
    double ends = fmax(d->load[last] + gives, d->load[other] + takes);
    if (ends < best->ends)
        *best = (struct offer){give, take, other, gives, takes, ends};
}

static void unlink_task(struct divide *d, int unit, size_t task)
{
    size_t *p = &d->head[unit];
    while (*p != task)
        p = &d->follow[*p];
    *p = d->follow[task];
}

static void hand_over(struct divide *d, int *owner, int from, int to, size_t task)
{
    unlink_task(d, from, task);
    d->follow[task] = d->head[to];
    d->head[to] = task;
    owner[task] = to;
}

static int last_of(const struct divide *d)
{
    int last = 0;
    for (int c = 1; c < d->job->ncu; c++)
        if (d->load[c] > d->load[last])
            last = c;
    return last;
}

/* Inside the last unit's space, or anywhere. Ends when nothing helps, or looks run out. */
static void improve(struct divide *d, int *owner, bool anywhere)
{
    size_t n = d->job->n;
    load_units(d, owner);
    for (int c = 0; c < d->job->ncu; c++)
        d->head[c] = NONE;
    for (size_t t = n; t-- > 0;) {
        d->follow[t] = d->head[owner[t]];
        d->head[owner[t]] = t;
    }
    for (long looks = 0; looks < IMPROVE_LOOKS;) {
        int last = last_of(d);
        struct offer best = {.ends = d->load[last] * (1 - 1e-4), .unit = -1};
        for (int c = 0; c < d->job->ncu && looks < IMPROVE_LOOKS; c++) {
            if (c == last || (!anywhere && d->space[c] != d->space[last]))
                continue;
            for (size_t give = d->head[last]; give != NONE; give = d->follow[give]) {
                look(d, last, c, give, NONE, &best);
                looks++;
                for (size_t take = d->head[c]; take != NONE; take = d->follow[take], looks++)
                    look(d, last, c, give, take, &best);
            }
        }
        if (best.unit < 0)
            return;
        hand_over(d, owner, last, best.unit, best.give);
        if (best.take != NONE)
            hand_over(d, owner, best.unit, last, best.take);
        d->load[last] += best.gives;
        d->load[best.unit] += best.takes;
    }
}

/* ---- cutting a sequence into one stretch for each space ---------------------------------------*/
static void sum_seconds(struct divide *d)
{
    for (size_t i = 0; i < d->job->n; i++) {
        d->at[d->seq[i]] = i;
        for (int p = 0; p < d->nspaces; p++)
            d->sum[p][i + 1] = 0; /* tasks per second of the space, at first */
        for (const struct divide_group *g = d->group; g < d->group + d->ngroups; g++)
            d->sum[g->space][i + 1] +=
                g->units / fmax(estimate_seconds(d->e, g->first, d->seq[i]), 1e-300);
        for (int p = 0; p < d->nspaces; p++)
            d->sum[p][i + 1] = d->sum[p][i] + 1 / d->sum[p][i + 1];
    }
}

/* The last place up to which space p gets in `span` seconds from `begin` on. */
static size_t reach(const struct divide *d, int p, size_t begin, double span)
{
    const double *sum = d->sum[p];
    size_t low = begin, high = d->job->n;
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;
        if (sum[middle] - sum[begin] <= span)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Spaces 1 .. share what begins at cut[1] so that the last of them ends as early as may be; sets
 * the other cuts, returns that time. */
static double cut_rest(struct divide *d)
{
    size_t n = d->job->n, begin = d->cut[1];
    double low = 0, high = d->sum[1][n] - d->sum[1][begin], span = 0;
    for (int p = 2; p < d->nspaces; p++)
        high = fmin(high, d->sum[p][n] - d->sum[p][begin]);
    for (int i = 0; i < 40 && high - low > 1e-6 * high; i++) {
        double middle = (low + high) / 2;
        size_t at = begin;
        for (int p = 1; p < d->nspaces; p++)
            at = reach(d, p, at, middle);
        if (at == n)
            high = middle;
        else
            low = middle;
    }
    for (int p = 1; p < d->nspaces; p++) {
        bool last = p == d->nspaces - 1;
        d->cut[p + 1] = last ? n : reach(d, p, d->cut[p], high * (1 + 1e-9));
        span = fmax(span, d->sum[p][d->cut[p + 1]] - d->sum[p][d->cut[p]]);
    }
    return span;
}

static double cut_at(struct divide *d, size_t pivot, double *first)
{
    d->cut[0] = 0;
    d->cut[1] = pivot;
    double rest = d->nspaces > 1 ? cut_rest(d) : 0;
    *first = pack(d, 0, 0, pivot, NULL);
    return fmax(*first, rest);
}

/* The pivot up to which the first space ends before the others do, or the one after. */
static void cut(struct divide *d, int *owner)
{
    size_t n = d->job->n, low = 0, high = n;
    double first, best = INFINITY;
    size_t pivot = n;
    while (d->nspaces > 1 && low < high) {
        size_t middle = (low + high) / 2;
        double span = cut_at(d, middle, &first);
        if (span < best) {
            best = span;
            pivot = middle;
        }
        if (first < span)
            low = middle + 1;
        else
            high = middle;
    }
    if (d->nspaces > 1 && cut_at(d, low, &first) < best)
        pivot = low;
    cut_at(d, pivot, &first);
    d->cut[d->nspaces] = n;
    for (int p = 0; p < d->nspaces; p++)
        pack(d, p, d->cut[p], d->cut[p + 1], owner);
    improve(d, owner, false);
}

/* ---- the search -------------------------------------------------------------------------------*/
struct search {
    const int *from;
    double horizon, best;
    int *owner;
    struct divide_cost cost;
};

static void compare(struct divide *d, struct search *s)
{
    struct divide_cost c = divide_predict(d, d->trial, s->from);
    double total = c.makespan + c.exchange + c.moving / s->horizon;
    if (total < s->best) {
        s->best = total;
        s->cost = c;
        memcpy(s->owner, d->trial, d->job->n * sizeof *s->owner);
    }
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

static void natural(struct divide *d)
{
    for (size_t t = 0; t < d->job->n; t++)
        d->seq[t] = t;
    sum_seconds(d);
}

/* Sorts seq by how much faster the others together are than the first space, from least to most;
 * false where that is the same for all tasks. Expects natural(). */
static bool affine(struct divide *d)
{
    double least = INFINITY, most = 0;
    for (size_t t = 0; t < d->job->n; t++) {
        double rate = 0;
        for (int p = 1; p < d->nspaces; p++)
            rate += 1 / (d->sum[p][t + 1] - d->sum[p][t]);
        double better = (d->sum[0][t + 1] - d->sum[0][t]) * rate;
        d->key[t] = -better;
        least = fmin(least, better);
        most = fmax(most, better);
    }
    if (!(most > 1.02 * least))
        return false;
    qsort_r(d->seq, d->job->n, sizeof *d->seq, by_key, d->key);
    sum_seconds(d);
    return true;
}

static void one_space(struct divide *d, struct search *s)
{
    for (int p = 0; p < d->nspaces; p++)
        if (d->sum[p][d->job->n] < s->best) {
            pack(d, p, 0, d->job->n, d->trial);
            improve(d, d->trial, false);
            compare(d, s);
        }
}

struct divide_cost divide_search(struct divide *d, const int *from, double horizon, int *owner)
{
    struct search s = {.from = from, .horizon = horizon, .best = INFINITY, .owner = owner};
    if (!d->job->n)
        return s.cost;
    sort_groups(d);
    sort_tasks(d);
    natural(d);
    cut(d, d->trial);
    compare(d, &s);
    if (d->nspaces > 1) {
        one_space(d, &s);
        pack(d, ALL_SPACES, 0, d->job->n, d->trial);
        improve(d, d->trial, true);
        compare(d, &s);
        if (affine(d)) {
            cut(d, d->trial);
            compare(d, &s);
        }
    }
    return s.cost;
}
