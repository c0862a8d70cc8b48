/* tests/test_cu_sched_cold.c – runs of evenkeel in which nothing is known of the units. */
#include "src/random.h"
#include "tests/sim_run.h"

#include <math.h>

/* A task of a third of the work, and units of which some are nine times as fast as others: none of
 * them takes that task before it has shown its speed, so that it goes to one of the fastest. */
static void a_giant_among_strangers(void **state)
{
    enum { N = 400, UNITS = 24, CASES = 40 };
    double cost[N];
    struct sim_unit unit[UNITS];
    for (unsigned seed = 1; seed <= CASES; seed++) {
        uint64_t draws = seed;
        double fastest = 0, span;
        struct sim_result r;
        for (int u = 0; u < UNITS; u++) {
            const double slower = u ? random_uniform(&draws) : 1; /* the slowest asks first */
            unit[u] = (struct sim_unit){.width = 1, .speed = 3 * pow(9, -slower)};
            fastest = fmax(fastest, unit[u].speed);
        }
        for (int t = 0; t < N; t++)
            cost[t] = 1;
        cost[(size_t)(N * random_uniform(&draws))] = N / 2.;
        const struct sim_case c = {.job = {.n = N, .grain = 1, .cost = cost},
                                   .unit = unit,
                                   .ncu = UNITS,
                                   .steps = 1,
                                   .cold = true};
        assert_int_equal(sim_run(&c, "evenkeel", &span, &r), EK_OK);
        if (!(span < 1.02 * N / 2 / fastest))
            fail_msg("seed %u: %g s, the largest task alone %g", seed, span, N / 2 / fastest);
    }
}

static double normal(uint64_t *draws)
{
    const double radius = sqrt(-2 * log(random_uniform(draws)));
    return radius * cos(6.283185307179586 * random_uniform(draws));
}

/* Units that take times of their own for each task. */
enum { UNRELATED_TASKS = 100, UNRELATED_UNITS = 17 };
struct unrelated {
    double cost[UNRELATED_TASKS], seconds[UNRELATED_UNITS][UNRELATED_TASKS];
    struct sim_unit unit[UNRELATED_UNITS];
};

/* Lognormal costs, and times that deviate from them likewise, by so much (logarithm). */
static void draw_unrelated(struct unrelated *x, double cost, double deviation, uint64_t *draws)
{
    for (int t = 0; t < UNRELATED_TASKS; t++)
        x->cost[t] = exp(cost * normal(draws));
    for (int u = 0; u < UNRELATED_UNITS; u++) {
        for (int t = 0; t < UNRELATED_TASKS; t++)
            x->seconds[u][t] = x->cost[t] * exp(deviation * normal(draws));
        x->unit[u] = (struct sim_unit){.width = 1, .speed = 1, .seconds = x->seconds[u]};
    }
}

/* The last makespan / its lower bound, after 20 steps on the first units: geometric mean. */
static double mean_of_last(struct unrelated *x, int units, double cost, double deviation,
                           void (*change)(struct unrelated *))
{
    enum { CASES = 20 };
    double sum = 0;
    for (unsigned seed = 1; seed <= CASES; seed++) {
        uint64_t draws = seed;
        struct sim_result r;
        draw_unrelated(x, cost, deviation, &draws);
        if (change)
            change(x);
        const struct sim_case c = {.job = {.n = UNRELATED_TASKS, .grain = 1, .cost = x->cost},
                                   .unit = x->unit,
                                   .ncu = units,
                                   .steps = 20,
                                   .cold = true};
        assert_int_equal(sim_run(&c, "evenkeel", NULL, &r), EK_OK);
        sum += log(r.ratio);
    }
    return exp(sum / CASES);
}

/* Units that are said to be alike, but each takes times of its own: if they were taken for alike,
 * the mean would be 2.5. */
static void units_of_a_kind_unlike(void **state)
{
    static struct unrelated x;
    const double last = mean_of_last(&x, 4, 0, 0.7, NULL);
    if (!(last < 1.25))
        fail_msg("%g of the lower bound", last);
}

static void one_fast_device(struct unrelated *x)
{
    enum { DEVICE = UNRELATED_UNITS - 1 };
    for (int u = 1; u < DEVICE; u++)
        x->unit[u].seconds = x->seconds[0];
    for (int t = 0; t < UNRELATED_TASKS; t++)
        x->seconds[DEVICE][t] /= 8;
    x->unit[DEVICE].kind = CU_DEVICE;
    x->unit[DEVICE].memory = 1;
}

/* A task that comes from the device and takes longer than its cost says does not mean that its unit
 * has become slow: otherwise it would be tried on one after another, and the mean be 1.29. */
static void long_tasks_are_not_slow_units(void **state)
{
    static struct unrelated x;
    const double last = mean_of_last(&x, UNRELATED_UNITS, 1, 1, one_fast_device);
    if (!(last < 1.23))
        fail_msg("%g of the lower bound", last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_giant_among_strangers),
        cmocka_unit_test(units_of_a_kind_unlike),
        cmocka_unit_test(long_tasks_are_not_slow_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
