/* tests/test_okada_mogi_job.c – job files and station tables: all common column orders, units and
 * missing values, noise floors, ranges, acceptance. */
#include "okada_mogi/utm.h"
#include "src/random.h"
#include "tests/okada_mogi.h"

static const char parameters[] =
    "[{\"name\": \"Es_m\", \"min\": -1000, \"max\": 1000, \"n\": 5}, "
    "{\"name\": \"Ns_m\", \"value\": 25}, "
    "{\"name\": \"d_m\", \"min\": 2000, \"max\": 3000, \"step\": 300}, "
    "{\"name\": \"dV_m3\", \"min\": 1e6, \"max\": 4e6, \"n\": 4}]";

static struct job *open_job(const char *stations, const char *format, const char *accept)
{
    char text[2048];
    job_write("stations.csv", stations);
    snprintf(text, sizeof text,
             "{\"model\": \"mogi\", \"stations\": {\"file\": \"stations.csv\"%s}, "
             "\"accept\": {%s}, \"parameters\": %s}",
             format, accept, parameters);
    return job_read(text, NULL);
}

static void assert_near(double x, double y)
{
    assert_true(fabs(x - y) <= 1e-12 * (1 + fabs(y)));
}

/* ---- stations ---------------------------------------------------------------------------------*/

/* One station at E 500000 m, N 4200000 m of zone 33, in every format. */
struct way {
    const char *text, *format, *name;
    bool geographic, up, sigma;
};

static const struct way ways[] = {
    {"site,E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m\nAA,500000,4200000,.01,-.02,.03,.001,.002,.004\n",
     "", "AA", false, true, true},
    {"# VSM\n500000 4200000 .01 -.02 .03 .001 .002 .004\n", ", \"columns\": \"vsm\"", "S01", false,
     true, true},
    {"15 37.9476 .01 -.02 .03 .001 .002 .004\n", ", \"columns\": \"geodef\"", "S01", true, true,
     true},
    {"AA 15 37.9476 10 -20 30 1 2 4\n", ", \"columns\": \"enu\", \"unit\": \"mm\"", "AA", true,
     true, true},
    {"15 37.9476 10 -20 1 2 0.3 AA\n", ", \"columns\": \"psvelo\", \"unit\": \"mm\"", "AA", true,
     false, true},
    {"> GMT\n15 37.9476 10 -20 1 2 0.3\n", ", \"columns\": \"psvelo\", \"unit\": \"mm\"", "S01",
     true, false, true},
    {"East North Xdata Ydata Zdata Xerr Yerr Zerr\n500000 4200000 .01 -.02 .03 .001 .002 .004\n",
     ", \"columns\": \"vsm\"", "S01", false, true, true},
    {"AA 4200 500 3 -2 1\n",
     ", \"columns\": \"name N_km E_km uU_cm uN_cm uE_cm\", \"sigma\": [0.001, 0.002, 0.004]", "AA",
     false, true, true},
    {"name x y de_mm dn_mm sige_mm sign_mm\nAA 500000 4200000 10 -20 1 2\n", "", "AA", false, false,
     true},
    {"Station\tEast\tNorth\tux\tuy\tdU\nAA\t500000\t4200000\t1\t-2\tNaN\n",
     ", \"unit\": \"cm\", \"sigma\": [0.1, 0.2, 0.4]", "AA", false, false, true},
};

static void test_ways_to_write_stations(void **state)
{
    static const double observed[] = {0.01, -0.02, 0.03}, sigma[] = {0.001, 0.002, 0.004};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct job *job = open_job(ways[w].text, ways[w].format, "\"k_sigma\": 2");
        const struct stations *s = &job->stations;
        assert_int_equal(s->n, 1);
        assert_string_equal(s->name[0], ways[w].name);
        assert_int_equal(s->ncomponents, ways[w].up ? 3 : 2);
        assert_string_equal(s->projection, ways[w].geographic ? "UTM 33N" : "");
        assert_true(fabs(s->east[0] - 500000) < 1e-6); /* on the zone's central meridian */
        assert_true(fabs(s->north[0] - 4200000) < (ways[w].geographic ? 60 : 1e-6));
        for (int c = 0; c < (ways[w].up ? 3 : 2); c++) {
            assert_near(s->observed[c], observed[c]);
            assert_near(s->sigma[c], sigma[c]);
        }
        assert_int_equal(isnan(s->observed[2]), !ways[w].up);
        job_close(job);
    }
}

