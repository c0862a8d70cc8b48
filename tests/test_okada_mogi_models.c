/* tests/test_okada_mogi_models.c – the models against reference values of 128-bit and 50-digit
 * arithmetic, against Okada's own check list, and by their symmetries. */
#include "okada_mogi/model.h"
#include "tests/isa.h"
#include "src/table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define DATA "tests/data/okada_mogi/"

/* What may be wrong, relative to the largest component of the row: the categories that lose digits
 * in any double code have more. */
static double tolerance(const char *category, double length)
{
    if (!strcmp(category, "tiny"))
        return length < 3 ? 1e-3 : 1e-6;
    return !strcmp(category, "far") ? 1e-6 : 1e-10;
}

static double cell(const struct table *t, size_t row, const char *name)
{
    int c;
    double x;
    assert_int_equal(table_need(t, name, &c), EK_OK);
    assert_int_equal(table_number(t, row, c, &x), EK_OK);
    return x;
}

static void predict(const struct model *m, const struct table *t, size_t row, double *u)
{
    double x[MODEL_PARAMETERS];
    for (int p = 0; p < m->nparameters; p++)
        x[p] = cell(t, row, m->parameter[p].name);
    model_forward(m, x, cell(t, row, "E_m"), cell(t, row, "N_m"), u);
}

static void compare(const struct table *t, size_t row, const double *u, double relative,
                    double absolute)
{
    const double wanted[] = {cell(t, row, "uE_m"), cell(t, row, "uN_m"), cell(t, row, "uU_m")};
    const double most = fmax(fabs(wanted[0]), fmax(fabs(wanted[1]), fabs(wanted[2])));
    for (int c = 0; c < 3; c++)
        if (!(fabs(u[c] - wanted[c]) <= relative * most + absolute))
            fail_msg("%s:%zu: component %d is %.17g, not %.17g", t->path, t->line[row], c, u[c],
                     wanted[c]);
}

static void test_okada_reference(void **state)
{
    (void)state;
    struct table *t;
    double u[3];
    assert_int_equal(table_open(DATA "okada_ref_public.csv", NULL, &t), EK_OK);
    assert_int_equal(t->nrows, 300);
    for (size_t row = 0; row < t->nrows; row++) {
        const char *category = table_text(t, row, table_find(t, "category"));
        predict(model_find("okada"), t, row, u);
        compare(t, row, u, tolerance(category, cell(t, row, "L_m")),
                1e-13 * fabs(cell(t, row, "slip_m")));
    }
    table_close(t);
}

static void test_mogi_reference(void **state)
{
    (void)state;
    struct table *t;
    double u[3];
    assert_int_equal(table_open(DATA "mogi_ref.csv", NULL, &t), EK_OK);
    assert_int_equal(t->nrows, 50);
    for (size_t row = 0; row < t->nrows; row++) {
        predict(model_find("mogi"), t, row, u);
        compare(t, row, u, 1e-14, 0);
    }
    table_close(t);
}

/* The published four digits; tensile rows are another kind of source. */
static void test_okada_check_list(void **state)
{
    (void)state;
    static const char *const names[] = {"Ec", "Nc", "d_top",    "strike_deg", "dip_deg",
                                        "L",  "W",  "rake_deg", "slip"};
    struct table *t;
    double x[9], u[3];
    int rows = 0;
    assert_int_equal(table_open(DATA "okada_table2.csv", NULL, &t), EK_OK);
    for (size_t row = 0; row < t->nrows; row++) {
        if (cell(t, row, "open") != 0)
            continue;
        for (int p = 0; p < 9; p++)
            x[p] = cell(t, row, names[p]);
        model_forward(model_find("okada"), x, cell(t, row, "E"), cell(t, row, "N"), u);
        const double published[] = {cell(t, row, "uE_pub"), cell(t, row, "uN_pub"),
                                    cell(t, row, "uU_pub")};
        for (int c = 0; c < 3; c++)
            assert_true(fabs(u[c] - published[c]) <= 0.6e-3 * fabs(published[c]) + 1e-16);
        rows++;
    }
    assert_int_equal(rows, 6);
    table_close(t);
}

