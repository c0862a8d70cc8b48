/* tests/test_okada_mogi_models.c – the models against 128-bit and 50-digit reference values,
 * Okada's own check list, and their symmetries. */
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

/* The permitted error relative to the row's largest component; larger for the categories that lose
 * digits in any double-precision code. */
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
        x[p] =
            m->parameter[p].optional ? m->parameter[p].usual : cell(t, row, m->parameter[p].name);
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

/* The four published digits, for strike slip, dip slip and opening. */
static void test_okada_check_list(void **state)
{
    static const char *const names[] = {"Ec", "Nc", "d_top",    "strike_deg", "dip_deg",
                                        "L",  "W",  "rake_deg", "slip"};
    const struct model *m = model_find("okada")->wider;
    struct table *t;
    double x[11], u[3];
    assert_int_equal(table_open(DATA "okada_table2.csv", NULL, &t), EK_OK);
    assert_int_equal(t->nrows, 9);
    for (size_t row = 0; row < t->nrows; row++) {
        for (int p = 0; p < 9; p++)
            x[p] = cell(t, row, names[p]);
        x[9] = 0.25;
        x[10] = cell(t, row, "open");
        model_forward(m, x, cell(t, row, "E"), cell(t, row, "N"), u);
        const double published[] = {cell(t, row, "uE_pub"), cell(t, row, "uN_pub"),
                                    cell(t, row, "uU_pub")};
        const double quad[] = {cell(t, row, "uE"), cell(t, row, "uN"), cell(t, row, "uU")};
        for (int c = 0; c < 3; c++) {
            assert_true(fabs(u[c] - published[c]) <= 0.6e-3 * fabs(published[c]) + 1e-16);
            assert_true(fabs(u[c] - quad[c]) <= 1e-14);
        }
    }
    table_close(t);
}

/* ---- point sources ----------------------------------------------------------------------------*/

/* Displacement u, in the strike's frame, of (x, y) by a point source at depth d that slips along
 * strike (0), up dip (1) or opens (2) with unit potency: Okada (1985), eqs. (8) to (10), for mu /
 * (lambda + mu) = medium. */
static void point_source(int kind, double x, double y, double d, double s, double c, double medium,
                         double *u)
{
    const double r = sqrt(x * x + y * y + d * d), p = y * c + d * s, q = y * s - d * c;
    const double rd = r + d, r3 = r * r * r, r5 = r3 * r * r;
    const double i1 = medium * y * (1 / (r * rd * rd) - x * x * (3 * r + d) / (r3 * rd * rd * rd));
    const double i2 = medium * x * (1 / (r * rd * rd) - y * y * (3 * r + d) / (r3 * rd * rd * rd));
    const double i3 = medium * x / r3 - i2;
    const double i4 = -medium * x * y * (2 * r + d) / (r3 * rd * rd);
    const double i5 = medium * (1 / (r * rd) - x * x * (2 * r + d) / (r3 * rd * rd));
    const double at[] = {x, y, d}, sum[3][3] = {{i1 * s, i2 * s, i4 * s},
                                                {-i3 * s * c, -i1 * s * c, -i5 * s * c},
                                                {-i3 * s * s, -i1 * s * s, -i5 * s * s}};
    const double scale = (kind == 0 ? x * q : kind == 1 ? p * q : q * q) * 3 / r5;
    for (int k = 0; k < 3; k++)
        u[k] = (kind == 2 ? 1 : -1) * (scale * at[k] + sum[kind][k]) / (2 * M_PI);
}

/* A fault as the integral of point sources, with any dip, kind and rock (Gauss-Legendre quadrature
 * with 5 x 5 points in each of 24 x 24 parts). */
