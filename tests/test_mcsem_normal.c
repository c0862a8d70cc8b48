/* tests/test_mcsem_normal.c – normal equations, the options of the prior and the uncertainty
 * against dense solutions. */
#include "mcsem/normal_internal.h"
#include "tests/mcsem_linear.h"

#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <unistd.h>

static void the_sparse_solution_is_the_dense_one(void **state)
{
    const struct prior_weights mu[] = {{{0.7, 0.2}}, {{0, 3}}, {{5, 0}}, {{0, 0}}};
    double m[UNKNOWNS], got[UNKNOWNS], want[UNKNOWNS];
    struct normal *n;
    assert_int_equal(normal_open(earth, prior, &n), EK_OK);
    for (int i = 0; i < UNKNOWNS; i++)
        m[i] = 3 * noise(i, 1, 4);
    fill_sums(m, sums);
    for (size_t t = 0; t < sizeof mu / sizeof *mu; t++) {
        assert_int_equal(normal_solve(n, sums, m, mu[t], 0.01, false, got), EK_OK);
        fill_dense(m, mu[t], 0.01);
        solve_dense(want);
        for (int i = 0; i < UNKNOWNS; i++)
            close_to(got[i], want[i], 1, 1e-9);
    }
    assert_true(normal_size(n).nonzeros >= UNKNOWNS);
    assert_non_null(normal_blas());
    normal_close(n);
}

static int created; /* threads created by any code in this process */

#ifndef __SANITIZE_ADDRESS__ /* the sanitizer interposes the same function */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    __atomic_fetch_add(&created, 1, __ATOMIC_RELAXED);
    return real(thread, attr, start, arg);
}
#endif

/* A nested team would have to share the one cpu to which our first thread is bound. */
static void a_factorisation_opens_no_team_of_its_own(void **state)
{
    enum { WIDE = 14, DEEP = 12 };
    struct earth *wide;
    struct prior *p;
    struct normal *n;
    const struct prior_options usually = {.differences = 1, .rho_min = 1e-3, .rho_max = 1e3};
    double *none = calloc((size_t)WIDE * WIDE * cell_sums(DEEP), sizeof *none);
    assert_non_null(none);
    assert_int_equal(earth_open(WIDE, WIDE, DEEP, 100, 1000, 1, &wide), EK_OK);
    assert_int_equal(prior_open(wide, &usually, &p), EK_OK);
    assert_int_equal(normal_open(wide, p, &n), EK_OK);
    const int levels = omp_get_max_active_levels();
    enum ek_status st = EK_UNAVAILABLE;
    int before = 0, after = 1, kept = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
        before = __atomic_load_n(&created, __ATOMIC_RELAXED);
        st = normal_factorize(n, none, (struct prior_weights){{1, 1}}, 0.01);
        after = __atomic_load_n(&created, __ATOMIC_RELAXED);
        kept = omp_get_max_active_levels();
    }
    omp_set_max_active_levels(levels);
    assert_int_equal(st, EK_OK);
    assert_int_equal(after, before);
    assert_int_equal(kept, 2);
    normal_close(n);
    prior_close(p);
    earth_close(wide);
    free(none);
}

static void a_column_without_data_follows_its_neighbours(void **state)
{
    const struct prior_weights mu = {{1e-6, 1e-3}};
    double m[UNKNOWNS] = {0}, dm[UNKNOWNS];
    struct normal *n;
    assert_int_equal(normal_open(earth, prior, &n), EK_OK);
    fill_sums(m, sums);
    memset(sums + 2 * cell_sums(NZ), 0, cell_sums(NZ) * sizeof *sums); /* a corner */
    assert_int_equal(normal_solve(n, sums, m, mu, 1e-12, false, dm), EK_OK);
    for (int k = 0; k < NZ; k++)
        close_to(dm[2 * NZ + k], 0.5 * (dm[1 * NZ + k] + dm[5 * NZ + k]), 1, 0.01);
    /* Without a prior nothing determines that cell. */
    assert_int_equal(normal_solve(n, sums, m, (struct prior_weights){{0, 0}}, 0, false, dm),
                     EK_UNVERIFIED);
    normal_close(n);
}

