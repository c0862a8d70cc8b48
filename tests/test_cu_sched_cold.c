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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_giant_among_strangers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
