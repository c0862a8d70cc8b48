/* tests/test_okada_mogi_translation.c – an unknown translation of the network: the searches agree
 * with intersected intervals, with variances about a weighted mean, and with one another. */
#include "okada_mogi/judge.h"
#include "okada_mogi/write.h"
#include "tests/okada_mogi.h"

enum { STATIONS = 14, LOS = 5 };

/* Writes displacements [STATIONS][3] of a trial, translated and disturbed by up to `noise` sigma.
 * Kind 1: a lattice; 2: with components missing, one direction wholly or but for one station; 3:
 * also data along vectors. */
static void write_stations(const double (*u)[3], const double *move, double noise, int kind)
{
    char table[6000] = "E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m,value_m,sigma_m,lE,lN,lU\n";
    for (int i = 0; i < STATIONS + (kind == 3 ? LOS : 0); i++) {
        char *at = table + strlen(table);
        const double e = kind == 1 ? 1000 * (i % 4 - 1) : job_random(-4e3, 4e3),
                     n = kind == 1 ? 1000 * (i / 4 - 1) : job_random(-4e3, 4e3);
        const double seen = job_random(-0.02, 0.05);
        at += sprintf(at, "%.3f,%.3f", e, n);
        if (i >= STATIONS) {
            sprintf(at, ",,,,,,,%.5f,0.05,0.6,0,0.8\n", seen);
            continue;
        }
        double x[3], sigma[3];
        for (int c = 0; c < 3; c++) {
            const bool none = kind == 2 && (c == 0 ? i % 3 == 1 : c == 1 ? i > 0 && i % 5 != 9 : 0);
            sigma[c] = (i + c) % 3 ? 0.01 : 0.025;
            x[c] = none ? NAN
                        : (u ? u[i][c] : job_random(-0.03, 0.03)) + move[c] +
                              noise * sigma[c] * job_random(-1, 1);
        }
        for (int c = 0; c < 3; c++)
            at += sprintf(at, isnan(x[c]) ? "," : ",%.9f", x[c]);
        for (int c = 0; c < 3; c++)
            at += sprintf(at, isnan(x[c]) ? "," : ",%g", sigma[c]);
        sprintf(at, ",,,,,\n");
    }
    job_write("stations.csv", table);
}

static struct job *open_job(int model, const char *accept, bool translation)
{
    char text[3000];
    snprintf(text, sizeof text, "{%s, \"stations\": \"stations.csv\", \"accept\": {%s}%s}",
             job_sources[model], accept, translation ? ", \"translation\": true" : "");
    return job_read(text, NULL);
}

/* Computes a trial's record from its predictions alone. The least maximum over translations is the
 * largest |d - d'| / (sigma + sigma') of two data. */
static void expect(const struct stations *s, const double *u, double *most, double *chi2)
{
    *most = *chi2 = 0;
    for (int c = 0; c < 3; c++) {
        double w = 0, wd = 0, mean;
        for (int i = 0; i < s->n; i++) {
            const double d = u[3 * i + c] - s->observed[3 * i + c], sigma = s->sigma[3 * i + c];
            if (isnan(d))
                continue;
            if (stations_scalar(s, i)) {
                *most = fmax(*most, fabs(d) / sigma);
                *chi2 += d * d / (sigma * sigma);
                continue;
            }
            w += 1 / (sigma * sigma);
            wd += d / (sigma * sigma);
            for (int k = 0; k < i; k++) {
                const double other = u[3 * k + c] - s->observed[3 * k + c];
                if (!stations_scalar(s, k) && !isnan(other))
                    *most = fmax(*most, fabs(d - other) / (sigma + s->sigma[3 * k + c]));
            }
        }
        mean = wd / w;
        for (int i = 0; i < s->n; i++) {
            const double d = u[3 * i + c] - s->observed[3 * i + c] - mean;
            if (!stations_scalar(s, i) && !isnan(d))
                *chi2 += d * d / (s->sigma[3 * i + c] * s->sigma[3 * i + c]);
        }
    }
}

