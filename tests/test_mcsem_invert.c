/* tests/test_mcsem_invert.c – normal equations against a dense solution, and inversions of linear
 * data with known sums: steps, limits, rejected trials, stopping rules, resumption. */
#include "mcsem/invert.h"
#include "mcsem/normal_internal.h"
#include "src/random.h"
#include "tests/mcsem.h"

#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <unistd.h>

enum { NX = 3, NY = 2, NZ = 4, COLUMNS = NX * NY, UNKNOWNS = COLUMNS * NZ, ROWS = 6 };

static struct earth *earth;
static struct survey *survey;
static struct prior *prior; /* first differences within wide bounds */
static double matrix[COLUMNS][ROWS][NZ], data[COLUMNS][ROWS], truth[UNKNOWNS];
static double *sums;

/* A pseudo-random number in -1 .. 1 that depends on its arguments only. */
static double noise(int a, int b, int c)
{
    uint32_t x = (uint32_t)(a * 7919 + b * 104729 + c * 1299709 + 12345);
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return (double)(x % 20001) / 1e4 - 1;
}

/* The sums of linear data at m: of [r J] with r = d - G m and J = G. */
static void fill_sums(const double *m, double *to)
{
    for (int c = 0; c < COLUMNS; c++, to += cell_sums(NZ)) {
        double row[ROWS][1 + NZ];
        for (int i = 0; i < ROWS; i++) {
            row[i][0] = data[c][i];
            for (int k = 0; k < NZ; k++) {
                row[i][0] -= matrix[c][i][k] * m[c * NZ + k];
                row[i][1 + k] = matrix[c][i][k];
            }
        }
        for (int a = 0; a <= NZ; a++)
            for (int b = 0; b <= a; b++) {
                to[cell_sum_at(a, b)] = 0;
                for (int i = 0; i < ROWS; i++)
                    to[cell_sum_at(a, b)] += row[i][a] * row[i][b];
            }
    }
}

/* ---- dense equations ------------------------------------------------------------------------- */

static double dense[UNKNOWNS][UNKNOWNS + 1];

/* Adds mu (m_a - m_b)^2 / 2 to the quadratic form and its gradient at m. */
static void couple(int a, int b, double mu, const double *m)
{
    dense[a][a] += mu;
    dense[b][b] += mu;
    dense[a][b] -= mu;
    dense[b][a] -= mu;
    dense[a][UNKNOWNS] -= mu * (m[a] - m[b]);
    dense[b][UNKNOWNS] += mu * (m[a] - m[b]);
}

static void fill_dense(const double *m, struct prior_weights mu, double damping)
{
    memset(dense, 0, sizeof dense);
    for (int c = 0; c < COLUMNS; c++)
        for (int i = 0; i < ROWS; i++) {
            double residual = data[c][i];
            for (int k = 0; k < NZ; k++)
                residual -= matrix[c][i][k] * m[c * NZ + k];
            for (int k = 0; k < NZ; k++) {
                dense[c * NZ + k][UNKNOWNS] += matrix[c][i][k] * residual;
                for (int l = 0; l < NZ; l++)
                    dense[c * NZ + k][c * NZ + l] += matrix[c][i][k] * matrix[c][i][l];
            }
        }
    double mean = 0;
    for (int i = 0; i < UNKNOWNS; i++)
        mean += dense[i][i] / UNKNOWNS;
    for (int i = 0; i < UNKNOWNS; i++) {
        dense[i][i] += damping * (dense[i][i] + 1e-6 * mean) + mu.of[PRIOR_PULL];
        dense[i][UNKNOWNS] -= mu.of[PRIOR_PULL] * m[i];
    }
    for (int i = 0; i < UNKNOWNS; i++) {
        const int k = i % NZ, c = i / NZ;
        if (k + 1 < NZ)
            couple(i, i + 1, mu.of[PRIOR_VERTICAL], m);
        if (c % NX + 1 < NX)
            couple(i, i + NZ, mu.of[PRIOR_LATERAL], m);
        if (c + NX < COLUMNS)
            couple(i, i + NX * NZ, mu.of[PRIOR_LATERAL], m);
    }
}

/* Gauss-Jordan elimination; the matrix is positive definite. */
static void solve_dense(double *x)
{
    for (int p = 0; p < UNKNOWNS; p++)
        for (int i = 0; i < UNKNOWNS; i++) {
            const double f = i == p ? 0 : dense[i][p] / dense[p][p];
            for (int j = p; f != 0 && j <= UNKNOWNS; j++)
                dense[i][j] -= f * dense[p][j];
        }
    for (int i = 0; i < UNKNOWNS; i++)
        x[i] = dense[i][UNKNOWNS] / dense[i][i];
}

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
        "column,layer,fixed\n9,0,1\n",
        "column,layer,fixed\n0,4,1\n",
        "column,layer,rho_min\n,,2000\n",
        "column,layer,rho_max\n,,-1\n",
        "column,fixed\n1,1\n",
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