/* A lane's bits do not depend on what its neighbours compute: dips of both kinds side by side. */
static void test_lanes_are_apart(void **state)
{
    (void)state;
    const struct model *m = model_find("okada");
    double value[MODEL_VALUES][MODEL_LANES], east[MODEL_LANES], north[MODEL_LANES];
    double together[6 * MODEL_LANES], alone[6 * MODEL_LANES], one[MODEL_VALUES];
    const double *lanes[MODEL_VALUES];
    static const double dip[MODEL_LANES] = {90, 30, 89.99, 0, 60, 84.2, 84.3, 45};
    for (int v = 0; v < model_values(m); v++)
        lanes[v] = value[v];
    for (int alike = -1; alike < MODEL_LANES; alike++) {
        for (int l = 0; l < MODEL_LANES; l++) {
            const int k = alike < 0 ? l : alike;
            const double x[] = {1e3 * k, 2e3, 1e3, 17.0 * k, dip[k], 1e4, 5e3, 0, 1};
            east[l] = 4e3 + k;
            north[l] = -3e3;
            model_derive_all(m, x, one);
            for (int v = 0; v < model_values(m); v++)
                value[v][l] = one[v];
        }
        m->respond(lanes, east, north, alike < 0 ? together : alone);
        for (int i = 0; i < 6 && alike >= 0; i++)
            assert_true(alone[i * MODEL_LANES + alike] == together[i * MODEL_LANES + alike]);
    }
}

/* From above the edges, corners and plane of faults of all dips: finite, and continuous. */
static void test_singular_places(void **state)
{
    (void)state;
    const struct model *m = model_find("okada");
    static const double dips[] = {0, 1e-6, 30, 84.2608, 84.2609, 89.9999, 89.9999999, 90};
    static const double depths[] = {0, 1e-9, 1, 5000};
    for (int i = 0; i < 8 * 4 * 25; i++) {
        const double dip = dips[i % 8], s = sin(dip * M_PI / 180), c = cos(dip * M_PI / 180);
        const double x[] = {0, 0, depths[i / 8 % 4], 0, dip, 2e4, 1e4, 45, 1};
        const double trace = (5e3 * s + x[2]) * (s > 0.1 ? c / s : 0) + 5e3 * c * (s > 0.1);
        const double north[] = {-1e4, 1e4, 0, 3e4, 500}, east[] = {-5e3 * c, 5e3 * c, 0, -trace, 7};
        double u[3];
        model_forward(m, x, east[i / 32 % 5], north[i / 160 % 5], u);
        for (int k = 0; k < 3; k++)
            assert_true(isfinite(u[k]) && fabs(u[k]) <= 2);
    }
    double a[3], b[3];
    const double under[] = {0, 0, 1000, 0, 84.26082, 2e4, 1e4, 45, 1};
    const double over[] = {0, 0, 1000, 0, 84.26083, 2e4, 1e4, 45, 1};
    model_forward(m, under, 3e3, 2e3, a);
    model_forward(m, over, 3e3, 2e3, b);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(a[k] - b[k]) < 1e-6);
}

/* What is computed once for a whole grid of angles is exact where it can be. */
static void test_right_angles(void **state)
{
    (void)state;
    const struct model *m = model_find("okada");
    const int strike = model_parameter_find(m, "strike_deg", 10);
    static const double sines[] = {0, 1, 0, -1};
    double value[8];
    for (int k = -8; k <= 8; k++) {
        model_derive(m, strike, 90.0 * k, value);
        assert_true(value[0] == sines[(k + 8) % 4] && value[1] == sines[(k + 9) % 4]);
    }
}

/* ---- instruction levels -----------------------------------------------------------------------*/

enum { DRAWN = 64 };

static void respond_to_draws(void *name, double *to)
{
    const struct model *m = model_find(name);
    double value[MODEL_VALUES][MODEL_LANES], east[MODEL_LANES], north[MODEL_LANES], x[9];
    const double *lanes[MODEL_VALUES];
    srand48(7);
    for (int v = 0; v < model_values(m); v++)
        lanes[v] = value[v];
    for (int n = 0; n < DRAWN; n++, to += 3 * m->nbasis * MODEL_LANES) {
        for (int l = 0; l < MODEL_LANES; l++) {
            double one[MODEL_VALUES];
            for (int p = 0; p < m->nparameters; p++) {
                const struct model_parameter *q = &m->parameter[p];
                const double low = fmax(q->min, -3e4), high = fmin(q->max, 3e4);
                x[p] = (n + l + p) % 7 ? low + (high - low) * drand48() : low > 0 ? low : 0;
            }
            model_derive_all(m, x, one);
            for (int v = 0; v < model_values(m); v++)
                value[v][l] = one[v];
            east[l] = 4e4 * drand48() - 2e4;
            north[l] = n % 5 ? 4e4 * drand48() - 2e4 : 0;
        }
        m->respond(lanes, east, north, to);
    }
}

static void test_levels(void **state)
{
    (void)state;
    isa_compare("okada", DRAWN * 6 * MODEL_LANES, true, 1e-12, respond_to_draws, "okada");
    isa_compare("mogi", DRAWN * 3 * MODEL_LANES, true, 1e-14, respond_to_draws, "mogi");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_okada_reference),  cmocka_unit_test(test_mogi_reference),
        cmocka_unit_test(test_okada_check_list), cmocka_unit_test(test_lanes_are_apart),
        cmocka_unit_test(test_levels),           cmocka_unit_test(test_singular_places),
        cmocka_unit_test(test_right_angles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
