/* tests/test_okada_mogi_forms.c – faults given by other reference points and parameters, against
 * the plain form and conversions that are written here anew. */
#include "okada_mogi/write.h"
#include "tests/okada_mogi.h"

enum { EC, NC, TOP, STRIKE, DIP, LENGTH, WIDTH, RAKE, SLIP, NU, REFERENCE, LAST };

static const char *const references[] = {"centre", "top", "corner", "centroid"};

static double sine(double degrees)
{
    return fmod(degrees, 180) == 0 ? 0 : sin(degrees * M_PI / 180);
}

static double cosine(double degrees)
{
    return sine(degrees + 90);
}

/* Converts x with a given reference to the plain form, by the manuals of VSM and okada85.m. */
static void plain(const double *x, int reference, double *y)
{
    const double ss = sine(x[STRIKE]), cs = cosine(x[STRIKE]), s = sine(x[DIP]), c = cosine(x[DIP]);
    memcpy(y, x, 10 * sizeof *y);
    if (reference == 1 || reference == 2) {
        y[EC] += x[WIDTH] / 2 * c * cs;
        y[NC] -= x[WIDTH] / 2 * c * ss;
    }
    if (reference == 2) {
        y[EC] += x[LENGTH] / 2 * ss;
        y[NC] += x[LENGTH] / 2 * cs;
    }
    if (reference == 3)
        y[TOP] = fmax(0, x[TOP] - x[WIDTH] / 2 * s);
}

static const struct model *with(const char *parameter, int reference)
{
    const struct model *m = model_find("okada");
    if (reference)
        m = model_with(m, "reference", 9);
    return *parameter ? model_with(m, parameter, (int)strlen(parameter)) : m;
}

static void assert_forward(const struct model *m, const double *x, const struct model *known,
                           const double *y)
{
    const double e = job_random(-2e4, 2e4), n = job_random(-2e4, 2e4);
    double u[3], v[3], most = 0;
    model_forward(m, x, e, n, u);
    model_forward(known, y, e, n, v);
    for (int c = 0; c < 3; c++)
        most = fmax(most, fabs(v[c]));
    for (int c = 0; c < 3; c++)
        if (!(fabs(u[c] - v[c]) <= 1e-11 * most))
            fail_msg("%.17g, not %.17g", u[c], v[c]);
}

static void random_fault(double *x, int i)
{
    const double fault[] = {job_random(-1e4, 1e4),
                            job_random(-1e4, 1e4),
                            job_random(8e3, 12e3),
                            i % 3 ? job_random(0, 360) : 90 * (i % 4),
                            i % 4 == 1   ? 90
                            : i % 4 == 2 ? 0
                                         : job_random(5, 80),
                            job_random(5e3, 2e4),
                            job_random(3e3, 1.5e4),
                            job_random(-180, 180),
                            job_random(-2, 2),
                            i % 2 ? 0.25 : 0.3};
    memcpy(x, fault, sizeof fault);
}

static void test_forms(void **state)
{
    for (int i = 0; i < 400; i++) {
        double x[LAST + 1], y[LAST + 1];
        const int reference = i % 4;
        random_fault(x, i);
        plain(x, reference, y);
        x[REFERENCE] = reference;
        if (reference)
            assert_forward(with("", reference), x, with("", 0), y);
        x[reference ? LAST : LAST - 1] = y[LAST - 1] = job_random(-1, 1); /* opening */
        assert_forward(with("opening_m", reference), x, with("opening_m", 0), y);
        double by[LAST + 1];
        memcpy(by, x, sizeof by);
        by[REFERENCE] = reference;
        by[RAKE] = y[SLIP] * cosine(y[RAKE]);
        by[SLIP] = y[SLIP] * sine(y[RAKE]);
        assert_forward(with("dip_slip_m", reference), by, with("", 0), y);
        by[RAKE] = y[RAKE];
        y[SLIP] = fabs(y[SLIP]) + 0.01;
        by[LAST] = 2e10;
        by[SLIP] = (log10(2e10 * y[LENGTH] * y[WIDTH] * y[SLIP]) - 9.1) / 1.5;
        assert_forward(with("Mw", reference), by, with("", 0), y);
    }
}

/* ---- jobs -------------------------------------------------------------------------------------*/

