/* tests/test_mcsem_cell.c – cells: the sums equal the product of a small explicit Jacobian, their
 * gradient is the misfit's, and shared mode agrees with exact mode for random earths and pairs. */
#include "mcsem/cell.h"
#include "tests/isa.h"
#include "tests/mcsem_cells.h"

enum { LAYERS = 5, SUMS = 21 + CELL_STATISTICS };
static const struct cell_options exact = {
    CELL_EXACT, {MISFIT_COMPLEX, MISFIT_SQUARE, 1}, 1e-5, 1e-15, true};

/* Computes the cell by a unit of `width` threads (one after another). */
static void compute(const struct survey *s, const struct earth *e, const struct cell_options *o,
                    int width, double *sums, double complex *response, struct cell_report *report)
{
    struct cell_work *w;
    assert_int_equal(cell_open(s, e, o, width, NULL, &w), EK_OK);
    assert_int_equal(cell_compute(w, NULL, e->m, 0, sums, response, report), EK_OK);
    cell_close(w);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static const struct kind near_and_far = {600, 6000, 40, 5, 0.1, 200, true, false};

/* The factor of a datum's derivatives and, in `residual`, its residual, both divided by sigma. */
static double complex weigh(const struct survey_datum *d, double complex field, bool log_phase,
                            double complex *residual)
{
    const double complex data = d->re + I * d->im;
    if (!isfinite(d->sigma)) {
        *residual = 0;
        return 0;
    }
    if (log_phase && cabs(data) >= 4 * d->sigma) {
        *residual = cabs(data) / d->sigma * clog(data / field);
        return cabs(data) / d->sigma / field;
    }
    *residual = (data - field) / d->sigma;
    return 1 / d->sigma;
}

/* Adds the real and imaginary rows of a datum's [r J] / sigma to the sums. */
static void add_rows(const double complex *row, double *sums)
{
    for (int i = 0; i <= LAYERS; i++)
        for (int j = 0; j <= i; j++)
            sums[cell_sum_at(i, j)] +=
                creal(row[i]) * creal(row[j]) + cimag(row[i]) * cimag(row[j]);
}

static void explicit_sums(const struct survey *s, const struct earth *e, int filter, bool log_phase,
                          double *sums)
{
    static struct earth_layers l;
    double complex field[FREQUENCIES], derivative[FREQUENCIES * (LAYERS + 3)], row[1 + LAYERS];
    struct forward *f;
    earth_column(e, 0, NULL, &l);
    assert_int_equal(forward_open(l.n, FREQUENCIES, &f), EK_OK);
    for (size_t i = 0; i < s->npairs; i++) {
        assert_int_equal(forward_pair(f, &l, &s->pair[i], FREQUENCIES, freq, filter, FORWARD_ALL,
                                      field, derivative),
                         EK_OK);
        for (int q = 0; q < FREQUENCIES; q++) {
            const struct survey_datum *d = &s->datum[i * FREQUENCIES + (size_t)q];
            const double complex factor = weigh(d, field[q], log_phase, &row[0]);
            for (int k = 0; k < LAYERS; k++)
                row[1 + k] = factor * derivative[q * l.n + l.sediments + k];
            add_rows(row, sums);
        }
    }
    forward_close(f);
}

static void sums_are_the_product_of_the_jacobian(void **state)
{
    for (int log_phase = 0; log_phase < 2; log_phase++)
        for (size_t npairs = 1; npairs <= 70; npairs += 69) { /* one pair; more than a block */
            struct earth *e = random_earth(1, LAYERS);
            struct survey *s = random_survey(1, &near_and_far, npairs, e);
            struct cell_options o = exact;
            struct cell_report report;
            double sums[SUMS], other[SUMS], want[21] = {0};
            double complex response[70 * FREQUENCIES], again[70 * FREQUENCIES];
            o.misfit.residual = log_phase ? MISFIT_LOG : MISFIT_COMPLEX;
            assert_int_equal(cell_sums(LAYERS), SUMS);
            compute(s, e, &o, 1, sums, response, &report);
            assert_int_equal(report.exact, npairs);
            explicit_sums(s, e, report.filter, log_phase, want);
            for (int i = 0; i <= LAYERS; i++)
                for (int j = 0; j <= i; j++)
                    close_to(sums[cell_sum_at(i, j)], want[cell_sum_at(i, j)],
                             sqrt(want[cell_sum_at(i, i)] * want[cell_sum_at(j, j)]), 1e-12);
            compute(s, e, &o, 3, other, again, &report); /* three threads give the same bits */
            assert_memory_equal(sums, other, sizeof sums);
            assert_memory_equal(response, again, npairs * FREQUENCIES * sizeof *again);
            survey_close(s);
            earth_close(e);
        }
}

/* With r = (d - F(m)) / sigma, the gradient of the sum of losses is -2 J'W^2 r. */
static void check_gradient(const struct survey *s, struct earth *e, const struct cell_options *o)
{
    enum { BOTH = 2 * LAYERS };
    const double step = 1e-4;
    double sums[(1 + BOTH) * (2 + BOTH) / 2 + CELL_STATISTICS], up[sizeof sums / sizeof *sums],
        down[sizeof sums / sizeof *sums];
    double complex response[10 * FREQUENCIES];
    struct cell_report report;
    assert_true(cell_sums(earth_unknowns(e)) <= sizeof sums / sizeof *sums);
    compute(s, e, o, 1, sums, response, &report);
    struct cell_work *w; /* with another spread, but compared with this one */
    assert_int_equal(cell_open(s, e, o, 1, NULL, &w), EK_OK);
    cell_set_spread(w, 2, o->misfit.spread);
    assert_int_equal(cell_compute(w, NULL, e->m, 0, up, response, &report), EK_OK);
    cell_close(w);
    close_to(up[cell_sums(earth_unknowns(e)) - 1], sums[0], sums[0], 1e-12);
    for (int k = 0; k < earth_unknowns(e); k += 2) {
        e->m[k] += step;
        compute(s, e, o, 1, up, response, &report);
        e->m[k] -= 2 * step;
        compute(s, e, o, 1, down, response, &report);
        e->m[k] += step;
        close_to((up[0] - down[0]) / (2 * step), -2 * sums[cell_sum_at(1 + k, 0)],
                 sqrt(sums[0] * sums[cell_sum_at(1 + k, 1 + k)]), 1e-4);
    }
}

/* Both modes and all losses; from 12 on also with unknown vertical resistivities; from 16 on with
 * only one part of each datum. */
static void sums_have_the_misfit_s_gradient(void **state)
{
    struct earth *e = random_earth(1, LAYERS);
    struct survey *s = random_survey(1, &near_and_far, 10, e);
    for (int how = 0; how < 24; how++) {
        const struct cell_options o = {
            how % 2 ? CELL_SHARED : CELL_EXACT,
            {(how >= 16 ? how & 1 : how & 2) ? MISFIT_LOG : MISFIT_COMPLEX,
             (enum misfit_robust)(how / 4 % 3), 1},
            1e-6,
            1e-15,
            true};
        if (how == 12)
            earth_add_vertical(e);
        struct survey *of = s;
        if (how >= 16) {
            of = random_survey(1, &near_and_far, 10, e);
            survey_select_part(of, (enum survey_part)(1 + (how - 16) / 2));
        }
        check_gradient(of, e, &o);
        if (of != s)
            survey_close(of);
    }
    survey_close(s);
    earth_close(e);
}

/* Wires that dip into the sediments also see the layers beside them; no table covers them. */
static void wires_in_the_sediments_have_the_misfit_s_gradient(void **state)
{
    static const struct kind dipping = {600, 6000, 40, 5, 0.6, 200, true, false};
    struct earth *e = random_earth(1, LAYERS);
    struct survey *s = random_survey(1, &dipping, 10, e);
    for (int how = 0; how < 2; how++) {
        const struct cell_options o = {
            how ? CELL_SHARED : CELL_EXACT, {MISFIT_LOG, MISFIT_SQUARE, 1}, 1e-6, 1e-15, true};
        check_gradient(s, e, &o);
    }
    survey_close(s);
    earth_close(e);
}

/* ---- shared mode ----------------------------------------------------------------------------- */

enum { EARTHS = 3, MOST = 32 };

/* Largest difference of responses, relative to max(|field|, floor). */
static double difference(const struct survey *s, const double complex *a, const double complex *b)
{
    double worst = 0;
    for (size_t i = 0; i < s->npairs * FREQUENCIES; i++) {
        const double floor = s->pair[i / FREQUENCIES].magnetic ? 1e-12 : 1e-15;
        worst = fmax(worst, cabs(a[i] - b[i]) / fmax(cabs(b[i]), floor));
    }
    return worst;
}

/* |F / sigma| over all data that are present. */
static double signal(const struct survey *s, const double complex *response)
{
    double sum = 0;
    for (size_t i = 0; i < s->npairs * FREQUENCIES; i++)
        if (isfinite(s->datum[i].sigma))
            sum += pow(fmax(cabs(response[i]), s->pair[i / FREQUENCIES].magnetic ? 1e-12 : 1e-15) /
                           s->datum[i].sigma,
                       2);
    return sqrt(sum);
}

/* Largest difference of two cells' sums, relative to the change expected from derivatives that
 * differ by |F|. */
static double difference_of_sums(int nz, const double *a, const double *b, double by)
{
    double worst = 0;
    for (int i = 0; i <= nz; i++)
        for (int j = 0; j <= i; j++)
            worst = fmax(worst, fabs(a[cell_sum_at(i, j)] - b[cell_sum_at(i, j)]) /
                                    (by * (sqrt(b[cell_sum_at(i, i)]) + sqrt(b[cell_sum_at(j, j)]) +
                                           1e-3 * by)));
    return worst;
}

static void compare_modes(const struct kind *kind, int nz, size_t npairs)
{
    static double complex one[MOST * FREQUENCIES], other[MOST * FREQUENCIES];
    struct earth *e = random_earth(1, nz);
    struct survey *s = random_survey(1, kind, npairs, e);
    struct cell_options shared = exact;
    struct cell_report report;
    double *sums[2];
    for (int i = 0; i < 2; i++)
        sums[i] = calloc(cell_sums(nz), sizeof **sums);
    shared.mode = CELL_SHARED;
    compute(s, e, &exact, 1, sums[0], other, &report);
    assert_int_equal(report.density, -1);
    compute(s, e, &shared, 1, sums[1], one, &report);
    assert_true(report.difference <= shared.tolerance);
    assert_true(report.density >= 0 || report.exact == npairs);
    const double worst = difference(s, one, other);
    if (!(worst <= 1e-5))
        fail_msg("kind %d, %d layers: the modes differ by %.1e (the cell reports %.1e, density %d)",
                 (int)(kind - kinds), nz, worst, report.difference, report.density);
    assert_true(difference_of_sums(nz, sums[1], sums[0], signal(s, other)) < 1e-5);
    for (int i = 0; i < 2; i++)
        free(sums[i]);
    survey_close(s);
    earth_close(e);
}

static void shared_mode_is_exact_mode(void **state)
{
    for (int k = 0; k < KINDS; k++)
        for (int i = 0; i < EARTHS; i++)
            compare_modes(&kinds[k], i ? 3 + (int)(lrand48() % 15) : 1, i == 1 ? 1 : MOST);
}

/* Threads share a cell's table; its bits do not depend on the number of threads. */
static void any_number_of_threads_gives_the_same_table(void **state)
{
    static double complex one[MOST * FREQUENCIES], other[MOST * FREQUENCIES];
    struct earth *e = random_earth(1, 20);
    struct survey *s = random_survey(1, &kinds[2], MOST, e);
    struct cell_options o = exact;
    struct cell_report report;
    double a[231 + CELL_STATISTICS], b[231 + CELL_STATISTICS];
    o.mode = CELL_SHARED;
    assert_int_equal(cell_sums(20), sizeof a / sizeof *a);
    compute(s, e, &o, 1, a, one, &report);
    assert_true(report.density >= 0);
    for (int width = 2; width <= 5; width += 3) {
        compute(s, e, &o, width, b, other, &report);
        assert_memory_equal(a, b, sizeof a);
        assert_memory_equal(one, other, sizeof one);
    }
    survey_close(s);
    earth_close(e);
}

static void compute_shared(void *arg, double *to)
{
    static double complex response[MOST * FREQUENCIES];
    struct cell_options o = exact;
    struct cell_report report;
    o.mode = CELL_SHARED;
    srand48(12);
    struct earth *e = random_earth(1, 13);
    struct survey *s = random_survey(1, &kinds[2], MOST, e);
    compute(s, e, &o, 1, to, response, &report);
    memcpy(to + cell_sums(13), response, sizeof response);
    survey_close(s);
    earth_close(e);
}

static void every_level_has_the_same_table(void **state)
{
    isa_compare("shared mode", (int)cell_sums(13) + 2 * MOST * FREQUENCIES, false, 0,
                compute_shared, NULL);
}

static int seed(void **state)
{
    srand48(4);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_the_product_of_the_jacobian),
        cmocka_unit_test(sums_have_the_misfit_s_gradient),
        cmocka_unit_test(wires_in_the_sediments_have_the_misfit_s_gradient),
        cmocka_unit_test(shared_mode_is_exact_mode),
        cmocka_unit_test(any_number_of_threads_gives_the_same_table),
        cmocka_unit_test(every_level_has_the_same_table),
    };
    return cmocka_run_group_tests(tests, seed, NULL);
}
