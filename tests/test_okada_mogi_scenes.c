/* tests/test_okada_mogi_scenes.c – offsets and ramps: the remaining misfit is minimal and
 * independent of their true values; reading such data. */
#include "okada_mogi/judge.h"
#include "okada_mogi/write.h"
#include "tests/okada_mogi.h"

enum { MOST = 60 };
static const struct scene OFFSET = {.unknowns = 1}, RAMP = {.unknowns = 3};

/* A scene of n points with sigmas of all sizes, some on a lattice, some repeated. */
static void fill(struct stations *s, int n, int kind)
{
    static char *scene[MOST];
    static double east[MOST], north[MOST], sigma[3 * MOST], second[2 * MOST];
    *s = (struct stations){
        .n = n, .east = east, .north = north, .sigma = sigma, .second = second, .scene = scene};
    for (int i = 0; i < n; i++) {
        scene[i] = "asc";
        second[2 * i] = NAN;
        east[i] = kind == 1 ? 1e3 * (i % 5) : job_random(4e5, 5e5);
        north[i] = kind == 1 ? 1e3 * (i / 5) : job_random(-3e6, -2.9e6);
        sigma[3 * i] = kind == 2 ? 0.01 : pow(10, job_random(-3, 0));
    }
}

/* The combination of unknowns + 1 points in which the unknowns cancel, in units of its errors'
 * largest sum; 0 where points are nearly collinear. */
static double contrast(const struct stations *s, const struct scene *c, const double *d,
                       const int *point)
{
    double sum = 0, errors = 0, most = 0;
    for (int i = 0; i <= c->unknowns; i++) {
        const double *row[3];
        for (int k = 0; k < 3 && c->unknowns > 1; k++)
            row[k] = c->shape + 3 * point[k + (k >= i)];
        const double minor = c->unknowns == 1
                                 ? 1
                                 : (row[1][1] - row[0][1]) * (row[2][2] - row[0][2]) -
                                       (row[2][1] - row[0][1]) * (row[1][2] - row[0][2]);
        sum += (i % 2 ? -minor : minor) * d[point[i]];
        errors += fabs(minor) * s->sigma[c->datum[point[i]]];
        most = fmax(most, fabs(minor));
    }
    return most > 1e-6 ? fabs(sum) / errors : 0;
}

/* By duality, the least maximum is the largest contrast of all. */
static double largest_contrast(const struct stations *s, const struct scene *c, const double *d)
{
    double most = 0;
    int p[4];
    for (p[0] = 0; p[0] < c->n; p[0]++) {
        if (c->unknowns == 0)
            most = fmax(most, fabs(d[p[0]]) / s->sigma[c->datum[p[0]]]);
        for (p[1] = 0; c->unknowns && p[1] < p[0]; p[1]++) {
            if (c->unknowns == 1)
                most = fmax(most, contrast(s, c, d, p));
            for (p[2] = 0; c->unknowns == 3 && p[2] < p[1]; p[2]++)
                for (p[3] = 0; p[3] < p[2]; p[3]++)
                    most = fmax(most, contrast(s, c, d, p));
        }
    }
    return most;
}