/* Exact, brute and the functions above accept the same trials; returns how many. */
static size_t compare(struct job *job, double k, double below)
{
    struct accepted exact = job_search(job, SEARCH_EXACT, 3),
                    brute = job_search(job, SEARCH_BRUTE, 1);
    struct judge *judge;
    const size_t n = exact.n;
    size_t at = 0;
    assert_same(&exact, &brute);
    assert_int_equal(judge_open(job, &judge), EK_OK);
    for (trial_number t = 0; t < job->trials; t++) {
        struct accepted_record record;
        const double *u;
        double most, chi2;
        const bool in = at < n && exact.record[at].trial == t;
        assert_true(judge_trial(judge, t, &record, &u));
        expect(&job->stations, u, &most, &chi2);
        const double mean = sqrt(chi2 / job->stations.ncomponents);
        if (fabs(most - k) > 1e-7 * k && fabs(mean - below) > 1e-7)
            assert_true(in == (most < k && mean < below));
        assert_true(fabs(record.chi2 - chi2) <= 1e-8 * chi2 + 1e-9);
        if (in && (job->accept.nk || job->accept.misfit == JOB_MISFIT_MAX))
            assert_true(fabs(exact.record[at].most - most) <= 1e-8 * most + 1e-9);
        at += in;
    }
    assert_true(at == n);
    judge_close(judge);
    accepted_free(&exact);
    accepted_free(&brute);
    return n;
}

static void test_searches(void **state)
{
    static const double none = INFINITY;
    const int jobs = getenv("EK_LONG") ? 50 : 24;
    int some = 0;
    for (int i = 0; i < jobs; i++) {
        const int model = i % 3, kind = i / 3 % 4, accept = i % 4;
        const double move[] = {job_random(-2, 2), job_random(-2, 2), i % 5 ? 0.3 : 0};
        const double x = job_random(1.5, 6);
        char text[100];
        write_stations(NULL, move, 1, kind);
        snprintf(text, sizeof text,
                 accept == 0   ? "\"k_sigma\": %.6f"
                 : accept == 1 ? "\"misfit\": \"rms\", \"misfit_below\": %.6f"
                 : accept == 2 ? "\"k_sigma\": 6, \"misfit\": \"rms\", \"misfit_below\": %.6f"
                               : "\"misfit_below\": %.6f",
                 x);
        struct job *job = open_job(model, text, true);
        const double read = strtod(strrchr(text, ' '), NULL);
        some += compare(job,
                        accept == 0 || accept == 3 ? read
                        : accept == 2              ? 6
                                                   : none,
                        accept == 1 || accept == 2 ? read : none) > 0;
        job_close(job);
    }
    assert_true(some > jobs / 2);
}

/* The best n are the same, too. */
static void test_best(void **state)
{
    for (int i = 0; i < 6; i++) {
        write_stations(NULL, (const double[]){1, -2, 3}, 1, i % 4);
        struct job *job =
            open_job(i % 3, i % 2 ? "\"best\": 20" : "\"best\": 20, \"misfit\": \"rms\"", true);
        struct accepted a = job_search(job, SEARCH_EXACT, 1), b = job_search(job, SEARCH_BRUTE, 1);
        accepted_sort_best(&a);
        accepted_sort_best(&b);
        for (int k = 0; k < 20; k++)
            assert_true(a.record[k].trial == b.record[k].trial &&
                        a.record[k].misfit == b.record[k].misfit);
        accepted_free(&a);
        accepted_free(&b);
        job_close(job);
    }
}

/* Whether a trial is among the n accepted ones. */
static bool finds(const struct job *job, trial_number truth, size_t *n)
{
    struct accepted found = job_search(job, SEARCH_EXACT, 2);
    bool in = false;
    for (size_t i = 0; i < found.n; i++)
        in = in || found.record[i].trial == truth;
    *n = found.n;
    accepted_free(&found);
    return in;
}

/* A source's displacements, translated: found with the translation, never without. The set found
 * does not depend on the translation, and the report states it. */
