/* cu/sched/partition_repack.c – packs the tasks of the unit that ends last and of a few others
 * anew, so that all of them end earlier. Where few tasks fit together, moves and swaps get stuck.
 */
#include "cu/sched/partition_list.h"
#include "src/sort.h"

#include <string.h>

/* Nodes of all search trees; of one for up to FEW units, and of one for up to MANY. */
enum { BUDGET = 30000, FOR_FEW = 200, FOR_MANY = 3000 };

/* Units packed together, and the most tasks that they may have. */
enum { FEW = 3, MANY = 8, MOST_TASKS = 48 };

/* Makespans are not told apart below this share. */
static const double FINE = 1e-3;

struct repack {
    struct partition *d;
    int *owner;
    long budget, each;
    double low;                     /* packings that end by then have been looked for in vain */
    int unit[MANY], units;          /* packed together, the one that ends last first */
    double room[MANY], price[MANY]; /* seconds left; price of one */
    size_t task[MOST_TASKS];        /* longest first */
    int to[MOST_TASKS], n;
    double pays[MOST_TASKS + 1]; /* least price of the tasks from the i-th on */
    double shortest[MOST_TASKS]; /* least seconds of these */
};

/* ---- one packing ------------------------------------------------------------------------------*/
static double seconds(const struct repack *x, int i, int c)
{
    return estimate_seconds(x->d->e, x->unit[c], x->task[i]);
}

/* Room for less than the shortest task is wasted. */
static bool may_fit(const struct repack *x, int i)
{
    double left = 0;
    for (int c = 0; c < x->units; c++)
        left += x->room[c] < x->shortest[i] ? 0 : x->room[c] * x->price[c];
    return left * (1 + 1e-9) >= x->pays[i];
}

/* A task like the one before it goes to the same unit or to one behind. */
static int first_unit(const struct repack *x, int i)
{
    for (int c = 0; i > 0 && c < x->units; c++)
        if (seconds(x, i, c) != seconds(x, i - 1, c))
            return 0;
    return i > 0 ? x->to[i - 1] : 0;
}

/* A unit before this one is like it and has as much room. */
static bool has_twin(const struct repack *x, int c)
{
    for (int b = 0; b < c; b++)
        if (x->room[b] == x->room[c] && partition_alike(x->d, x->unit[b], x->unit[c]))
            return true;
    return false;
}

static bool pack(struct repack *x, int i)
{
    if (i == x->n)
        return true;
    if (x->each-- <= 0 || !may_fit(x, i))
        return false;
    for (int c = first_unit(x, i); c < x->units; c++) {
        const double sec = seconds(x, i, c), room = x->room[c];
        if (sec > room || has_twin(x, c))
            continue;
        x->room[c] -= sec;
        x->to[i] = c;
        if (pack(x, i + 1))
            return true;
        x->room[c] = room;
    }
    return false;
}

/* Lists the units' tasks, longest first; false: too many. Ranks are in d->left. */
static bool gather(struct repack *x)
{
    const struct partition *d = x->d;
    x->n = 0;
    for (int c = 0; c < x->units; c++)
        for (size_t t = d->head[x->unit[c]]; t != PARTITION_NONE; t = d->follow[t]) {
            if (x->n == MOST_TASKS)
                return false;
            int at = x->n++;
            for (; at > 0 && d->left[x->task[at - 1]] > d->left[t]; at--)
                x->task[at] = x->task[at - 1];
            x->task[at] = t;
        }
    return true;
}

static void price(struct repack *x, double limit)
{
    const struct partition *d = x->d;
    for (int c = 0; c < x->units; c++) {
        x->room[c] = limit;
        x->price[c] = partition_unit_price(d, x->unit[c]);
    }
    x->pays[x->n] = 0;
    for (int i = x->n; i-- > 0;) {
        double least = INFINITY;
        x->shortest[i] = i + 1 < x->n ? x->shortest[i + 1] : INFINITY;
        for (int c = 0; c < x->units; c++) {
            least = partition_less(least, x->price[c] * seconds(x, i, c));
            x->shortest[i] = partition_less(x->shortest[i], seconds(x, i, c));
        }
        x->pays[i] = x->pays[i + 1] + least;
    }
}

static void take_packing(struct repack *x, double limit)
{
    struct partition *d = x->d;
    for (int c = 0; c < x->units; c++) {
        d->head[x->unit[c]] = PARTITION_NONE;
        d->load[x->unit[c]] = limit - x->room[c];
    }
    for (int i = 0; i < x->n; i++) {
        x->owner[x->task[i]] = x->unit[x->to[i]];
        partition_link(d, x->owner[x->task[i]], x->task[i]);
    }
}

/* Whether the units can end by `limit`, as far as `nodes` of the search tree tell. */
static bool repack(struct repack *x, double limit, long nodes)
{
    if (!gather(x)) {
        x->budget -= MOST_TASKS;
        return false;
    }
    price(x, limit);
    x->each = nodes;
    const bool fits = pack(x, 0);
    x->budget -= nodes - x->each + x->n;
    if (fits)
        take_packing(x, limit);
    return fits;
}

/* ---- which units ------------------------------------------------------------------------------*/
/* The last unit with one or two of the others, those first that end first. */
static bool try_few(struct repack *x, double limit)
{
    const size_t *by_end = x->d->by_end;
    const int others = x->d->job->ncu - 1;
    for (int sum = 1; sum < 2 * others; sum++)
        for (int i = sum < others ? 0 : sum - others; 2 * i < sum; i++) {
            x->unit[1] = (int)by_end[i];
            x->unit[2] = (int)by_end[sum - i];
            x->units = sum - i < others ? FEW : FEW - 1;
            if (x->budget <= 0)
                return false;
            if (repack(x, limit, FOR_FEW))
                return true;
        }
    return false;
}

/* The last unit with those that end first. */
static bool try_many(struct repack *x, double limit)
{
    const int ncu = x->d->job->ncu, most = ncu < MANY ? ncu : MANY;
    for (int i = 1; i < most; i++)
        x->unit[i] = (int)x->d->by_end[i - 1];
    for (x->units = FEW + 1; x->units <= most && x->budget > 0; x->units++)
        if (repack(x, limit, FOR_MANY))
            return true;
    return false;
}

static void begin(struct repack *x)
{
    struct partition *d = x->d;
    partition_load(d, x->owner);
    partition_clear_lists(d);
    for (int c = 0; c < d->job->ncu; c++)
        d->by_end[c] = (size_t)c;
    for (size_t i = 0; i < d->job->n; i++) {
        d->left[d->order[i]] = (int)i;
        partition_link(d, x->owner[d->order[i]], d->order[i]);
    }
}

bool partition_repack(struct partition *d, int *owner)
{
    struct repack x = {.d = d, .owner = owner, .budget = BUDGET, .low = d->least};
    const size_t ncu = (size_t)d->job->ncu;
    bool helped = false;
    begin(&x);
    while (x.budget > 0) {
        qsort_r(d->by_end, ncu, sizeof *d->by_end, sort_places_up, d->load);
        const double best = d->load[d->by_end[ncu - 1]], limit = (x.low + best) / 2;
        if (best <= x.low * (1 + FINE))
            break;
        x.unit[0] = (int)d->by_end[ncu - 1];
        if (try_few(&x, limit) || try_many(&x, limit))
            helped = true;
        else
            x.low = limit;
    }
    d->budget -= BUDGET - x.budget; /* its time counts, but is not limited by what is left */
    return helped;
}
