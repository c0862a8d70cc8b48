/* tests/test_okada_mogi_map.c – map files are read back unchanged; synthetic data follow their
 * source and have the stated uncertainty. */
#include "okada_mogi/write.h"
#include "okada_mogi/judge.h"
#include "tests/okada_mogi.h"

#include <jansson.h>

enum { SITES = 60, PIXELS = 200 };

/* A fault in Chile, or a chamber; sites by longitude and latitude, with a scene beside them. */
static struct job *open_job(const char *stations, bool fault)
{
    char text[2048];
    snprintf(
        text, sizeof text,
        "{\"model\": \"%s\", \"stations\": %s, \"accept\": {\"keep_all\": true}, "
        "\"scenes\": {\"track\": {\"offset\": true, \"ramp\": true}}, \"parameters\": [%s]}",
        fault ? "okada" : "mogi", stations,
        fault
            ? "{\"name\": \"Ec_m\", \"value\": 520000}, {\"name\": \"Nc_m\", \"value\": 6100000}, "
              "{\"name\": \"d_m\", \"value\": 4000}, {\"name\": \"strike_deg\", \"value\": 30}, "
              "{\"name\": \"dip_deg\", \"value\": 60}, {\"name\": \"L_m\", \"value\": 20000}, "
              "{\"name\": \"W_m\", \"value\": 12000}, {\"name\": \"rake_deg\", \"value\": 90}, "
              "{\"name\": \"slip_m\", \"min\": 1, \"max\": 3, \"n\": 3}"
            : "{\"name\": \"Es_m\", \"value\": 520000}, {\"name\": \"Ns_m\", \"value\": 6100000}, "
              "{\"name\": \"d_m\", \"value\": 4000}, {\"name\": \"dV_m3\", \"value\": 1e8}");
    return job_read(text, NULL);
}

static void write_places(void)
{
    FILE *f = fopen(job_file("stations.csv"), "w");
    fputs("site,lon,lat,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m,value_m,sigma_m,lE,lN,lU,scene\n", f);
    for (int i = 0; i < SITES + PIXELS; i++) {
        const bool pixel = i >= SITES;
        fprintf(f, "S%d,%.9f,%.9f,%s,%s\n", i, job_random(-69.3, -68.3), job_random(-35.7, -34.9),
                pixel        ? ",,,,,"
                : i % 5 == 4 ? "0.1,,0,0.02,,0.04"
                             : "0.1,0.2,,0.02,0.03,",
                pixel ? "0.05,0.01,0.6,0,0.8,track" : ",,,,,");
    }
    assert_int_equal(fclose(f), 0);
}

static json_t *read_map(const struct job *job, trial_number trial)
{
    json_t *root;
    assert_int_equal(write_geojson(job, trial, job_file("out")), EK_OK);
    assert_int_equal(demand_open(job_file("out"), &root), EK_OK);
    unlink(job_file("out"));
    return root;
}

static double number(const json_t *list, size_t i)
{
    assert_true(json_is_number(json_array_get(list, i)));
    return json_number_value(json_array_get(list, i));
}

/* The distance in metres and the azimuth between two places on a sphere. */
static double apart(const json_t *a, const json_t *b, double *azimuth)
{
    const double degree = M_PI / 180, lat = degree * (number(a, 1) + number(b, 1)) / 2;
    const double e = 6371e3 * degree * (number(b, 0) - number(a, 0)) * cos(lat),
                 n = 6371e3 * degree * (number(b, 1) - number(a, 1));
    *azimuth = atan2(e, n) / degree;
    return hypot(e, n);
}

static const json_t *coordinates(const json_t *feature)
{
    return json_object_get(json_object_get(feature, "geometry"), "coordinates");
}

