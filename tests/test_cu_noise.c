/* tests/test_cu_noise.c – noise of records: planted parts come back, or are left out, and what is
 * drawn in stages keeps a pattern that the same factors drawn one by one break. */
#include "cu/sim/record_noise.h"
#include "cu/sim/sim.h"
#include "src/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void assert_within(double a, double low, double high)
{
    if (!(a >= low && a <= high))
        fail_msg("%.6g is not in %.6g .. %.6g", a, low, high);
}

/* ---- records ----------------------------------------------------------------------------------*/
enum { RUNS = 9, STEPS = 80, TASKS = 12, COUNT = RUNS * STEPS * TASKS };

/* Standard deviations of the logarithm of planted factors. */
struct planted {
    double run, task, step, each[RUNS];
    int hold; /* steps that a step's factor lasts */
};

static struct record_sample sample[COUNT];
static double expected[COUNT];

/* Normal, by Irwin and Hall's sum of uniforms. */
static double normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random_uniform(state);
    return sum;
}

static void measure(const struct planted *p)
{
    uint64_t state = 1;
    size_t at = 0;
    for (int run = 0; run < RUNS; run++) {
        double of_task[TASKS], of_step = 0, of_run = p->run * normal(&state);
        for (int t = 0; t < TASKS; t++)
            of_task[t] = p->task * normal(&state);
        for (int step = 0; step < STEPS; step++) {
            if (random_below(&state, (uint64_t)p->hold) == 0 || step == 0)
                of_step = p->step * normal(&state);
            for (size_t t = 0; t < TASKS; t++, at++) {
                expected[at] = 1 + (double)(t % 3);
                sample[at] = (struct record_sample){.tasks = {t, t + 1}, .run = run, .step = step};
                sample[at].seconds = expected[at] * exp(of_run + of_task[t] + of_step +
                                                        p->each[run] * normal(&state));
            }
        }
    }
}

/* Standard deviations of the logarithm between and within lists. */
static void spread_of(const struct record_noise *noise, double *between, double *within)
{
    double sum = 0, squares = 0, inside = 0;
    for (int l = 0; l < RECORD_LISTS; l++) {
        double mean = 0;
        for (int i = 0; i < RECORD_EACH; i++)
            mean += log(noise->list[l][i]) / RECORD_EACH;
        for (int i = 0; i < RECORD_EACH; i++)
            inside += pow(log(noise->list[l][i]) - mean, 2) / RECORD_EACH;
        sum += mean;
        squares += mean * mean;
    }
    *between = sqrt(squares / RECORD_LISTS - pow(sum / RECORD_LISTS, 2));
    *within = sqrt(inside / RECORD_LISTS);
}

static double mean_of(const struct record_noise *noise)
{
    double sum = 0;
    for (int l = 0; l < RECORD_LISTS; l++)
        for (int i = 0; i < RECORD_EACH; i++)
            sum += noise->list[l][i];
    return sum / (RECORD_LISTS * RECORD_EACH);
}

/* Steps and single measurements come back each with its variance; what lasts for a run does not. */
static void planted_parts_come_back(void **state)
{
    struct planted p = {.run = 0.1, .task = 0.08, .step = 0.1, .hold = 5};
    struct record_noise noise;
    double between, within;
    for (int r = 0; r < RUNS; r++)
        p.each[r] = 0.03;
    measure(&p);
    assert_int_equal(record_noise(sample, expected, COUNT, &noise), EK_OK);
    spread_of(&noise, &between, &within);
    assert_within(between, 0.08, 0.12);
    assert_within(within, 0.02, 0.036);
    assert_within(noise.hold, 3.5, 7);
    for (int l = 1; l < RECORD_LISTS; l++)
        for (int i = 1; i < RECORD_EACH; i++)
            assert_true(noise.list[l][i] >= noise.list[l][i - 1]);
    p.step = 0;
    measure(&p);
    assert_int_equal(record_noise(sample, expected, COUNT, &noise), EK_OK);
    spread_of(&noise, &between, &within);
    assert_within(between, 0, 0.02);
    assert_within(noise.hold, 1, 1.2);
}

/* Two runs that were much more disturbed than the others, and two hardly at all, do not matter. */
static void usual_runs_count(void **state)
{
    struct planted p = {.hold = 1};
    struct record_noise noise;
    double between, within;
    for (int r = 0; r < RUNS; r++)
        p.each[r] = r < 2 ? 0.5 : r < 4 ? 0.001 : 0.03;
    measure(&p);
    assert_int_equal(record_noise(sample, expected, COUNT, &noise), EK_OK);
    spread_of(&noise, &between, &within);
    assert_within(within, 0.02, 0.036);
    assert_within(mean_of(&noise), 0.995, 1.005);
}

/* Without measurements, or with one, there is no noise. */
static void little_is_known(void **state)
{
    struct record_noise noise;
    const struct record_sample one = {.tasks = {0, 1}, .seconds = 3};
    const double two = 2;
    assert_int_equal(record_noise(NULL, NULL, 0, &noise), EK_OK);
    assert_true(noise.hold == 1 && noise.list[0][0] == 1 && mean_of(&noise) == 1);
    assert_int_equal(record_noise(&one, &two, 1, &noise), EK_OK);
    assert_within(mean_of(&noise), 1.5 - 1e-12, 1.5 + 1e-12);
}

/* ---- simulation -------------------------------------------------------------------------------*/
enum { LISTS = 16, EACH = 4 };

/* One factor in sixteen is off by up to 20 %: all of one list's, or one in every fourth list. */
static void make_factors(double (*list)[EACH], bool calm_steps)
{
    for (int l = 0; l < LISTS; l++)
        for (int i = 0; i < EACH; i++)
            list[l][i] = 1;
    for (int i = 0; i < EACH; i++)
        list[calm_steps ? LISTS - 1 : i * EACH][i] = 0.8 + 0.4 / (EACH - 1) * i;
}

/* Under dynamic, each step repeats the one before unless something happens. */
static size_t migrations(bool calm_steps)
{
    static const double cost[] = {1, 2, 3, 5, 2, 3, 5, 8, 3, 5, 8, 13, 5, 8, 13, 21}, bytes[16];
    static const struct sched_link link = {0.5, 0};
    double list[LISTS][EACH];
    const struct sim_noise noise = {LISTS, EACH, list[0]};
    const struct sim_unit unit[] = {{.kind = CU_CPU, .speed = 4.1, .noise = noise},
                                    {.kind = CU_DEVICE, .memory = 1, .speed = 1, .noise = noise}};
    struct sim_case c = {.job = {.n = 16, .grain = 1, .cost = cost, .bytes = bytes, .link = &link},
                         .unit = unit,
                         .ncu = 2,
                         .steps = 200,
                         .hold = 4};
    size_t sum = 0;
    make_factors(list, calm_steps);
    for (c.seed = 1; c.seed <= 8; c.seed++) {
        struct sim_result r;
        assert_int_equal(sim_run(&c, "dynamic", NULL, &r), EK_OK);
        sum += r.migrations;
    }
    return sum;
}

static void calm_steps_keep_a_pattern(void **state)
{
    const size_t in_stages = migrations(true), one_by_one = migrations(false);
    if (in_stages * 3 > one_by_one * 2)
        fail_msg("%zu and %zu migrations", in_stages, one_by_one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_parts_come_back),
        cmocka_unit_test(usual_runs_count),
        cmocka_unit_test(little_is_known),
        cmocka_unit_test(calm_steps_keep_a_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
