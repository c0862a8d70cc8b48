/* tests/test_cu_width_selection.c – how the planner of moldable tasks chooses the width of CPU
 * units: narrow for many tasks, wide for few, unknown until two widths were seen. */
#include "cu/moldable/width_selection.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MOST = 1000 };

/* Adds n tasks seen on units of a width: they take 1/width^power, the i-th i+1 times as long unless
 * `even`. */
static void see(struct width_selection *m, int n, bool even, double power, int width)
{
    static double seconds[MOST];
    struct width_tasks tasks;
    for (int i = 0; i < n; i++)
        seconds[i] = (even ? 1 : 1 + i) * pow(width, -power);
    width_levels(seconds, n, &tasks);
    assert_int_equal(tasks.ntasks, n);
    width_selection_add(m, width, &tasks);
}

static int width_of(const struct width_selection *m, int cores)
{
    int width = -1;
    assert_int_equal(width_selection_best(m, cores, &width), EK_OK);
    return width;
}

static void as_wide_as_tasks_are_few(void **state)
{
    static const struct {
        int tasks, cores, width;
        double power;
    } cases[] = {
        {64, 8, 1, 0.8}, /* many tasks: no core is wasted on imperfect scaling */
        {1, 8, 8, 0.8},  /* all cores for a single task */
        {2, 8, 4, 0.9},      {4, 8, 2, 0.9},  {3, 12, 4, 0.7},
        {MOST, 64, 1, 0.99}, {64, 8, 1, 1.5}, /* superlinear on two: not believed of eight */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct width_selection m = {0};
        see(&m, cases[i].tasks, true, cases[i].power, 1);
        see(&m, cases[i].tasks, true, cases[i].power, 2);
        assert_int_equal(width_of(&m, cases[i].cores), cases[i].width);
    }
}

static void what_is_unknown_is_no_proposal(void **state)
{
    struct width_selection m = {0};
    struct width_tasks tasks;
    assert_int_equal(width_of(&m, 8), 0);
    see(&m, 2, true, 0.8, 1);
    assert_int_equal(width_of(&m, 8), 0);
    see(&m, 3, true, 1, 2); /* other tasks */
    assert_int_equal(width_of(&m, 8), 0);
    double bad[] = {1, NAN};
    width_levels(bad, 2, &tasks);
    assert_int_equal(tasks.ntasks, 0);
    width_selection_add(&m, 2, &tasks);
    assert_int_equal(width_of(&m, 8), 0);
    see(&m, 2, true, 0.8, 4);
    assert_int_equal(width_of(&m, 8), 4);
}

/* Tasks that do not get faster on wider units stay on narrow ones, however few they are. */
static void width_must_pay(void **state)
{
    struct width_selection m = {0};
    see(&m, 2, true, 0, 4);
    see(&m, 2, true, 0, 1);
    assert_int_equal(m.width[0], 1);
    assert_int_equal(m.width[1], 4);
    assert_int_equal(width_of(&m, 16), 1);
}

static void the_faster_measurement_counts(void **state)
{
    struct width_selection m = {0};
    double slow[] = {4, 2}, fast[] = {1, 3}, slower[] = {9, 9};
    double *seconds[] = {slow, fast, slower};
    for (int i = 0; i < 3; i++) {
        struct width_tasks tasks;
        width_levels(seconds[i], 2, &tasks);
        width_selection_add(&m, 2, &tasks);
    }
    assert_int_equal(m.n, 1);
    assert_true(m.tasks[0].seconds[0] == 1 && m.tasks[0].seconds[1] == 3);
}

/* Levels represent tasks from the smallest to the largest. */
static void levels_keep_the_distribution(void **state)
{
    static double seconds[MOST];
    struct width_tasks tasks;
    double mean = 0;
    for (int i = 0; i < MOST; i++)
        seconds[i] = MOST - i;
    width_levels(seconds, MOST, &tasks);
    assert_int_equal(tasks.nlevels, WIDTH_LEVELS);
    for (int i = 0; i < WIDTH_LEVELS; i++) {
        assert_true(i == 0 || tasks.seconds[i] > tasks.seconds[i - 1]);
        mean += tasks.seconds[i] / WIDTH_LEVELS;
    }
    assert_true(fabs(mean - (MOST + 1) / 2.) < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_wide_as_tasks_are_few),
        cmocka_unit_test(what_is_unknown_is_no_proposal),
        cmocka_unit_test(width_must_pay),
        cmocka_unit_test(the_faster_measurement_counts),
        cmocka_unit_test(levels_keep_the_distribution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