/* Stations on both sides of longitude 180, counted either way, are neighbours in zone 1. */
static void test_date_line(void **state)
{
    for (int east = 0; east < 2; east++) {
        char text[512];
        snprintf(text, sizeof text,
                 "lon lat uE_mm u_north_mm uU_mm sE sN sU\n"
                 "%s 10 1 2 3 1 1 1\n-179.9 10 1 2 3 1 1 1\n179.8 10.1 1 2 3 1 1 1\n",
                 east ? "180.3" : "-179.7");
        struct job *job = open_job(text, "", "\"k_sigma\": 2");
        const struct stations *s = &job->stations;
        assert_string_equal(s->projection, "UTM 1N");
        assert_true(s->east[2] < s->east[1] && s->east[1] < s->east[0]);
        assert_true(fabs(s->east[0] - s->east[1] - 0.2 * 1.0965e5) < 100);
        assert_true(s->observed[1] == 0.002 && s->ncomponents == 9);
        job_close(job);
    }
}

/* Files on both sides of the equator are projected like the first one; a file without units next to
 * one with units is reported. */
static void test_two_files(void **state)
{
    for (int south = 0; south < 2; south++) {
        char text[1024];
        struct job *job;
        for (int i = 0; i < 2; i++) {
            snprintf(text, sizeof text, "lon lat value_mm sigma_mm lE lN lU\n-91 %g 1 1 0 0 1\n",
                     i == south ? 0.01 : -0.01);
            job_write(i ? "more.csv" : "stations.csv", text);
        }
        snprintf(text, sizeof text,
                 "{\"model\": \"mogi\", \"stations\": [\"stations.csv\", \"more.csv\"], "
                 "\"accept\": {\"best\": 1}, \"parameters\": %s}",
                 parameters);
        job = job_read(text, NULL);
        assert_int_equal(job->stations.zone, south ? -15 : 15);
        assert_true(fabs(job->stations.north[1] - job->stations.north[0] - (south ? 2211 : -2211)) <
                    1);
        job_close(job);
        unlink(job_file("more.csv"));
    }
}

/* Projected points convert back: both hemispheres, the equator, the date line, outside the zone. */
static void test_projection(void **state)
{
    for (int i = 0; i < 300; i++) {
        const double lat = i % 7 ? job_random(-79, 83) : i % 2 ? 0 : job_random(-1e-6, 1e-6);
        const double lon = i % 5 ? job_random(-180, 180) : 180 - job_random(0, 1e-7);
        const int beside = (int)job_random(-1, 2), zone = (utm_zone(lon) + beside + 59) % 60 + 1;
        double e, n, x, y;
        utm_project(zone, lat < 0, lon, lat, &e, &n);
        utm_invert(zone, lat < 0, e, n, &x, &y);
        assert_true(fabs(remainder(x - lon, 360)) < 1e-10 && fabs(y - lat) < 1e-10);
    }
}

/* Deviation and floor add in quadrature; floors have the table's unit, one for all components or
 * one each. */
static void test_noise_floor(void **state)
{
    static const char table[] = "site E_m N_m uE uN uU sE sN sU\nA 0 0 1 2 3 3 3 3\n";
    struct job *job = open_job(table, ", \"unit\": \"mm\", \"noise_floor\": 4", "\"k_sigma\": 2");
    for (int c = 0; c < 3; c++)
        assert_near(job->stations.sigma[c], 0.005);
    job_close(job);
    job = open_job(table, ", \"unit\": \"cm\", \"noise_floor\": [4, 0, 4]", "\"k_sigma\": 2");
    for (int c = 0; c < 3; c++)
        assert_near(job->stations.sigma[c], c == 1 ? 0.03 : 0.05);
    job_close(job);
}

/* ---- ranges and acceptance --------------------------------------------------------------------*/

static const char three[] = "site,E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m\n"
                            "A,0,0,0,0,0.07,0.01,0.01,0.02\n"
                            "B,3000,0,0.03,,0.03,0.01,0.01,0.02\n"
                            "C,0,3000,nan,0.03,-,0.01,0.01,0.02\n";

static void test_ranges(void **state)
{
    double x[JOB_AXES];
    struct job *job = open_job(three, "", "\"k_sigma\": 2");
    assert_true(job->trials == 5 * 1 * 4 * 4); /* 2000, 2300, 2600, 2900: three steps fit */
    assert_int_equal(job->stations.ncomponents, 6);
    job_parameters(job, job->trials - 1, x);
    assert_true(x[0] == 1000 && x[1] == 25 && x[3] == 4e6);
    assert_near(x[2], 2900);
    job_parameters(job, 1, x);
    assert_true(x[0] == -1000 && x[2] == 2000 && x[3] == 2e6);
    job_close(job);
}

