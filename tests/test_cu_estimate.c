/* tests/test_cu_estimate.c – times are learnt exactly if they are exact, else from medians, and
 * predicted for tasks that have never run. */
#include "cu/sched/estimate.h"
#include "src/arena.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { TASKS = 60, CPUS = 3, UNITS = 4 };

static double cost[TASKS];
static struct sched_unit unit[UNITS];
static struct estimate e;
static struct arena arena;
static double slow; /* times of the last CPU unit over those of the others */

/* Three CPU units, the last one maybe slower, and a device with a launch of 0.5 s. */
static double truth(int cu, int task)
{
    if (cu == CPUS)
        return 0.5 + 0.1 * cost[task];
    return cost[task] * (cu == CPUS - 1 ? slow : 1);
}

static void begin(bool declared, double slower)
{
    slow = slower;
    for (int t = 0; t < TASKS; t++)
        cost[t] = 1 + (t * 17) % 23;
    for (int c = 0; c < UNITS; c++)
        unit[c] =
            (struct sched_unit){.kind = c == CPUS ? CU_DEVICE : CU_CPU, .width = 1, .memory = 0};
    struct sched_job job = {.n = TASKS,
                            .grain = 1,
                            .ncu = UNITS,
                            .unit = unit,
                            .cost = declared ? cost : NULL,
                            .arena = &arena};
    assert_int_equal(estimate_open(&e, &job), EK_OK);
}

/* A step in which task t runs on unit (t + shift) mod UNITS and takes `times` as long as it
 * should. */
static void step(int shift, double times)
{
    for (size_t t = 0; t < TASKS; t++) {
        int cu = (int)((t + (size_t)shift) % UNITS);
        estimate_done(&e, cu, (struct ek_range){t, t + 1}, times * truth(cu, (int)t), NULL);
    }
    estimate_step(&e);
}

static double largest_error(void)
{
    double error = 0;
    for (int c = 0; c < UNITS; c++)
        for (int t = 0; t < TASKS; t++)
            error = fmax(error, fabs(estimate_seconds(&e, c, (size_t)t) / truth(c, t) - 1));
    return error;
}

/* Mean absolute error over mean time. */
static double mean_error(void)
{
    double error = 0, total = 0;
    for (int c = 0; c < UNITS; c++)
        for (int t = 0; t < TASKS; t++) {
            error += fabs(estimate_seconds(&e, c, (size_t)t) - truth(c, t));
            total += truth(c, t);
        }
    return error / total;
}

/* One step, in which each task ran on one unit only, is enough to predict all times on all
 * units. */
static void one_step_tells_all(void **state)
{
    begin(true, 1);
    step(0, 1);
    if (largest_error() > 1e-9)
        fail_msg("error %g", largest_error());
    assert_true(fabs(e.of[e.kind[CPUS]].line.a - 0.5) < 1e-9);
    assert_true(fabs(e.of[e.kind[CPUS]].line.b - 0.1) < 1e-9);
    arena_free(&arena);
}

/* The same with a unit at half speed; the tolerance allows for units counted as equally fast. */
static void one_step_tells_slow_units(void **state)
{
    begin(true, 2);
    step(0, 1);
    if (mean_error() > 0.05)
        fail_msg("error %g", mean_error());
    assert_true(fabs(e.factor[CPUS - 1] / e.factor[0] - 2) < 0.1);
    arena_free(&arena);
}

static void without_costs_each_task_must_be_seen(void **state)
{
    begin(false, 1);
    for (int shift = 0; shift < 4 * UNITS; shift++)
        step(shift % 2 ? 0 : 3, 1); /* each task on the same two units */
    for (int t = 0; t < TASKS; t++) {
        int cu = t % UNITS;
        assert_true(fabs(estimate_seconds(&e, cu, (size_t)t) / truth(cu, t) - 1) < 0.35);
    }
    arena_free(&arena);
}

/* Once there are samples, a step ten times as slow leaves no trace. */
static void one_slow_step_is_forgotten(void **state)
{
    begin(true, 1);
    step(0, 1);
    step(0, 1);
    step(0, 10);
    if (largest_error() > 1e-9)
        fail_msg("error %g", largest_error());
    assert_true(fabs(e.seen[0] / e.expected[0] - 10) < 1e-6);
    step(0, 1);
    assert_true(largest_error() < 1e-9);
    arena_free(&arena);
}