static void test_planted(void **state)
{
    static const double none[3] = {0}, move[] = {0.7, -0.4, 1.3};
    for (int i = 0; i < 6; i++) {
        const int model = i % 3;
        const uint64_t places = job_seed;
        size_t n[3];
        double u[STATIONS][3], *found;
        struct accepted_record record = {0};
        write_stations(NULL, none, 0, 1);
        struct job *job = open_job(model, "\"k_sigma\": 1", false);
        const trial_number truth = job->trials / 3 + 7;
        assert_int_equal(write_predict(job, truth, &found), EK_OK);
        memcpy(u, found, sizeof u);
        free(found);
        job_close(job);
        for (int turn = 0; turn < 3; turn++) {
            job_seed = places;
            write_stations((const double(*)[3])u, turn ? move : none, 0.9, 1);
            job = open_job(model, "\"k_sigma\": 1", turn < 2);
            assert_true(finds(job, truth, &n[turn]) == (turn < 2));
            if (turn == 1) {
                assert_int_equal(write_predict(job, truth, &found), EK_OK);
                for (int c = 0; c < 3; c++)
                    assert_true(fabs(found[4 * STATIONS + c] - move[c]) < 0.02);
                record.trial = truth;
                json_t *said = write_trial(job, &record), *list;
                list = json_object_get(said, "translation_m");
                for (size_t c = 0; c < 3; c++)
                    assert_true(json_real_value(json_array_get(list, c)) ==
                                found[4 * STATIONS + c]);
                json_decref(said);
                for (int k = 0; k < 3 * STATIONS; k++)
                    assert_true(fabs(found[k] - job->stations.observed[k]) < 0.05);
                free(found);
            }
            job_close(job);
        }
        assert_true(n[0] == n[1] && n[2] == 0);
    }
}

/* --generate adds its own translation */
static void test_generated(void **state)
{
    struct accepted_record record;
    struct judge *judge;
    double sum = 0;
    write_stations(NULL, (const double[]){500, 20, -30}, 1, 2);
    struct job *job = open_job(0, "\"best\": 1", true), *made;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        assert_int_equal(write_synthetic(job, 1000, seed, job_file("stations.csv")), EK_OK);
        assert_int_equal(job_open(job_file("job.json"), NULL, &made), EK_OK);
        assert_int_equal(made->stations.ncomponents, job->stations.ncomponents);
        assert_int_equal(judge_open(made, &judge), EK_OK);
        assert_true(judge_trial(judge, 1000, &record, NULL));
        for (int i = 0; i < 3 * made->stations.n; i++)
            assert_false(fabs(made->stations.observed[i]) > 2);
        sum += record.chi2;
        judge_close(judge);
        job_close(made);
    }
    const double n = 30 * (job->stations.ncomponents - 3);
    assert_true(fabs(sum - n) < 4 * sqrt(2 * n));
    job_close(job);
}

static void test_refused(void **state)
{
    static const char *const wrong[][3] = {
        {"E_m,N_m,value_m,sigma_m,lE,lN,lU\n1,2,3,1,0,0,1\n", "true", "no station has components"},
        {"E_m,N_m,uE_m,uN_m,sE_m,sN_m,rho\n1,2,3,1,1,1,0.5\n", "true", "are correlated"},
        {"E_m,N_m,uE_m,sE_m\n1,2,3,1\n", "[1]", "translation"},
        {"E_m,N_m,uE_m,sE_m\n1,2,3,1\n", "true", "--certify"}};
    status_mute(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[2000];
        struct job *job;
        struct certificate out;
        snprintf(text, sizeof text,
                 "{%s, \"stations\": \"stations.csv\", \"accept\": {\"k_sigma\": 1}, "
                 "\"translation\": %s}",
                 job_sources[0], wrong[i][1]);
        job_write("job.json", text);
        job_write("stations.csv", wrong[i][0]);
        const enum ek_status st = job_open(job_file("job.json"), NULL, &job);
        assert_int_equal(st, i < 3 ? EK_USAGE : EK_OK);
        if (!st) {
            assert_int_equal(certify(job, job_file("proof.json"), &out), EK_USAGE);
            job_close(job);
        }
        if (!strstr(status_message(), wrong[i][2]))
            fail_msg("'%s' is not in: %s", wrong[i][2], status_message());
    }
    status_mute(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_searches), cmocka_unit_test(test_best),
                                       cmocka_unit_test(test_planted),
                                       cmocka_unit_test(test_generated),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