static size_t count(const struct accepted *all, double k)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        n += all->record[i].most <= k;
    return n;
}

/* Every kind of acceptance, applied to the list of all trials. */
static void test_acceptance(void **state)
{
    struct job *job = open_job(three, "", "\"keep_all\": true");
    struct accepted all = job_search(job, SEARCH_EXACT, 1), some;
    assert_true(all.n == job->trials);
    job_close(job);

    job = open_job(three, "", "\"k_sigma\": [4, 1.5, 2]");
    assert_true(job->accept.nk == 3 && job->accept.k[0] == 1.5 && job->accept.k[2] == 4);
    some = job_search(job, SEARCH_EXACT, 1);
    assert_true(some.n > 0 && some.n < all.n);
    assert_int_equal(some.n, count(&all, 4));
    assert_int_equal(count(&some, 1.5), count(&all, 1.5));
    accepted_free(&some);
    job_close(job);

    job = open_job(three, "", "\"misfit\": \"rms\", \"misfit_below\": 1.2");
    some = job_search(job, SEARCH_EXACT, 1);
    size_t below = 0;
    for (size_t i = 0; i < all.n; i++)
        below += sqrt(all.record[i].chi2 / job->stations.ncomponents) < 1.2;
    assert_true(below > 0 && below < all.n);
    assert_int_equal(some.n, below);
    accepted_free(&some);
    job_close(job);

    job = open_job(three, "", "\"best\": 7");
    some = job_search(job, SEARCH_EXACT, 1);
    accepted_sort_best(&some);
    accepted_sort_best(&all);
    assert_true(some.n >= 7);
    for (int i = 0; i < 7; i++)
        assert_true(some.record[i].trial == all.record[i].trial);
    accepted_free(&some);
    accepted_free(&all);
    job_close(job);
}

/* Mw limits depend on the rock's rigidity, and on openings. */
static void test_rigidity(void **state)
{
    struct job *job;
    char text[2048];
    job_write("stations.csv", three);
    for (int stiff = 0; stiff < 2; stiff++) {
        snprintf(text, sizeof text,
                 "{\"model\": \"okada\", \"stations\": \"stations.csv\", %s "
                 "\"accept\": {\"keep_all\": true}, \"constraints\": {\"magnitude\": [6, 7]}, "
                 "\"parameters\": [{\"name\": \"Ec_m\", \"value\": 0}, {\"name\": \"Nc_m\", "
                 "\"value\": 0}, {\"name\": \"d_m\", \"value\": 1000}, {\"name\": \"strike_deg\", "
                 "\"value\": 0}, {\"name\": \"dip_deg\", \"value\": 45}, {\"name\": \"L_m\", "
                 "\"value\": 20000}, {\"name\": \"W_m\", \"value\": 10000}, {\"name\": "
                 "\"rake_deg\", \"value\": 90}, {\"name\": \"slip_m\", \"min\": 0.05, \"max\": 1, "
                 "\"n\": 20}%s]}",
                 stiff ? "\"rigidity_Pa\": 60e9," : "",
                 stiff ? ", {\"name\": \"opening_m\", \"value\": 0.09}" : "");
        job = job_read(text, NULL);
        struct accepted all = job_search(job, SEARCH_EXACT, 1);
        size_t allowed = 0;
        for (int i = 1; i <= 20; i++) {
            const double moment = (stiff ? 60e9 : 30e9) * 2e8 * hypot(0.05 * i, stiff ? 0.09 : 0);
            const double mw = (log10(moment) - 9.1) / 1.5;
            allowed += mw > 6 && mw < 7;
        }
        assert_int_equal(all.n, allowed);
        accepted_free(&all);
        job_close(job);
    }
}