static void test_least(void **state)
{
    for (int i = 0; i < 60; i++) {
        struct stations s;
        struct scenes all = {0};
        const int n = i % 4 == 3 ? 7 : 5 + (int)job_random(0, MOST - 5);
        double d[MOST], moved[MOST], square[2] = {0};
        fill(&s, n, i % 3);
        assert_int_equal(scenes_add("test", &s, "asc", i % 2 ? &RAMP : &OFFSET, &all), EK_OK);
        const struct scene *c = &all.scene[0];
        double *work = malloc(scene_room(c) * sizeof *work);
        for (int k = 0; k < n; k++) {
            d[k] = i % 5 ? job_random(-1, 1) : 0.5 * (k % 3 - 1);
            moved[k] = d[k];
            for (int a = 0; a < c->unknowns; a++)
                moved[k] += (7.0 - 3 * a) * c->shape[k * c->unknowns + a];
        }
        const double least = scene_least(c, &s, d, INFINITY, work),
                     again = scene_least(c, &s, moved, INFINITY, work);
        const double right = largest_contrast(&s, c, d);
        assert_true(fabs(least - again) <= 1e-9 * least + 1e-12);
        assert_true(fabs(least - right) <= 1e-8 * right + 1e-12);
        for (int k = 0; k < 4; k++) { /* may stop early when beyond reach */
            const double reach = least * (const double[]){0.2, 0.9, 0.9999, 1.0001}[k];
            const double known = scene_least(c, &s, d, reach, work);
            assert_true(known <= least * (1 + 1e-9) && (known > reach) == (k < 3 && least > 0));
        }
        scene_project(c, &s, d, work);
        scene_project(c, &s, moved, work);
        for (int k = 0; k < n; k++) {
            assert_true(fabs(d[k] - moved[k]) < 1e-9);
            square[0] += d[k] * d[k] / (s.sigma[3 * k] * s.sigma[3 * k]);
        }
        for (int a = 0; a < c->unknowns; a++) { /* orthogonal to all that can be removed */
            double dot = 0, norm = 0;
            for (int k = 0; k < n; k++) {
                const double per = 1 / (s.sigma[3 * k] * s.sigma[3 * k]);
                dot += c->shape[k * c->unknowns + a] * d[k] * per;
                norm += fabs(c->shape[k * c->unknowns + a] * d[k] * per);
            }
            assert_true(fabs(dot) <= 1e-7 * norm + 1e-9);
        }
        free(work);
        scenes_close(&all);
    }
}

/* Data that a plane explains leave a residual of zero. */
static void test_planes(void **state)
{
    struct stations s;
    struct scenes all = {0};
    double d[MOST];
    fill(&s, 20, 1);
    assert_int_equal(scenes_add("test", &s, "asc", &RAMP, &all), EK_OK);
    double *work = malloc(scene_room(&all.scene[0]) * sizeof *work);
    for (int i = 0; i < 20; i++)
        d[i] = 3 + 1e-3 * s.east[i] - 2e-3 * s.north[i];
    assert_true(scene_least(&all.scene[0], &s, d, INFINITY, work) < 1e-8);
    for (int i = 0; i < 20; i++)
        d[i] = 0;
    assert_true(scene_least(&all.scene[0], &s, d, INFINITY, work) == 0);
    d[3] = NAN;
    assert_true(isnan(scene_least(&all.scene[0], &s, d, INFINITY, work)));
    free(work);
    scenes_close(&all);
    for (int i = 0; i < 20; i++)
        s.north[i] = 2 * s.east[i];
    status_mute(1);
    assert_int_equal(scenes_add("test", &s, "asc", &RAMP, &all), EK_USAGE);
    scenes_close(&all);
    assert_int_equal(scenes_add("test", &s, "dsc", &OFFSET, &all), EK_USAGE);
    scenes_close(&all);
    status_mute(-1);
}

/* ---- files ------------------------------------------------------------------------------------*/

static enum ek_status read_text(const char *text, const char *columns, struct stations *s)
{
    const struct stations_format format = {.unit = 1, .columns = columns, .floor = {0, 0, 0.003}};
    job_write("stations.csv", text);
    return stations_read(job_file("stations.csv"), &format, s);
}