static void fault_by_points(const double *x, double e, double n, double *u)
{
    static const double node[] = {0, 0.5384693101056831, 0.9061798459386640};
    static const double weight[] = {0.5688888888888889, 0.4786286704993665, 0.2369268850561891};
    enum { PARTS = 24 };
    const double ss = sin(x[3] * M_PI / 180), cs = cos(x[3] * M_PI / 180);
    const double s = sin(x[4] * M_PI / 180), c = cos(x[4] * M_PI / 180);
    const double along = (e - x[0]) * ss + (n - x[1]) * cs,
                 left = (n - x[1]) * ss - (e - x[0]) * cs;
    const double rake = x[7] * M_PI / 180, medium = 1 - 2 * x[9];
    const double potency[] = {x[8] * cos(rake), x[8] * sin(rake), x[10]};
    double sum[3] = {0};
    for (int i = 0; i < PARTS * 5; i++)
        for (int k = 0; k < PARTS * 5; k++) {
            const int a = i % 5 - 2, b = k % 5 - 2;
            const double f = (i / 5 + 0.5 + copysign(node[abs(a)], a) / 2) / PARTS - 0.5;
            const double g = (k / 5 + 0.5 + copysign(node[abs(b)], b) / 2) / PARTS - 0.5;
            const double area =
                x[5] * x[6] * weight[abs(a)] * weight[abs(b)] / (4. * PARTS * PARTS);
            const double depth = x[2] + (0.5 - g) * x[6] * s;
            for (int kind = 0; kind < 3; kind++) {
                double v[3];
                point_source(kind, along - f * x[5], left - g * x[6] * c, depth, s, c, medium, v);
                for (int j = 0; j < 3; j++)
                    sum[j] += potency[kind] * area * v[j];
            }
        }
    u[0] = ss * sum[0] - cs * sum[1];
    u[1] = cs * sum[0] + ss * sum[1];
    u[2] = sum[2];
}

static void test_sums_of_points(void **state)
{
    static const double dips[] = {0, 1e-4, 20, 45, 70, 84.2, 84.3, 89.9, 89.9999, 90};
    static const double nus[] = {0.25, 0, 0.1, 0.5, -0.5, 0.33, 0.45};
    srand48(3);
    for (int i = 0; i < 60; i++) {
        double u[3], v[3], most = 0;
        const double x[] = {2e3 * drand48(),       2e3 * drand48(),
                            4e3 + 4e3 * drand48(), i % 8 * 45.0,
                            dips[i % 10],          1e3 + 5e3 * drand48(),
                            1e3 + 3e3 * drand48(), 360 * drand48() - 180,
                            i % 3 == 1 ? 0 : 1,    nus[i % 7],
                            i % 3 ? drand48() : 0};
        const double e = 2e4 * drand48() - 1e4, n = i % 5 ? 2e4 * drand48() - 1e4 : x[1];
        model_forward(model_find("okada")->wider, x, e, n, u);
        fault_by_points(x, e, n, v);
        for (int k = 0; k < 3; k++)
            most = fmax(most, fabs(v[k]));
        for (int k = 0; k < 3; k++)
            if (!(fabs(u[k] - v[k]) <= 1e-10 * most))
                fail_msg("dip %g, nu %g, opening %g: %.12g, not %.12g", x[4], x[9], x[10], u[k],
                         v[k]);
        if (x[10] == 0) { /* the model without opening agrees */
            model_forward(model_find("okada"), x, e, n, v);
            for (int k = 0; k < 3; k++)
                assert_true(fabs(u[k] - v[k]) <= 1e-15);
        }
    }
}

/* Mogi's source is linear in 1 - nu. */
static void test_rocks(void **state)
{
    double u[3], v[3];
    const double x[] = {0, 0, 3e3, 1e6, 0.25}, y[] = {0, 0, 3e3, 1e6, 0.4};
    model_forward(model_find("mogi"), x, 1e3, 2e3, u);
    model_forward(model_find("mogi"), y, 1e3, 2e3, v);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(v[k] - u[k] * 0.6 / 0.75) <= 1e-15 * fabs(u[k]));
}

/* A lane's bits do not depend on its neighbours' values: both kinds of dips side by side. */
static void test_lanes_are_apart(void **state)
{
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
            const double x[] = {1e3 * k, 2e3, 1e3, 17.0 * k, dip[k], 1e4, 5e3, 0, 1, 0.25};
            east[l] = 4e3 + k;
            north[l] = -3e3;
            model_derive_all(m, x, one);
            for (int v = 0; v < model_values(m); v++)
                value[v][l] = one[v];
        }
        m->respond(m, lanes, east, north, alike < 0 ? together : alone);
        for (int i = 0; i < 6 && alike >= 0; i++)
            assert_true(alone[i * MODEL_LANES + alike] == together[i * MODEL_LANES + alike]);
    }
}

