/* tests/test_cu_line.c – medians and resistant lines: exact if points lie on a line, robust against
 * outliers, never falling. */
#include "cu/sched/line.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

enum { POINTS = 60 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void selection_is_sorting(void **state)
{
    for (size_t n = 1; n <= 40; n++)
        for (size_t at = 0; at < n; at++) {
            double v[40], sorted[40];
            for (size_t i = 0; i < n; i++)
                v[i] = sorted[i] = (double)((i * 17 + n) % 11); /* many equal values */
            qsort(sorted, n, sizeof *sorted, ascending);
            assert_true(line_select(v, n, at) == sorted[at]);
        }
    double four[] = {4, 1, 3, 2};
    assert_true(line_median(four, 4) == 2); /* the lower median */
}

/* Points y = a + b x, x descending. */
static void points(double *x, double *y, double a, double b)
{
    for (int i = 0; i < POINTS; i++) {
        x[i] = 3 + POINTS - i;
        y[i] = a + b * x[i];
    }
}

static struct line fit(const double *x, double *y, size_t m)
{
    double room[POINTS];
    return line_fit(x, y, room, m);
}

static void a_line_is_found(void **state)
{
    double x[POINTS], y[POINTS];
    points(x, y, 5, 0.25);
    struct line l = fit(x, y, POINTS);
    assert_true(fabs(l.a - 5) < 1e-12 && fabs(l.b - 0.25) < 1e-12);
    assert_true(fabs(line_at(l, 8) - 7) < 1e-12);
}

/* A fifth of the points are anywhere; the line stays near the others. */
static void wild_points_change_little(void **state)
{
    double x[POINTS], y[POINTS];
    points(x, y, 5, 0.25);
    for (int i = 0; i < POINTS; i += 5)
        y[i] *= 1000;
    struct line l = fit(x, y, POINTS);
    for (int i = 1; i < POINTS; i += 7)
        assert_true(fabs(line_at(l, x[i]) / (5 + 0.25 * x[i]) - 1) < 0.1);
}

/* Times that fall with size, few points, or sizes all alike: proportional to size. */
static void no_model_of_work(void **state)
{
    double x[POINTS], y[POINTS];
    points(x, y, 100, -1);
    assert_true(fit(x, y, POINTS).b >= 0);
    points(x, y, -2, 1);
    assert_true(fit(x, y, POINTS).a == 0);
    points(x, y, 5, 0.25);
    struct line few = fit(x, y, 3);
    assert_true(few.a == 0 && few.b > 0.25);
    for (int i = 0; i < POINTS; i++) {
        x[i] = 2;
        y[i] = 8;
    }
    struct line same = fit(x, y, POINTS);
    assert_true(same.a == 0 && fabs(same.b - 4) < 1e-12);
}

/* Most points have neither size nor time; the others give the slope. */
static void most_are_nothing(void **state)
{
    double x[POINTS], y[POINTS];
    for (int i = 0; i < POINTS; i++) {
        x[i] = i < POINTS / 10 ? 2 : 0;
        y[i] = 3 * x[i];
    }
    struct line l = fit(x, y, POINTS);
    assert_true(l.a == 0 && fabs(l.b - 3) < 1e-12);
    l = fit(x + POINTS / 2, y, 5);
    assert_true(l.a == 0 && l.b == 0);
}

/* All but two points have one size; those two give the intercept. */
static void nearly_all_are_alike(void **state)
{
    double x[POINTS], y[POINTS];
    for (int i = 0; i < POINTS; i++) {
        x[i] = i < POINTS - 2 ? 2 : 0;
        y[i] = 5 + 3 * x[i];
    }
    const struct line l = fit(x, y, POINTS);
    assert_true(fabs(l.a - 5) < 1e-12 && fabs(l.b - 3) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selection_is_sorting),      cmocka_unit_test(a_line_is_found),
        cmocka_unit_test(wild_points_change_little), cmocka_unit_test(no_model_of_work),
        cmocka_unit_test(most_are_nothing),          cmocka_unit_test(nearly_all_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
