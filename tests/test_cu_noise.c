/* tests/test_cu_noise.c – noise of records: planted parts come back, or are left out; factors drawn
 * by steps keep a pattern that they break if drawn one by one. */
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

static double factor[RECORD_STEPS][TASKS];

static double find_noise(const struct record_sample *from, const double *expect, size_t count)
{
    struct record_noise noise = {.factor = factor[0]};
    assert_int_equal(record_steps(TASKS), RECORD_STEPS);
    assert_int_equal(record_noise(TASKS, from, expect, count, &noise), EK_OK);
    return noise.hold;
}

/* Standard deviations of the logarithm between and within steps. */
static void spread_of(double *between, double *within)
{
    double sum = 0, squares = 0, inside = 0;
    for (int s = 0; s < RECORD_STEPS; s++) {
        double mean = 0;
        for (int t = 0; t < TASKS; t++)
            mean += log(factor[s][t]) / TASKS;
        for (int t = 0; t < TASKS; t++)
            inside += pow(log(factor[s][t]) - mean, 2) / TASKS;
        sum += mean;
        squares += mean * mean;
    }
    *between = sqrt(squares / RECORD_STEPS - pow(sum / RECORD_STEPS, 2));
    *within = sqrt(inside / RECORD_STEPS);
}

static double mean_factor(void)
{
    double sum = 0;
    for (int s = 0; s < RECORD_STEPS; s++)
        for (int t = 0; t < TASKS; t++)
            sum += factor[s][t];
    return sum / (RECORD_STEPS * TASKS);
}

/* Steps and single measurements come back each with its variance; what lasts for a run does not. */
static void planted_parts_come_back(void **state)
{
    struct planted p = {.run = 0.1, .task = 0.08, .step = 0.1, .hold = 5};
    double between, within;
    for (int r = 0; r < RUNS; r++)
        p.each[r] = 0.03;
    measure(&p);
    assert_within(find_noise(sample, expected, COUNT), 3.5, 7);
    spread_of(&between, &within);
    assert_within(between, 0.08, 0.12);
    assert_within(within, 0.025, 0.035);
    p.step = 0;
    measure(&p);
    assert_within(find_noise(sample, expected, COUNT), 1, 1.2);
    spread_of(&between, &within);
    assert_within(between, 0, 0.02);
}

/* A task that is always more disturbed than the others remains so; one that never runs is as
 * disturbed as the whole step. */
static void tasks_keep_their_noise(void **state)
{
    struct planted p = {.step = 0.1, .hold = 1};
    uint64_t random = 2;
    double sum[TASKS] = {0};
    size_t kept = 0;
    measure(&p);
    for (size_t i = 0; i < COUNT; i++) {
        if (sample[i].tasks.begin == 4)
            sample[i].seconds *= exp(0.2 * normal(&random));
        if (sample[i].tasks.begin != 7)
            sample[kept++] = sample[i];
    }
    for (size_t i = 0; i < kept; i++)
        expected[i] = 1 + (double)(sample[i].tasks.begin % 3);
    find_noise(sample, expected, kept);
    for (int s = 0; s < RECORD_STEPS; s++)
        for (int t = 0; t < TASKS; t++)
            sum[t] += pow(log(factor[s][t] / factor[s][0]), 2) / RECORD_STEPS;
    assert_within(sqrt(sum[4]), 0.15, 0.25);
    assert_within(sqrt(sum[5]), 0, 0.01);
    assert_within(sqrt(sum[7]), 0, 0.05);
}

/* Two runs that were much more disturbed than the others, and two hardly at all, do not matter. */
static void usual_runs_count(void **state)
{
    struct planted p = {.hold = 1};
    double between, within;
    for (int r = 0; r < RUNS; r++)
        p.each[r] = r < 2 ? 0.5 : r < 4 ? 0.001 : 0.03;
    measure(&p);
    find_noise(sample, expected, COUNT);
    spread_of(&between, &within);
    assert_within(within, 0.025, 0.035);
}

/* Noise takes no more room than a job of many tasks does. */
static void many_tasks(void **state)
{
    enum { MANY = 3 * RECORD_FACTORS };
    static double few[MANY];
    struct record_noise noise = {.factor = few};
    struct planted p = {.step = 0.1, .hold = 1};
    assert_int_equal(record_steps(MANY), 1);
    assert_int_equal(record_steps(RECORD_FACTORS / 16), 15);
    measure(&p);
    assert_int_equal(record_noise(MANY, sample, expected, COUNT, &noise), EK_OK);
    assert_within(few[0], 0.97, 1.03);
    assert_within(few[MANY - 1], 0.97, 1.03);
}

