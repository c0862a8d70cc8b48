/* cu/divide.c – the search for the best division of the tasks among units. */
#include "cu/divide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LOOKS = 150000 };

/* A contiguous division this near to the best there could be needs no rival. */
static const double GOOD_ENOUGH = 1.001;

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
    d->choice = calloc(n, sizeof *d->choice);
    d->cut = calloc(ncu + 1, sizeof *d->cut);
    d->group = calloc(ncu, sizeof *d->group);
    d->member = calloc(ncu, sizeof *d->member);
    d->heaps.top = calloc(ncu, sizeof *d->heaps.top);
    if (d->group && d->member && d->heaps.top && d->space && d->units && d->order && d->trial &&
        d->load && d->head && d->choice && d->cut) {
        number_spaces(d);
        memcpy(d->order, e->order, job->n * sizeof *d->order);
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
    free(d->choice);
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

double divide_load(struct divide *d, const int *owner)
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
    return (struct divide_cost){divide_load(d, owner), exchange_of(d, owner),
                                moving_of(d, owner, from)};
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
    *first = divide_pack(d, 0, 0, pivot, NULL);
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
        divide_pack(d, p, d->cut[p], d->cut[p + 1], owner);
    divide_improve(d, owner, false);
}

/* ---- the search -------------------------------------------------------------------------------*/
struct search {
    const int *from;
    double horizon, doubt, best;
    double exchange; /* of the contiguous division, which is looked at first */
    int *owner;
    struct divide_cost cost;
};

static void compare(struct divide *d, struct search *s)
{
    struct divide_cost c = divide_predict(d, d->trial, s->from);
    double total = c.makespan + c.exchange + c.moving / s->horizon;
    if (s->best == INFINITY)
        s->exchange = c.exchange;
    else if (c.exchange > s->exchange)
        total += s->doubt * c.makespan;
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

/* Seconds of a whole space for the task at a place of seq. */
static double seconds_at(const struct divide *d, int p, size_t place)
{
    return d->sum[p][place + 1] - d->sum[p][place];
}

/* Spaces differ in speed alone: the ratio of their times is the same for all tasks. */
static bool in_proportion(const struct divide *d)
{
    for (int p = 1; p < d->nspaces; p++) {
        double least = INFINITY, most = 0;
        for (size_t i = 0; i < d->job->n; i++) {
            double ratio = seconds_at(d, p, i) / seconds_at(d, 0, i);
            least = fmin(least, ratio);
            most = fmax(most, ratio);
        }
        if (!(most <= 1.02 * least))
            return false;
    }
    return true;
}

/* The makespan if all units ended at once; of spaces in proportion. */
static double ideal(const struct divide *d)
{
    double rate = 0;
    for (int p = 0; p < d->nspaces; p++)
        rate += 1 / d->sum[p][d->job->n];
    return 1 / rate;
}

/* Sorts seq by how much faster the others together are than the first space, from least to most.
 * Expects natural(). */
static void sort_affine(struct divide *d)
{
    for (size_t t = 0; t < d->job->n; t++) {
        double rate = 0;
        for (int p = 1; p < d->nspaces; p++)
            rate += 1 / seconds_at(d, p, t);
        d->key[t] = -seconds_at(d, 0, t) * rate;
    }
    qsort_r(d->seq, d->job->n, sizeof *d->seq, by_key, d->key);
    sum_seconds(d);
}

/* Of the task at a place of seq; adds its seconds to the space's. */
static int cheapest(const struct divide *d, const double *price, size_t place, double *area)
{
    int best = 0;
    double least = INFINITY, added = 0;
    for (int p = 0; p < d->nspaces; p++) {
        double sec = seconds_at(d, p, place);
        if (price[p] * sec < least) {
            least = price[p] * sec;
            added = sec;
            best = p;
        }
    }
    area[best] += added;
    return best;
}

/* Each task to the space where it is cheapest, at prices of a second in each space that rise where
 * the work piles up: the linear programme's way to use what every space is best at. */
static void priced(struct divide *d, int *owner)
{
    enum { ROUNDS = 60 };
    size_t n = d->job->n;
    double *price = d->link_s, *area = d->load, best = INFINITY, eagerness = 0.5;
    for (int p = 0; p < d->nspaces; p++)
        price[p] = 1;
    for (int round = 0; round < ROUNDS; round++, eagerness *= 0.94) {
        double longest = 0, mean = 0;
        memset(area, 0, (size_t)d->nspaces * sizeof *area);
        for (size_t t = 0; t < n; t++)
            d->choice[t] = cheapest(d, price, t, area);
        for (int p = 0; p < d->nspaces; p++) {
            longest = fmax(longest, area[p]);
            mean += area[p] / d->nspaces;
        }
        if (longest < best)
            for (size_t t = 0; t < n; t++)
                d->at[d->seq[t]] = (size_t)d->choice[t];
        best = fmin(best, longest);
        for (int p = 0; p < d->nspaces; p++)
            price[p] *= exp(eagerness * fmin(1, area[p] / mean - 1));
    }
    memset(price, 0, (size_t)d->nspaces * sizeof *price);
    for (int p = 0; p < d->nspaces; p++)
        divide_pack(d, p, (size_t)p, (size_t)p + 1, owner);
    divide_improve(d, owner, true);
}

static void one_space(struct divide *d, struct search *s)
{
    for (int p = 0; p < d->nspaces; p++)
        if (d->sum[p][d->job->n] < s->best) {
            divide_pack(d, p, 0, d->job->n, d->trial);
            divide_improve(d, d->trial, false);
            compare(d, s);
        }
}

struct divide_cost divide_search(struct divide *d, const int *from, double horizon, double doubt,
                                 int *owner)
{
    struct search s = {
        .from = from, .horizon = horizon, .doubt = doubt, .best = INFINITY, .owner = owner};
    if (!d->job->n)
        return s.cost;
    d->looks = MOST_LOOKS;
    divide_sort_units(d);
    sort_tasks(d);
    natural(d);
    cut(d, d->trial);
    compare(d, &s);
    bool proportional = in_proportion(d);
    if (d->nspaces == 1 || (proportional && s.best <= GOOD_ENOUGH * ideal(d)))
        return s.cost;
    one_space(d, &s);
    divide_pack(d, DIVIDE_ALL, 0, d->job->n, d->trial);
    divide_improve(d, d->trial, true);
    compare(d, &s);
    if (!proportional) {
        sort_affine(d);
        cut(d, d->trial);
        compare(d, &s);
        if (d->nspaces > 2) {
            priced(d, d->trial);
            compare(d, &s);
        }
    }
    return s.cost;
}
