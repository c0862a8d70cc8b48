/* tests/test_cu_bound.c – the lower bound: closed forms, agreement of its three methods with the
 * full linear programme, and what it returns if something is missing. */
#include "cu/sim/bound.h"

#include <glpk.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

enum { TASKS = 40, KINDS = 30 };

static double row[KINDS][TASKS];
static const double *rows[KINDS];

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

static double random_unit(void)
{
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 24);
}

/* The linear programme in full: x[i][k] is the part of task i done by kind k; tasks are divisible
 * and, if `serial`, never on two units at once. */
static double written_out(int n, int nkinds, const int *units, int serial)
{
    glp_prob *lp = glp_create_prob();
    int span = 1 + n * nkinds, index[1 + TASKS * KINDS];
    double value[1 + TASKS * KINDS];
    glp_add_cols(lp, span);
    for (int j = 1; j <= span; j++)
        glp_set_col_bnds(lp, j, GLP_LO, 0, 0);
    glp_set_obj_coef(lp, span, 1);
    glp_add_rows(lp, nkinds + (1 + serial) * n);
    for (int k = 0; k < nkinds; k++) {
        for (int i = 0; i < n; i++) {
            index[1 + i] = 1 + i * nkinds + k;
            value[1 + i] = row[k][i];
        }
        index[1 + n] = span;
        value[1 + n] = -units[k];
        glp_set_mat_row(lp, 1 + k, n + 1, index, value);
        glp_set_row_bnds(lp, 1 + k, GLP_UP, 0, 0);
    }
    for (int i = 0; i < n; i++)
        for (int whole = 0; whole <= serial; whole++) {
            int r = 1 + nkinds + whole * n + i;
            for (int k = 0; k < nkinds; k++) {
                index[1 + k] = 1 + i * nkinds + k;
                value[1 + k] = whole ? row[k][i] : 1;
            }
            index[1 + nkinds] = span;
            value[1 + nkinds] = whole ? -1 : 0;
            glp_set_mat_row(lp, r, nkinds + whole, index, value);
            glp_set_row_bnds(lp, r, whole ? GLP_UP : GLP_FX, whole ? 0 : 1, whole ? 0 : 1);
        }
    glp_smcp simplex;
    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    assert_int_equal(glp_simplex(lp, &simplex), 0);
    double optimum = glp_get_obj_val(lp);
    glp_delete_prob(lp);
    return optimum;
}

static void one_kind(void **state)
{
    for (int i = 0; i < 10; i++)
        row[0][i] = 1;
    assert_near(bound_step(10, 1, (const int[]){4}, rows), 2.5, 1e-14);
    assert_near(bound_step(3, 1, (const int[]){4}, rows), 1, 1e-14);
    row[0][3] = 7;
    assert_near(bound_step(10, 1, (const int[]){4}, rows), 7, 1e-14);
    assert_true(bound_step(0, 1, (const int[]){4}, rows) == 0);
}

/* 40 equal tasks, a device four times as fast: 8 on the CPU, 32 on the device. */
static void static_pcf_example(void **state)
{
    for (int i = 0; i < 40; i++) {
        row[0][i] = 1;
        row[1][i] = 0.25;
    }
    assert_near(bound_step(40, 2, (const int[]){1, 1}, rows), 8, 1e-14);
}

/* Two long tasks and one fast unit: together the long ones need both the fast unit and a slow one,
 * which neither the total work nor the longest task alone reveals. */
static void long_tasks_on_few_fast_units(void **state)
{
    double work[] = {10, 10, 0.1, 0.1};
    for (int i = 0; i < 4; i++) {
        row[0][i] = work[i];
        row[1][i] = work[i] / 4;
    }
    assert_near(bound_step(4, 2, (const int[]){9, 1}, rows), 20. / 5, 1e-12);
}

static void random_times(int n, int nkinds, bool in_proportion)
{
    double speed[KINDS];
    for (int k = 0; k < nkinds; k++)
        speed[k] = 1 + 9 * random_unit();
    for (int i = 0; i < n; i++) {
        double work = exp(3 * random_unit());
        for (int k = 0; k < nkinds; k++)
            row[k][i] = work / speed[k] * (in_proportion ? 1 : 0.5 + random_unit());
    }
}

