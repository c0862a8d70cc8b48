/* cu/sched/partition_price.c – prices of a second on each kind of unit that balance the kinds: the
 * dual of the linear programme that divides the tasks among kinds; and lower bounds by them. */
#include "cu/sched/partition.h"

#include <math.h>
#include <string.h>

/* Rounds of setting each kind's price in turn, and the precision in each. */
enum { ROUNDS = 2 };
static const double PRECISION[ROUNDS] = {1e-3, 1e-5};

/* From so many kinds on, setting one price at a time gets stuck: all prices follow demand at once,
 * for so many turns. */
enum { MANY_KINDS = 16, TURNS = 60 };

/* So many tasks are priced on a kind while one exchange is tried. */
enum { PER_EVALUATION = 16 };

/* Share by which capacities may change for prices to be about right. */
static const double SAME = 0.05;

/* Price differences below this share do not count. */
static const double ALIKE = 0.001;

/* True: the prices found last are about right: capacities are (nearly) the same. */
static bool open_market(struct partition *d)
{
    struct prices *m = &d->market;
    double *capacity = m->area;
    bool same = m->kinds == d->e->nkinds;
    m->kinds = d->e->nkinds;
    memset(capacity, 0, (size_t)m->kinds * sizeof *capacity);
    for (const struct partition_class *c = d->class; c < d->class + d->nclasses; c++)
        capacity[c->kind] += c->capacity;
    for (int k = 0; k < m->kinds; k++)
        same &= fabs(capacity[k] - m->capacity[k]) <= SAME * m->capacity[k];
    for (int k = 0; k < m->kinds; k++) {
        m->seconds[k] = d->e->of[k].seconds;
        m->capacity[k] = capacity[k];
        m->longest[k] = INFINITY;
        m->price[k] = same ? m->price[k] : 1;
    }
    return same;
}

/* Value of the dual, sold / offered: each task goes to the cheapest kind. Leaves in d->scratch the
 * price at which each task would switch to `kind`. */
static double worth(struct partition *d, int kind)
{
    const double price = d->market.price[kind], *own = d->e->of[kind].seconds;
    double *other = d->scratch, sold = 0, offered = 0;
    for (size_t t = 0; t < d->job->n; t++)
        other[t] = INFINITY;
    for (int k = 0; k < d->e->nkinds; k++) {
        const double *seconds = d->e->of[k].seconds, cost = d->market.price[k];
        offered += cost * d->market.capacity[k];
        for (size_t t = 0; k != kind && t < d->job->n; t++)
            other[t] = partition_less(cost * seconds[t], other[t]);
    }
#pragma omp simd reduction(+ : sold)
    for (size_t t = 0; t < d->job->n; t++) {
        sold += partition_less(price * own[t], other[t]);
        other[t] /= partition_more(own[t], 1e-300);
    }
    return sold / offered;
}

/* Seconds sold of a kind at this price: those of tasks that would pay more. */
static double sold_at(const float *pays, const float *seconds, size_t n, float price)
{
    float area = 0;
#pragma omp simd reduction(+ : area)
    for (size_t t = 0; t < n; t++) {
        const float sec = seconds[t]; /* read unconditionally: avoids an unpredictable branch */
        area += pays[t] > price ? sec : 0;
    }
    return area;
}

/* After worth(): bisects for the price at which `wanted` seconds of the kind are sold, the others'
 * prices staying. Simple precision does, and takes half as long. */
static void balance(struct partition *d, int kind, double wanted, double precision)
{
    const double *own = d->e->of[kind].seconds, *other = d->scratch;
    float *pays = d->simple, *seconds = d->simple + d->job->n, low = INFINITY, high = 0;
#pragma omp simd reduction(min : low) reduction(max : high)
    for (size_t t = 0; t < d->job->n; t++) {
        pays[t] = (float)other[t];
        seconds[t] = (float)own[t];
        low = pays[t] < low ? pays[t] : low;
        high = pays[t] > high ? pays[t] : high;
    }
    for (int i = 0; i < 24 && high - low > precision * high; i++) {
        const float middle = (low + high) / 2;
        if (sold_at(pays, seconds, d->job->n, middle) > wanted)
            low = middle;
        else
            high = middle;
    }
    d->market.price[kind] = (low + high) / 2;
}

/* Seconds of the longest task on its fastest unit. */
static double longest(const struct partition *d)
{
    double most = 0;
    for (int k = 0; k < d->e->nkinds; k++)
        d->market.area[k] = INFINITY;
    for (const struct partition_class *c = d->class; c < d->class + d->nclasses; c++)
        d->market.area[c->kind] =
            partition_less(d->market.area[c->kind], d->e->slowdown[d->group[c->first].unit[0]]);
    for (size_t t = 0; t < d->job->n; t++) {
        double fastest = INFINITY;
        for (int k = 0; k < d->e->nkinds; k++)
            if (d->market.capacity[k] > 0)
                fastest = partition_less(fastest, d->market.area[k] * d->e->of[k].seconds[t]);
        most = partition_more(most, fastest);
    }
    return most;
}

static void sell_to(struct partition *d, size_t t, int kind)
{
    d->pick[t] = kind;
    d->market.area[kind] += d->e->of[kind].seconds[t];
}

/* Among the kinds where the task is (nearly) cheapest, the one with the smallest share of its
 * capacity sold; *alone: there is only one. */
