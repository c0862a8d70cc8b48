/* cu/sched/partition_improve.c – local search: moves and swaps of tasks between the unit that ends
 * last and others. */
#include "cu/sched/partition_list.h"

#include <string.h>

/* Where only times count, the best task to take in return is among this many near the one that
 * balances the two units. */
enum { NEAR = 4 };

/* One task for several is tried where the step exceeds its bound by more than this share. */
static const double WORTH_TRADING = 0.002;

/* Budget of one improvement, unless it is the only one: later ones need some, too. */
enum { EACH = 15000 };

/* Few improvements need ten rounds of moves that shorten the usual step, the first one, …; one that
 * needs more goes to and fro between the two. */
enum { ROUNDS = 20 };

/* When a unit ends: usually, and in the first step, which moves tasks. */
struct ends {
    double usual, first;
};

struct offer {
    size_t give, take; /* task of the last unit, task of the other one or PARTITION_NONE */
    int unit;          /* the other one */
    struct ends last, other;
    double value; /* mean seconds of a step if no other unit ends later */
};

/* State of one improvement. */
struct improvement {
    struct partition *d;
    const int *owner;
    bool anywhere;        /* also between memory nodes */
    bool in_first;        /* consider the first step instead of the usual one */
    double w;             /* weight of the first step: 1 / horizon or 0 */
    struct ends at_least; /* end of the other units */
    int last;             /* the unit that ends last, which gives */
    long budget;
};

/* Lists are in the order of d->order. */
static void link_task(struct partition *d, int unit, size_t task)
{
    const double *key = d->e->of[d->e->kind[0]].seconds;
    size_t *p = &d->head[unit];
    while (*p != PARTITION_NONE && key[*p] > key[task])
        p = &d->follow[*p];
    d->follow[task] = *p;
    *p = task;
}

static void hand_over(struct partition *d, int *owner, int from, int to, size_t task)
{
    partition_unlink(d, from, task);
    link_task(d, to, task);
    owner[task] = to;
}

static struct ends ends_of(const struct partition *d, int cu)
{
    return (struct ends){d->load[cu], d->full[cu]};
}

static double value_of(const struct improvement *a, struct ends x, struct ends y)
{
    double usual = partition_more(a->at_least.usual, partition_more(x.usual, y.usual));
    double first = partition_more(a->at_least.first, partition_more(x.first, y.first));
    return (1 - a->w) * usual + a->w * first;
}

/* Each face that crosses counts in both directions. */
double partition_crossing(const struct partition *d, const int *owner, size_t task, int to)
{
    const struct sched_job *job = d->job;
    if (!job->first)
        return 0;
    int here = d->memory[owner[task]], ends = d->links[here] + d->links[to];
    double sec = 0;
    for (size_t i = job->first[task]; i < job->first[task + 1]; i++) {
        int there = d->memory[owner[job->neighbour[i]]];
        double face = partition_face(d, i);
        if (there != to)
            sec += face * (d->links[there] + d->links[to]);
        if (there != here)
            sec -= face * (d->links[there] + d->links[here]);
    }
    return ends ? 2 * sec / ends * partition_exchanges(d) : 0;
}

/* Faces count between units of these memory nodes. */
static bool crosses(const struct partition *d, int cu, int other)
{
    return d->job->first && d->memory[cu] != d->memory[other];
}

/* What partition_crossing() says too little if two tasks change places: faces between them, in both
 * directions, cross as before, while each counts them as gone. */
static double faces_between(const struct partition *d, size_t a, size_t b)
{
    const struct sched_job *job = d->job;
    double sec = 0;
    for (size_t i = job->first[a]; i < job->first[a + 1]; i++)
        sec += job->neighbour[i] == b ? partition_face(d, i) : 0;
    return 4 * sec * partition_exchanges(d);
}

/* Computes d->delta of a unit's tasks for a move to memory node `to`, where faces count. */
static void price_exchange(struct improvement *a, int cu, int to)
{
    struct partition *d = a->d;
    for (size_t t = d->head[cu]; t != PARTITION_NONE; t = d->follow[t]) {
        d->delta[t] = partition_crossing(d, a->owner, t, to);
        a->budget -= 8;
    }
}

/* One of two units that exchange tasks; what is asked of it for each pair of them. */
struct side {
    int unit, memory;
    double slowdown, launch;
    const double *seconds; /* [n] at slowdown 1 */
};

static struct side side_of(const struct partition *d, int cu)
{
    const struct estimate *e = d->e;
    return (struct side){cu, d->memory[cu], e->slowdown[cu], estimate_launch(e, cu),
                         e->of[e->kind[cu]].seconds};
}

