/* cu/sched/partition_improve.c – moves and exchanges of tasks between the unit that ends last and
 * others. */
#include "cu/sched/partition.h"

#include <string.h>

static const size_t NONE = (size_t)-1;

/* Where only times count, the best task to take is among so many near the one that evens out the
 * two units' ends. */
enum { NEAR = 4 };

/* Offers that one improvement may look at, unless it is the only one: what comes later wants to
 * look, too. */
enum { EACH = 15000 };

/* What counts of a unit: when it ends, in every step and in the first one, which moves tasks. */
struct ends {
    double usual, first;
};

struct offer {
    size_t give, take; /* task of the last unit, task of the other one or NONE */
    int unit;          /* the other one */
    struct ends last, other;
    double value; /* what a step takes in the mean if both are the last ones */
};

/* One search for offers. */
struct improvement {
    struct partition *d;
    const int *owner;
    bool anywhere;        /* between memory nodes, too */
    bool in_first;        /* the unit that ends last in the first step gives; else in the others */
    double w;             /* share of the first step in the steps to come */
    struct ends at_least; /* whatever the two do, some unit ends no sooner */
    int last;             /* the unit that gives */
    long looks;
};

static void unlink_task(struct partition *d, int unit, size_t task)
{
    size_t *p = &d->head[unit];
    while (*p != task)
        p = &d->follow[*p];
    *p = d->follow[task];
}

/* Lists descend as d->order does. */
static void link_task(struct partition *d, int unit, size_t task)
{
    const double *key = d->e->of[d->e->kind[0]].seconds;
    size_t *p = &d->head[unit];
    while (*p != NONE && key[*p] > key[task])
        p = &d->follow[*p];
    d->follow[task] = *p;
    *p = task;
}