static void predictions_are_what_linear_data_do(void **state)
{
    double m[UNKNOWNS], dm[UNKNOWNS], fall = 0;
    double *after = calloc(COLUMNS * cell_sums(NZ), sizeof *after);
    for (int i = 0; i < UNKNOWNS; i++) {
        dm[i] = noise(i, 2, 5);
        m[i] = truth[i] + noise(i, 3, 6) + dm[i];
    }
    fill_sums(m, after);
    for (int i = 0; i < UNKNOWNS; i++)
        m[i] -= dm[i];
    fill_sums(m, sums);
    for (size_t c = 0; c < COLUMNS; c++)
        fall += sums[c * cell_sums(NZ)] - after[c * cell_sums(NZ)];
    close_to(normal_predict(earth, sums, dm), fall, fabs(fall), 1e-10);
    free(after);
}

/* ---- options of the prior -------------------------------------------------------------------- */

/* Adds mu |row (m + dm - reference)|^2 to the quadratic form; `row` is a full row of R. */
static void add_dense_row(const double *row, double mu, const double *m, const double *reference)
{
    double value = 0;
    for (int i = 0; i < UNKNOWNS; i++)
        value += row[i] * (m[i] - reference[i]);
    for (int i = 0; i < UNKNOWNS; i++) {
        dense[i][UNKNOWNS] -= mu * row[i] * value;
        for (int j = 0; j < UNKNOWNS; j++)
            dense[i][j] += mu * row[i] * row[j];
    }
}

static int ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static struct prior *open_prior(const struct prior_options *o, const char *text)
{
    struct prior *p = NULL;
    char path[] = "/tmp/mcsem-controls-XXXXXX";
    struct prior_options with = *o;
    const int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    with.controls = *text ? path : NULL;
    with.rho_min = with.rho_min > 0 ? with.rho_min : 1e-3;
    with.rho_max = 1e3;
    const enum ek_status st = prior_open(earth, &with, &p);
    unlink(path);
    return st ? NULL : p;
}

/* Each option agrees with least squares by dense rows over the unknowns that are not fixed. */
static void controls_are_those_of_dense_least_squares(void **state)
{
    static const struct {
        struct prior_options options;
        const char *controls;
        int cut;          /* a horizon below this layer, -1: none */
        double reference; /* of layer 2 */
        bool fixed;       /* layer 0, and layer 2 of column 3 */
    } cases[] = {
        {{.differences = 2}, "", -1, 0, false},
        {{.differences = 1, .horizons = "190"}, "", 1, 0, false},
        {{.differences = 2, .horizons = "90"}, "", 0, 0, false},
        {{.differences = 1, .tied = 1}, "column,layer,reference_ohmm\n,2,20\n", -1, 20, false},
        {{.differences = 2, .tied = 1}, "column,layer,reference_ohmm\n,2,20\n", -1, 20, false},
        {{.differences = 2, .tied = 1, .horizons = "190"}, "", 1, 0, false},
        {{.differences = 1}, "column,layer,reference_ohmm\n,,1\n,2,20\n", -1, 20, false},
        {{.differences = 2}, "column,layer,fixed,rho_min\n,0,1,\n3,2,1,0.5\n", -1, 0, true},
    };
    const struct prior_weights mu = {{0.7, 0.2, 0.05}};
    double m[UNKNOWNS], got[UNKNOWNS], want[UNKNOWNS], sorted[UNKNOWNS];
    for (int i = 0; i < UNKNOWNS; i++)
        m[i] = sorted[i] = 2 * noise(i, 3, 4);
    fill_sums(m, sums);
    qsort(sorted, UNKNOWNS, sizeof *sorted, ascending);
    const double median = (sorted[(UNKNOWNS - 1) / 2] + sorted[UNKNOWNS / 2]) / 2;
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        const int order = cases[t].options.differences, cut = cases[t].cut;
        struct prior *p = open_prior(&cases[t].options, cases[t].controls);
        struct normal *n;
        double reference[UNKNOWNS] = {0}, below[UNKNOWNS]; /* of the layer below the horizon */
        assert_non_null(p);
        for (int i = 2; cases[t].reference > 0 && i < UNKNOWNS; i += NZ)
            reference[i] = log(cases[t].reference);
        for (int i = 0; i < UNKNOWNS; i++)
            below[i] = reference[i] > 0 ? reference[i] : median;
        prior_update_median(p, m);
        fill_dense(m, (struct prior_weights){{0, 0}}, 0.01);
        for (int i = 0; i < UNKNOWNS; i++) {
            const int k = i % NZ, c = i / NZ;
            double rows[4][UNKNOWNS] = {{0}};
            const bool whole = k + order < NZ || cases[t].options.tied;
            if (whole && (cut < 0 || k > cut || k + order <= cut))
                for (int j = 0; j <= order && k + j < NZ; j++)
                    rows[0][i + j] = order == 1 ? 1 - 2 * j : j == 1 ? -2 : 1;
            if (c % NX + 1 < NX)
                rows[1][i] = -(rows[1][i + NZ] = 1);
            if (c + NX < COLUMNS)
                rows[2][i] = -(rows[2][i + NX * NZ] = 1);
            rows[3][i] = 1;
            for (int r = 0; r < 4; r++)
                add_dense_row(rows[r], mu.of[r < 2 ? r : r - 1], m,
                              r || k + order < NZ ? reference : below);
        }
        for (int i = 0; i < UNKNOWNS; i++)
            if (cases[t].fixed && (i % NZ == 0 || i == 3 * NZ + 2))
                for (int j = 0; j < UNKNOWNS; j++)
                    dense[i][j] = dense[j][i] = dense[i][UNKNOWNS] = i == j;
        for (int i = 0; i < UNKNOWNS; i++)
            if (cases[t].fixed && (i % NZ == 0 || i == 3 * NZ + 2))
                dense[i][UNKNOWNS] = 0;
        assert_int_equal(normal_open(earth, p, &n), EK_OK);
        assert_int_equal(normal_solve(n, sums, m, mu, 0.01, false, got), EK_OK);
        solve_dense(want);
        for (int i = 0; i < UNKNOWNS; i++)
            close_to(got[i], want[i], 1, 1e-9);
        normal_close(n);
        prior_close(p);
    }
}