static struct job *open_job(int reference, const char *slips, const char *accept)
{
    char text[4096];
    snprintf(text, sizeof text,
             "{\"model\": \"okada\", \"stations\": \"stations.csv\", \"accept\": {%s}, "
             "\"rigidity_Pa\": 2e10, \"reference\": \"%s\", "
             "\"constraints\": {\"contains\": [0, 0, 4000, 9000]}, \"parameters\": ["
             "{\"name\": \"Ec_m\", \"min\": -6000, \"max\": 6000, \"n\": 4}, "
             "{\"name\": \"Nc_m\", \"min\": -6000, \"max\": 6000, \"n\": 3}, "
             "{\"name\": \"d_m\", \"min\": 1000, \"max\": 5000, \"n\": 3}, "
             "{\"name\": \"strike_deg\", \"min\": 0, \"max\": 90, \"n\": 3}, "
             "{\"name\": \"dip_deg\", \"min\": 30, \"max\": 90, \"n\": 3}, "
             "{\"name\": \"L_m\", \"min\": 6000, \"max\": 9000, \"n\": 2}, "
             "{\"name\": \"W_m\", \"min\": 4000, \"max\": 8000, \"n\": 3}, %s]}",
             accept, references[reference], slips);
    return job_read(text, NULL);
}

static bool near_rectangle(const double *y, double within)
{
    const double ss = sine(y[STRIKE]), cs = cosine(y[STRIKE]), s = sine(y[DIP]), c = cosine(y[DIP]);
    double least = INFINITY;
    for (int i = 0; i <= 64; i++) /* the nearest of many points on it */
        for (int k = 0; k <= 64; k++) {
            const double along = (i / 64.0 - 0.5) * y[LENGTH], down = k / 64.0 * y[WIDTH],
                         left = (y[WIDTH] / 2 - down) * c;
            const double e = y[EC] + along * ss - left * cs, n = y[NC] + along * cs + left * ss,
                         d = y[TOP] + down * s - 4000;
            least = fmin(least, sqrt(e * e + n * n + d * d));
        }
    return least <= within;
}

/* Is the station on the line in which the fault reaches the ground? Displacements are undefined
 * there, and no trial is accepted. */
static bool on_trace(const double *y, double east, double north)
{
    const double ss = sine(y[STRIKE]), cs = cosine(y[STRIKE]), left = y[WIDTH] / 2 * cosine(y[DIP]);
    const double e = east - (y[EC] - left * cs), n = north - (y[NC] + left * ss);
    return fabs(y[TOP]) < 1e-6 && fabs(e * cs - n * ss) < 1e-6 &&
           fabs(e * ss + n * cs) < y[LENGTH] / 2 + 1e-6;
}

/* Converts every trial of a job and predicts it by the plain form. */
static void assert_job(int reference, const char *slips, int what)
{
    struct job *job = open_job(reference, slips, "\"k_sigma\": 1");
    const struct stations *s = &job->stations;
    struct accepted exact = job_search(job, SEARCH_EXACT, 3),
                    brute = job_search(job, SEARCH_BRUTE, 1);
    size_t found = 0;
    assert_same(&exact, &brute);
    for (trial_number t = 0; t < job->trials; t++) {
        double x[JOB_AXES], y[JOB_AXES], most = 0;
        job_parameters(job, t, x);
        plain(x, reference, y);
        const bool above = reference == 3 && x[TOP] < x[WIDTH] / 2 * sine(x[DIP]) - 1e-6;
        if (what == 1)
            y[SLIP] = pow(10, 1.5 * x[SLIP] + 9.1) / 2e10 / x[LENGTH] / x[WIDTH];
        if (what == 2) {
            y[SLIP] = hypot(x[RAKE], x[SLIP]);
            y[RAKE] = atan2(x[SLIP], x[RAKE]) * 180 / M_PI;
        }
        for (int i = 0; i < s->n && !above; i++) {
            double u[3];
            model_forward(model_find("okada"), y, s->east[i], s->north[i], u);
            if (on_trace(y, s->east[i], s->north[i]))
                most = INFINITY;
            for (int c = 0; c < 3; c++)
                most = fmax(most, fabs(u[c] - s->observed[3 * i + c]) / s->sigma[3 * i + c]);
        }
        const bool held = found < exact.n && exact.record[found].trial == t;
        const bool fits = !above && most <= 1;
        if (fits != held)
            assert_true(!held && !near_rectangle(y, 8900));
        else if (held)
            assert_true(near_rectangle(y, 9100));
        found += held;
    }
    assert_int_equal(found, exact.n);
    assert_true(found > 20 && found < job->trials);
    accepted_free(&exact);
    accepted_free(&brute);
    job_close(job);
}

#define RAKES "{\"name\": \"rake_deg\", \"min\": 0, \"max\": 90, \"n\": 3}, "

