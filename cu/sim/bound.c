/* cu/sim/bound.c – lower bound of a step. */
#include "cu/sim/bound.h"
#include "cu/sched/line.h"
#include "cu/sched/prices.h"
#include "cu/sim/bound_memo.h"
#include "src/sort.h"

#include <glpk.h>
#include <float.h>

/* The kinds that have units. */
struct kinds {
    struct arena arena; /* of all arrays of a bound */
    size_t n;
    int count;
    int *units;
    const double **seconds;
};

static bool all_known(const struct kinds *k)
{
    for (int j = 0; j < k->count; j++)
        for (size_t i = 0; i < k->n; i++)
            if (!(k->seconds[j][i] >= 0 && k->seconds[j][i] < INFINITY))
                return false;
    return true;
}

static double longest_on_fastest(const struct kinds *k)
{
    double longest = 0;
    for (size_t i = 0; i < k->n; i++) {
        double fastest = INFINITY;
        for (int j = 0; j < k->count; j++)
            fastest = fmin(fastest, k->seconds[j][i]);
        longest = fmax(longest, fastest);
    }
    return longest;
}

/* ---- times in fixed proportion ----------------------------------------------------------------*/
/* speed[j] such that seconds[j][i] * speed[j] is the same for every kind j; false if there is
 * none. */