static void controls_that_say_nothing_are_refused(void **state)
{
    static const char *const wrong[] = {
        "column,layer,fixed\n9,0,1\n",    "column,layer,fixed\n0,4,1\n",
        "column,layer,rho_min\n,,2000\n", "column,layer,rho_min,rho_max\n,,2,2\n",
        "column,layer,rho_max\n,,-1\n",   "column,fixed\n1,1\n",
        "column,layer,fixed\n0.5,1,1\n",
    };
    const struct prior_options usually = {.differences = 1}, high = {1, .horizons = "-5"};
    status_mute(1);
    for (size_t t = 0; t < sizeof wrong / sizeof *wrong; t++)
        assert_null(open_prior(&usually, wrong[t]));
    assert_null(open_prior(&high, ""));
    status_mute(-1);
}

/* Steps of any size stay within the bounds of their own cell; small steps are not lost. */
static void changes_keep_the_bounds_of_their_cell(void **state)
{
    for (int transform = 0; transform < 2; transform++) {
        const struct prior_options o = {.differences = 1, .transform = transform};
        struct prior *p = open_prior(&o, "column,layer,rho_min,rho_max,fixed\n1,2,2,3,\n,3,,,1\n");
        assert_non_null(p);
        for (int t = 0; t < 300; t++) {
            const double m = 8 * noise(t, 1, 2),
                         step = pow(10, 4 * noise(t, 5, 6)) * noise(t, 3, 4);
            const double to = m + prior_change(p, NZ + 2, m, step);
            const double wide = prior_change(p, 0, 0.5 * m, 1e-6 * step);
            assert_true(to >= log(2) - 1e-12 && to <= log(3) + 1e-12);
            assert_true(transform || wide == 0.5 * m + 1e-6 * step - 0.5 * m);
            close_to(wide, 1e-6 * step, fabs(step) + 1e-9, 2e-7);
            assert_true(prior_change(p, NZ + 3, m, step) == 0);
        }
        prior_close(p);
    }
}

/* ---- uncertainty ----------------------------------------------------------------------------- */

/* Column i of the inverse of the matrix of fill_dense(). */
static void dense_inverse(struct prior_weights mu, int i, double *column)
{
    const double zero[UNKNOWNS] = {0};
    fill_dense(zero, mu, 0);
    for (int j = 0; j < UNKNOWNS; j++)
        dense[j][UNKNOWNS] = j == i;
    solve_dense(column);
}