static void test_jobs(void **state)
{
    job_write("stations.csv", "E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m\n"
                              "1000,-2000,0.02,0.01,0.15,0.15,0.15,0.15\n"
                              "-7000,5000,0,0.02,0.02,0.1,0.1,0.1\n");
    for (int reference = 0; reference < 4; reference++) {
        assert_job(reference, RAKES "{\"name\": \"slip_m\", \"min\": 0.5, \"max\": 2, \"n\": 3}",
                   0);
        assert_job(reference, RAKES "{\"name\": \"Mw\", \"min\": 5.5, \"max\": 6.5, \"n\": 3}", 1);
    }
    assert_job(1,
               "{\"name\": \"strike_slip_m\", \"min\": -0.5, \"max\": 1, \"n\": 3}, "
               "{\"name\": \"dip_slip_m\", \"min\": -0.5, \"max\": 1, \"n\": 3}",
               2);
}

/* Faults that would reach above the ground are no trials. */
static void test_above_ground(void **state)
{
    struct job *job =
        open_job(3, RAKES "{\"name\": \"slip_m\", \"value\": 1}", "\"keep_all\": true");
    struct accepted all = job_search(job, SEARCH_EXACT, 2);
    for (size_t i = 0; i < all.n; i++) {
        double x[JOB_AXES];
        job_parameters(job, all.record[i].trial, x);
        assert_true(x[TOP] >= x[WIDTH] / 2 * sine(x[DIP]) - 1e-6);
    }
    assert_true(all.n > 0);
    accepted_free(&all);
    job_close(job);
}

/* uU, the third column of the only row. */
static double uplift(const char *table)
{
    char *text;
    double u;
    job_write("cases.csv", table);
    assert_int_equal(write_forward(model_find("okada"), job_file("cases.csv"), job_file("u.csv")),
                     EK_OK);
    assert_int_equal(file_read_text(job_file("u.csv"), &text), EK_OK);
    assert_int_equal(sscanf(strchr(text, '\n') + 1, "%*[^,],%*[^,],%*[^,],%lf", &u), 1);
    free(text);
    unlink(job_file("u.csv"));
    unlink(job_file("cases.csv"));
    return u;
}

/* Tables of accepted trials have both slip and Mw: slip takes precedence in any order of columns,
 * and opening counts as well. */
static void test_forward(void **state)
{
#define FAULT  "E_m,N_m,Ec_m,Nc_m,d_m,strike_deg,dip_deg,L_m,W_m,rake_deg"
#define VALUES "3000,2000,0,0,3000,20,50,6000,4000,90"
    const double plain_one = uplift(FAULT ",slip_m\n" VALUES ",1\n"),
                 wide = uplift(FAULT ",slip_m,opening_m\n" VALUES ",1,2\n");
    assert_true(uplift(FAULT ",slip_m,Mw\n" VALUES ",1,7\n") == plain_one);
    assert_true(uplift("Mw," FAULT ",slip_m\n7," VALUES ",1\n") == plain_one);
    assert_true(uplift("Mw," FAULT ",slip_m,opening_m\n7," VALUES ",1,2\n") == wide &&
                wide != plain_one);
    const double mw = (log10(30e9 * 6000 * 4000) - 9.1) / 1.5;
    char text[300];
    snprintf(text, sizeof text, FAULT ",Mw\n" VALUES ",%.17g\n", mw);
    assert_true(fabs(uplift(text) / plain_one - 1) < 1e-12);
}

static void test_refusals(void **state)
{
    static const char *const wrong[] = {
        "\"model\": \"mogi\", \"reference\": \"top\", \"parameters\": []",
        "\"model\": \"okada\", \"reference\": \"middle\", \"parameters\": []",
        "\"model\": \"okada\", \"reference\": 1, \"parameters\": []",
        "\"model\": \"okada\", \"parameters\": [{\"name\": \"Mw\", \"value\": 6}, "
        "{\"name\": \"opening_m\", \"value\": 1}]",
        "\"model\": \"okada\", \"parameters\": [{\"name\": \"opening_m\", \"value\": 1}, "
        "{\"name\": \"Mw\", \"value\": 6}]",
        "\"model\": \"okada\", \"parameters\": [{\"name\": \"slip_m\", \"value\": 1}, "
        "{\"name\": \"Mw\", \"value\": 6}]",
        "\"model\": \"okada\", \"parameters\": [{\"name\": \"dip_slip_m\", \"value\": 1}, "
        "{\"name\": \"rake_deg\", \"value\": 6}]",
    };
    status_mute(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[1024];
        struct job *job;
        snprintf(text, sizeof text,
                 "{%s, \"stations\": \"stations.csv\", \"accept\": {\"best\": 3}}", wrong[i]);
        job_write("job.json", text);
        assert_int_equal(job_open(job_file("job.json"), NULL, &job), EK_USAGE);
    }
    status_mute(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_jobs),
                                       cmocka_unit_test(test_above_ground),
                                       cmocka_unit_test(test_forward),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