/* A unit's ends with one task more (sign 1) or less (-1). */
static inline struct ends with(const struct improvement *a, struct ends x, const struct side *s,
                               size_t task, int sign)
{
    const struct partition *d = a->d;
    double sec = sign * (s->slowdown * s->seconds[task]);
    if (d->launches)
        sec += sign * s->launch * partition_runs(d, a->owner, s->unit, task);
    double transfer = d->bound ? sign * partition_transfer(d, s->memory, task) : 0;
    return (struct ends){x.usual + sec, x.first + sec + transfer};
}

static inline double both_seconds(const struct side *a, const struct side *b, size_t task)
{
    return a->slowdown * a->seconds[task] + b->slowdown * b->seconds[task];
}

/* The task in the other unit's list, from `at` on, whose exchange for `give` balances both units
 * best. Both lists descend, so the place only moves forward. */
static size_t near_even(struct improvement *a, const struct side *last, const struct side *other,
                        size_t give, size_t at)
{
    const struct partition *d = a->d;
    const double *end = a->in_first ? d->full : d->load;
    double wanted = end[other->unit] - end[last->unit] + both_seconds(last, other, give);
    for (size_t next; at != PARTITION_NONE && (next = d->follow[at]) != PARTITION_NONE;
         at = next, a->budget--)
        if (d->follow[next] == PARTITION_NONE ||
            both_seconds(last, other, d->follow[next]) < wanted)
            break;
    return at;
}

/* State of the two units after the last one has given a task. */
struct given {
    size_t task;
    struct ends last, other;
};

/* Evaluates the offers in which the last unit gets nothing in return, or one of the other unit's
 * tasks from `take` on, at most so many. With launches, adjacent tasks are not exchanged, because
 * their runs depend on one another. The hottest loop of a search: numbers, not structures. */
static void weigh(struct improvement *a, const struct side *last, const struct side *other,
                  const struct given *g, size_t take, size_t most, struct offer *best)
{
    const struct partition *d = a->d;
    const struct ends p = g->last, q = g->other;
    const size_t give = g->task, *follow = d->follow;
    const bool launches = d->launches, bound = d->bound,
               cross = crosses(d, last->unit, other->unit);
    const double *delta = d->delta, gives = cross ? delta[give] : 0, w = a->w,
                 usual = a->at_least.usual, first = a->at_least.first;
    double least = best->value, value = value_of(a, p, q) + gives;
    long weighed = 1;
    if (value < least)
        *best = (struct offer){give, PARTITION_NONE, other->unit, p, q, least = value};
    for (; take != PARTITION_NONE && most > 0; most--, take = follow[take]) {
        if (launches && (take + 1 == give || give + 1 == take))
            continue;
        double in = last->slowdown * last->seconds[take],
               out = other->slowdown * other->seconds[take], bring = 0, carry = 0;
        if (launches) {
            in += last->launch * partition_runs(d, a->owner, last->unit, take);
            out += other->launch * partition_runs(d, a->owner, other->unit, take);
        }
        const double x = p.usual + in, y = q.usual - out,
                     then = (1 - w) * partition_more(usual, partition_more(x, y)),
                     takes = cross ? delta[take] : 0;
        weighed++;
        if (then + w * first + gives + takes >= least)
            continue; /* whatever is brought */
        if (bound) {
            bring = partition_transfer(d, last->memory, take);
            carry = partition_transfer(d, other->memory, take);
        }
        const double x1 = p.first + in + bring, y1 = q.first - out - carry;
        value = then + w * partition_more(first, partition_more(x1, y1)) + gives + takes;
        if (value < least && cross)
            value += faces_between(d, give, take);
        if (value < least)
            *best = (struct offer){give, take, other->unit, {x, x1}, {y, y1}, least = value};
    }
    a->budget -= weighed;
}

/* Value of a perfect balance; near it, looking further is not worth it. */
static double good_enough(const struct improvement *a, int other)
{
    struct ends l = ends_of(a->d, a->last), o = ends_of(a->d, other);
    struct ends even = {(l.usual + o.usual) / 2, (l.first + o.first) / 2};
    struct ends half = a->in_first ? (struct ends){0, even.first} : (struct ends){even.usual, 0};
    return value_of(a, even, half) * (1 + 2e-4);
}

/* Finds the best move or swap between the last unit and another one: all pairs of tasks where faces
 * or launches matter, else those that balance. */
