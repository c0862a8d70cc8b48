/* tests/test_okada_mogi_interval.c – narrowing of amplitude intervals with operands of every kind,
 * in the host's vectors and in device code: what fits is kept, what does not is excluded. */
#include "src/lanes.h"
#include "src/lanes_math.h"
#include "okada_mogi/kernels/interval.h"
#include "tests/backends.h"

#include <math.h>
#include <stdlib.h>

static const double kinds[] = {0,      5e-324,   1e-310, 1e-290, 3e-160, 0.7,     1,
                               1.5e10, 1 / 3e-9, 1e160,  1e290,  1e308,  INFINITY};
enum { KINDS = 2 * sizeof kinds / sizeof *kinds + 1, FREE = 6 };

/* Zeros, tiny and ordinary numbers, infinities of both signs, and NaN. */
static double kind(int i)
{
    return i == KINDS - 1 ? NAN : i % 2 ? -kinds[i / 2] : kinds[i / 2];
}

static const double range[FREE][2] = {{-1e18, 1e18},         {0, 1e6},   {-3, -0.0},
                                      {-INFINITY, INFINITY}, {0.7, 0.7}, {-0.0, 0.0}};

struct row {
    double g, low, high, least, most;
};

static int list_rows(struct row *row)
{
    int n = 0;
    for (int g = 0; g < KINDS; g++)
        for (int low = 0; low < KINDS; low++)
            for (int high = 0; high < KINDS; high++)
                for (int r = 0; r < FREE; r++)
                    if (!(kind(low) > kind(high)))
                        row[n++] =
                            (struct row){kind(g), kind(low), kind(high), range[r][0], range[r][1]};
    return n;
}

/* The product has full precision or is truly 0. */
static bool is_precise(double a, double g)
{
    return a == 0 || g == 0 || (fabs(a * g) > 1e-300 && isfinite(a * g));
}

/* An amplitude that the component allows, or does not constrain, is kept; one outside by more than
 * rounding is excluded unless the response is tiny or infinite. */
static void expect(const struct row *r, const double *narrowed, double amplitude)
{
    const double u = amplitude * r->g, rounding = 1e-13;
    const bool kept = !(narrowed[0] * (1 - copysign(rounding, narrowed[0])) > amplitude) &&
                      !(narrowed[1] * (1 + copysign(rounding, narrowed[1])) < amplitude);
    if (!isfinite(amplitude))
        return;
    if (!(amplitude >= r->least && amplitude <= r->most))
        assert_false(amplitude >= narrowed[0] && amplitude <= narrowed[1]);
    else if (is_precise(amplitude, r->g) && !(u < r->low) && !(u > r->high) && !kept)
        fail_msg("g %g, low %g high %g: %g is lost, [%g, %g] is left", r->g, r->low, r->high,
                 amplitude, narrowed[0], narrowed[1]);
    else if ((r->g == 0 || (fabs(r->g) > 1e-290 && isfinite(r->g) && is_precise(r->low, 1 / r->g) &&
                            is_precise(r->high, 1 / r->g))) &&
             (u < r->low - rounding * fabs(r->low) || u > r->high + rounding * fabs(r->high)) &&
             amplitude >= narrowed[0] && amplitude <= narrowed[1])
        fail_msg("g %g, low %g high %g: %g is left", r->g, r->low, r->high, amplitude);
}

static void expect_all(const struct row *row, int rows, const double *narrowed)
{
    for (int i = 0; i < rows; i++)
        for (int a = 0; a < KINDS - 3; a++) { /* finite ones */
            expect(&row[i], narrowed + 2 * i, kind(a));
            expect(&row[i], narrowed + 2 * i, row[i].low / row[i].g);
            expect(&row[i], narrowed + 2 * i, row[i].high / row[i].g);
        }
}

static struct row row[KINDS * KINDS * KINDS * FREE];
static double narrowed[2 * KINDS * KINDS * KINDS * FREE];

static void test_host(void **state)
{
    const int rows = list_rows(row);
    for (int i = 0; i < rows; i++) {
        lanes least = REAL(row[i].least), most = REAL(row[i].most);
        interval_narrow(REAL(row[i].g), REAL(row[i].low), REAL(row[i].high), &least, &most);
        narrowed[2 * i] = least[i % LANES];
        narrowed[2 * i + 1] = most[i % LANES];
    }
    expect_all(row, rows, narrowed);
}

static void test_device_text(void **state)
{
    static const struct backend_kernel kernels[] = {{"interval_narrow_rows", {64, 1, 1}}};
    const long rows = list_rows(row), global[3] = {rows, 1, 1};
    struct backend *b = open_device("host", 0);
    struct backend_program *p;
    char *text = joined("tests/kernels/interval.c");
    assert_int_equal(backend_build(b, text, "", kernels, 1, &p), EK_OK);
    struct backend_mem *from = alloc_on(b, sizeof row), *to = alloc_on(b, sizeof narrowed);
    put(b, from, row, sizeof row);
    const struct backend_arg arg[] = {backend_arg_mem(from), backend_arg_int(rows),
                                      backend_arg_mem(to)};
    assert_int_equal(backend_launch(b, BACKEND_COMPUTE, p, 0, global, 3, arg), EK_OK);
    get(b, narrowed, to, sizeof narrowed);
    expect_all(row, rows, narrowed);
    backend_free(b, from);
    backend_free(b, to);
    backend_unbuild(b, p);
    free(text);
    backend_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_host),
                                       cmocka_unit_test(test_device_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