/* Ranges in degrees contain what they say, extended no further than their ends require. */
static void test_degrees(void **state)
{
    for (int i = 0; i < 12; i++) {
        char text[1500];
        struct job *job;
        const int zone = i % 4 == 3 ? 1 : 31 + i, sign = i % 2 ? -1 : 1;
        const double lon = 6 * zone - 183 + job_random(-2, 1.5), width = i % 3 ? 0.8 : 0,
                     lat = i == 5 ? -0.3 : sign * job_random(1, 70);
        job_write("stations.csv", "E_m,N_m,uU_m,sU_m\n400000,4e6,0.1,0.1\n");
        snprintf(text, sizeof text,
                 "{\"model\": \"mogi\", \"stations\": {\"file\": \"stations.csv\", "
                 "\"utm_zone\": %d}, \"accept\": {\"best\": 1}, \"parameters\": [{\"name\": "
                 "\"lat\", \"min\": %.9f, \"max\": %.9f, \"n\": 3}, {\"name\": \"lon\", \"min\": "
                 "%.9f, \"max\": %.9f, \"n\": %d}, {\"name\": \"d_m\", \"value\": 2000}, "
                 "{\"name\": \"dV_m3\", \"value\": 1e6}]}",
                 sign * zone, lat, lat + 0.5, lon, lon + width, width > 0 ? 4 : 1);
        job = job_read(text, NULL);
        const struct trial_axis *north = &job->axis[1], *east = &job->axis[2];
        double at[4] = {INFINITY, -INFINITY, INFINITY, -INFINITY};
        assert_true(job->parameter[1] == 1 && job->parameter[2] == 0 && north->n == 3);
        assert_string_equal(job->name[2], "Es_m");
        for (int k = 0; k < 1681; k++) {
            double e, n;
            utm_project(zone, sign < 0, lon + width / 40 * (k % 41), lat + 0.0125 * (k / 41), &e,
                        &n);
            at[0] = fmin(at[0], e);
            at[1] = fmax(at[1], e);
            at[2] = fmin(at[2], n);
            at[3] = fmax(at[3], n);
        }
        assert_true(fabs(north->min - at[2]) < 5 && fabs(north->max - at[3]) < 5);
        assert_true(north->min <= at[2] + 1e-3 && north->max >= at[3] - 1e-3);
        assert_true(width > 0 ? fabs(east->min - at[0]) < 5 && fabs(east->max - at[1]) < 5
                              : east->min == east->max && east->min >= at[0] - 1e-3 &&
                                    east->max <= at[1] + 1e-3);
        job_close(job);
    }
    static const char *const wrong[] = {
        "{\"name\": \"lon\", \"value\": 9}, {\"name\": \"Ns_m\", \"value\": 0}",
        "{\"name\": \"lon\", \"value\": 9}, {\"name\": \"lat\", \"value\": 95}",
        "{\"name\": \"lon\", \"value\": 60}, {\"name\": \"lat\", \"value\": 5}",
        "{\"name\": \"lon\", \"value\": 9}, {\"name\": \"lat\", \"value\": 5}"};
    status_mute(1);
    for (int i = 0; i < 4; i++) {
        char text[1000];
        struct job *job;
        snprintf(text, sizeof text,
                 "{\"model\": \"mogi\", \"stations\": {\"file\": \"stations.csv\"%s}, \"accept\": "
                 "{\"best\": 1}, \"parameters\": [%s, {\"name\": \"d_m\", \"value\": 2000}, "
                 "{\"name\": \"dV_m3\", \"value\": 1e6}]}",
                 i < 3 ? ", \"utm_zone\": 32" : "", wrong[i]);
        job_write("job.json", text);
        assert_int_equal(job_open(job_file("job.json"), NULL, &job), EK_USAGE);
    }
    status_mute(-1);
}

/* Ranges with a step contain the last value as the user meant it, and nothing beyond. */
static void test_steps(void **state)
{
    uint64_t seed = 3;
    for (int i = 0; i < 200; i++) {
        const int low = (int)(random_bits(&seed) % 2000) - 1000, n = (int)(random_bits(&seed) % 50),
                  step = 1 + (int)(random_bits(&seed) % 300), high = low + n * step;
        char text[600];
        struct job *job;
        job_write("stations.csv", "0 0 1 1 1 1 1 1\n");
        snprintf(text, sizeof text,
                 "{\"model\": \"mogi\", \"stations\": {\"file\": \"stations.csv\", \"columns\": "
                 "\"vsm\"}, \"accept\": {\"best\": 1}, \"parameters\": [{\"name\": \"Es_m\", "
                 "\"min\": %de-3, \"max\": %de-3, \"step\": %de-3}, {\"name\": \"Ns_m\", "
                 "\"value\": 0}, {\"name\": \"d_m\", \"value\": 2}, {\"name\": \"dV_m3\", "
                 "\"min\": %de8, \"max\": %de8, \"step\": %de8}]}",
                 low, high, step, low, high, step);
        job = job_read(text, NULL);
        const struct trial_axis *x = &job->axis[job->naxes - 4];
        snprintf(text, sizeof text, "%de-3", high);
        assert_int_equal(x->n, n + 1);
        assert_int_equal(x[3].n, n + 1);
        assert_true(x->max <= strtod(text, NULL));
        assert_near(x->max, strtod(text, NULL));
        job_close(job);
    }
}

