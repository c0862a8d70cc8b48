/* tests/test_okada_mogi_points.c – differences of two points (levelling, measured lines, tilt) and
 * stations above the datum of depths, against closed forms that are written here anew. */
#include "okada_mogi/write.h"
#include "tests/okada_mogi.h"

/* Mogi's sphere, seen from this height above the datum. */
static void sphere(const double *x, double e, double n, double height, double *u)
{
    const double d = x[2] + height,
                 r = sqrt((e - x[0]) * (e - x[0]) + (n - x[1]) * (n - x[1]) + d * d),
                 scale = 0.75 / M_PI * x[3] / (r * r * r);
    u[0] = scale * (e - x[0]);
    u[1] = scale * (n - x[1]);
    u[2] = scale * d;
}

static void forward(const struct job *job, const double *x, double e, double n, double height,
                    double *u)
{
    double y[MODEL_PARAMETERS], one[3];
    u[0] = u[1] = u[2] = 0;
    for (int s = 0; s < job->nsources; s++) {
        memcpy(y, x + s * job->model->nparameters, (size_t)job->model->nparameters * sizeof *y);
        if (strcmp(job->model->name, "mogi")) {
            y[2] += height;
            model_forward(job->model, y, e, n, one);
        } else {
            sphere(y, e, n, height, one);
        }
        for (int c = 0; c < 3; c++)
            u[c] += one[c];
    }
}

/* The largest |r| of a trial. */
static double most(const struct job *job, trial_number trial)
{
    const struct stations *s = &job->stations;
    double x[JOB_AXES], worst = 0;
    job_parameters(job, trial, x);
    for (int i = 0; i < s->n; i++) {
        double u[3], v[3] = {0, 0, 0};
        forward(job, x, s->east[i], s->north[i], s->height[i], u);
        if (stations_difference(s, i))
            forward(job, x, s->second[2 * i], s->second[2 * i + 1], s->height[i], v);
        for (int c = 0; c < 3; c++)
            v[c] = stations_difference(s, i) ? v[c] - u[c] : u[c];
        if (stations_scalar(s, i)) {
            const double *l = s->along + 3 * i;
            v[0] = l[0] * v[0] + l[1] * v[1] + l[2] * v[2];
        }
        for (int c = 0; c < 3; c++)
            if (!isnan(s->observed[3 * i + c]))
                worst = fmax(worst, fabs(v[c] - s->observed[3 * i + c]) / s->sigma[3 * i + c]);
    }
    return worst;
}

static void write_lines(int seed)
{
    FILE *f = fopen(job_file("lines.csv"), "w");
    job_seed = (uint64_t)seed;
    fputs("E_m,N_m,E2_m,N2_m,value_m,sigma_m,lE,lN,lU,z_m\n", f);
    for (int i = 0; i < 11; i++) {
        const double e = job_random(-4e3, 4e3), n = job_random(-4e3, 4e3);
        fprintf(f, "%.3f,%.3f,", e, n);
        if (i % 4 == 3)
            fputs(",,", f);
        else
            fprintf(f, "%.3f,%.3f,", e + job_random(100, 2e3), n - job_random(100, 2e3));
        fprintf(f, "%.5f,%g,%s,%g\n", job_random(-0.01, 0.01), 0.03, i % 2 ? "0,0,1" : "0.6,0,0.8",
                i % 3 ? job_random(0, 1500) : 0);
    }
    assert_int_equal(fclose(f), 0);
    job_write("stations.csv", "E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m,h_m\n"
                              "500,200,0.01,0,0.1,0.1,0.1,0.1,800\n-900,1500,,,0.05,,,0.1,0\n");
}