static void find_offer(struct improvement *a, int other, struct offer *best)
{
    const struct partition *d = a->d;
    const bool all = d->launches || crosses(d, a->last, other);
    const struct side last = side_of(d, a->last), there = side_of(d, other);
    size_t from = d->head[other];
    double enough = good_enough(a, other);
    for (size_t give = d->head[a->last]; give != PARTITION_NONE; give = d->follow[give]) {
        struct given g = {give, with(a, ends_of(d, a->last), &last, give, -1),
                          with(a, ends_of(d, other), &there, give, 1)};
        if (value_of(a, g.last, g.last) >= best->value && d->launches)
            continue;
        if (value_of(a, g.last, g.last) >= best->value)
            return; /* giving alone does not help, and later tasks are shorter */
        from = all ? from : near_even(a, &last, &there, give, from);
        weigh(a, &last, &there, &g, from, all ? d->job->n : NEAR, best);
        if (best->value <= enough || a->budget <= 0)
            return;
    }
}

static void list_tasks(struct partition *d, const int *owner)
{
    partition_clear_lists(d);
    for (size_t i = d->job->n; i-- > 0;)
        partition_link(d, owner[d->order[i]], d->order[i]);
}

/* Finds the unit that ends last and when the others end. */
static void find_last(struct improvement *a)
{
    const struct partition *d = a->d;
    struct ends most = {0, 0};
    a->last = -1;
    for (int c = 0; c < d->job->ncu; c++) {
        double end = a->in_first ? d->full[c] : d->load[c];
        if (a->last < 0 || end > (a->in_first ? most.first : most.usual))
            a->last = c;
        most.usual = partition_more(most.usual, d->load[c]);
        most.first = partition_more(most.first, d->full[c]);
    }
    a->at_least = a->in_first ? (struct ends){most.usual, 0} : (struct ends){0, most.first};
}

/* Between units of one kind and memory node, balance is the best possible offer. */
static bool hopeless(const struct improvement *a, int other, const struct offer *best)
{
    const struct partition *d = a->d;
    return d->e->kind[other] == d->e->kind[a->last] && d->memory[other] == d->memory[a->last] &&
           good_enough(a, other) > best->value;
}

static bool may_take_part(const struct improvement *a, int cu)
{
    const struct partition *d = a->d;
    return cu != a->last && (a->anywhere || d->memory[cu] == d->memory[a->last]);
}

/* The unit that ends first among those allowed: the likeliest to offer much. */
static int find_first(const struct improvement *a)
{
    const double *end = a->in_first ? a->d->full : a->d->load;
    int first = -1;
    for (int c = 0; c < a->d->job->ncu; c++)
        if (may_take_part(a, c) && (first < 0 || end[c] < end[first]))
            first = c;
    return first;
}

/* The best offer for the last unit; unit < 0: none helps. */
static struct offer best_offer(struct improvement *a)
{
    struct partition *d = a->d;
    int priced = -1, ncu = d->job->ncu;
    a->budget -= ncu;
    find_last(a);
    struct ends now = ends_of(d, a->last);
    struct offer best = {.unit = -1, .value = value_of(a, now, now) * (1 - 1e-4)};
    for (int i = 0, c = find_first(a); c >= 0 && i < ncu && a->budget > 0; i++, c = (c + 1) % ncu) {
        if (!may_take_part(a, c) || hopeless(a, c, &best))
            continue;
        if (crosses(d, a->last, c)) {
            if (d->memory[c] != priced)
                price_exchange(a, a->last, priced = d->memory[c]);
            price_exchange(a, c, d->memory[a->last]);
        }
        find_offer(a, c, &best);
    }
    return best;
}

static bool take_best_offer(struct improvement *a, int *owner)
{
    struct partition *d = a->d;
    struct offer best = best_offer(a);
    if (best.unit < 0)
        return false;
    hand_over(d, owner, a->last, best.unit, best.give);
    if (best.take != PARTITION_NONE)
        hand_over(d, owner, best.unit, a->last, best.take);
    d->load[a->last] = best.last.usual;
    d->full[a->last] = best.last.first;
    d->load[best.unit] = best.other.usual;
    d->full[best.unit] = best.other.first;
    return true;
}

/* Where only times count: moves tasks to units on which they take less, if these still end before
 * the last unit; this frees time on the units they leave. */