static double longest_on_fastest(int n, int nkinds)
{
    double longest = 0;
    for (int i = 0; i < n; i++) {
        double fastest = INFINITY;
        for (int k = 0; k < nkinds; k++)
            fastest = fmin(fastest, row[k][i]);
        longest = fmax(longest, fastest);
    }
    return longest;
}

static void agrees_with_the_programme(void **state)
{
    for (int trial = 0; trial < 60; trial++) {
        int units[KINDS], n = 1 + (int)(random_unit() * (TASKS - 1)), nkinds = 1 + trial % KINDS;
        for (int k = 0; k < nkinds; k++)
            units[k] = 1 + (int)(random_unit() * 8);
        random_times(n, nkinds, trial % 3 == 0);
        double bound = bound_step((size_t)n, nkinds, units, rows);
        double serial = written_out(n, nkinds, units, 1);
        if (nkinds <= 2 || trial % 3 == 0) {
            assert_near(bound, serial, 1e-8);
        } else {
            const double area = written_out(n, nkinds, units, 0);
            assert_near(bound, fmax(area, longest_on_fastest(n, nkinds)), 1e-8);
            assert_true(bound <= serial * (1 + 1e-9));
        }
    }
}

/* Tasks that take no time on one or both kinds do not matter, wherever they are in the list. */
static void tasks_without_time(void **state)
{
    for (int trial = 0; trial < 200; trial++) {
        int units[] = {1 + (int)(random_unit() * 3), 1 + (int)(random_unit() * 3)};
        random_times(TASKS, 2, false);
        for (int i = 0; i < TASKS; i++)
            for (int k = 0; k < 2; k++)
                row[k][i] *= random_unit() < 0.6;
        assert_near(bound_step(TASKS, 2, units, rows), written_out(TASKS, 2, units, 1), 1e-8);
    }
}

static void kinds_without_units_do_not_count(void **state)
{
    random_times(20, 3, false);
    double both = bound_step(20, 2, (const int[]){3, 2}, rows);
    row[2][7] = NAN;
    assert_near(bound_step(20, 3, (const int[]){3, 2, 0}, rows), both, 1e-14);
}

static void missing_times(void **state)
{
    double bad[] = {NAN, -1, INFINITY};
    for (int b = 0; b < 3; b++)
        for (int nkinds = 1; nkinds <= 3; nkinds++) {
            random_times(20, nkinds, false);
            row[nkinds - 1][13] = bad[b];
            assert_true(isnan(bound_step(20, nkinds, (const int[]){3, 2, 1}, rows)));
        }
    assert_true(isnan(bound_step(20, 2, (const int[]){0, 0}, rows)));
}

/* Units each of which has times of its own; and the same question again, after another one. */
static void many_kinds(void **state)
{
    int units[KINDS];
    for (int trial = 0; trial < 3; trial++) {
        random_times(TASKS, KINDS, false);
        for (int k = 0; k < KINDS; k++)
            units[k] = 1 + (int)(random_unit() * 2);
        double price[KINDS], again[KINDS];
        const double longest = longest_on_fastest(TASKS, KINDS);
        const double area = bound_prices(TASKS, KINDS, units, rows, price);
        assert_near(area, written_out(TASKS, KINDS, units, 0), 1e-8);
        assert_true(bound_step(TASKS, KINDS, units, rows) == fmax(area, longest));
        row[KINDS - 1][TASKS - 1] /= 1000;
        units[0]++;
        assert_true(bound_prices(TASKS, KINDS, units, rows, again) < area);
        units[0]--;
        row[KINDS - 1][TASKS - 1] *= 1000;
        assert_near(bound_prices(TASKS, KINDS, units, rows, again), area, 1e-12);
        for (int k = 0; k < KINDS; k++)
            assert_near(again[k], price[k], 1e-9);
    }
}

int main(void)
{
    for (int k = 0; k < KINDS; k++)
        rows[k] = row[k];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_kind),
        cmocka_unit_test(static_pcf_example),
        cmocka_unit_test(long_tasks_on_few_fast_units),
        cmocka_unit_test(agrees_with_the_programme),
        cmocka_unit_test(tasks_without_time),
        cmocka_unit_test(kinds_without_units_do_not_count),
        cmocka_unit_test(missing_times),
        cmocka_unit_test(many_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