static void test_fault(void **state)
{
    write_places();
    struct job *job = open_job("\"stations.csv\"", true);
    json_t *root = read_map(job, 1), *list = json_object_get(root, "features"), *feature;
    const json_t *ring = json_array_get(coordinates(json_array_get(list, 0)), 0);
    double area = 0, azimuth;
    assert_int_equal(json_array_size(ring), 5);
    assert_true(json_equal(json_array_get(ring, 0), json_array_get(ring, 4)));
    for (size_t i = 0; i < 4; i++) {
        const json_t *a = json_array_get(ring, i), *b = json_array_get(ring, i + 1);
        area += number(a, 0) * number(b, 1) - number(b, 0) * number(a, 1);
        const double l = apart(a, b, &azimuth);
        assert_true(fabs(l - (i == 3 || i == 1 ? 20e3 : 6e3)) < 0.01 * l);
        if (i == 3) /* the upper edge, reversed; grid north differs from true north */
            assert_true(fabs(remainder(azimuth - 30 - 180, 360)) < 1);
    }
    assert_true(area > 0);
    const json_t *properties = json_object_get(json_array_get(list, 0), "properties");
    assert_true(json_number_of(json_object_get(properties, "parameters"), "slip_m") == 2);
    assert_true(fabs(json_number_of(properties, "moment_Nm") / (30e9 * 20e3 * 12e3 * 2) - 1) <
                1e-12);
    size_t i, vectors = 0;
    double scale = 0, longest = 0;
    json_array_foreach(list, i, feature)
    {
        properties = json_object_get(feature, "properties");
        if (strcmp(json_string_value(json_object_get(properties, "kind")), "observed"))
            continue;
        scale = json_number_of(properties, "scale");
        const double l = apart(json_array_get(coordinates(feature), 0),
                               json_array_get(coordinates(feature), 1), &azimuth);
        assert_true(fabs(l / scale / hypot(0.1, 0.2) - 1) < 0.01);
        longest = fmax(longest, l);
        vectors++;
    }
    assert_int_equal(vectors, SITES - SITES / 5);
    assert_int_equal(json_array_size(list), 1 + SITES + PIXELS + 2 * vectors);
    double extent = 0; /* the longest vector is drawn a tenth as long */
    const struct stations *s = &job->stations;
    for (int k = 0; k < s->n; k++)
        extent = fmax(extent, hypot(s->east[k] - s->east[0], s->north[k] - s->north[0]));
    assert_true(longest > 0.02 * extent && longest < 0.101 * extent);
    double most = hypot(0.1, 0.2), *u;
    assert_int_equal(write_predict(job, 1, &u), EK_OK);
    for (int k = 0; k < SITES; k++)
        most = k % 5 == 4 ? most : fmax(most, hypot(u[3 * k], u[3 * k + 1]));
    assert_true(fabs(scale * most / extent - 0.1) < 1e-9);
    free(u);
    json_decref(root);
    job_close(job);
}

static void test_chamber(void **state)
{
    write_places();
    struct job *job = open_job("\"stations.csv\"", false);
    json_t *root = read_map(job, 0);
    const json_t *at = coordinates(json_array_get(json_object_get(root, "features"), 0));
    double lon = number(at, 0), lat = number(at, 1);
    assert_true(fabs(lon + 68.78) < 0.01 && fabs(lat + 35.24) < 0.01);
    json_decref(root);
    job->stations.zone = 0;
    status_mute(1);
    assert_int_equal(write_geojson(job, 0, job_file("out")), EK_USAGE);
    status_mute(-1);
    unlink(job_file("out"));
    job_close(job);
}

