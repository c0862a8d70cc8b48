/* cu/sim/sim_bound.c – lower bound, certificate and lost time of a simulated step. */
#include "cu/sim/bound.h"
#include "cu/sim/sim.h"
#include "src/random.h"
#include "src/sort.h"

#include <float.h>

/* A point of the sequence frac(start + i a), which fills (0, 1) evenly, however few points are
 * taken: a run of a few dozen steps is as noisy as it is on average. Neighbours are not correlated
 * with a = (3 + sqrt 3) / 6, where their correlation, 1 - 6 a (1 - a), is zero. */
static double even(uint64_t start, double i)
{
    double whole;
    return modf(random_uniform(&start) + i * 0.788675134594812882, &whole);
}

/* With more interruptions than that, their number and sum are about the expected ones. */
enum { MOST_INTERRUPTIONS = 1000 };

/* Seconds that interruptions add to `seconds` of work. */
static double interrupted_for(const struct sim_unit *u, double seconds, uint64_t *state)
{
    const double expected = u->interruptions * seconds;
    double sum = 0;
    if (expected > MOST_INTERRUPTIONS)
        return expected * u->interruption;
    for (double at = -log(random_uniform(state)); at < expected; at -= log(random_uniform(state)))
        sum -= u->interruption * log(random_uniform(state));
    return sum;
}

/* The noise depends only on seed, step and task, not on the order in which units ask. */
double sim_noise(const struct sim_case *c, const struct sim_unit *u, int step, size_t task)
{
    uint64_t state = c->seed * 0x100000001b3u + (uint64_t)step;
    state = state * 0xd1342543de82ef95u + task;
    double noise = 1;
    if (c->noise > 0) {
        double radius = sqrt(-2 * log(random_uniform(&state)));
        noise = exp(c->noise * radius * cos(6.283185307179586 * random_uniform(&state)));
    }
    if (u->noise)
        noise *= u->noise[(int)(random_uniform(&state) * u->nnoise)];
    if (u->usual) {
        const double place = even(c->seed, floor(step / fmax(c->hold, 1)));
        noise *= u->usual[(int)(place * u->nusual)][task];
    }
    if (u->interruptions > 0) {
        const double seconds = noise * sim_seconds(c, u, task);
        noise *= seconds > 0 ? 1 + interrupted_for(u, seconds, &state) / seconds : 1;
    }
    return noise;
}

/* With more task times than this, the bound is not computed (memory). */
static const size_t MOST_TIMES = (size_t)1 << 26;

/* A step of a case. */
struct instance {
    const struct sim_case *c;
    const double *factor; /* [ncu] or NULL */
    int step;             /* whose noise applies; -1: none */
    struct arena arena;   /* of temporary arrays */
};

static double factor_of(const double *factor, int u)
{
    return factor ? factor[u] : 1;
}

static double seconds_of(const struct instance *m, int u, size_t t)
{
    const struct sim_unit *unit = &m->c->unit[u];
    double noise = m->step < 0 ? 1 : sim_noise(m->c, unit, m->step, t);
    return sim_seconds(m->c, unit, t) * noise / factor_of(m->factor, u);
}

/* ---- units that differ in speed alone ---------------------------------------------------------*/
static bool speeds_tell_all(const struct sim_case *c)
{
    for (int u = 0; u < c->ncu; u++)
        if (c->unit[u].seconds || c->unit[u].fixed > 0 || sim_is_noisy(&c->unit[u]))
            return false;
    return true;
}

static double by_speed(struct instance *m)
{
    const struct sim_case *c = m->c;
    size_t n = c->job.n;
    double *speed = ARENA_NEW(&m->arena, c->ncu, double);
    double *cost = ARENA_NEW(&m->arena, n, double);
    int living = 0;
    if (m->arena.failed)
        return NAN;
    for (size_t t = 0; t < n; t++)
        cost[t] = (c->job.cost ? c->job.cost[t] : 1) *
                  (m->step < 0 ? 1 : sim_noise(c, c->unit, m->step, t));
    for (int u = 0; u < c->ncu; u++)
        if (factor_of(m->factor, u) > 0)
            speed[living++] = c->unit[u].speed * factor_of(m->factor, u);
    return living ? bound_uniform(n, cost, living, speed) : NAN;
}

/* ---- any units --------------------------------------------------------------------------------*/
struct kinds {
    int count, *first, *units; /* [ncu] first unit of each kind, and the number of its units */
    const double **row;        /* [count][n] the times of all tasks on each kind */
};