static int least_sold(const struct partition *d, size_t t, bool *alone)
{
    double most = INFINITY, least = INFINITY;
    int best = d->class->kind, alike = 0;
    for (int k = 0; k < d->e->nkinds; k++)
        most = partition_less(prices_of(&d->market, k, t) * (1 + ALIKE), most);
    for (int k = 0; k < d->e->nkinds; k++) {
        double sold = (d->market.area[k] + d->e->of[k].seconds[t]) / d->market.capacity[k];
        if (prices_of(&d->market, k, t) > most)
            continue;
        alike++;
        if (sold < least) {
            least = sold;
            best = k;
        }
    }
    *alone = alike < 2;
    return best;
}

/* Gives the tasks that have a choice to other kinds if these have sold less meanwhile; false: none.
 */
static bool choose_again(struct partition *d)
{
    bool alone, changed = false;
    for (size_t i = 0; i < d->job->n; i++) {
        const size_t t = d->order[i];
        const int was = d->pick[t];
        d->market.area[was] -= d->e->of[was].seconds[t];
        sell_to(d, t, least_sold(d, t, &alone));
        changed |= d->pick[t] != was;
    }
    return changed;
}

/* Tasks that are equally cheap on several kinds are shared among these, longest first, after the
 * tasks that have no choice. Those chosen late may leave a kind too much that earlier ones could
 * have left it, so all choose again. */
void partition_pick(struct partition *d)
{
    enum { AGAIN = 4 };
    bool alone;
    for (int k = 0; k < d->e->nkinds; k++)
        d->market.area[k] = 0;
    for (int choice = 0; choice <= 1; choice++)
        for (size_t i = 0; i < d->job->n; i++) {
            int kind = least_sold(d, d->order[i], &alone);
            if (alone != choice)
                sell_to(d, d->order[i], kind);
        }
    for (int turn = 0; turn < AGAIN && choose_again(d); turn++)
        ;
}

void partition_price_within(struct partition *d, double span)
{
    struct prices *m = &d->market;
    for (int k = 0; k < m->kinds; k++)
        m->longest[k] = 0;
    for (const struct partition_class *c = d->class; c < d->class + d->nclasses; c++)
        m->longest[c->kind] = partition_more(
            m->longest[c->kind], span * (1 + 1e-9) / d->e->slowdown[d->group[c->first].unit[0]]);
    prices_follow(m, TURNS);
    prices_sell(m); /* d->pick */
    d->budget -= TURNS * (long)m->n * m->kinds / PER_EVALUATION;
}

double partition_price(struct partition *d)
{
    struct prices *m = &d->market;
    const bool known = open_market(d);
    const double least = longest(d);
    if (d->proportional)
        for (int k = 0; k < m->kinds; k++)
            m->price[k] = 1 / partition_more(line_sum(m->seconds[k], m->n), 1e-300);
    else if (m->kinds >= MANY_KINDS && !WITHOUT(DEMAND))
        prices_follow(m, TURNS);
    else
        for (int round = known; round < ROUNDS; round++)
            for (int k = 0; k < m->kinds; k++)
                balance(d, k, worth(d, k) * m->capacity[k], PRECISION[round]);
    return partition_more(worth(d, 0), least);
}

/* ---- lower bounds -----------------------------------------------------------------------------*/
/* Kinds differ only in speed: the ratio of their times is the same for all tasks. */
static bool in_proportion(const struct partition *d)
{
    const double *a = d->e->of[0].seconds;
    for (int k = 1; k < d->e->nkinds; k++) {
        const double *b = d->e->of[k].seconds;
        double least = INFINITY, most = 0;
        for (size_t t = 0; t < d->job->n; t++) {
            if (!(a[t] > 0) && !(b[t] > 0))
                continue; /* takes no time on either */
            double ratio = b[t] / a[t];
            least = partition_less(least, ratio);
            most = partition_more(most, ratio);
        }
        if (!(most <= 1.0001 * least))
            return false;
    }
    return true;
}

/* Lower bound of a step with all tasks in one memory node, whose units are all of one kind (else
 * only the bound on all units is known). */
static double bound_within(const struct partition *d, int memory)
{
    const struct sched_exchange *x = &d->faces.rest;
    const struct partition_class *k = &d->class[d->class_of[memory]];
    double sec = d->least;
    if (d->class_of[memory + 1] == d->class_of[memory] + 1)
        sec = line_sum(d->e->of[k->kind].seconds, d->job->n) / k->capacity;
    return sec + partition_exchanges(d) * d->face_bytes * (d->links[memory] ? x->device : x->host);
}

/* Lower bounds with exchanges: as tasks lie in one memory node or at least one face crosses. */
static void bound_total(struct partition *d)
{
    const struct sched_link face = d->faces.face;
    d->across = d->total = d->least;
    if (!d->connected)
        return;
    d->across += partition_exchanges(d) *
                 (d->faces.rest.cross + 2 * (face.latency + d->fewest_bytes * face.per_byte));
    d->total = d->across;
    for (int p = 0; p < d->nmemories; p++)
        d->total = partition_less(d->total, bound_within(d, p));
}

void partition_find_bounds(struct partition *d)
{
    d->proportional = in_proportion(d);
    d->least = d->job->n ? partition_price(d) : 0;
    bound_total(d);
}