static struct job *open_job(int sources)
{
    char text[4096];
    int used =
        snprintf(text, sizeof text,
                 "{\"model\": \"mogi\", \"sources\": %d, \"stations\": [{\"file\": "
                 "\"stations.csv\", \"heights\": true}, {\"file\": \"lines.csv\", \"heights\": "
                 "true}], \"accept\": {\"k_sigma\": 1}, \"parameters\": [",
                 sources);
    for (int s = 1; s <= sources; s++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%s{\"name\": \"Es_m.%d\", \"min\": -3000, \"max\": 3000, \"n\": 5}, "
                         "{\"name\": \"Ns_m.%d\", \"min\": -3000, \"max\": 3000, \"n\": 5}, "
                         "{\"name\": \"d_m.%d\", \"min\": 1000, \"max\": 4000, \"n\": 4}, "
                         "{\"name\": \"dV_m3.%d\", \"min\": -3e6, \"max\": 3e6, \"n\": 7}",
                         s > 1 ? ", " : "", s, s, s, s);
    snprintf(text + used, sizeof text - (size_t)used, "]}");
    return job_read(text, NULL);
}

/* Judges every trial here and compares. */
static void compare(struct job *job)
{
    struct accepted exact = job_search(job, SEARCH_EXACT, 3),
                    brute = job_search(job, SEARCH_BRUTE, 2);
    size_t at = 0;
    assert_same(&exact, &brute);
    for (trial_number t = 0; t < job->trials; t++) {
        const bool held = at < exact.n && exact.record[at].trial == t;
        const double r = most(job, t);
        if (fabs(r - 1) > 1e-9)
            assert_int_equal(held, r <= 1);
        if (held)
            assert_true(fabs(exact.record[at++].most - r) < 1e-8);
    }
    assert_true(exact.n > 20 && exact.n < job->trials);
    accepted_free(&exact);
    accepted_free(&brute);
    job_close(job);
}

static void test_searches(void **state)
{
    for (int seed = 1; seed <= 4; seed++) {
        write_lines(seed);
        compare(open_job(1));
    }
    compare(open_job(2));
}

/* Depths down to the surface, below stations that stand above it. */
static void test_faults(void **state)
{
    write_lines(5);
    struct job *job;
    const char *text =
        "{\"model\": \"okada\", \"stations\": [{\"file\": \"stations.csv\", \"heights\": true}, "
        "{\"file\": "
        "\"lines.csv\", \"heights\": true}], \"accept\": {\"k_sigma\": 1}, \"reference\": \"%s\", "
        "\"parameters\": [{\"name\": \"Ec_m\", \"min\": -3000, \"max\": 3000, \"n\": 5}, "
        "{\"name\": \"Nc_m\", \"min\": -3000, \"max\": 3000, \"n\": 5}, {\"name\": \"d_m\", "
        "\"min\": 500, "
        "\"max\": 4000, \"n\": 3}, {\"name\": \"strike_deg\", \"min\": 0, \"max\": 90, \"n\": 3}, "
        "{\"name\": "
        "\"dip_deg\", \"value\": 60}, {\"name\": \"L_m\", \"value\": 3000}, {\"name\": \"W_m\", "
        "\"value\": "
        "2000}, {\"name\": \"rake_deg\", \"min\": -90, \"max\": 90, \"n\": 5}, {\"name\": "
        "\"slip_m\", "
        "\"min\": 0.1, \"max\": 1, \"n\": 5}]}";
    static const char *const references[] = {"centre", "corner"};
    for (int k = 0; k < 2; k++) {
        char whole[2048];
        snprintf(whole, sizeof whole, text, references[k]);
        job_write("job.json", whole);
        assert_int_equal(job_open(job_file("job.json"), NULL, &job), EK_OK);
        compare(job);
    }
}

/* Without a vector, a difference is the change of the line's length. Longitudes work as well. */
static void test_lines(void **state)
{
    struct stations s = {0}, t = {0};
    const struct stations_format format = {.unit = 0.001, .zone = 33};
    double at[2], to[2];
    job_write("lines.csv",
              "site E_m N_m E2_m N2_m value sigma\nL 500000 4500000 503000 4504000 7 2\n");
    assert_int_equal(stations_read(job_file("lines.csv"), &format, &s), EK_OK);
    assert_true(fabs(s.along[0] - 0.6) < 1e-15 && fabs(s.along[1] - 0.8) < 1e-15 &&
                s.along[2] == 0);
    assert_true(s.observed[0] == 0.007 && s.sigma[0] == 0.002 && stations_difference(&s, 0));
    stations_place(&s, s.east[0], s.north[0], at);
    stations_place(&s, s.second[0], s.second[1], to);
    char text[300];
    snprintf(text, sizeof text,
             "site lon lat lon2 lat2 value sigma\nL %.12f %.12f %.12f %.12f 7 2\n", at[0], at[1],
             to[0], to[1]);
    job_write("lines.csv", text);
    assert_int_equal(stations_read(job_file("lines.csv"), &format, &t), EK_OK);
    for (int c = 0; c < 2; c++) {
        assert_true(fabs(t.second[c] - s.second[c]) < 1e-4);
        assert_true(fabs(t.along[c] - s.along[c]) < 1e-7);
    }
    stations_close(&s);
    stations_close(&t);
    job_write("lines.csv", "E_m N_m uU sU z_ft h_sigma\n1 2 3 4 5 6\n"); /* heights not requested */
    status_mute(1);
    assert_int_equal(stations_read(job_file("lines.csv"), &format, &s), EK_OK);
    status_mute(-1);
    assert_true(s.height[0] == 0);
    stations_close(&s);
}

/* A tilt is a difference over a few metres; synthetic data are recovered. */
static void test_tilt(void **state)
{
    const double x[] = {0, 0, 2000, 3e6}, e = 1500, n = 800, z = 300, d = x[2] + z;
    const double r2 = e * e + n * n + d * d, r5 = r2 * r2 * sqrt(r2);
    double *u;
    job_write("stations.csv",
              "E_m,N_m,E2_m,N2_m,value_m,sigma_m,lE,lN,lU,z_m\n"
              "1499.5,800,1500.5,800,0,1,0,0,1,300\n1500,799.5,1500,800.5,0,1,1,0,0,300\n");
    job_write(
        "job.json",
        "{\"model\": \"mogi\", \"stations\": {\"file\": \"stations.csv\", \"heights\": true}, "
        "\"accept\": "
        "{\"best\": 1}, \"parameters\": [{\"name\": \"Es_m\", \"value\": 0}, {\"name\": \"Ns_m\", "
        "\"value\": 0}, {\"name\": \"d_m\", \"value\": 2000}, {\"name\": \"dV_m3\", \"value\": "
        "3e6}]}");
    struct job *job, *made;
    assert_int_equal(job_open(job_file("job.json"), NULL, &job), EK_OK);
    assert_int_equal(write_predict(job, 0, &u), EK_OK);
    const double scale = -3 * 0.75 / M_PI * x[3] / r5; /* of d uU / dE and of the shear d uE / dN */
    assert_true(fabs(u[0] / (scale * d * e) - 1) < 1e-6);
    assert_true(fabs(u[3] / (scale * e * n) - 1) < 1e-6);
    free(u);
    assert_int_equal(write_synthetic(job, 0, 2, job_file("stations.csv")), EK_OK);
    assert_int_equal(job_open(job_file("job.json"), NULL, &made), EK_OK);
    for (int i = 0; i < 4; i++)
        assert_true(made->stations.second[i] == job->stations.second[i]);
    for (int i = 0; i < 2; i++)
        assert_true(made->stations.height[i] == 300 && made->stations.along[3 * i + 2] == !i);
    job_close(made);
    job_close(job);
}

/* chi2 of correlated data by the inverse of their covariance; the searches agree. */
static void test_correlation(void **state)
{
    char table[2000] = "E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m,correlation\n";
    const double floor = 0.03;
    for (int i = 0; i < 5; i++) {
        const size_t used = strlen(table);
        snprintf(table + used, sizeof table - used, "%g,%g,0.02,%s,0.05,0.04,0.05,0.09,%s\n",
                 job_random(-3e3, 3e3), job_random(-3e3, 3e3), i == 3 ? "" : "-0.01",
                 i == 4   ? "0"
                 : i == 2 ? "-0.95"
                          : "0.6");
    }
    job_write("stations.csv", table);
    static const char *const accept[] = {"\"misfit\": \"rms\", \"misfit_below\": 0.8",
                                         "\"misfit\": \"rms\", \"best\": 25", "\"k_sigma\": 1.2"};
    for (int i = 0; i < 3; i++) {
        char text[1500];
        snprintf(
            text, sizeof text,
            "{\"model\": \"mogi\", \"stations\": {\"file\": \"stations.csv\", \"noise_floor\": "
            "%g}, \"accept\": {%s}, \"parameters\": [{\"name\": \"Es_m\", \"min\": -3000, \"max\": "
            "3000, \"n\": 9}, {\"name\": \"Ns_m\", \"min\": -3000, \"max\": 3000, \"n\": 9}, "
            "{\"name\": "
            "\"d_m\", \"min\": 1000, \"max\": 4000, \"n\": 4}, {\"name\": \"dV_m3\", \"min\": "
            "-3e6, "
            "\"max\": 3e6, \"n\": 13}]}",
            floor, accept[i]);
        struct job *job = job_read(text, NULL);
        struct accepted exact = job_search(job, SEARCH_EXACT, 3),
                        brute = job_search(job, SEARCH_BRUTE, 1);
        const struct stations *s = &job->stations;
        if (i != 1)
            assert_same(&exact, &brute);
        size_t at = 0, wanted = 0;
        for (trial_number t = 0; t < job->trials; t++) {
            double x[JOB_AXES], chi2 = 0, largest = 0;
            job_parameters(job, t, x);
            for (int k = 0; k < s->n; k++) {
                double u[3], d[3], see = 0.04 * 0.04 + floor * floor,
                                   snn = 0.05 * 0.05 + floor * floor;
                const double cov = 0.04 * 0.05 * (k == 4 ? 0 : k == 2 ? -0.95 : 0.6);
                forward(job, x, s->east[k], s->north[k], 0, u);
                for (int c = 0; c < 3; c++)
                    d[c] = u[c] - s->observed[3 * k + c];
                largest =
                    fmax(largest, fmax(fabs(d[0]) / sqrt(see), fabs(d[2]) / hypot(0.09, floor)));
                chi2 += d[2] * d[2] / (0.09 * 0.09 + floor * floor);
                if (k != 3) {
                    largest = fmax(largest, fabs(d[1]) / sqrt(snn));
                    chi2 += (snn * d[0] * d[0] + see * d[1] * d[1] - 2 * cov * d[0] * d[1]) /
                            (see * snn - cov * cov);
                } else {
                    chi2 += d[0] * d[0] / see;
                }
            }
            while (at < exact.n && exact.record[at].trial < t)
                at++;
            const bool held = at < exact.n && exact.record[at].trial == t;
            const double misfit = sqrt(chi2 / 14);
            if (held)
                assert_true(fabs(exact.record[at].chi2 - chi2) < 1e-9 * (1 + chi2));
            if (i == 0 && fabs(misfit - 0.8) > 1e-9)
                assert_int_equal(held, misfit < 0.8);
            if (i == 2 && fabs(largest - 1.2) > 1e-9)
                assert_int_equal(held, largest <= 1.2);
            wanted += held;
        }
        assert_true(wanted == exact.n && wanted > 10 && wanted < job->trials);
        accepted_free(&exact);
        accepted_free(&brute);
        job_close(job);
    }
}

static void test_refusals(void **state)
{
    static const char *const wrong[] = {
        "E_m,N_m,uU_m,sU_m,value_m,sigma_m,lE,lN,lU\n0,0,1,1,,,,,\n0,0,,,1,1,0,0,1\n0,0,1,1,,,,,\n",
        "E_m,N_m,E2_m,value_m,sigma_m\n0,0,5,1,1\n",
        "E_m,N_m,E2_m,N2_m,value_m,sigma_m\n0,0,0,0,1,1\n",
        "E_m,N_m,E2_m,N2_m,value_m,sigma_m\n0,0,1,,1,1\n",
        "E_m,N_m,E2_m,N2_m,value_m,sigma_m\n0,0,,,1,1\n",
        "E_m,N_m,E2_m,N2_m,uU_m,sU_m\n0,0,1,2,1,1\n",
        "E_m,N_m,E2_m,N2_m,uU_m,sU_m,value_m,sigma_m\n0,0,1,2,1,1,,\n",
        "E_m,N_m,uE_m,uN_m,sE_m,sN_m,corr\n0,0,1,1,1,1,1\n",
        "E_m,N_m,uU_m,sU_m,z_m\n0,0,1,1,-3\n",
        "E_m,N_m,uU_m,sU_m,z_m\n0,0,1,1,high\n",
        "E_m,N_m,uU_m,sU_m\n0,0,1,1\n",
    };
    status_mute(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct stations s = {0};
        job_write("stations.csv", wrong[i]);
        if (stations_read(job_file("stations.csv"),
                          &(struct stations_format){.unit = 1, .heights = i >= 8}, &s) != EK_USAGE)
            fail_msg("%s is taken", wrong[i]);
    }
    job_write("stations.csv", "E_m,N_m,E2_m,N2_m,value_m,sigma_m,scene\n0,0,3,4,1,1,asc\n");
    job_write("job.json",
              "{\"model\": \"mogi\", \"stations\": \"stations.csv\", \"scenes\": {\"asc\": "
              "{\"offset\": true}}, \"accept\": {\"best\": 1}, \"parameters\": [{\"name\": "
              "\"Es_m\", \"value\": 0}, {\"name\": \"Ns_m\", \"value\": 0}, {\"name\": \"d_m\", "
              "\"value\": 2000}, {\"name\": \"dV_m3\", \"value\": 3e6}]}");
    struct job *job;
    assert_int_equal(job_open(job_file("job.json"), NULL, &job), EK_USAGE);
    status_mute(-1);
    unlink(job_file("lines.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_searches),    cmocka_unit_test(test_faults),
        cmocka_unit_test(test_lines),       cmocka_unit_test(test_tilt),
        cmocka_unit_test(test_correlation), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