static uint64_t dice = 7;
static double normal_number(void)
{
    return sqrt(-2 * log(random_uniform(&dice))) * cos(2 * acos(-1) * random_uniform(&dice));
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

/* ---- inversions -------------------------------------------------------------------------------*/

static const struct invert_options usual = {.iterations = 30,
                                            .least_iterations = 2,
                                            .stall_times = 3,
                                            .target = 1e-3,
                                            .stall = 1e-6,
                                            .smooth = {{0.1, 0.1}},
                                            .damping = 0.01,
                                            .cooling = 0.3,
                                            .coolest = 1e-9,
                                            .step = 0.5};

static struct invert *open_inversion(const struct invert_options *o)
{
    struct invert *inv;
    assert_int_equal(invert_open(survey, earth, prior, o, true, &inv), EK_OK);
    return inv;
}

/* Computes the trial's sums, judges it and makes the next trial. */
static void go_on(struct invert *inv)
{
    fill_sums(inv->trial, inv->trial_sums);
    assert_int_equal(invert_judge(inv, 1, 1), EK_OK);
    if (!inv->stop)
        assert_int_equal(invert_step(inv), EK_OK);
}

static void linear_data_are_explained(void **state)
{
    struct invert *inv = open_inversion(&usual);
    while (!inv->stop)
        go_on(inv);
    assert_int_equal(inv->stop, INVERT_MISFIT);
    assert_true(inv->rms <= usual.target);
    for (int i = 0; i < UNKNOWNS; i++)
        close_to(inv->earth->m[i], truth[i], 1, 0.05);
    for (int i = 1; i < inv->nrecords; i++) {
        assert_true(inv->record[i].accepted);
        assert_true(inv->record[i].step <= usual.step + 1e-12);
        assert_true(inv->record[i].rms < inv->record[i - 1].rms);
    }
    invert_close(inv);
}

/* Scales the last layers' effect on the data; the data stay those of the true model. */
static void weigh_last_layers(double by)
{
    for (int c = 0; c < COLUMNS; c++)
        for (int i = 0; i < ROWS; i++) {
            matrix[c][i][NZ - 1] *= by;
            data[c][i] = 0;
            for (int k = 0; k < NZ; k++)
                data[c][i] += matrix[c][i][k] * truth[c * NZ + k];
        }
}

/* Layers that hardly affect the data are also found in few steps. */
static void weak_layers_are_not_held(void **state)
{
    struct invert_options o = usual;
    o.smooth = (struct prior_weights){{1e-7, 1e-7}};
    weigh_last_layers(0.01);
    struct invert *inv = open_inversion(&o);
    while (!inv->stop)
        go_on(inv);
    weigh_last_layers(100);
    assert_int_equal(inv->stop, INVERT_MISFIT);
    assert_true(inv->iteration <= 15);
    invert_close(inv);
}

/* The run ends even before the least number of iterations, because nothing is left to explain. */
static void perfect_data_end_it(void **state)
{
    double kept[COLUMNS][ROWS];
    memcpy(kept, data, sizeof data);
    memset(data, 0, sizeof data);
    struct invert_options o = usual;
    o.least_iterations = 3;
    struct invert *inv = open_inversion(&o);
    for (int turn = 0; turn < 20 && !inv->stop; turn++)
        go_on(inv);
    assert_int_equal(inv->stop, INVERT_MISFIT);
    assert_true(inv->rms == 0);
    for (int i = 0; i < inv->nrecords; i++)
        assert_true(isfinite(inv->record[i].phi) && isfinite(inv->record[i].gain));
    for (int i = 0; i < UNKNOWNS; i++)
        assert_true(inv->earth->m[i] == 0);
    invert_close(inv);
    memcpy(data, kept, sizeof data);
}

/* Least squares within bounds that exclude the true model: where it ends, steepest descent leads
 * nowhere but beyond the bounds. */
static void the_best_model_within_bounds_is_found(void **state)
{
    struct invert_options o = usual;
    struct prior *wide = prior;
    o.target = o.cooling = 0;
    o.smooth = (struct prior_weights){{0}};
    weigh_last_layers(0.05);
    for (int t = 0; t < 300; t++) {
        const double low = noise(t, 1, 1), high = low + 1.01 + noise(t, 2, 2);
        const struct prior_options narrow = {
            .differences = 1, .rho_min = exp(low), .rho_max = exp(high), .transform = t % 2};
        const double near = t % 2 ? 2e-4 * (high - low) : 1e-9, edge = t % 2 ? -1e-6 : 1e-9;
        assert_int_equal(prior_open(earth, &narrow, &prior), EK_OK);
        struct invert *inv = open_inversion(&o);
        while (!inv->stop)
            go_on(inv);
        fill_dense(inv->earth->m, o.smooth, 0);
        for (int i = 0; i < UNKNOWNS; i++) {
            const double slope = dense[i][UNKNOWNS] / dense[i][i], m = inv->earth->m[i];
            assert_true(m > low - edge && m < high + edge);
            assert_true(slope < 1e-3 || m > high - near);
            assert_true(slope > -1e-3 || m < low + near);
        }
        invert_close(inv);
        prior_close(prior);
    }
    weigh_last_layers(20);
    prior = wide;
}

static void a_bad_trial_is_rejected_and_the_next_step_shorter(void **state)
{
    struct invert *inv = open_inversion(&usual);
    go_on(inv);
    const double rms = inv->rms;
    for (int kind = 0; kind < 2; kind++) {
        const double ask = inv->target_share, level = inv->level;
        double step[UNKNOWNS];
        for (int i = 0; i < UNKNOWNS; i++)
            step[i] = inv->trial[i] - earth->m[i];
        fill_sums(inv->trial, inv->trial_sums);
        inv->trial_sums[0] += kind ? NAN : inv->phi;
        assert_int_equal(invert_judge(inv, 1, 1), EK_OK);
        const struct invert_record *r = &inv->record[inv->nrecords - 1];
        assert_false(r->accepted);
        assert_int_equal(inv->iteration, 0);
        assert_true(inv->rms == rms && inv->target_share > ask && inv->level == level);
        assert_memory_equal(inv->earth->m, earth->m, UNKNOWNS * sizeof(double));
        /* Phi(t) = Phi - 2 p t + (p + rise) t^2 has its minimum at p / (p + rise + p) */
        const double p = inv->predicted, share = kind ? 0.1 : p / (2 * p + r->phi - inv->phi);
        assert_int_equal(invert_step(inv), EK_OK);
        for (int i = 0; i < UNKNOWNS; i++)
            close_to(inv->trial[i] - earth->m[i], fmax(0.1, share) * step[i], 1, 1e-12);
    }
    go_on(inv);
    assert_int_equal(inv->iteration, 1);
    invert_close(inv);
    inv = open_inversion(&usual);
    for (int i = 0; !inv->stop; i++) {
        fill_sums(inv->trial, inv->trial_sums);
        inv->trial_sums[0] = i ? 1e9 : inv->trial_sums[0];
        assert_int_equal(invert_judge(inv, 1, 1), EK_OK);
        if (!inv->stop)
            assert_int_equal(invert_step(inv), EK_OK);
        assert_true(i < 100);
    }
    assert_int_equal(inv->stop, INVERT_STUCK);
    invert_close(inv);
}

/* While the spread of a robust loss shrinks, so does the loss of any model: a trial is judged by
 * the sum for the accepted model's spread. */
static void a_trial_is_judged_by_the_same_loss(void **state)
{
    struct invert_options o = usual;
    o.robust = MISFIT_STUDENT;
    for (int worse = 0; worse < 2; worse++) {
        struct invert *inv = open_inversion(&o);
        for (int turn = 0; turn < 2; turn++) {
            if (turn)
                assert_int_equal(invert_step(inv), EK_OK);
            fill_sums(inv->trial, inv->trial_sums);
            for (double *to = inv->trial_sums; to < inv->trial_sums + COLUMNS * cell_sums(NZ);
                 to += cell_sums(NZ)) {
                cell_bins(to, NZ)[0] = (struct misfit_bin){ROWS, ROWS};
                to[cell_sums(NZ) - 1] = (1 + worse * turn) * to[0];
                to[0] *= 1 + !worse * turn;
            }
            assert_int_equal(invert_judge(inv, 1, 1), EK_OK);
        }
        assert_int_equal(inv->record[1].iteration, 1);
        assert_int_equal(inv->record[1].accepted, !worse);
        invert_close(inv);
    }
}

static void it_stops_by_rule(void **state)
{
    struct invert_options o = usual;
    o.iterations = 3;
    o.target = 0;
    struct invert *inv = open_inversion(&o);
    while (!inv->stop)
        go_on(inv);
    assert_int_equal(inv->stop, INVERT_ITERATIONS);
    assert_int_equal(inv->iteration, 3);
    invert_close(inv);
    o = usual;
    o.target = 1e9; /* met at once, but not before the least number of iterations */
    inv = open_inversion(&o);
    while (!inv->stop)
        go_on(inv);
    assert_int_equal(inv->stop, INVERT_MISFIT);
    assert_int_equal(inv->iteration, 2);
    invert_close(inv);
    o = usual;
    o.target = 0;
    o.stall = 1e9; /* any change is too small */
    inv = open_inversion(&o);
    while (!inv->stop)
        go_on(inv);
    assert_int_equal(inv->stop, INVERT_STALLED);
    invert_close(inv);
}

/* Saves and resumes after `saved` trials, of which trial number `bad` failed. */
static void save_and_go_on(int saved, int bad)
{
    struct invert *one = open_inversion(&usual), *two = open_inversion(&usual);
    for (int i = 1; i <= saved; i++) {
        if (i > 1)
            assert_int_equal(invert_step(one), EK_OK);
        fill_sums(one->trial, one->trial_sums);
        one->trial_sums[0] += i == bad ? one->phi : 0;
        assert_int_equal(invert_judge(one, 1, 1), EK_OK);
    }
    for (int i = 0; i < one->nrecords; i++)
        two->record[i] = one->record[i];
    two->nrecords = one->nrecords;
    two->iteration = one->iteration;
    two->stalls = one->stalls;
    two->damping = one->damping;
    two->level = one->level;
    two->target_share = one->target_share;
    two->trial_spread = one->sums_spread;
    invert_resume(two, one->earth->m, one->trial);
    assert_false(invert_judged(two));
    go_on(two); /* recomputes the sums of the accepted model */
    assert_int_equal(invert_step(one), EK_OK);
    assert_memory_equal(one->trial, two->trial, UNKNOWNS * sizeof(double));
    while (!one->stop)
        go_on(one);
    while (!two->stop)
        go_on(two);
    assert_memory_equal(one->earth->m, two->earth->m, UNKNOWNS * sizeof(double));
    invert_close(one);
    invert_close(two);
}

static void what_was_saved_goes_on_alike(void **state)
{
    for (int saved = 1; saved < 5; saved++)
        for (int bad = 2; bad <= saved + 1; bad++)
            save_and_go_on(saved, bad);
}

static void no_data_are_refused(void **state)
{
    struct survey *none;
    struct invert *inv;
    assert_int_equal(survey_open(1, 1, &none), EK_OK);
    status_mute(1);
    assert_int_equal(invert_open(none, earth, prior, &usual, true, &inv), EK_USAGE);
    status_mute(-1);
    survey_close(none);
}

/* ---- setup ----------------------------------------------------------------------------------- */

static int set_up(void **state)
{
    sums = calloc(COLUMNS * cell_sums(NZ), sizeof *sums);
    if (!sums || earth_open(NX, NY, NZ, 100, 1000, 1, &earth) ||
        survey_open(COLUMNS * ROWS / 2, 1, &survey))
        return 1;
    prior = open_prior(&(struct prior_options){.differences = 1}, "");
    for (size_t i = 0; i < survey->npairs; i++)
        survey->datum[i].sigma = 1; /* a pair has two numbers */
    for (int i = 0; i < UNKNOWNS; i++)
        truth[i] = 1.5 * noise(i, 0, 9);
    for (int c = 0; c < COLUMNS; c++)
        for (int i = 0; i < ROWS; i++) {
            data[c][i] = 0;
            for (int k = 0; k < NZ; k++) {
                matrix[c][i][k] = noise(c, i, k) + (i == k ? 2 : 0);
                data[c][i] += matrix[c][i][k] * truth[c * NZ + k];
            }
        }
    return 0;
}

static int tear_down(void **state)
{
    earth_close(earth);
    prior_close(prior);
    survey_close(survey);
    free(sums);
    return 0;
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
        cmocka_unit_test(linear_data_are_explained),
        cmocka_unit_test(weak_layers_are_not_held),
        cmocka_unit_test(perfect_data_end_it),
        cmocka_unit_test(the_best_model_within_bounds_is_found),
        cmocka_unit_test(a_bad_trial_is_rejected_and_the_next_step_shorter),
        cmocka_unit_test(a_trial_is_judged_by_the_same_loss),
        cmocka_unit_test(it_stops_by_rule),
        cmocka_unit_test(what_was_saved_goes_on_alike),
        cmocka_unit_test(no_data_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