/* Above the edges, corners and plane of faults of all dips, results are finite and continuous. */
static void test_singular_places(void **state)
{
    const struct model *m = model_find("okada");
    static const double dips[] = {0, 1e-6, 30, 84.2608, 84.2609, 89.9999, 89.9999999, 90};
    static const double depths[] = {0, 1e-9, 1, 5000};
    for (int i = 0; i < 8 * 4 * 25; i++) {
        const double dip = dips[i % 8], s = sin(dip * M_PI / 180), c = cos(dip * M_PI / 180);
        const double x[] = {0, 0, depths[i / 8 % 4], 0, dip, 2e4, 1e4, 45, 1, 0.25};
        const double trace = (5e3 * s + x[2]) * (s > 0.1 ? c / s : 0) + 5e3 * c * (s > 0.1);
        const double north[] = {-1e4, 1e4, 0, 3e4, 500}, east[] = {-5e3 * c, 5e3 * c, 0, -trace, 7};
        double u[3];
        model_forward(m, x, east[i / 32 % 5], north[i / 160 % 5], u);
        for (int k = 0; k < 3; k++)
            assert_true(isfinite(u[k]) ? fabs(u[k]) <= 2 : x[2] < 1e-8);
    }
    double a[3], b[3];
    const double under[] = {0, 0, 1000, 0, 84.26082, 2e4, 1e4, 45, 1, 0.25};
    const double over[] = {0, 0, 1000, 0, 84.26083, 2e4, 1e4, 45, 1, 0.25};
    model_forward(m, under, 3e3, 2e3, a);
    model_forward(m, over, 3e3, 2e3, b);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(a[k] - b[k]) < 1e-6);
}

/* On the trace of a fault that reaches the ground, its ends included, displacements are undefined,
 * however the fault is given; a millimetre beside it and on its prolongation they are not. */
static void test_trace(void **state)
{
    static const double dips[] = {0, 12.5, 45, 60, 89.999, 90};
    const struct model *m = model_find("okada"), *placed = model_with(m, "reference", 9);
    for (int i = 0; i < 6 * 24; i++) {
        const double strike = i / 6 * 15, dip = dips[i % 6] * M_PI / 180, top = i % 7 ? 0 : 1e-3;
        const double ss = sin(strike * M_PI / 180), cs = cos(strike * M_PI / 180);
        const double x[] = {5e5, 4.2e6, top, strike, dips[i % 6], 8e3, 5e3, 30, 1, 0.25},
                     y[] = {5e5 - 2.5e3 * cos(dip) * cs,
                            4.2e6 + 2.5e3 * cos(dip) * ss,
                            top,
                            strike,
                            dips[i % 6],
                            8e3,
                            5e3,
                            30,
                            1,
                            0.25,
                            1}; /* middle of the upper edge */
        const double across = 2.5e3 * cos(dip);
        for (int k = -5; k <= 5; k++) { /* quarters of the length from the middle */
            const double along = 1e3 * k, aside = across + (i % 2 ? 1e-3 : 0);
            double u[3], v[3];
            model_forward(m, x, 5e5 + along * ss - aside * cs, 4.2e6 + along * cs + aside * ss, u);
            model_forward(placed, y, 5e5 + along * ss - aside * cs, 4.2e6 + along * cs + aside * ss,
                          v);
            const bool on = !(i % 2) && top == 0 && abs(k) <= 4;
            for (int c = 0; c < 3; c++)
                if (isnan(u[c]) != on || isnan(v[c]) != on)
                    fail_msg("dip %g, strike %g, %g m along: %g, %g", x[4], x[3], along, u[c],
                             v[c]);
        }
    }
}

/* ---- textbook formulas ------------------------------------------------------------------------*/