static void sort_kinds(const struct sim_case *c, const double *factor, struct kinds *k)
{
    for (int u = 0; u < c->ncu; u++) {
        if (!(factor_of(factor, u) > 0))
            continue;
        int j = 0;
        while (j < k->count && !(sim_alike(&c->unit[u], &c->unit[k->first[j]]) &&
                                 factor_of(factor, u) == factor_of(factor, k->first[j])))
            j++;
        if (j == k->count)
            k->first[k->count++] = u;
        k->units[j]++;
    }
}

/* False: too many, or out of memory. */
static bool kinds_open(struct kinds *k, struct instance *at)
{
    const size_t n = at->c->job.n;
    *k = (struct kinds){.first = ARENA_NEW(&at->arena, at->c->ncu, int),
                        .units = ARENA_NEW(&at->arena, at->c->ncu, int)};
    if (!at->arena.failed)
        sort_kinds(at->c, at->factor, k);
    if (n && (size_t)k->count > MOST_TIMES / n)
        return false;
    k->row = ARENA_NEW(&at->arena, k->count, const double *);
    for (int j = 0; !at->arena.failed && j < k->count; j++) {
        double *times = ARENA_NEW(&at->arena, n, double);
        for (size_t t = 0; times && t < n; t++)
            times[t] = seconds_of(at, k->first[j], t);
        k->row[j] = times;
    }
    return !at->arena.failed;
}

/* Rounds a bound down: a run adds up the same times in another order, and files keep 15 digits;
 * rounding must not lift a bound above the run or above what its certificate proves. Numbers near
 * the smallest double have few digits. */
static double rounded_down(const struct instance *at, double bound)
{
    const double terms = (double)(at->c->job.n + (size_t)at->c->ncu);
    const double down = bound * (1 - 1e-14 - 2 * DBL_EPSILON * terms) - terms * DBL_MIN;
    return down < 0 ? 0 : down;
}

static double bound_of(struct instance at)
{
    struct kinds k;
    double bound = NAN;
    if (speeds_tell_all(at.c))
        bound = by_speed(&at);
    else if (kinds_open(&k, &at))
        bound = bound_step(at.c->job.n, k.count, k.units, k.row);
    arena_free(&at.arena);
    return rounded_down(&at, bound);
}

double sim_bound(const struct sim_case *c, const double *factor)
{
    return bound_of((struct instance){c, factor, -1, {0}});
}

void sim_factors(const struct sim_case *c, int step, double *factor)
{
    for (int u = 0; u < c->ncu; u++)
        factor[u] = 1;
    for (const struct sim_change *x = c->change; x < c->change + c->nchanges; x++)
        if (x->step < step && factor[x->unit] > 0)
            factor[x->unit] = x->factor;
    for (const struct sim_change *x = c->change; x < c->change + c->nchanges; x++)
        if (x->step == step && x->after == 0 && factor[x->unit] > 0)
            factor[x->unit] = x->factor;
        else if (x->step == step && factor[x->unit] > 0)
            factor[x->unit] = fmax(factor[x->unit], x->factor);
}

double sim_step_bound(const struct sim_case *c, int step)
{
    OWNED_MEMORY double *factor = calloc((size_t)c->ncu, sizeof *factor);
    if (!factor)
        return NAN;
    sim_factors(c, step, factor);
    return bound_of((struct instance){c, factor, step, {0}});
}

/* ---- prices -----------------------------------------------------------------------------------*/
static bool prices_by_speed(const struct sim_case *c, const double *factor, double *price)
{
    double sum = 0;
    for (int u = 0; u < c->ncu; u++)
        sum += price[u] = c->unit[u].speed * factor_of(factor, u);
    for (int u = 0; u < c->ncu; u++)
        price[u] /= sum;
    return sum > 0;
}

static void spread_prices(const struct sim_case *c, const double *factor, const struct kinds *k,
                          const double *of_kind, double *price)
{
    for (int u = 0; u < c->ncu; u++) {
        price[u] = 0;
        for (int j = 0; factor_of(factor, u) > 0 && j < k->count; j++)
            if (sim_alike(&c->unit[u], &c->unit[k->first[j]]) &&
                factor_of(factor, u) == factor_of(factor, k->first[j]))
                price[u] = of_kind[j];
    }
}

bool sim_prices(const struct sim_case *c, const double *factor, double *price)
{
    if (speeds_tell_all(c))
        return prices_by_speed(c, factor, price);
    struct kinds k;
    struct instance at = {c, factor, -1, {0}};
    double *of_kind = ARENA_NEW(&at.arena, c->ncu, double);
    bool known =
        kinds_open(&k, &at) && !isnan(bound_prices(c->job.n, k.count, k.units, k.row, of_kind));
    if (known)
        spread_prices(c, factor, &k, of_kind, price);
    arena_free(&at.arena);
    return known;
}