static void hand_over(struct partition *d, int *owner, int from, int to, size_t task)
{
    unlink_task(d, from, task);
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

/* Each face that crosses does so in both directions. */
double partition_crossing(const struct partition *d, const int *owner, size_t task, int to)
{
    const struct sched_job *job = d->job;
    if (!job->first)
        return 0;
    int here = d->memory[owner[task]], ends = d->links[here] + d->links[to];
    double sec = 0;
    for (size_t i = job->first[task]; i < job->first[task + 1]; i++) {
        int there = d->memory[owner[job->neighbour[i]]];
        double face =
            d->face.latency + (job->face_bytes ? job->face_bytes[i] : 0) * d->face.per_byte;
        if (there != to)
            sec += face * (d->links[there] + d->links[to]);
        if (there != here)
            sec -= face * (d->links[there] + d->links[here]);
    }
    return ends ? 2 * sec / ends * partition_exchanges(d) : 0;
}

/* d->delta of a unit's tasks if they went to a memory node. */
static void price_exchange(struct improvement *a, int cu, int to)
{
    struct partition *d = a->d;
    bool crosses = d->memory[cu] != to;
    if (!d->job->first)
        return;
    for (size_t t = d->head[cu]; t != NONE; t = d->follow[t]) {
        d->delta[t] = crosses ? partition_crossing(d, a->owner, t, to) : 0;
        a->looks -= crosses ? 8 : 0;
    }
}

/* A unit's ends with a task more (sign 1) or less (-1); NONE changes nothing. */
static inline struct ends with(const struct improvement *a, struct ends x, int cu, size_t task,
                               int sign)
{
    const struct partition *d = a->d;
    if (task == NONE)
        return x;
    double sec = sign * estimate_seconds(d->e, cu, task);
    if (d->launches)
        sec += sign * estimate_launch(d->e, cu) * partition_runs(d, a->owner, cu, task);
    double transfer = d->bound ? sign * partition_transfer(d, d->memory[cu], task) : 0;
    return (struct ends){x.usual + sec, x.first + sec + transfer};
}

static double both_seconds(const struct improvement *a, int other, size_t task)
{
    return estimate_seconds(a->d->e, a->last, task) + estimate_seconds(a->d->e, other, task);
}

/* The other's tasks descend, and so do those that were given before `give`: the place in its list
 * that evens out the two ends moves on only, from `at`; the task before it is returned. */
static size_t near_even(struct improvement *a, int other, size_t give, size_t at)
{
    const struct partition *d = a->d;
    const double *end = a->in_first ? d->full : d->load;
    double wanted = end[other] - end[a->last] + both_seconds(a, other, give);
    for (size_t next; at != NONE && (next = d->follow[at]) != NONE; at = next, a->looks--)
        if (d->follow[next] == NONE || both_seconds(a, other, d->follow[next]) < wanted)
            break;
    return at;
}

/* What the last unit and another one are like after it has given a task. */
struct given {
    size_t task;
    struct ends last, other;
};

/* The last unit takes a task in return, or NONE: is that the best offer? */
static void weigh(struct improvement *a, int other, const struct given *g, size_t take,
                  struct offer *best)
{
    const struct partition *d = a->d;
    if (d->launches && take != NONE && (take + 1 == g->task || g->task + 1 == take))
        return; /* their runs depend on one another */
    struct ends x = with(a, g->last, a->last, take, 1), y = with(a, g->other, other, take, -1);
    double value = value_of(a, x, y) + d->delta[g->task] + (take == NONE ? 0 : d->delta[take]);
    if (value < best->value)
        *best = (struct offer){g->task, take, other, x, y, value};
    a->looks--;
}

/* As good as an offer gets; this near to it, looking on is not worth it. */
static double good_enough(const struct improvement *a, int other)
{
    struct ends l = ends_of(a->d, a->last), o = ends_of(a->d, other);
    struct ends even = {(l.usual + o.usual) / 2, (l.first + o.first) / 2};
    struct ends half = a->in_first ? (struct ends){0, even.first} : (struct ends){even.usual, 0};
    return value_of(a, even, half) * (1 + 2e-4);
}

/* The best offer of the last unit to another one. Where faces would cross, all pairs of tasks are
 * looked at, else those that fit. */
static void find_offer(struct improvement *a, int other, struct offer *best)
{
    const struct partition *d = a->d;
    const bool all = d->launches || (d->job->first && d->memory[other] != d->memory[a->last]);
    size_t from = d->head[other];
    double enough = good_enough(a, other);
    for (size_t give = d->head[a->last]; give != NONE; give = d->follow[give]) {
        struct given g = {give, with(a, ends_of(d, a->last), a->last, give, -1),
                          with(a, ends_of(d, other), other, give, 1)};
        if (value_of(a, g.last, g.last) >= best->value && d->launches)
            continue;
        if (value_of(a, g.last, g.last) >= best->value)
            return; /* not even for nothing in return, and those that follow are shorter */
        weigh(a, other, &g, NONE, best);
        from = all ? from : near_even(a, other, give, from);
        size_t take = from;
        for (int i = 0; take != NONE && (all || i < NEAR); i++, take = d->follow[take])
            weigh(a, other, &g, take, best);
        if (best->value <= enough || a->looks <= 0)
            return;
    }
}

static void list_tasks(struct partition *d, const int *owner)
{
    for (int c = 0; c < d->job->ncu; c++)
        d->head[c] = NONE;
    for (size_t i = d->job->n; i-- > 0;) {
        size_t t = d->order[i];
        d->follow[t] = d->head[owner[t]];
        d->head[owner[t]] = t;
    }
}

/* The unit that gives, and what the others make certain. */
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

/* Between units of one kind and memory node no offer is better than to end together. */
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

/* The unit that ends first, of those that may take part: the likeliest to have a good offer. */
static int find_first(const struct improvement *a)
{
    const double *end = a->in_first ? a->d->full : a->d->load;
    int first = -1;
    for (int c = 0; c < a->d->job->ncu; c++)
        if (may_take_part(a, c) && (first < 0 || end[c] < end[first]))
            first = c;
    return first;
}

/* The best that the last unit is offered; unit < 0: nothing that helps. */
static struct offer best_offer(struct improvement *a)
{
    struct partition *d = a->d;
    int priced = -1, ncu = d->job->ncu;
    a->looks -= ncu;
    find_last(a);
    struct ends now = ends_of(d, a->last);
    struct offer best = {.unit = -1, .value = value_of(a, now, now) * (1 - 1e-4)};
    for (int i = 0, c = find_first(a); c >= 0 && i < ncu && a->looks > 0; i++, c = (c + 1) % ncu) {
        if (!may_take_part(a, c) || hopeless(a, c, &best))
            continue;
        if (d->memory[c] != priced)
            price_exchange(a, a->last, priced = d->memory[c]);
        price_exchange(a, c, d->memory[a->last]);
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
    if (best.take != NONE)
        hand_over(d, owner, best.unit, a->last, best.take);
    d->load[a->last] = best.last.usual;
    d->full[a->last] = best.last.first;
    d->load[best.unit] = best.other.usual;
    d->full[best.unit] = best.other.first;
    return true;
}

/* Where only times count: tasks that take less elsewhere go there, as far as that ends before the
 * last unit; what they leave is room for what it gives. */
static bool relocate(struct improvement *a, int *owner)
{
    struct partition *d = a->d;
    bool moved = false;
    const long all = (long)d->job->n * d->job->ncu;
    if (d->proportional || d->bound || d->job->first || d->launches || all > a->looks)
        return false;
    a->looks -= all;
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

long partition_looks(const struct partition *d)
{
    const bool only = d->nmemories == 1 || (d->proportional && !d->bound && !d->job->first);
    return only || d->looks < EACH ? d->looks : EACH;
}

void partition_improve(struct partition *d, int *owner, bool anywhere)
{
    struct improvement a = {.d = d,
                            .owner = owner,
                            .anywhere = anywhere,
                            .w = d->bound ? 1 / d->horizon : 0,
                            .looks = partition_looks(d)};
    d->looks -= a.looks;
    list_tasks(d, owner);
    memset(d->delta, 0, d->job->n * sizeof *d->delta);
    bool helped = true;
    while (helped && a.looks > 0) {
        helped = false;
        for (int first = 0; first <= d->bound; first++) {
            a.in_first = first;
            while (a.looks > 0 && take_best_offer(&a, owner))
                helped = true;
        }
        if (!helped && a.looks > 0)
            helped = relocate(&a, owner);
    }
    if (a.looks > 0)
        d->looks += a.looks;
}