/* Without measurements, or with one, there is no noise. */
static void little_is_known(void **state)
{
    const struct record_sample one = {.tasks = {0, 1}, .seconds = 3};
    const double two = 2;
    assert_true(find_noise(NULL, NULL, 0) == 1);
    assert_true(factor[0][0] == 1 && mean_factor() == 1);
    assert_true(find_noise(&one, &two, 1) == 1);
    assert_within(mean_factor(), 1.5 - 1e-12, 1.5 + 1e-12);
}

/* ---- simulation -------------------------------------------------------------------------------*/
enum { N = 16, DRAWN = 16 };

/* Under dynamic, each step repeats the one before unless something happens. Of the factors, one in
 * sixteen is off by up to 20 %: all those of a step, or any. */
static size_t migrations(bool calm_steps)
{
    static const double cost[N] = {1, 2, 3, 5, 2, 3, 5, 8, 3, 5, 8, 13, 5, 8, 13, 21}, bytes[N];
    static const struct sched_link link = {0.5, 0};
    double any[DRAWN], step[DRAWN][N];
    const double *usual[DRAWN];
    struct sim_unit unit[] = {{.kind = CU_CPU, .speed = 4.1},
                              {.kind = CU_DEVICE, .memory = 1, .speed = 1}};
    struct sim_case c = {.job = {.n = N, .grain = 1, .cost = cost, .bytes = bytes, .link = &link},
                         .unit = unit,
                         .ncu = 2,
                         .steps = 200,
                         .hold = 4};
    size_t sum = 0;
    for (int s = 0; s < DRAWN; s++)
        for (int t = 0; t < N; t++)
            step[s][t] = s == DRAWN - 1 ? 0.8 + 0.4 / (N - 1) * (t * 7 % N) : 1;
    for (int s = 0; s < DRAWN; s++)
        usual[s] = step[s];
    for (c.seed = 1; c.seed <= 16; c.seed++) {
        struct sim_result r;
        for (int i = 0; i < DRAWN; i++)
            any[i] = i ? 1 : 0.8 + 0.4 / 15 * (c.seed - 1);
        for (int u = 0; u < 2; u++) {
            unit[u].usual = calm_steps ? usual : NULL;
            unit[u].nusual = DRAWN;
            unit[u].noise = calm_steps ? NULL : any;
            unit[u].nnoise = DRAWN;
        }
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

/* ---- interruptions ----------------------------------------------------------------------------*/
/* Of 0.5 s of work with 3 interruptions per second of 0.2 s in the mean: exp(-1.5) of all are not
 * interrupted at all, and a compound Poisson process has mean 1.5 * 0.2 and variance 1.5 * 2 *
 * 0.2^2. With many interruptions only the mean is left. */
static void interruptions_are_a_poisson_process(void **state)
{
    enum { DRAWS = 40000 };
    struct sim_unit unit = {.kind = CU_CPU, .speed = 2, .interruptions = 3, .interruption = 0.2};
    struct sim_case c = {.job = {.n = 1}, .unit = &unit, .ncu = 1, .seed = 7};
    double sum = 0, squares = 0, none = 0;
    for (int i = 0; i < DRAWS; i++) {
        const double extra = 0.5 * (sim_noise(&c, &unit, i, 0) - 1);
        assert_true(extra >= 0);
        sum += extra / DRAWS;
        squares += extra * extra / DRAWS;
        none += extra == 0 ? 1. / DRAWS : 0;
    }
    assert_within(sum, 0.3 * 0.98, 0.3 * 1.02);
    assert_within(squares - sum * sum, 0.12 * 0.95, 0.12 * 1.05);
    assert_within(none, exp(-1.5) * 0.97, exp(-1.5) * 1.03);
    unit.speed = 1e-9;
    assert_within(sim_noise(&c, &unit, 0, 0), 1.6 - 1e-12, 1.6 + 1e-12);
    unit.interruptions = 0;
    assert_true(sim_noise(&c, &unit, 0, 0) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_parts_come_back),
        cmocka_unit_test(tasks_keep_their_noise),
        cmocka_unit_test(usual_runs_count),
        cmocka_unit_test(many_tasks),
        cmocka_unit_test(little_is_known),
        cmocka_unit_test(calm_steps_keep_a_pattern),
        cmocka_unit_test(interruptions_are_a_poisson_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