static void test_files(void **state)
{
    struct stations s;
    assert_int_equal(
        read_text("E_m,N_m,value_mm,sigma_mm,lE,lN,lU\n1,2,30,4,0,0,1\n1,2,5,4,0.6,0,0.8\n", NULL,
                  &s),
        EK_OK);
    assert_int_equal(s.ncomponents, 2);
    assert_true(stations_scalar(&s, 0) && s.observed[0] == 0.03 && isnan(s.observed[1]));
    assert_true(fabs(s.sigma[0] - 0.005) < 1e-12 && s.along[5] == 0.8);
    assert_string_equal(s.scene[1], "stations");
    stations_close(&s);
    assert_int_equal(
        read_text("East North Data Error LOSx LOSy LOSz\n1 2 0.03 0.004 0 0 1\n", NULL, &s), EK_OK);
    assert_true(s.observed[0] == 0.03 && s.along[2] == 1);
    stations_close(&s);
    assert_int_equal(read_text("1 2 0.03 0.004 0 0 -1\n", "vsm_sar", &s), EK_OK);
    assert_true(s.along[2] == -1);
    stations_close(&s);
    assert_int_equal(
        read_text("site,E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m,value_m,sigma_m,lE,lN,lU,scene\n"
                  "A,0,0,1,2,3,1,1,1,,,,,,\nB,1,0,,,,,,,7,1,1,0,0,t9\n",
                  NULL, &s),
        EK_OK);
    assert_true(!stations_scalar(&s, 0) && stations_scalar(&s, 1) && s.ncomponents == 4);
    assert_string_equal(s.scene[1], "t9");
    stations_close(&s);
    static const char *const wrong[][2] = {
        {"E_m,N_m,value_m,sigma_m,lE,lN\n1,2,3,4,1,0\n", "has no lU"},
        {"E_m,N_m,value_m,lE,lN,lU\n1,2,3,1,0,0\n", "has no sigma"},
        {"E_m,N_m,value_m,sigma_m,lE,lN,lU\n1,2,3,4,1,1,0\n",
         ":2: lE, lN, lU have the length 1.414"},
        {"E_m,N_m,value_m,sigma_m,lE,lN,lU\n1,2,3,0,1,0,0\n", ":2: sigma = 0"},
        {"E_m,N_m,uE_m,sE_m,value_m,sigma_m,lE,lN,lU\n1,2,3,1,3,1,1,0,0\n", "both a value and"},
    };
    status_mute(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(read_text(wrong[i][0], NULL, &s), EK_USAGE);
        if (!strstr(status_message(), wrong[i][1]))
            fail_msg("'%s' is not in: %s", wrong[i][1], status_message());
    }
    status_mute(-1);
}

/* ---- covariance -------------------------------------------------------------------------------*/

enum { POINTS = 14, ALL = POINTS + 6 };

/* Two scenes of points, two of them at the same place, and stations with two more components. */
static void write_scenes(double offset)
{
    char table[4000] = "E_m,N_m,value_m,sigma_m,lE,lN,lU,scene\n";
    for (int i = 0; i < POINTS; i++) {
        const size_t used = strlen(table);
        snprintf(table + used, sizeof table - used, "%.3f,%.3f,%.5f,%g,%s,%s\n",
                 i == 5 || i == 7 ? 500 : job_random(-4e3, 4e3),
                 i == 5 || i == 7 ? -700 : job_random(-4e3, 4e3),
                 job_random(-0.02, 0.06) + (i % 2 ? offset : 0), i % 3 ? 0.01 : 0.02,
                 i % 2 ? "0.6,0,0.8" : "-0.6,0.0,0.8", i % 2 ? "asc" : "dsc");
    }
    job_write("los.csv", table);
    job_write("stations.csv", "E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m,correlation\n"
                              "500,200,0.01,0,0.1,0.05,0.05,0.05,0.4\n-900,1500,,,0.05,,,0.05,\n");
}

/* chi2 of residuals d [n] with variances and covariances a [n][n + unknowns] whose last columns are
 * the unknowns' shapes, by Gauss-Jordan elimination: the unknowns are data of weight zero. */
static double chi2_of(double (*a)[ALL + 4], int n, int unknowns, const double *d)
{
    enum { SIDE = ALL + 4 };
    double m[SIDE][SIDE + 1] = {{0}}, sum = 0;
    const int side = n + unknowns;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < side; k++)
            m[i][k] = a[i][k];
        for (int k = n; k < side; k++)
            m[k][i] = a[i][k];
        m[i][side] = d[i];
    }
    for (int k = 0; k < side; k++) {
        int best = k;
        for (int i = k; i < side; i++)
            best = fabs(m[i][k]) > fabs(m[best][k]) ? i : best;
        for (int c = 0; c <= side; c++) {
            const double swap = m[k][c];
            m[k][c] = m[best][c];
            m[best][c] = swap;
        }
        for (int i = 0; i < side; i++)
            for (int c = side; i != k && c >= k; c--)
                m[i][c] -= m[i][k] / m[k][k] * m[k][c];
    }
    for (int i = 0; i < n; i++)
        sum += d[i] * m[i][side] / m[i][i];
    return sum;
}

static const double sill = 4e-4, range = 2500;