static bool relocate(struct improvement *a, int *owner)
{
    struct partition *d = a->d;
    bool moved = false;
    const long all = (long)d->job->n * d->job->ncu;
    if (WITHOUT(RELOCATION) || d->proportional || d->bound || d->job->first || d->launches ||
        all > a->budget)
        return false;
    a->budget -= all;
    find_last(a);
    const double most = d->load[a->last] * (1 - 1e-4);
    for (size_t i = 0; i < d->job->n; i++) {
        const size_t t = d->order[i];
        const int from = owner[t];
        const double here = estimate_seconds(d->e, from, t);
        int best = -1;
        double least = here * (1 - 1e-4);
        for (int c = 0; c < d->job->ncu; c++) {
            const double there = estimate_seconds(d->e, c, t);
            if (there < least && d->load[c] + there < most) {
                least = there;
                best = c;
            }
        }
        if (best < 0)
            continue;
        hand_over(d, owner, from, best, t);
        d->load[from] -= here;
        d->full[from] -= here;
        d->load[best] += least;
        d->full[best] += least;
        moved = true;
    }
    return moved;
}

/* One task of the last unit for several smaller ones of another unit. */
struct trade {
    size_t give; /* PARTITION_NONE: there is no such trade */
    int unit;
    double value;
};

/* Weighs what the other unit has, largest task first, against `give`: takes what the last unit can
 * do and still end before `limit`, until the other one does, too. Returns the mean seconds of a
 * step. owner, if not NULL, is changed accordingly. */
static double take_several(struct improvement *a, size_t give, int other, double limit, int *owner)
{
    struct partition *d = a->d;
    const struct side last = side_of(d, a->last), there = side_of(d, other);
    struct ends x = with(a, ends_of(d, a->last), &last, give, -1),
                y = with(a, ends_of(d, other), &there, give, 1);
    for (size_t t = d->head[other], next; t != PARTITION_NONE && value_of(a, x, y) >= limit;
         t = next) {
        const struct ends more = with(a, x, &last, t, 1);
        next = d->follow[t];
        a->budget--;
        if (value_of(a, more, more) >= limit)
            continue;
        x = more;
        y = with(a, y, &there, t, -1);
        if (owner)
            hand_over(d, owner, other, a->last, t);
    }
    if (owner) {
        hand_over(d, owner, a->last, other, give);
        d->load[a->last] = x.usual;
        d->full[a->last] = x.first;
        d->load[other] = y.usual;
        d->full[other] = y.first;
    }
    return value_of(a, x, y);
}

/* Where moves and swaps do not help, and the bound is not reached. */
static bool trade(struct improvement *a, int *owner)
{
    const struct partition *d = a->d;
    a->in_first = false;
    find_last(a);
    const struct ends now = ends_of(d, a->last);
    const double limit = value_of(a, now, now) * (1 - 1e-4);
    struct trade best = {PARTITION_NONE, -1, limit};
    double before = -1;
    if (WITHOUT(TRADES) || d->launches || d->job->first ||
        now.usual <= d->least * (1 + WORTH_TRADING))
        return false;
    for (size_t give = d->head[a->last]; give != PARTITION_NONE; give = d->follow[give]) {
        const double sec = estimate_seconds(d->e, a->last, give);
        for (int c = 0; sec != before && c < d->job->ncu && a->budget > 0; c++) {
            if (!may_take_part(a, c) || hopeless(a, c, &(struct offer){.value = best.value}))
                continue;
            const double value = take_several(a, give, c, limit, NULL);
            if (value < best.value)
                best = (struct trade){give, c, value};
        }
        before = sec;
    }
    if (best.give != PARTITION_NONE)
        take_several(a, best.give, best.unit, limit, owner);
    return best.give != PARTITION_NONE;
}

long partition_budget(const struct partition *d)
{
    const bool only = d->nmemories == 1 || (d->proportional && !d->bound && !d->job->first);
    return only || d->budget < EACH ? d->budget : EACH;
}

void partition_improve(struct partition *d, int *owner, bool anywhere)
{
    struct improvement a = {.d = d,
                            .owner = owner,
                            .anywhere = anywhere,
                            .w = d->bound ? 1 / d->horizon : 0,
                            .budget = partition_budget(d)};
    d->budget -= a.budget;
    list_tasks(d, owner);
    bool helped = true;
    for (int round = 0; helped && round < ROUNDS && a.budget > 0; round++) {
        helped = false;
        for (int first = 0; first <= d->bound; first++) {
            a.in_first = first;
            while (a.budget > 0 && take_best_offer(&a, owner))
                helped = true;
        }
        if (!helped && a.budget > 0)
            helped = relocate(&a, owner);
        if (!helped && a.budget > 0)
            helped = trade(&a, owner);
    }
    if (a.budget > 0)
        d->budget += a.budget;
}