struct loss sim_loss(const struct sim_case *c, const double *factor, const struct sim_result *r,
                     struct loss_share *work)
{
    double *price = calloc((size_t)c->ncu, sizeof *price), bound = NAN;
    if (price && sim_prices(c, factor, price))
        bound = r->bounds;
    for (int u = 0; price && u < c->ncu; u++)
        work[u].price = price[u];
    free(price);
    return loss_of(r->computation, r->communication, bound, c->ncu, work);
}

/* ---- certificates -----------------------------------------------------------------------------*/
static double value_of(const struct instance *at, const double *unit, const double *task)
{
    double sum = 0;
    for (size_t t = 0; t < at->c->job.n; t++) {
        double least = INFINITY;
        for (int u = 0; u < at->c->ncu; u++)
            if (factor_of(at->factor, u) > 0)
                least = fmin(least, (unit[u] + task[t]) * seconds_of(at, u, t));
        sum += least;
    }
    return sum;
}

/* Prices for the bound "k longest tasks on the k fastest units" (the first k of `longest` and
 * `fast`): tasks are priced by the k-th speed, units by how much faster they are. */
static void price_longest(const struct instance *at, int k, const size_t *fast, const double *speed,
                          const size_t *longest, double *unit, double *task)
{
    double sum = 0, last = speed[fast[k - 1]];
    memset(unit, 0, (size_t)at->c->ncu * sizeof *unit);
    memset(task, 0, at->c->job.n * sizeof *task);
    for (int i = 0; i < k; i++)
        sum += speed[fast[i]];
    for (int i = 0; i < k; i++) {
        unit[fast[i]] = (speed[fast[i]] - last) / sum;
        task[longest[i]] = last / sum;
    }
}

/* The k with the largest bound, by each task's time on its fastest unit. */
static int best_count(const struct instance *at, const size_t *fast, const double *speed,
                      const size_t *longest, const double *size)
{
    double work = 0, rate = 0, most = 0;
    int best = 1;
    for (int k = 0; k < at->c->ncu && (size_t)k < at->c->job.n && speed[fast[k]] > 0; k++) {
        work += size[longest[k]];
        rate += speed[fast[k]];
        if (work / rate > most) {
            most = work / rate;
            best = k + 1;
        }
    }
    return best;
}

/* Speeds of the units by their mean times, and each task's seconds on its fastest unit. */
static void measure(const struct instance *at, double *speed, double *size)
{
    const size_t n = at->c->job.n;
    for (size_t t = 0; t < n; t++)
        size[t] = INFINITY;
    for (int u = 0; u < at->c->ncu; u++) {
        double sum = 0;
        for (size_t t = 0; at->factor[u] > 0 && t < n; t++) {
            const double sec = seconds_of(at, u, t);
            sum += sec;
            size[t] = fmin(size[t], sec);
        }
        speed[u] = sum > 0 ? 1 / sum : 0;
    }
}

static void sort_places(size_t *place, size_t n, double *by)
{
    for (size_t i = 0; i < n; i++)
        place[i] = i;
    qsort_r(place, n, sizeof *place, sort_places_down, by);
}

double sim_certificate(const struct sim_case *c, int step, double *unit_price, double *task_price)
{
    const size_t n = c->job.n, ncu = (size_t)c->ncu;
    struct instance at = {.c = c, .step = step};
    double *size = ARENA_NEW(&at.arena, n, double), *none = ARENA_NEW(&at.arena, n, double);
    double *factor = ARENA_NEW(&at.arena, ncu, double), *speed = ARENA_NEW(&at.arena, ncu, double);
    double *area = ARENA_NEW(&at.arena, ncu, double), bound = NAN;
    size_t *order = ARENA_NEW(&at.arena, n, size_t), *fast = ARENA_NEW(&at.arena, ncu, size_t);
    if (at.arena.failed || n == 0)
        goto end;
    at.factor = factor;
    sim_factors(c, step, factor);
    measure(&at, speed, size);
    sort_places(order, n, size);
    sort_places(fast, ncu, speed);
    price_longest(&at, best_count(&at, fast, speed, order, size), fast, speed, order, unit_price,
                  task_price);
    bound = value_of(&at, unit_price, task_price);
    if (!isfinite(bound) || size[order[0]] > bound) { /* not if tasks take no time at all */
        memset(unit_price, 0, ncu * sizeof *unit_price);
        memset(task_price, 0, n * sizeof *task_price);
        task_price[order[0]] = 1;
        bound = size[order[0]];
    }
    const double sold = sim_prices(c, factor, area) ? value_of(&at, area, none) : 0;
    if (sold > bound) {
        memcpy(unit_price, area, ncu * sizeof *area);
        memset(task_price, 0, n * sizeof *task_price);
        bound = sold;
    }
end:
    arena_free(&at.arena);
    return rounded_down(&at, bound);
}