/* A unit that stays slower is believed after two steps. */
static void a_slower_unit_is_found(void **state)
{
    begin(true, 1);
    step(0, 1);
    step(0, 1);
    double before = e.factor[0];
    for (int s = 0; s < 2; s++) {
        for (size_t t = 0; t < TASKS; t++) {
            int cu = (int)(t % UNITS);
            estimate_done(&e, cu, (struct ek_range){t, t + 1},
                          truth(cu, (int)t) * (cu == 0 ? 3 : 1), NULL);
        }
        estimate_step(&e);
    }
    assert_true(fabs(e.factor[0] / before - 3) < 1e-9);
    assert_true(fabs(e.factor[1] / before - 1) < 1e-9);
    arena_free(&arena);
}

/* A range's seconds are divided among its tasks in proportion to their estimates. */
static void ranges_are_divided(void **state)
{
    begin(true, 1);
    step(0, 1);
    double a = truth(0, 0), b = truth(0, 1);
    estimate_done(&e, 0, (struct ek_range){0, 2}, 2 * (a + b), NULL);
    assert_true(fabs(e.seconds[0] / (2 * a) - 1) < 1e-9);
    assert_true(fabs(e.seconds[1] / (2 * b) - 1) < 1e-9);
    arena_free(&arena);
}

/* Two units with unrelated times: one has a profile, the other a declared speed. */
static void begin_known(const double *profile)
{
    unit[0] = (struct sched_unit){.kind = CU_CPU, .width = 1, .seconds = profile, .speed = 1};
    unit[1] = (struct sched_unit){.kind = CU_DEVICE, .width = 1, .memory = 1, .speed = 0.25};
    for (int t = 0; t < TASKS; t++)
        cost[t] = 1 + (t * 17) % 23;
    struct sched_job job = {
        .n = TASKS, .grain = 1, .ncu = 2, .unit = unit, .cost = cost, .arena = &arena};
    assert_int_equal(estimate_open(&e, &job), EK_OK);
}

/* If tasks take what their profile says, nothing is learnt about other kinds. */
static void profiles_tell_nothing_of_other_kinds(void **state)
{
    double profile[TASKS];
    for (int t = 0; t < TASKS; t++)
        profile[t] = t % 3 ? 1e-6 * t : 50;
    begin_known(profile);
    for (int s = 0; s < 3; s++) {
        for (size_t t = 0; t < TASKS; t++)
            estimate_done(&e, 0, (struct ek_range){t, t + 1}, profile[t], NULL);
        estimate_step(&e);
        for (size_t t = 0; t < TASKS; t++)
            assert_true(fabs(estimate_seconds(&e, 1, t) / (4 * cost[t]) - 1) < 1e-9);
    }
    arena_free(&arena);
}

/* The only unit of a kind, whose speed was declared, slows down twice. Both times it runs a single
 * task, each time another one. As the second time it may have done so late in that task, it is
 * expected to be slower still: by slowdowns f and moments at which they lead to this ratio, all
 * equally probable (f by its logarithm), half of the cases are slower. */
static void single_tasks_tell_that_a_unit_slows_down(void **state)
{
    static const double slower[] = {1.2, 3};
    double profile[TASKS];
    for (int t = 0; t < TASKS; t++)
        profile[t] = 1 + t % 7;
    begin_known(profile);
    for (int s = 0; s < 2; s++) {
        for (size_t t = 0; t < TASKS; t++)
            if (t != 7 + (size_t)s)
                estimate_done(&e, 0, (struct ek_range){t, t + 1}, profile[t], NULL);
            else
                estimate_done(&e, 1, (struct ek_range){t, t + 1}, slower[s] * 4 * cost[t], NULL);
        estimate_step(&e);
        for (size_t t = 0; t < TASKS; t++)
            assert_true(fabs(e.factor[1] * e.of[e.kind[1]].seconds[t] / (slower[s] * 4 * cost[t]) -
                             1) < 1e-9);
        double below = 0, above = 0;
        const double ratio = slower[s] / (s ? slower[0] : 1);
        for (double f = ratio * 1.00005; f < 1e5; f *= 1.0001) {
            double *side = f < ratio * e.doubt[1] ? &below : &above;
            *side += 1 / (f - 1); /* the width of the moments within a given width of ratios */
        }
        assert_true(s ? fabs(below / above - 1) < 1e-2 : e.doubt[1] == 1);
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_step_tells_all),
        cmocka_unit_test(one_step_tells_slow_units),
        cmocka_unit_test(without_costs_each_task_must_be_seen),
        cmocka_unit_test(one_slow_step_is_forgotten),
        cmocka_unit_test(a_slower_unit_is_found),
        cmocka_unit_test(ranges_are_divided),
        cmocka_unit_test(profiles_tell_nothing_of_other_kinds),
        cmocka_unit_test(single_tasks_tell_that_a_unit_slows_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