/* Jobs read the files written for GMT; a zone may be given in place of longitudes. */
static void test_psvelo(void **state)
{
    static const char *const endings[] = {"observed", "predicted", "residual", "faults"};
    const struct stations_format format = {.columns = "psvelo", .unit = 1, .usual = -19};
    struct stations back[3] = {{0}};
    char name[32];
    double *u;
    write_places();
    struct job *job = open_job("\"stations.csv\"", true);
    const struct stations *s = &job->stations;
    assert_int_equal(s->zone, -19);
    assert_int_equal(write_psvelo(job, 2, job_file("gmt")), EK_OK);
    assert_int_equal(write_predict(job, 2, &u), EK_OK);
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "gmt.%s", endings[k]);
        assert_int_equal(stations_read(job_file(name), &format, &back[k]), EK_OK);
    }
    for (int i = 0, j = 0; i < SITES; i++) {
        if (i % 5 == 4)
            continue;
        assert_string_equal(back[0].name[j], s->name[i]);
        for (int c = 0; c < 2; c++) {
            const double o = s->observed[3 * i + c], p = u[3 * i + c],
                         got[] = {back[0].observed[3 * j + c], back[1].observed[3 * j + c],
                                  back[2].observed[3 * j + c]};
            assert_true(fabs(got[0] - o) < 1e-8 && fabs(got[1] - p) < 1e-8 &&
                        fabs(got[2] - (p - o)) < 1e-8);
        }
        for (int c = 0; c < 2; c++)
            assert_true(fabs(back[0].sigma[3 * j + c] - s->sigma[3 * i + c]) < 1e-8);
        assert_true(fabs(back[0].east[j] - s->east[i]) < 1e-4);
        assert_true(fabs(back[0].north[j] - s->north[i]) < 1e-4);
        j++;
    }
    for (int k = 0; k < 4; k++) {
        snprintf(name, sizeof name, "gmt.%s", endings[k]);
        assert_int_equal(unlink(job_file(name)), 0);
    }
    for (int k = 0; k < 3; k++)
        stations_close(&back[k]);
    free(u);
    job_close(job);
}

static void test_zone(void **state)
{
    job_write("stations.csv", "E_m,N_m,uU_m,sU_m\n500000,6100000,1,1\n");
    for (int i = 0; i < 2; i++) {
        double at[2];
        struct stations s = {0};
        assert_int_equal(stations_read(job_file("stations.csv"),
                                       &(struct stations_format){.unit = 1, .zone = i ? 19 : -19},
                                       &s),
                         EK_OK);
        stations_place(&s, s.east[0], s.north[0], at);
        assert_true(fabs(at[0] + 69) < 1e-9);
        assert_true(i ? fabs(at[1] - 55.05) < 0.1 : fabs(at[1] + 35.24) < 0.1);
        stations_close(&s);
    }
}

static char *text_of(const char *name)
{
    char *text;
    assert_int_equal(file_read_text(job_file(name), &text), EK_OK);
    return text;
}

/* The true source's residuals are normally distributed; unknown offsets and ramps can be
 * recovered. */
static void test_synthetic(void **state)
{
    write_places();
    for (int fault = 0; fault < 2; fault++) {
        struct job *job = open_job("\"stations.csv\"", fault);
        const trial_number truth = fault ? 1 : 0;
        assert_int_equal(write_synthetic(job, truth, 5, job_file("s.csv")), EK_OK);
        char *first = text_of("s.csv");
        assert_int_equal(write_synthetic(job, truth, 6, job_file("s.csv")), EK_OK);
        char *other = text_of("s.csv");
        assert_int_equal(write_synthetic(job, truth, 5, job_file("s.csv")), EK_OK);
        char *again = text_of("s.csv");
        assert_true(!strcmp(first, again) && strcmp(first, other));
        struct job *noisy = open_job("\"s.csv\"", fault);
        struct judge *judge;
        struct accepted_record r;
        const double *u, n = noisy->stations.ncomponents - 3;
        double plain = 0;
        assert_int_equal(noisy->stations.ncomponents, job->stations.ncomponents);
        assert_int_equal(noisy->stations.zone, job->stations.zone);
        assert_int_equal(judge_open(noisy, &judge), EK_OK);
        assert_true(judge_trial(judge, truth, &r, &u));
        assert_true(fabs(r.chi2 / n - 1) < 4.5 * sqrt(2 / n));
        for (int i = SITES; i < SITES + PIXELS; i++) {
            assert_true(fabs(noisy->stations.sigma[3 * i] - 0.01) < 1e-9);
            plain += pow((u[3 * i] - noisy->stations.observed[3 * i]) / 0.01, 2) / PIXELS;
        }
        assert_true(plain > 3);
        judge_close(judge);
        job_close(noisy);
        job_close(job);
        free(first);
        free(other);
        free(again);
    }
    unlink(job_file("s.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fault), cmocka_unit_test(test_chamber),
                                       cmocka_unit_test(test_psvelo), cmocka_unit_test(test_zone),
                                       cmocka_unit_test(test_synthetic)};
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