static void certainty_is_that_of_the_dense_inverse(void **state)
{
    const struct prior_weights mu[] = {{{0.7, 0.2}}, {{0, 3, 0.05}}, {{5, 0, 0.1}}};
    const double zero[UNKNOWNS] = {0};
    double variance[UNKNOWNS], share[UNKNOWNS], column[UNKNOWNS], product[UNKNOWNS][UNKNOWNS];
    struct normal *n;
    assert_int_equal(normal_open(earth, prior, &n), EK_OK);
    fill_sums(zero, sums);
    fill_dense(zero, (struct prior_weights){{0, 0}}, 0);
    for (int i = 0; i < UNKNOWNS; i++)
        memcpy(product[i], dense[i], sizeof product[i]); /* J'W^2 J */
    for (size_t t = 0; t < sizeof mu / sizeof *mu; t++) {
        assert_int_equal(normal_covariance(n, sums, mu[t], variance, share), EK_OK);
        for (int i = 0; i < UNKNOWNS; i++) {
            double determined = 0;
            dense_inverse(mu[t], i, column);
            for (int j = 0; j < UNKNOWNS; j++)
                determined += column[j] * product[j][i];
            close_to(variance[i], column[i], column[i], 1e-9);
            close_to(share[i], determined, 1, 1e-9);
        }
    }
    memset(sums, 0, COLUMNS * cell_sums(NZ) * sizeof *sums);
    assert_int_equal(normal_covariance(n, sums, (struct prior_weights){{0, 0}}, variance, share),
                     EK_UNVERIFIED);
    normal_close(n);
}

/* Draws a model with the given precision matrix: U m = z, where U'U = precision. */
static void draw(double precision[UNKNOWNS][UNKNOWNS + 1], double *m)
{
    double u[UNKNOWNS][UNKNOWNS];
    for (int i = 0; i < UNKNOWNS; i++)
        for (int j = i; j < UNKNOWNS; j++) {
            double left = precision[i][j];
            for (int k = 0; k < i; k++)
                left -= u[k][i] * u[k][j];
            u[i][j] = i == j ? sqrt(left) : left / u[i][i];
        }
    for (int i = UNKNOWNS - 1; i >= 0; i--) {
        m[i] = normal_number();
        for (int j = i + 1; j < UNKNOWNS; j++)
            m[i] -= u[i][j] * m[j];
        m[i] /= u[i][i];
    }
}

/* For models as smooth as assumed and data with the assumed errors, 68 % of the unknowns lie within
 * one standard deviation. */
static void one_sigma_covers_its_share(void **state)
{
    const struct prior_weights mu = {{2, 1, 0.3}};
    const double zero[UNKNOWNS] = {0};
    double kept[COLUMNS][ROWS], variance[UNKNOWNS], share[UNKNOWNS], m[UNKNOWNS], found[UNKNOWNS];
    int covered = 0;
    struct normal *n;
    memcpy(kept, data, sizeof kept);
    assert_int_equal(normal_open(earth, prior, &n), EK_OK);
    for (int seed = 0; seed < 100; seed++) {
        fill_dense(zero, mu, 0);
        for (int c = 0; c < COLUMNS; c++) /* the precision before any data */
            for (int i = 0; i < ROWS; i++)
                for (int k = 0; k < NZ; k++)
                    for (int l = 0; l < NZ; l++)
                        dense[c * NZ + k][c * NZ + l] -= matrix[c][i][k] * matrix[c][i][l];
        draw(dense, m);
        for (int c = 0; c < COLUMNS; c++)
            for (int i = 0; i < ROWS; i++) {
                data[c][i] = normal_number();
                for (int k = 0; k < NZ; k++)
                    data[c][i] += matrix[c][i][k] * m[c * NZ + k];
            }
        fill_sums(zero, sums);
        assert_int_equal(normal_solve(n, sums, zero, mu, 0, false, found), EK_OK);
        assert_int_equal(normal_covariance(n, sums, mu, variance, share), EK_OK);
        for (int i = 0; i < UNKNOWNS; i++)
            covered += fabs(found[i] - m[i]) <= sqrt(variance[i]);
    }
    memcpy(data, kept, sizeof kept);
    assert_true(covered > 0.63 * 100 * UNKNOWNS && covered < 0.73 * 100 * UNKNOWNS);
    normal_close(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sparse_solution_is_the_dense_one),
        cmocka_unit_test(controls_are_those_of_dense_least_squares),
        cmocka_unit_test(controls_that_say_nothing_are_refused),
        cmocka_unit_test(changes_keep_the_bounds_of_their_cell),
        cmocka_unit_test(a_factorisation_opens_no_team_of_its_own),
        cmocka_unit_test(a_column_without_data_follows_its_neighbours),
        cmocka_unit_test(predictions_are_what_linear_data_do),
        cmocka_unit_test(certainty_is_that_of_the_dense_inverse),
        cmocka_unit_test(one_sigma_covers_its_share),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