static bool proportional(const struct kinds *k, double *speed)
{
    double first = line_sum(k->seconds[0], k->n);
    for (int j = 0; j < k->count; j++) {
        double sum = line_sum(k->seconds[j], k->n);
        if (!(sum > 0))
            return false;
        speed[j] = first / sum;
        for (size_t i = 0; i < k->n; i++) {
            double expected = k->seconds[0][i];
            if (fabs(k->seconds[j][i] * speed[j] - expected) > 1e-9 * expected)
                return false;
        }
    }
    return true;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Maximum over k of: the k longest tasks need the k fastest units for this long; and all tasks, all
 * units. */
double bound_uniform(size_t n, const double *cost, int ncu, const double *speed)
{
    OWNED_MEMORY double *work = malloc((n + (size_t)ncu) * sizeof *work);
    double bound = 0, done = 0, rate = 0;
    if (!work)
        return NAN;
    double *fast = work + n;
    memcpy(work, cost, n * sizeof *work);
    memcpy(fast, speed, (size_t)ncu * sizeof *fast);
    qsort(work, n, sizeof *work, descending);
    qsort(fast, (size_t)ncu, sizeof *fast, descending);
    size_t i = 0;
    for (int u = 0; u < ncu && i < n; u++) {
        rate += fast[u];
        done += work[i++];
        bound = fmax(bound, done / rate);
    }
    if (i < n)
        bound = fmax(bound, (done + line_sum(work + i, n - i)) / rate);
    return bound;
}

/* The bound if times are in proportion, -1 if they are not. */
static double try_uniform(struct kinds *k)
{
    int ncu = 0;
    for (int j = 0; j < k->count; j++)
        ncu += k->units[j];
    double *rate = ARENA_NEW(&k->arena, k->count, double);
    double *speed = ARENA_NEW(&k->arena, ncu, double);
    if (k->arena.failed)
        return NAN;
    if (!proportional(k, rate))
        return -1;
    for (int j = 0, c = 0; j < k->count; j++)
        for (int u = 0; u < k->units[j]; u++)
            speed[c++] = rate[j];
    return bound_uniform(k->n, k->seconds[0], ncu, speed);
}

/* ---- two kinds --------------------------------------------------------------------------------*/
struct pair {
    double on[2]; /* seconds on either kind */
    double ratio; /* on[0] / on[1] */
};

SORT_BY(ratio_order, struct pair, SORT_UP(ratio))

/* Least and largest share of a task on kind 0 for it to end within `span`. */
static void limits(const struct pair *p, double span, double *least, double *most)
{
    double d = p->on[0] - p->on[1];
    *least = p->on[1] > span ? fmin(1, (span - p->on[1]) / d) : 0;
    *most = p->on[0] > span ? fmax(0, (span - p->on[1]) / d) : 1;
}

/* Whether all fits in `span`: kind 0 gets what it must have, then the tasks in which it is best;
 * the rest goes to kind 1. */
static bool fits(const struct pair *p, size_t n, const int *units, double span)
{
    double room = span * units[0], rest = span * units[1], least, most;
    for (size_t i = 0; i < n; i++) {
        limits(&p[i], span, &least, &most);
        room -= least * p[i].on[0];
        rest -= (1 - least) * p[i].on[1];
    }
    if (room < 0)
        return false;
    for (size_t i = 0; i < n && rest < 0 && room > 0; i++) {
        limits(&p[i], span, &least, &most);
        double more = most - least;
        if (more * p[i].on[0] > room)
            more = room / p[i].on[0];
        room -= more * p[i].on[0];
        rest += more * p[i].on[1];
    }
    return rest >= 0;
}

static double two_kinds(struct kinds *k, double longest)
{
    struct pair *p = ARENA_NEW(&k->arena, k->n, struct pair);
    size_t n = 0;
    if (!p)
        return NAN;
    for (size_t i = 0; i < k->n; i++) {
        double a = k->seconds[0][i], b = k->seconds[1][i];
        if (a > 0 || b > 0) /* tasks that take no time have no ratio */
            p[n++] = (struct pair){{a, b}, b > 0 ? a / b : INFINITY};
    }
    qsort(p, n, sizeof *p, ratio_order);
    double low = longest, high = longest + line_sum(k->seconds[0], k->n) / k->units[0];
    if (fits(p, n, k->units, low))
        high = low;
    while (high - low > 1e-12 * high) {
        double middle = (low + high) / 2;
        if (fits(p, n, k->units, middle))
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* ---- any number of kinds ----------------------------------------------------------------------
 * Dual of the area bound: the best prices q of a second on each kind, sum units q = 1, maximise
 * sum over tasks of min over kinds of q * seconds. Every choice of prices is a valid bound; each
 * assignment that some prices favour cuts off the prices for which it costs less. */

/* A second of all units costs 1. */
static void normalise(const struct kinds *k, double *price)
{
    double sum = 0;
    for (int j = 0; j < k->count; j++)
        sum += k->units[j] * price[j];
    for (int j = 0; j < k->count; j++)
        price[j] /= sum;
}

static glp_prob *prices_open(const struct kinds *k, int *index, double *value)
{
    glp_prob *lp = glp_create_prob();
    glp_set_obj_dir(lp, GLP_MAX);
    glp_add_cols(lp, k->count + 1);
    for (int j = 1; j <= k->count; j++) {
        index[j] = j;
        value[j] = k->units[j - 1];
        glp_set_col_bnds(lp, j, GLP_LO, 0, 0);
    }
    index[k->count + 1] = k->count + 1;
    glp_set_col_bnds(lp, k->count + 1, GLP_FR, 0, 0);
    glp_set_obj_coef(lp, k->count + 1, 1);
    glp_add_rows(lp, 1);
    glp_set_row_bnds(lp, 1, GLP_FX, 1, 1);
    glp_set_mat_row(lp, 1, k->count, index, value);
    return lp;
}

static const double MOST_AREA = 1e12;

/* Adds the cut: the assignment with these areas costs area . price, so no prices are worth more. In
 * units of `scale` seconds: GLPK's tolerances suit numbers near 1, and it aborts on huge ones. */
static void prices_cut(glp_prob *lp, const struct kinds *k, const double *area, double scale,
                       const int *index, double *value)
{
    int row = glp_add_rows(lp, 1);
    for (int j = 0; j < k->count; j++)
        value[j + 1] = -fmin(area[j] / scale, MOST_AREA);
    value[k->count + 1] = 1;
    glp_set_row_bnds(lp, row, GLP_UP, 0, 0);
    glp_set_mat_row(lp, row, k->count + 1, index, value);
}

/* A cut is asked for this far from the programme's optimum towards the best prices so far: the
 * optimum alone jumps about, and takes two to four times as many cuts (in-out separation: Ben-Ameur
 * & Neto 2007). */
static const double INWARDS = 0.8;

/* The next prices to ask for, a share `inwards` of the way from the optimum to the best. */
static void next_prices(glp_prob *lp, const struct kinds *k, double inwards, const double *best,
                        double *price)
{
    for (int j = 0; j < k->count; j++) {
        const double optimum = fmax(0, glp_get_col_prim(lp, j + 1));
        price[j] = inwards * best[j] + (1 - inwards) * optimum;
    }
    normalise(k, price); /* rounding must not make the prices invalid */
}

/* The programme begins with prices that followed demand for so many turns. */
enum { TURNS = 100 };

static struct prices market_open(struct kinds *k)
{
    const size_t count = (size_t)k->count;
    struct prices m = {.n = k->n, .kinds = k->count, .seconds = k->seconds};
    m.longest = ARENA_NEW(&k->arena, count, double);
    m.capacity = ARENA_NEW(&k->arena, count, double);
    m.price = ARENA_NEW(&k->arena, count, double);
    m.area = ARENA_NEW(&k->arena, count, double);
    m.best = ARENA_NEW(&k->arena, count, double);
    m.pays = ARENA_NEW(&k->arena, k->n, double);
    m.cheapest = ARENA_NEW(&k->arena, k->n, int);
    double units = 0;
    for (int j = 0; j < k->count; j++)
        units += k->units[j];
    for (int j = 0; !k->arena.failed && j < k->count; j++) {
        m.capacity[j] = k->units[j];
        m.longest[j] = INFINITY;
        m.price[j] = 1 / units;
    }
    return m;
}

/* Prices may differ from the best ones so far by this factor, and by its square whenever the best
 * within these limits lie on one, and are found or better ones have been met: prices jump about
 * less (boxstep: Marsten, Hogan & Blankenship, Operations Research 23, 1975). */
static const double WIDTH = 1.01, WIDEST = 1e6;

static void limit_prices(glp_prob *lp, const struct kinds *k, const double *best, double width)
{
    for (int j = 0; j < k->count; j++)
        if (width < WIDEST && best[j] > 0)
            glp_set_col_bnds(lp, j + 1, GLP_DB, best[j] / width, best[j] * width);
        else
            glp_set_col_bnds(lp, j + 1, GLP_LO, 0, 0);
}

static bool on_limit(glp_prob *lp, const struct kinds *k)
{
    for (int j = 1; j <= k->count; j++)
        if (glp_get_col_type(lp, j) == GLP_DB && glp_get_col_stat(lp, j) != GLP_BS)
            return true;
    return false;
}

/* Solves the programme within limits that are wide enough for more than `bound`; false: there is no
 * more, or the simplex failed. */
static bool solve(glp_prob *lp, const struct kinds *k, const double *best, double bound,
                  double *width)
{
    enum { MOST_TURNS = 1000 /* the simplex may cycle */ };
    glp_smcp simplex;
    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    simplex.meth = GLP_DUALP;
    simplex.it_lim = MOST_TURNS;
    while (!glp_simplex(lp, &simplex) && glp_get_status(lp) == GLP_OPT) {
        if (glp_get_obj_val(lp) > bound * (1 + 1e-10))
            return true;
        if (!on_limit(lp, k))
            return false;
        *width *= *width;
        limit_prices(lp, k, best, *width);
    }
    return false;
}

/* The best prices found are written to best [count]. */
static double cut_prices(struct kinds *k, double *best)
{
    enum { MOST_CUTS = 1000 };
    struct prices market = market_open(k);
    double *value = ARENA_NEW(&k->arena, k->count + 2, double);
    int *index = ARENA_NEW(&k->arena, k->count + 2, int);
    if (k->arena.failed)
        return NAN;
    glp_prob *lp = prices_open(k, index, value);
    double bound = 0, scale = 1, inwards = 0, width = WIDTH;
    prices_follow(&market, TURNS);
    normalise(k, market.price);
    for (int cut = 0; cut < MOST_CUTS; cut++) {
        const double now = prices_sell(&market);
        if (cut == 0 && now > DBL_MIN)
            scale = now;
        const bool better = cut == 0 || now > bound;
        if (better) {
            memcpy(best, market.price, (size_t)k->count * sizeof *best);
            limit_prices(lp, k, best, width);
            bound = now;
        }
        prices_cut(lp, k, market.area, scale, index, value);
        const int turns = glp_get_it_cnt(lp);
        if (!solve(lp, k, best, bound / scale, &width))
            break;
        const bool moved = better || glp_get_it_cnt(lp) != turns;
        if (!moved && !(inwards > 0))
            break; /* the cut is within the tolerance and would be repeated */
        inwards = moved ? INWARDS : 0;
        if (better && on_limit(lp, k))
            width *= width;
        next_prices(lp, k, inwards, best, market.price);
    }
    glp_delete_prob(lp);
    return bound;
}

/* The best prices are written to price [count], unless NULL. */
static double many_kinds(struct kinds *k, double *price)
{
    const struct bound_question q = bound_question(k->n, k->count, k->units, k->seconds);
    double *best = ARENA_NEW(&k->arena, k->count, double), bound = NAN;
    if (k->arena.failed || bound_recall(&q, k->count, &bound, price))
        return bound;
    bound = cut_prices(k, best);
    if (price)
        memcpy(price, best, (size_t)k->count * sizeof *price);
    if (!isnan(bound))
        bound_remember(&q, k->count, bound, best);
    return bound;
}

static double bound_of(struct kinds *k)
{
    if (k->count == 0 || !all_known(k))
        return NAN;
    double longest = longest_on_fastest(k);
    if (longest == 0)
        return 0;
    double bound = try_uniform(k);
    if (bound >= 0 || isnan(bound))
        return bound;
    return k->count == 2 ? two_kinds(k, longest) : fmax(longest, many_kinds(k, NULL));
}

/* The kinds that have units; false: out of memory. */
static bool kinds_open(struct kinds *k, size_t n, int nkinds, const int *units,
                       const double *const *seconds)
{
    *k = (struct kinds){.n = n};
    k->units = ARENA_NEW(&k->arena, nkinds, int);
    k->seconds = ARENA_NEW(&k->arena, nkinds, const double *);
    for (int j = 0; !k->arena.failed && j < nkinds; j++)
        if (units[j] > 0) {
            k->units[k->count] = units[j];
            k->seconds[k->count++] = seconds[j];
        }
    return !k->arena.failed;
}

double bound_step(size_t n, int nkinds, const int *units, const double *const *seconds)
{
    struct kinds k;
    double bound = NAN;
    if (n == 0)
        return 0;
    if (kinds_open(&k, n, nkinds, units, seconds))
        bound = bound_of(&k);
    arena_free(&k.arena);
    return bound;
}

double bound_prices(size_t n, int nkinds, const int *units, const double *const *seconds,
                    double *price)
{
    struct kinds k;
    double bound = NAN, *best = NULL;
    if (kinds_open(&k, n, nkinds, units, seconds) && k.count && all_known(&k) &&
        (best = ARENA_NEW(&k.arena, k.count, double)))
        bound = many_kinds(&k, best);
    for (int j = 0, i = 0; j < nkinds && !isnan(bound); j++)
        price[j] = units[j] > 0 ? best[i++] : 0;
    arena_free(&k.arena);
    return bound;
}