/* chi2 of a scene whose covariance, offset and ramp are known or not. */
static double scene_chi2(const struct stations *s, const double *u, const char *name,
                         bool correlated, int unknowns)
{
    static double a[ALL][ALL + 4];
    double d[ALL];
    int at[ALL], n = 0;
    for (int i = 0; i < s->n; i++)
        if (s->scene[i] && !strcmp(s->scene[i], name))
            at[n++] = i;
    for (int i = 0; i < n; i++) {
        const double sigma = s->sigma[3 * at[i]];
        d[i] = u[3 * at[i]] - s->observed[3 * at[i]];
        for (int k = 0; k < n; k++) {
            const double away =
                hypot(s->east[at[i]] - s->east[at[k]], s->north[at[i]] - s->north[at[k]]);
            a[i][k] = i == k ? sigma * sigma : correlated ? sill * exp(-away / range) : 0;
        }
        const double shape[] = {1, s->east[at[i]] / 1e3, s->north[at[i]] / 1e3};
        for (int k = 0; k < unknowns; k++)
            a[i][n + k] = shape[k];
    }
    return chi2_of(a, n, unknowns, d);
}

/* chi2 of the two stations. */
static double station_chi2(const struct stations *s, const double *u)
{
    const int i = s->n - 2, k = s->n - 1;
    const double e = (u[3 * i] - s->observed[3 * i]) / 0.05,
                 n = (u[3 * i + 1] - s->observed[3 * i + 1]) / 0.05,
                 up = (u[3 * i + 2] - s->observed[3 * i + 2]) / 0.05,
                 other = (u[3 * k + 2] - s->observed[3 * k + 2]) / 0.05;
    return (e * e + n * n - 2 * 0.4 * e * n) / (1 - 0.4 * 0.4) + up * up + other * other;
}

static const char *const covariance_accepts[] = {
    "\"misfit\": \"rms\", \"misfit_below\": %g", "\"misfit\": \"rms\", \"best\": 20",
    "\"k_sigma\": %g", "\"keep_all\": true, \"misfit\": \"rms\""};

/* The largest residual, those of scenes without their unknowns. */
static double largest_residual(const struct job *job, const double *u)
{
    const struct stations *s = &job->stations;
    double most = 0;
    for (int i = 0; i < 3 * s->n; i++)
        if (!scenes_hold(&job->scenes, i / 3) && !isnan(s->observed[i]))
            most = fmax(most, fabs(u[i] - s->observed[i]) / s->sigma[i]);
    for (int i = 0; i < job->scenes.n; i++) {
        const struct scene *c = &job->scenes.scene[i];
        double d[ALL];
        for (int k = 0; k < c->n; k++)
            d[k] = u[c->datum[k]] - s->observed[c->datum[k]];
        most = fmax(most, largest_contrast(s, c, d));
    }
    return most;
}

/* Searches agree with one another, and their chi2 with the functions above. */
static size_t compare_covariance(int model, int accept, int asc, int dsc)
{
    static const char *const unknown[] = {"\"offset\": false", "\"offset\": true", "",
                                          "\"ramp\": true"};
    char text[3000], criterion[100];
    struct job *job;
    struct judge *judge;
    const double *u;
    snprintf(criterion, sizeof criterion, covariance_accepts[accept], 1.5);
    snprintf(text, sizeof text,
             "{%s, \"stations\": [\"los.csv\", \"stations.csv\"], \"scenes\": {\"asc\": {%s, "
             "\"sill_m2\": %g, \"range_m\": %g}, \"dsc\": {%s}}, \"accept\": {%s}}",
             job_sources[model], unknown[asc], sill, range, unknown[dsc], criterion);
    job = job_read(text, NULL);
    struct accepted exact = job_search(job, SEARCH_EXACT, 3),
                    brute = job_search(job, SEARCH_BRUTE, 1);
    if (accept == 1) { /* batches keep their own best; compare the best of all */
        accepted_sort_best(&exact);
        accepted_sort_best(&brute);
        for (int i = 0; i < 20; i++)
            assert_true(exact.record[i].trial == brute.record[i].trial);
        accepted_sort(&exact);
    } else {
        assert_same(&exact, &brute);
    }
    assert_int_equal(judge_open(job, &judge), EK_OK);
    const size_t n = exact.n;
    size_t within = 0, near = 0;
    assert_true(n < job->trials || accept == 3);
    for (trial_number t = 0; t < job->trials && accept == 2; t++) {
        struct accepted_record record;
        assert_true(judge_trial(judge, t, &record, &u));
        const double most = largest_residual(job, u), K = job->accept.k[0];
        near += fabs(most - K) < 1e-6;
        within += most <= K - 1e-6;
    }
    assert_true(accept != 2 || (n >= within && n <= within + near));
    for (size_t i = 0; i < exact.n; i += 1 + exact.n / 50) {
        struct accepted_record record;
        assert_true(judge_trial(judge, exact.record[i].trial, &record, &u));
        const double chi2 = station_chi2(&job->stations, u) +
                            scene_chi2(&job->stations, u, "asc", true, asc) +
                            scene_chi2(&job->stations, u, "dsc", false, dsc);
        assert_true(fabs(record.chi2 / chi2 - 1) < 1e-8 && record.chi2 == exact.record[i].chi2);
        assert_true(record.most * record.most <= record.chi2 * (1 + 1e-9));
    }
    judge_close(judge);
    accepted_free(&exact);
    accepted_free(&brute);
    job_close(job);
    return n;
}

