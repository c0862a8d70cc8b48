/* cu/sched/partition_tabu.c – tabu search (Glover, ORSA J. Computing 1, 1989) where only times
 * count and kinds of units are good at different tasks: there, moves and swaps that help at once
 * end well above the optimum. */
#include "cu/sched/partition_list.h"

#include <math.h>
#include <string.h>

/* Moves and swaps that a search weighs. */
enum { BUDGET = 30000 };

/* What exceeds this share of the best partition's makespan counts against a partition: often more
 * than one unit must lose work before the makespan can fall. */
static const double TARGET = 0.97;

/* Share of what tasks pay more after a move that counts as excess, too: what is cheap for a task
 * now costs others their place. */
static const double WASTE = 0.1;

/* A task may not return to the unit that it left for so many moves. */
enum { TENURE = 8 };

/* A task goes to units of the kinds on which it is cheapest only, at the prices that balance the
 * kinds. */
enum { CHEAPEST = 8 };

struct tabu {
    struct partition *d;
    int *owner;
    double target;
    double waste; /* excess per unit of price */
    long move, budget;
    int last;          /* the unit that ends last */
    double excess;     /* that the best move found adds: */
    size_t give, take; /* task of the last unit; task in return, or PARTITION_NONE */
    int unit;          /* the other one */
};

/* ---- candidates -------------------------------------------------------------------------------*/
/* The highest price that a task pays: d->scratch. */
static void set_limits(struct partition *d)
{
    for (size_t t = 0; t < d->job->n; t++) {
        double low[CHEAPEST];
        int n = 0;
        for (int k = 0; k < d->e->nkinds; k++) {
            const double price = prices_of(&d->market, k, t);
            if (!(price < INFINITY))
                continue;
            int at = n < CHEAPEST ? n++ : CHEAPEST;
            for (; at > 0 && low[at - 1] > price; at--)
                if (at < CHEAPEST)
                    low[at] = low[at - 1];
            if (at < CHEAPEST)
                low[at] = price;
        }
        d->scratch[t] = n ? low[n - 1] : INFINITY;
    }
}

static bool suits(const struct tabu *x, size_t task, int unit)
{
    const struct partition *d = x->d;
    return prices_of(&d->market, d->e->kind[unit], task) <= d->scratch[task] &&
           !(d->left[task] == unit && d->until[task] > x->move);
}

/* ---- moves ------------------------------------------------------------------------------------*/
static int last_unit(const struct partition *d)
{
    int last = 0;
    for (int c = 1; c < d->job->ncu; c++)
        last = d->load[c] > d->load[last] ? c : last;
    return last;
}

static double excess(const struct tabu *x, double load)
{
    return partition_more(0, load - x->target);
}

/* Of a task that goes to another unit. */
static double waste(const struct tabu *x, size_t task, int from, int to)
{
    const struct partition *d = x->d;
    return x->waste * (prices_of(&d->market, d->e->kind[to], task) -
                       prices_of(&d->market, d->e->kind[from], task));
}

static void consider(struct tabu *x, double more, size_t give, int unit, size_t take)
{
    x->budget--;
    if (!(more < x->excess))
        return;
    x->excess = more;
    x->give = give;
    x->take = take;
    x->unit = unit;
}

/* Weighs giving the task to `unit`, for nothing or for one of its tasks. */
static void weigh(struct tabu *x, size_t give, int unit)
{
    const struct partition *d = x->d;
    const double last = d->load[x->last] - estimate_seconds(d->e, x->last, give),
                 other = d->load[unit] + estimate_seconds(d->e, unit, give),
                 more = waste(x, give, x->last, unit) - excess(x, d->load[x->last]) -
                        excess(x, d->load[unit]);
    consider(x, more + excess(x, last) + excess(x, other), give, unit, PARTITION_NONE);
    for (size_t t = d->head[unit]; t != PARTITION_NONE && x->budget > 0; t = d->follow[t])
        if (!(d->left[t] == x->last && d->until[t] > x->move))
            consider(x,
                     more + waste(x, t, unit, x->last) +
                         excess(x, last + estimate_seconds(d->e, x->last, t)) +
                         excess(x, other - estimate_seconds(d->e, unit, t)),
                     give, unit, t);
}

static void hand_over(struct tabu *x, size_t task, int to)
{
    struct partition *d = x->d;
    const int from = x->owner[task];
    partition_unlink(d, from, task);
    partition_link(d, to, task);
    d->load[from] -= estimate_seconds(d->e, from, task);
    d->load[to] += estimate_seconds(d->e, to, task);
    x->owner[task] = to;
    d->left[task] = from;
    d->until[task] = x->move + TENURE;
}

/* The best of all moves and swaps of the last unit, even if it is for the worse. */
static void make_move(struct tabu *x)
{
    const struct partition *d = x->d;
    x->excess = INFINITY;
    x->budget -= d->job->ncu;
    x->move++;
    for (size_t t = d->head[x->last]; t != PARTITION_NONE && x->budget > 0; t = d->follow[t]) {
        for (int c = 0; c < d->job->ncu && x->budget > 0; c++)
            if (c != x->last && suits(x, t, c))
                weigh(x, t, c);
        x->budget -= d->job->ncu / 8;
    }
    if (!(x->excess < INFINITY))
        return; /* all is forbidden for some moves */
    hand_over(x, x->give, x->unit);
    if (x->take != PARTITION_NONE)
        hand_over(x, x->take, x->last);
}

static void begin(struct tabu *x)
{
    struct partition *d = x->d;
    double offered = 0; /* what a second of all units costs */
    for (int k = 0; k < d->e->nkinds; k++)
        offered += d->market.price[k] * d->market.capacity[k];
    x->waste = WASTE * d->job->ncu / offered;
    set_limits(d);
    partition_load(d, x->owner);
    memset(d->until, 0, d->job->n * sizeof *d->until);
    partition_clear_lists(d);
    for (size_t t = 0; t < d->job->n; t++)
        partition_link(d, x->owner[t], t);
    x->last = last_unit(d);
}

bool partition_tabu(struct partition *d, int *owner)
{
    const size_t bytes = d->job->n * sizeof *owner;
    struct tabu x = {.d = d, .owner = owner, .budget = BUDGET};
    begin(&x);
    const double first = d->load[x.last];
    double best = first;
    memcpy(d->pick, owner, bytes);
    x.target = partition_more(TARGET * best, d->least);
    while (x.budget > 0 && best > d->least) {
        make_move(&x);
        x.last = last_unit(d);
        const double now = d->load[x.last];
        if (!(now < best * (1 - 1e-4)))
            continue;
        best = now;
        x.target = partition_more(TARGET * best, d->least);
        memcpy(d->pick, owner, bytes);
    }
    memcpy(owner, d->pick, bytes);
    d->budget -= BUDGET - x.budget; /* its time counts, but is not limited by what is left */
    return best < first;
}