/* A checkpoint for one form of a model is not valid for another form with the same numbers. */
static void test_sum(void **state)
{
    static const char *const slips[] = {"rake_deg", "slip_m", "strike_slip_m", "dip_slip_m"};
    uint64_t sum[2];
    for (int i = 0; i < 2; i++) {
        char text[1000];
        struct job *job;
        job_write("stations.csv", "0 0 1 1 1 1 1 1\n");
        snprintf(text, sizeof text,
                 "{\"model\": \"okada\", \"reference\": \"top\", \"stations\": {\"file\": "
                 "\"stations.csv\", \"columns\": \"vsm\"}, \"accept\": {\"best\": 1}, "
                 "\"parameters\": [{\"name\": \"Ec_m\", \"value\": 0}, {\"name\": \"Nc_m\", "
                 "\"value\": 0}, {\"name\": \"d_m\", \"value\": 9}, {\"name\": \"strike_deg\", "
                 "\"value\": 0}, {\"name\": \"dip_deg\", \"value\": 9}, {\"name\": \"L_m\", "
                 "\"value\": 9}, {\"name\": \"W_m\", \"value\": 9}, {\"name\": \"%s\", "
                 "\"min\": 0, \"max\": 1, \"n\": 3}, {\"name\": \"%s\", \"value\": 1}]}",
                 slips[2 * i], slips[2 * i + 1]);
        job = job_read(text, NULL);
        sum[i] = job_sum(job, job->wanted);
        job_close(job);
    }
    assert_true(sum[0] != sum[1]);
}

/* As many sources as a job may have, with all their parameters named. */
static void test_eight_faults(void **state)
{
    static const char *const names[] = {"Ec_m",    "Nc_m",      "d_m", "strike_deg",
                                        "dip_deg", "L_m",       "W_m", "rake_deg",
                                        "slip_m",  "opening_m", "nu"};
    char text[8192];
    int at = snprintf(text, sizeof text,
                      "{\"model\": \"okada\", \"sources\": 8, \"stations\": \"stations.csv\", "
                      "\"accept\": {\"best\": 1}, \"parameters\": [");
    struct job *job;
    for (int i = 0; i < 88; i++)
        at +=
            snprintf(text + at, sizeof text - (size_t)at, "%s{\"name\": \"%s.%d\", \"value\": 0.4}",
                     i ? ", " : "", names[i / 8], i % 8 + 1);
    snprintf(text + at, sizeof text - (size_t)at, "]}");
    job_write("stations.csv", three);
    job = job_read(text, NULL);
    assert_int_equal(job->naxes, 88);
    job_close(job);
}

/* Trials of a geometry are counted with 63 bits: 2^64 of them are refused, not taken for none. */
static void test_too_many_slips(void **state)
{
    struct job *job;
    struct search *s;
    job_write("stations.csv", three);
    job_write(
        "job.json",
        "{\"model\": \"okada\", \"stations\": \"stations.csv\", \"accept\": {\"k_sigma\": 1}, "
        "\"parameters\": [{\"name\": \"Ec_m\", \"value\": 0}, {\"name\": \"Nc_m\", "
        "\"value\": 0}, {\"name\": \"d_m\", \"value\": 1000}, {\"name\": \"strike_deg\", "
        "\"value\": 0}, {\"name\": \"dip_deg\", \"value\": 45}, {\"name\": \"L_m\", \"value\": "
        "20000}, {\"name\": \"W_m\", \"value\": 10000}, {\"name\": \"rake_deg\", \"min\": 0, "
        "\"max\": 180, \"n\": 65536}, {\"name\": \"slip_m\", \"min\": 0, \"max\": 1, \"n\": "
        "281474976710656}]}");
    assert_int_equal(job_open(job_file("job.json"), NULL, &job), EK_OK);
    status_mute(+1);
    assert_int_equal(search_open(job, SEARCH_EXACT, &s), EK_USAGE);
    status_mute(-1);
    job_close(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways_to_write_stations),
        cmocka_unit_test(test_noise_floor),
        cmocka_unit_test(test_date_line),
        cmocka_unit_test(test_two_files),
        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_degrees),
        cmocka_unit_test(test_acceptance),
        cmocka_unit_test(test_rigidity),
        cmocka_unit_test(test_eight_faults),
        cmocka_unit_test(test_too_many_slips),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_sum),
    };
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
