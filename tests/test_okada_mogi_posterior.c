/* tests/test_okada_mogi_posterior.c – evidence, credible regions and Bayes factors: against a
 * closed form with only the volume free, against sums over all trials, and between jobs. */
#include "okada_mogi/judge.h"
#include "okada_mogi/posterior.h"
#include "tests/okada_mogi.h"

static struct job *open_job(int sources, const char *accept, int places, int volumes)
{
    char text[4096];
    int used = snprintf(text, sizeof text,
                        "{\"model\": \"mogi\", \"sources\": %d, \"stations\": \"stations.csv\", "
                        "\"accept\": {%s}, \"parameters\": [",
                        sources, accept);
    for (int s = 1; s <= sources; s++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%s{\"name\": \"Es_m.%d\", \"min\": %d, \"max\": 2000, \"n\": %d}, "
                         "{\"name\": \"Ns_m.%d\", \"min\": %d, \"max\": 1500, \"n\": %d}, "
                         "{\"name\": \"d_m.%d\", \"value\": 3000}, "
                         "{\"name\": \"dV_m3.%d\", \"min\": -2e6, \"max\": 6e6, \"n\": %d}",
                         s > 1 ? ", " : "", s, places > 1 ? -2000 : 2000, places, s,
                         places > 1 ? -1500 : 1500, places, s, s, volumes);
    snprintf(text + used, sizeof text - (size_t)used, "]}");
    return job_read(text, NULL);
}

/* The displacements of a source, with noise. */
static void write_stations(const double *x, double sigma)
{
    FILE *f = fopen(job_file("stations.csv"), "w");
    fputs("E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m\n", f);
    for (int i = 0; i < 6; i++) {
        const double e = job_random(-4e3, 4e3), n = job_random(-4e3, 4e3);
        double u[3];
        model_forward(model_find("mogi"), x, e, n, u);
        fprintf(f, "%.17g,%.17g,%.17g,%.17g,%.17g,%g,%g,%g\n", e, n,
                u[0] + sigma * job_random(-1.7, 1.7), u[1] + sigma * job_random(-1.7, 1.7),
                u[2] + 2 * sigma * job_random(-1.7, 1.7), sigma, sigma, 2 * sigma);
    }
    assert_int_equal(fclose(f), 0);
}

static struct posterior posterior_of(const struct job *job, json_t **json)
{
    struct spool *spool;
    struct stats *s;
    struct posterior p;
    struct accepted all = job_search(job, SEARCH_EXACT, 3);
    assert_int_equal(spool_open(SPOOL_MEMORY, &spool), EK_OK);
    assert_true(all.n > 0);
    if (job->accept.best > 0 && all.n > (size_t)job->accept.best) {
        accepted_sort_best(&all); /* as in results */
        all.n = (size_t)job->accept.best;
        accepted_sort(&all);
    }
    assert_int_equal(spool_put(spool, job->wanted, &all), EK_OK);
    assert_int_equal(stats_open(job, spool, &s), EK_OK);
    assert_int_equal(posterior_find(s, spool, job->wanted, &p), EK_OK);
    *json = posterior_json(s, &p);
    assert_non_null(*json);
    stats_close(s);
    spool_close(spool);
    return p;
}

/* With one free parameter, chi2 is a parabola: the evidence is a Gaussian integral, and regions are
 * intervals about the estimate with the widths of the normal distribution. */
static void test_closed_form(void **state)
{
    for (int round = 0; round < 5; round++) {
        const double truth[] = {2000, 1500, 3000, job_random(1e6, 3e6), 0.25},
                     unit[] = {2000, 1500, 3000, 1, 0.25};
        write_stations(truth, 0.01);
        struct job *job = open_job(1, "\"keep_all\": true", 1, 40001);
        const struct stations *s = &job->stations;
        double gg = 0, go = 0, oo = 0, peak = 0;
        json_t *json;
        const struct posterior p = posterior_of(job, &json);
        for (int i = 0; i < s->n; i++) {
            double g[3];
            model_forward(job->model, unit, s->east[i], s->north[i], g);
            for (int c = 0; c < 3; c++) {
                const double sigma = s->sigma[3 * i + c], o = s->observed[3 * i + c];
                gg += g[c] * g[c] / sigma / sigma;
                go += g[c] * o / sigma / sigma;
                oo += o * o / sigma / sigma;
                peak -= log(sigma * sqrt(2 * M_PI));
            }
        }
        const double best = go / gg, sd = 1 / sqrt(gg), low = -2e6, high = 6e6, step = 8e6 / 40000;
        const double inside =
            0.5 * (erf((high - best) / sd / sqrt(2)) - erf((low - best) / sd / sqrt(2)));
        const double known =
            peak - (oo - go * best) / 2 + log(sd * sqrt(2 * M_PI) * inside / (high - low));
        assert_true(sd < 5e5 && sd > 1e4);
        assert_true(fabs(p.log_evidence - known - log(40000.0 / 40001)) < 1e-6);
        assert_true(p.most == p.log_evidence && p.share == 1);
        static const double share[] = {0.6827, 0.9, 0.95}, sds[] = {1.00002, 1.64485, 1.95996};
        for (int k = 0; k < POSTERIOR_REGIONS; k++) {
            const json_t *r = json_array_get(json_object_get(json, "regions"), (size_t)k);
            const double from = json_number_of(json_object_get(r, "min"), "dV_m3.1"),
                         to = json_number_of(json_object_get(r, "max"), "dV_m3.1");
            assert_true(fabs(from - (best - sds[k] * sd)) < 4 * step + 0.005 * sd);
            assert_true(fabs(to - (best + sds[k] * sd)) < 4 * step + 0.005 * sd);
            assert_true(p.region[k].share >= share[k] - 1e-9 &&
                        p.region[k].share < share[k] + 0.01);
            assert_true(fabs((double)p.region[k].trials - (to - from) / step - 1) < 1e-3);
        }
        json_decref(json);
        job_close(job);
    }
}

/* Whatever is accepted, the sum over all trials lies between the bounds; if all trials are
 * accepted, it is exact. */
static void test_bounds(void **state)
{
    static const char *const accept[] = {"\"keep_all\": true",
                                         "\"k_sigma\": 3",
                                         "\"k_sigma\": [2, 4.5]",
                                         "\"misfit\": \"rms\", \"misfit_below\": 1.3",
                                         "\"best\": 7",
                                         "\"misfit\": \"rms\", \"best\": 30",
                                         "\"k_sigma\": 4, \"best\": 5",
                                         "\"misfit_below\": 2.5"};
    const double truth[] = {500, -500, 3000, 2.5e6, 0.25};
    for (int sources = 1; sources <= 2; sources++) {
        write_stations(truth, 0.02);
        double sum = 0, least = INFINITY, all = 0;
        for (size_t i = 0; i < sizeof accept / sizeof *accept; i++) {
            struct job *job = open_job(sources, accept[i], 5, sources > 1 ? 5 : 21);
            json_t *json;
            const struct posterior p = posterior_of(job, &json);
            if (!i) {
                struct judge *judge;
                struct accepted_record r;
                assert_int_equal(judge_open(job, &judge), EK_OK);
                for (int pass = 0; pass < 2; pass++)
                    for (trial_number t = 0; t < job->trials; t++) {
                        assert_true(judge_trial(judge, t, &r, NULL));
                        least = fmin(least, r.chi2);
                        sum += pass ? exp((least - r.chi2) / 2) : 0;
                    }
                judge_close(judge);
                double peak = 0;
                for (int k = 0; k < 3 * job->stations.n; k++)
                    peak -= log(job->stations.sigma[k]) + 0.5 * log(2 * M_PI);
                all = log(sum / (double)job->trials) - least / 2 + peak;
                assert_true(fabs(p.log_evidence - all) < 1e-9 && p.most == p.log_evidence);
            }
            assert_true(p.log_evidence <= all + 1e-9 && all <= p.most + 1e-9);
            assert_true(i || isfinite(p.below));
            if (i == 1) { /* accepting up to its threshold holds the promised share */
                char rms[64];
                json_t *wide;
                snprintf(rms, sizeof rms, "\"misfit\": \"rms\", \"misfit_below\": %.15g", p.below);
                struct job *more = open_job(sources, rms, 5, sources > 1 ? 5 : 21);
                assert_true(posterior_of(more, &wide).share >= 0.99);
                json_decref(wide);
                job_close(more);
            }
            assert_true(p.share >= 0 && p.share <= exp(p.log_evidence - all) + 1e-9);
            json_decref(json);
            job_close(job);
        }
    }
}

static void test_factors(void **state)
{
    const double truth[] = {500, -500, 3000, 2.5e6, 0.25};
    json_t *one, *two, *others, *factors;
    write_stations(truth, 0.01);
    struct job *job = open_job(1, "\"k_sigma\": 5", 9, 33);
    const struct posterior p = posterior_of(job, &one);
    json_t *result = json_pack("{s:O}", "posterior", one);
    assert_int_equal(json_write(job_file("one.json"), result), EK_OK);
    job_close(job);
    job = open_job(2, "\"k_sigma\": 4", 5, 5);
    const struct posterior q = posterior_of(job, &two);
    assert_int_equal(posterior_read(job, job_file("one.json"), &others), EK_OK);
    assert_non_null(factors = posterior_factors(two, others));
    const json_t *f = json_array_get(factors, 0);
    assert_true(fabs(json_number_of(f, "log_bayes_factor") - (q.log_evidence - p.log_evidence)) <
                1e-9);
    assert_true(fabs(json_number_of(f, "at_least") - (q.log_evidence - p.most)) < 1e-9);
    assert_true(fabs(json_number_of(f, "at_most") - (q.most - p.log_evidence)) < 1e-9);
    json_decref(factors);
    json_decref(others);
    job->stations.observed[0] += 1e-6;
    status_mute(1);
    assert_int_equal(posterior_read(job, job_file("one.json"), &others), EK_USAGE);
    assert_int_equal(posterior_read(job, job_file("job.json"), &others), EK_USAGE);
    assert_int_equal(posterior_read(job, job_file("none.json"), &others), EK_USAGE);
    status_mute(-1);
    unlink(job_file("one.json"));
    json_decref(result);
    json_decref(one);
    json_decref(two);
    job_close(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_closed_form),
                                       cmocka_unit_test(test_bounds),
                                       cmocka_unit_test(test_factors)};
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
