/* tests/test_cu_sched_unrelated.c – evenkeel where every unit is good at other tasks, and the
 * prices by which it divides them. */
#include "cu/sched/prices.h"
#include "cu/sim/bound.h"
#include "src/random.h"
#include "tests/sim_run.h"

#include <math.h>

enum { MOST_TASKS = 320, MOST_UNITS = 24 };

struct drawn {
    double cost[MOST_TASKS], seconds[MOST_UNITS][MOST_TASKS];
    struct sim_unit unit[MOST_UNITS];
    struct sim_case c;
};

/* Costs differ fourfold, and the units' times of a task eightfold. */
static void draw(struct drawn *d, unsigned seed, size_t n, int units)
{
    uint64_t draws = seed;
    for (size_t t = 0; t < n; t++)
        d->cost[t] = pow(4, random_uniform(&draws));
    for (int u = 0; u < units; u++) {
        d->unit[u] = (struct sim_unit){.width = 1, .speed = 1, .seconds = d->seconds[u]};
        for (size_t t = 0; t < n; t++)
            d->seconds[u][t] = d->cost[t] * pow(8, random_uniform(&draws));
    }
    d->c = (struct sim_case){
        .job = {.n = n, .grain = 1, .cost = d->cost}, .unit = d->unit, .ncu = units, .steps = 1};
}

/* Within so much of what the linear programme proves to be the least, where tasks may be divided:
 * single cases, and the mean of all. Moves and swaps that help at once leave twice as much. */
static void near_the_bound(void **state)
{
    static const struct shape {
        size_t n;
        int units;
        double worst, mean;
    } shapes[] = {{160, 8, 1.015, 1.01}, {47, 4, 1.025, 1.017}, {200, 20, 1.035, 1.025}};
    static struct drawn d;
    enum { CASES = 12, SHAPES = sizeof shapes / sizeof *shapes };
    for (int i = 0; i < SHAPES; i++) {
        const struct shape s = shapes[i];
        double sum = 0;
        for (unsigned seed = 1; seed <= CASES; seed++) {
            draw(&d, 100 * seed + i, s.n, s.units);
            const struct sim_result r = run(&d.c, "evenkeel");
            if (!(r.ratio >= 1 - 1e-9 && r.ratio < s.worst))
                fail_msg("%zu tasks, %d units, seed %u: %g of the bound", s.n, s.units, seed,
                         r.ratio);
            sum += r.ratio;
        }
        assert_true(sum / CASES < s.mean);
    }
}

/* A few devices, on which tasks take a twentieth of the time to twice as long, beside many cores:
 * no core may get what takes it longer than the whole step. The bound does not know that. */
static void few_devices_for_the_largest(void **state)
{
    enum { CASES = 8, N = 300, CORES = 22, UNITS = CORES + 2 };
    static struct drawn d;
    double sum = 0;
    for (unsigned seed = 1; seed <= CASES; seed++) {
        draw(&d, seed, N, UNITS);
        uint64_t draws = seed;
        for (size_t t = 0; t < N; t++) {
            d.seconds[0][t] = d.cost[t] = pow(random_uniform(&draws), -0.4);
            for (int u = CORES; u < UNITS; u++)
                d.seconds[u][t] = d.cost[t] * 0.05 * pow(40, random_uniform(&draws));
        }
        for (int u = 1; u < CORES; u++)
            d.unit[u].seconds = d.seconds[0];
        d.unit[CORES].kind = d.unit[CORES + 1].kind = CU_DEVICE;
        const struct sim_result r = run(&d.c, "evenkeel");
        if (!(r.ratio < 1.1))
            fail_msg("seed %u: %g of the bound", seed, r.ratio);
        sum += r.ratio;
    }
    assert_true(sum / CASES < 1.025);
}

/* Prices that follow demand prove nearly what the best ones do, and never more. */
static void prices_of_many_kinds(void **state)
{
    static struct drawn d;
    enum { CASES = 20, TURNS = 60 };
    for (unsigned seed = 1; seed <= CASES; seed++) {
        uint64_t draws = seed;
        const int kinds = 2 + (int)random_below(&draws, MOST_UNITS - 1);
        const size_t n = (size_t)kinds + random_below(&draws, MOST_TASKS - (size_t)kinds);
        draw(&d, seed, n, kinds);
        const double *seconds[MOST_UNITS];
        double capacity[MOST_UNITS], price[MOST_UNITS], area[MOST_UNITS], best[MOST_UNITS],
            pays[MOST_TASKS], exact[MOST_UNITS], longest[MOST_UNITS];
        int units[MOST_UNITS], cheapest[MOST_TASKS];
        for (int k = 0; k < kinds; k++) {
            seconds[k] = d.seconds[k];
            capacity[k] = units[k] = 1 + (int)random_below(&draws, 3);
            price[k] = 1;
            longest[k] = INFINITY;
        }
        struct prices p = {n, kinds, seconds, longest, capacity, price, area, best, pays, cheapest};
        const double most = bound_prices(n, kinds, units, seconds, exact),
                     found = prices_follow(&p, TURNS), again = prices_sell(&p);
        double paid = 0, offered = 0;
        for (size_t t = 0; t < n; t++) {
            double least = INFINITY;
            for (int k = 0; k < kinds; k++)
                least = fmin(least, price[k] * seconds[k][t]);
            paid += least;
        }
        for (int k = 0; k < kinds; k++)
            offered += price[k] * capacity[k];
        assert_float_equal(found, paid / offered, 1e-12 * found);
        assert_float_equal(found, again, 1e-12 * found);
        if (!(found <= most * (1 + 1e-9) && found > 0.99 * most))
            fail_msg("seed %u, %zu tasks, %d kinds: %.9g of %.9g", seed, n, kinds, found, most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_the_bound),
        cmocka_unit_test(few_devices_for_the_largest),
        cmocka_unit_test(prices_of_many_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