static void test_covariance(void **state)
{
    static const int unknowns[][2] = {{0, 0}, {1, 3}, {3, 1}, {0, 1}};
    size_t n = 0;
    for (int i = 0; i < 24; i++) {
        write_scenes(unknowns[i % 4][0] ? 3 : 0);
        n += compare_covariance(i % 3, i / 3 % 4, unknowns[i % 4][0], unknowns[(i / 4) % 4][1]);
    }
    assert_true(n > 10000);
}

static void test_covariance_refused(void **state)
{
    static const char *const wrong[][2] = {{"\"sill_m2\": 1", "both sill_m2 and range_m"},
                                           {"\"range_m\": 1", "both sill_m2 and range_m"},
                                           {"\"sill_m2\": -1, \"range_m\": 1", "sill_m2"},
                                           {"\"sill_m2\": 1e4, \"range_m\": 1e8", "too small"}};
    write_scenes(3);
    status_mute(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[3000];
        struct job *job;
        snprintf(text, sizeof text,
                 "{%s, \"stations\": \"los.csv\", \"scenes\": {\"asc\": {%s}}, \"accept\": "
                 "{\"best\": 1}}",
                 job_sources[0], wrong[i][0]);
        job_write("job.json", text);
        assert_int_equal(job_open(job_file("job.json"), NULL, &job), EK_USAGE);
        if (!strstr(status_message(), wrong[i][1]))
            fail_msg("'%s' is not in: %s", wrong[i][1], status_message());
    }
    status_mute(-1);
}

/* Generated errors have the covariance: their whitened sum of squares is as expected of chi2; and
 * the job reads the sigmas that it wrote. */
static void test_generated(void **state)
{
    double sum = 0;
    int n = 0;
    for (int seed = 1; seed <= 40; seed++) {
        char text[3000];
        struct job *job, *made;
        struct judge *judge;
        struct accepted_record record;
        write_scenes(3);
        snprintf(text, sizeof text,
                 "{%s, \"stations\": \"los.csv\", \"scenes\": {\"asc\": {\"offset\": true, "
                 "\"sill_m2\": 0.01, \"range_m\": 3000}}, \"accept\": {\"best\": 1}}",
                 job_sources[0]);
        job = job_read(text, NULL);
        assert_int_equal(write_synthetic(job, 1000, (uint64_t)seed, job_file("los.csv")), EK_OK);
        assert_int_equal(job_open(job_file("job.json"), NULL, &made), EK_OK);
        for (int i = 0; i < job->stations.n; i++)
            assert_true(fabs(made->stations.sigma[3 * i] / job->stations.sigma[3 * i] - 1) < 1e-9);
        assert_int_equal(judge_open(made, &judge), EK_OK);
        assert_true(judge_trial(judge, 1000, &record, NULL));
        sum += record.chi2;
        n += POINTS - 1;
        judge_close(judge);
        job_close(made);
        job_close(job);
    }
    assert_true(fabs(sum - n) < 4 * sqrt(2.0 * n)); /* a chi2 variable has variance 2 */
    unlink(job_file("los.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_least),
                                       cmocka_unit_test(test_planes),
                                       cmocka_unit_test(test_files),
                                       cmocka_unit_test(test_covariance),
                                       cmocka_unit_test(test_covariance_refused),
                                       cmocka_unit_test(test_generated)};
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