/* Responses and textbook formulas agree for drawn sources of every form of a model, at stations of
 * any height, to what the textbook's rounding explains. */
static void agree_with_textbook(const struct model *m)
{
    static const double dips[] = {0, 1e-3, 90, 89.99, 89.99999, 84.2}, nus[] = {0.25, 0, 0.5, -0.5};
    for (int i = 0; i < 400; i++) {
        double x[MODEL_PARAMETERS], u[3], v[3], size = 0;
        for (int p = 0; p < m->nparameters; p++) {
            const struct model_parameter *q = &m->parameter[p];
            const double low = fmax(q->min, -2e4), high = fmin(q->max, 2e4);
            x[p] = low + (high - low) * drand48();
        }
        for (int p = 0; p < m->nparameters; p++) {
            const char *name = m->parameter[p].name;
            if (!strcmp(name, "dip_deg") && i % 2)
                x[p] = dips[i / 2 % 6];
            if (!strcmp(name, "nu"))
                x[p] = nus[i % 4];
            if (!strcmp(name, "d_m"))
                x[p] += 100;
            if (!strcmp(name, "reference"))
                x[p] = i % 3; /* 3 might be above the ground */
            if (!strcmp(name, "Mw"))
                x[p] = 5 + 3 * drand48();
            if (!strcmp(name, "rigidity_Pa"))
                x[p] = 3e10;
        }
        const double e = 6e4 * drand48() - 3e4, n = i % 5 ? 6e4 * drand48() - 3e4 : x[1];
        model_forward(m, x, e, n, u);
        const double rounding = m->textbook(m, x, e, n, 0, v);
        for (int k = 0; k < 3; k++)
            size = fmax(size, fabs(v[k]));
        for (int k = 0; k < 3; k++)
            if (!(fabs(u[k] - v[k]) <= 1e-8 * size + rounding))
                fail_msg("model with %d parameters, draw %d: %.12g, textbook %.12g", m->nparameters,
                         i, u[k], v[k]);
        x[m->depth] += 250;
        model_forward(m, x, e, n, u);
        x[m->depth] -= 250;
        m->textbook(m, x, e, n, 250, v);
        for (int k = 0; k < 3 && rounding <= 1e-10; k++)
            assert_true(fabs(u[k] - v[k]) <= 1e-8 * size + 1e-10);
    }
}

static void test_textbook(void **state)
{
    struct table *t;
    srand48(11);
    for (int i = 0; model_at(i); i++)
        for (const struct model *m = model_at(i); m; m = m->wider)
            agree_with_textbook(m);
    assert_int_equal(table_open(DATA "okada_ref_public.csv", NULL, &t), EK_OK);
    for (size_t row = 0; row < t->nrows; row++) {
        double x[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0.25}, u[3];
        const struct model *m = model_find("okada");
        for (int p = 0; p < 9; p++)
            x[p] = cell(t, row, m->parameter[p].name);
        const double rounding = m->textbook(m, x, cell(t, row, "E_m"), cell(t, row, "N_m"), 0, u);
        compare(t, row, u, 1e-6, rounding);
    }
    table_close(t);
}

/* Values computed once for a whole grid of angles are exact at right angles. */
static void test_right_angles(void **state)
{
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
    double value[MODEL_VALUES][MODEL_LANES], east[MODEL_LANES], north[MODEL_LANES],
        x[MODEL_PARAMETERS];
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
        m->respond(m, lanes, east, north, to);
    }
}

static void test_levels(void **state)
{
    isa_compare("okada", DRAWN * 6 * MODEL_LANES, true, 1e-12, respond_to_draws, "okada");
    isa_compare("mogi", DRAWN * 3 * MODEL_LANES, true, 1e-14, respond_to_draws, "mogi");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_okada_reference),
        cmocka_unit_test(test_mogi_reference),
        cmocka_unit_test(test_okada_check_list),
        cmocka_unit_test(test_lanes_are_apart),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_singular_places),
        cmocka_unit_test(test_right_angles),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_textbook),
        cmocka_unit_test(test_sums_of_points),
        cmocka_unit_test(test_rocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
