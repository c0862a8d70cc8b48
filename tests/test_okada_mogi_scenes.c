/* tests/test_okada_mogi_scenes.c – offsets and ramps: what is left is least, and does not depend on
 * what they were; how such data are read. */
#include "okada_mogi/judge.h"
#include "tests/okada_mogi.h"

enum { MOST = 60 };

/* A scene of n points with deviations of all sizes, some on a lattice, some twice. */
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

static double largest(const struct stations *s, const struct scene *c, const double *d,
                      const double *unknown)
{
    double most = 0;
    for (int i = 0; i < c->n; i++) {
        double left = d[i];
        for (int a = 0; a < c->unknowns; a++)
            left -= unknown[a] * c->shape[i * c->unknowns + a];
        most = fmax(most, fabs(left) / s->sigma[3 * i]);
    }
    return most;
}

/* The function is convex: where no step, of many sizes and directions, leads down, it is least. */
static double walk_down(const struct stations *s, const struct scene *c, const double *d)
{
    double at[SCENES_UNKNOWNS] = {0}, best = largest(s, c, d, at);
    for (double step = 10; step > 1e-9; step *= 0.7)
        for (int i = 0; i < 300; i++) {
            double next[SCENES_UNKNOWNS];
            for (int a = 0; a < c->unknowns; a++)
                next[a] = at[a] + step * job_random(-1, 1);
            const double there = largest(s, c, d, next);
            if (there < best) {
                best = there;
                memcpy(at, next, sizeof at);
            }
        }
    return best;
}

static void test_least(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        struct stations s;
        struct scenes all = {0};
        const int n = i % 4 == 3 ? 7 : 5 + (int)job_random(0, MOST - 5);
        double d[MOST], moved[MOST], square[2] = {0};
        fill(&s, n, i % 3);
        assert_int_equal(scenes_add("test", &s, "asc", i % 2, &all), EK_OK);
        const struct scene *c = &all.scene[0];
        double *work = malloc(scene_room(c) * sizeof *work);
        for (int k = 0; k < n; k++) {
            d[k] = i % 5 ? job_random(-1, 1) : 0.5 * (k % 3 - 1);
            moved[k] = d[k];
            for (int a = 0; a < c->unknowns; a++)
                moved[k] += (7.0 - 3 * a) * c->shape[k * c->unknowns + a];
        }
        const double least = scene_least(c, &s, d, work), again = scene_least(c, &s, moved, work);
        const double walked = walk_down(&s, c, d);
        assert_true(fabs(least - again) <= 1e-9 * least + 1e-12);
        assert_true(least <= walked * (1 + 1e-9));
        assert_true(least >= walked * 0.98); /* walks stop early in narrow valleys */
        scene_project(c, &s, d);
        scene_project(c, &s, moved);
        for (int k = 0; k < n; k++) {
            assert_true(fabs(d[k] - moved[k]) < 1e-9);
            square[0] += d[k] * d[k] / (s.sigma[3 * k] * s.sigma[3 * k]);
        }
        for (int a = 0; a < c->unknowns; a++) { /* at right angles to all that could be taken off */
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

/* Data without a plane's worth of residual leave nothing. */
static void test_planes(void **state)
{
    (void)state;
    struct stations s;
    struct scenes all = {0};
    double d[MOST];
    fill(&s, 20, 1);
    assert_int_equal(scenes_add("test", &s, "asc", true, &all), EK_OK);
    double *work = malloc(scene_room(&all.scene[0]) * sizeof *work);
    for (int i = 0; i < 20; i++)
        d[i] = 3 + 1e-3 * s.east[i] - 2e-3 * s.north[i];
    assert_true(scene_least(&all.scene[0], &s, d, work) < 1e-8);
    for (int i = 0; i < 20; i++)
        d[i] = 0;
    assert_true(scene_least(&all.scene[0], &s, d, work) == 0);
    d[3] = NAN;
    assert_true(isnan(scene_least(&all.scene[0], &s, d, work)));
    free(work);
    scenes_close(&all);
    for (int i = 0; i < 20; i++)
        s.north[i] = 2 * s.east[i];
    status_mute(1);
    assert_int_equal(scenes_add("test", &s, "asc", true, &all), EK_USAGE);
    scenes_close(&all);
    assert_int_equal(scenes_add("test", &s, "dsc", false, &all), EK_USAGE);
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
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_least), cmocka_unit_test(test_planes),
                                       cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
