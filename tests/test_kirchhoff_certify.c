/* tests/test_kirchhoff_certify.c – residuals and reciprocity detect errors planted in a table and
 * nothing in exact tables. */
#include "kirchhoff/certify.h"
#include "tests/kirchhoff.h"

#define assert_near(x, y, tolerance) assert_true(fabs((x) - (y)) <= (tolerance))

static const struct grid grid = {{25, 21, 23}, {0, 0, 0}, {40, 50, 30}};

static struct ttable *exact(const struct velocity *v, double x, double y, double z)
{
    struct ttable *t;
    assert_int_equal(ttable_make(&grid, (const double[]){x, y, z}, v->text, &t), EK_OK);
    fill_exactly(t, v);
    return t;
}

static void exact_tables_pass(void **state)
{
    static const char *const models[] = {"const:v=1500", "gradient:v0=1800,k=0.7",
                                         "gradient:v0=2500,kx=0.3,ky=-0.2,kz=0.4"};
    for (int m = 0; m < 3; m++) {
        struct velocity *v;
        assert_int_equal(velocity_open(models[m], &v), EK_OK);
        struct ttable *t = exact(v, 480, 500, 0);
        certify_table(t, v);
        assert_true(t->judged > 100);
        assert_int_equal(t->failing, 0);
        for (int i = 0; i < grid.n[0]; i++)
            for (int k = 0; k < grid.n[2]; k++) {
                const double r = certify_node(t, v, (int[]){i, 3, k});
                assert_true(isnan(r) || r < 0.01);
            }
        ttable_close(t);
        velocity_close(v);
    }
}

static void wrong_ones_fail(void **state)
{
    struct velocity *v;
    assert_int_equal(velocity_open("gradient:v0=1800,k=0.7", &v), EK_OK);
    for (int what = 0; what < 4; what++) {
        struct ttable *t = exact(v, 480, 500, 0);
        for (int i = 0; i < grid.n[0]; i++)
            for (int j = 0; j < grid.n[1]; j++)
                for (int k = 12; k < grid.n[2]; k++) { /* the lower half */
                    const size_t n = grid_index(&grid, i, j, k);
                    if (what == 0) /* as if v were a tenth lower */
                        for (int a = 0; a < 3; a++)
                            t->p[a][n] *= 1.1F;
                    if (what == 1)
                        t->time[n] *= 1.1F;
                    if (what == 2) /* reversed */
                        t->p[0][n] = -t->p[0][n];
                    if (what == 3)
                        t->kmah[n] = TTABLE_UNFILLED;
                }
        certify_table(t, v);
        const double share = (double)t->failing / (double)t->judged;
        assert_true(what == 3 ? share == 0 : share > 0.3);
        ttable_close(t);
    }
    velocity_close(v);
}

static void times_go_both_ways(void **state)
{
    static const double at[3][3] = {{100, 100, 0}, {800, 700, 0}, {410, 333, 600}};
    struct velocity *v;
    double time[9] = {0};
    assert_int_equal(velocity_open("gradient:v0=1800,kx=0.2,kz=0.7", &v), EK_OK);
    for (int i = 0; i < 3; i++) {
        struct ttable *t = exact(v, at[i][0], at[i][1], at[i][2]);
        for (int j = 0; j < 3; j++) {
            const double x = certify_time(t, at[j]);
            assert_int_equal(isnan(x) != 0, i == j);
            time[3 * i + j] = i == j ? 0 : x;
        }
        assert_true(isnan(certify_time(t, (const double[]){-41, 0, 0})));
        ttable_close(t);
    }
    velocity_close(v);
    struct certify_pairs p = certify_reciprocity(3, time);
    assert_int_equal(p.pairs, 3);
    assert_int_equal(p.failing, 0);
    assert_true(p.most < 5e-4);
    time[1] += 0.02;
    time[2] = 0;
    p = certify_reciprocity(3, time);
    assert_int_equal(p.pairs, 2);
    assert_int_equal(p.failing, 1);
}

/* Rounding puts a place beside the only node of an axis; the table ends with it. */
static void lines_have_times(void **state)
{
    const struct grid line = {{5, 1, 1}, {0, 0, 0}, {40, 50, 30}};
    struct velocity *v;
    struct ttable *t;
    assert_int_equal(velocity_open("const:v=2000", &v), EK_OK);
    assert_int_equal(ttable_make(&line, (const double[]){-400, 0, 0}, v->text, &t), EK_OK);
    fill_exactly(t, v);
    assert_near(certify_time(t, (const double[]){160, 2e-5, 1e-5}), 0.28, 1e-6);
    assert_near(certify_time(t, (const double[]){-2e-5, -2e-5, -1e-5}), 0.2, 1e-6);
    ttable_close(t);
    velocity_close(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_tables_pass),
        cmocka_unit_test(wrong_ones_fail),
        cmocka_unit_test(times_go_both_ways),
        cmocka_unit_test(lines_have_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
