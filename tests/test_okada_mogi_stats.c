/* tests/test_okada_mogi_stats.c – statistics of accepted trials against direct sums and a known
 * cloud; the warnings. */
#include "okada_mogi/write.h"
#include "tests/okada_mogi.h"

/* Spools the records in two batches, the later one first. */
static struct stats *stats_of(const struct job *job, const struct accepted *all)
{
    struct spool *spool;
    struct stats *s;
    const size_t half = all->n / 2;
    assert_true(all->n > 1);
    assert_int_equal(spool_open(half / 2, &spool), EK_OK);
    for (int part = 1; part >= 0; part--) {
        struct accepted some = {0};
        const trial_number first = part ? all->record[half].trial : 0;
        for (size_t i = part ? half : 0; i < (part ? all->n : half); i++)
            assert_int_equal(accepted_add(&some, &all->record[i]), EK_OK);
        assert_int_equal(spool_put(spool, (struct trial_range){first, 1}, &some), EK_OK);
    }
    assert_int_equal(stats_open(job, spool, &s), EK_OK);
    spool_close(spool);
    return s;
}

static struct job *open_job(const char *accept, const char *dv)
{
    char text[2048];
    job_write("stations.csv", "site,E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m\n"
                              "A,0,0,0.001,0,0.024,0.005,0.005,0.01\n"
                              "B,3000,0,0.014,0.001,0.013,0.005,0.005,0.01\n"
                              "C,0,3000,-0.001,0.012,nan,0.005,0.005,0.01\n"
                              "D,-2000,-2500,-0.008,-0.011,,0.005,0.005,0.01\n");
    snprintf(text, sizeof text,
             "{\"model\": \"mogi\", \"stations\": \"stations.csv\", \"accept\": {%s}, "
             "\"parameters\": [{\"name\": \"Es_m\", \"min\": -2000, \"max\": 2000, \"step\": 200}, "
             "{\"name\": \"Ns_m\", \"value\": 0}, "
             "{\"name\": \"d_m\", \"min\": 1000, \"max\": 6000, \"step\": 250}, "
             "{\"name\": \"dV_m3\", %s}]}",
             accept, dv);
    return job_read(text, NULL);
}

static const char volumes[] = "\"min\": 1e5, \"max\": 8e6, \"step\": 1e5";

static void assert_near(double x, double y, double scale)
{
    assert_true(fabs(x - y) <= 1e-9 * scale);
}

static double least_chi2(const struct accepted *all)
{
    double least = INFINITY;
    for (size_t k = 0; k < all->n; k++)
        least = fmin(least, all->record[k].chi2);
    return least;
}

static double weight_of(const struct accepted *all, size_t i, int w)
{
    static double least;
    if (i == 0)
        least = least_chi2(all);
    return w == STATS_ALIKE ? 1 : exp(-(all->record[i].chi2 - least) / 2);
}

/* Column c of record i, computed differently. */
static double column_of(const struct job *job, const struct accepted *all, size_t i, int c)
{
    static const int parameter[] = {0, 2, 3};
    double x[JOB_AXES];
    job_parameters(job, all->record[i].trial, x);
    return x[parameter[c]];
}

static void check_percentiles(const struct job *job, const struct accepted *all,
                              const struct stats *s, int c, int w, double total)
{
    for (int p = 0; p < STATS_PERCENTS; p++) {
        const double value = s->column[c].percentile[w][p];
        double below = 0, upto = 0;
        for (size_t i = 0; i < all->n; i++) {
            below += column_of(job, all, i, c) < value ? weight_of(all, i, w) : 0;
            upto += column_of(job, all, i, c) <= value ? weight_of(all, i, w) : 0;
        }
        assert_true(below <= stats_percent[p] / 100 * total * (1 + 1e-9));
        assert_true(upto >= stats_percent[p] / 100 * total * (1 - 1e-9));
    }
}

static void test_sums(void **state)
{
    struct job *job = open_job("\"k_sigma\": 2", volumes);
    struct accepted all = job_search(job, SEARCH_EXACT, 1);
    struct stats *s = stats_of(job, &all);
    assert_true(all.n > 100);
    assert_int_equal(s->trials, all.n);
    assert_int_equal(s->ncolumns, 3);
    for (int w = 0; w < STATS_WEIGHTS; w++) {
        double total = 0, mean[3] = {0}, covariance[3][3] = {{0}};
        for (size_t i = 0; i < all.n; i++) {
            total += weight_of(&all, i, w);
            for (int c = 0; c < 3; c++)
                mean[c] += weight_of(&all, i, w) * column_of(job, &all, i, c);
        }
        for (size_t i = 0; i < all.n; i++)
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    covariance[a][b] += weight_of(&all, i, w) / total *
                                        (column_of(job, &all, i, a) - mean[a] / total) *
                                        (column_of(job, &all, i, b) - mean[b] / total);
        for (int a = 0; a < 3; a++) {
            assert_near(s->column[a].mean[w], mean[a] / total, 1e6);
            assert_near(s->column[a].sd[w], sqrt(covariance[a][a]), 1e6);
            for (int b = 0; b < 3; b++)
                assert_near(s->covariance[w][3 * a + b], covariance[a][b],
                            sqrt(covariance[a][a] * covariance[b][b]) * 1e3);
            check_percentiles(job, &all, s, a, w, total);
        }
    }
    stats_close(s);
    accepted_free(&all);
    job_close(job);
}

/* Marginals and pairs count each trial once. */
static void test_counts(void **state)
{
    struct job *job = open_job("\"k_sigma\": 2", volumes);
    struct accepted all = job_search(job, SEARCH_EXACT, 1);
    struct stats *s = stats_of(job, &all);
    double least = INFINITY;
    for (int c = 0; c < s->ncolumns; c++) {
        double sum = 0;
        for (int b = 0; b < s->column[c].nbins; b++) {
            sum += s->column[c].sum[STATS_ALIKE][b];
            least = fmin(least, s->column[c].least[b]);
        }
        assert_true(sum == (double)all.n);
        assert_true(least == s->best.misfit);
        if (s->column[c].axis < 0)
            continue;
        const struct trial_axis *axis = &job->axis[s->column[c].axis];
        size_t first = 0, last = 0;
        for (size_t i = 0; i < all.n; i++) {
            const double place = (column_of(job, &all, i, c) - trial_value(axis, 0)) /
                                 (trial_value(axis, axis->n - 1) - trial_value(axis, 0));
            first += place < 0.5 / (double)axis->n;
            last += place > 1 - 0.5 / (double)axis->n;
        }
        assert_true(s->column[c].at_first == first && s->column[c].at_last == last);
    }
    for (int a = 0; a < s->npaired; a++)
        for (int b = a + 1; b < s->npaired; b++) {
            double sum = 0, weight = 0;
            for (int i = 0; i < STATS_PAIR_BINS * STATS_PAIR_BINS; i++) {
                sum += stats_pair(s, a, b)[i].trials;
                weight += stats_pair(s, a, b)[i].weight;
            }
            assert_true(sum == (double)all.n && fabs(weight / s->weight - 1) < 1e-12);
        }
    stats_close(s);
    accepted_free(&all);
    job_close(job);
}

static bool warned(const json_t *o, const char *of, const char *where)
{
    size_t i;
    json_t *text;
    json_array_foreach(json_object_get(o, "warnings"), i, text)
    {
        if (strstr(json_string_value(text), of) && strstr(json_string_value(text), where))
            return true;
    }
    return false;
}

/* A range that ends too early gives a warning; one that holds the cloud does not. */
static void test_warnings(void **state)
{
    static const struct {
        const char *dv;
        bool first, last;
    } cases[] = {{volumes, false, false},
                 {"\"min\": 1e5, \"max\": 1.2e6, \"step\": 1e5", false, true},
                 {"\"min\": 1.2e6, \"max\": 8e6, \"step\": 1e5", true, false}};
    for (int i = 0; i < 3; i++) {
        struct job *job = open_job("\"k_sigma\": 1.2", cases[i].dv);
        struct accepted all = job_search(job, SEARCH_EXACT, 1);
        struct stats *s = stats_of(job, &all);
        json_t *o = write_stats(s);
        assert_int_equal(warned(o, "dV_m3: ", "first value"), cases[i].first);
        assert_int_equal(warned(o, "dV_m3: ", "last value"), cases[i].last);
        json_decref(o);
        stats_close(s);
        accepted_free(&all);
        job_close(job);
    }
}

/* A full circle of strikes has no end; a vertical dip is the model's limit, not the job's. */
static void test_ends_that_are_none(void **state)
{
    struct job *job;
    job_write("stations.csv", "site E_m N_m uE_m uN_m sE_m sN_m\nA 0 9000 0.1 0.1 0.01 0.01\n");
    job_write("job.json",
              "{\"model\": \"okada\", \"stations\": \"stations.csv\", \"accept\": {\"keep_all\": "
              "true}, \"parameters\": [{\"name\": \"Ec_m\", \"value\": 0}, {\"name\": \"Nc_m\", "
              "\"value\": 0}, {\"name\": \"d_m\", \"value\": 1000}, {\"name\": \"strike_deg\", "
              "\"min\": 0, \"max\": 330, \"step\": 30}, {\"name\": \"dip_deg\", \"min\": 60, "
              "\"max\": 90, \"step\": 15}, {\"name\": \"L_m\", \"value\": 9000}, {\"name\": "
              "\"W_m\", \"value\": 5000}, {\"name\": \"rake_deg\", \"min\": 0, \"max\": 90, "
              "\"step\": 45}, {\"name\": \"slip_m\", \"value\": 1}]}");
    assert_int_equal(job_open(job_file("job.json"), NULL, &job), EK_OK);
    struct accepted all = job_search(job, SEARCH_EXACT, 1);
    struct stats *s = stats_of(job, &all);
    json_t *o = write_stats(s);
    assert_false(warned(o, "strike_deg", ""));
    assert_true(warned(o, "dip_deg", "first value"));
    assert_false(warned(o, "dip_deg", "last value"));
    assert_true(warned(o, "rake_deg", "first value") && warned(o, "rake_deg", "last value"));
    json_decref(o);
    stats_close(s);
    accepted_free(&all);
    job_close(job);
}

/* Campi Flegrei on a 100 m grid, as published: mean and deviation of the cloud at k = 2.5, 349
 * trials. */
static void test_campi(void **state)
{
    static const double mean[] = {426286, 4518780, 2761, 5.38e6}, sd[] = {117, 75, 134, 0.41e6},
                        digit[] = {1, 5, 1, 1e4};
    struct job *job;
    assert_int_equal(job_open("okada_mogi/examples/campi.json", NULL, &job), EK_OK);
    struct accepted all = job_search(job, SEARCH_EXACT, 1);
    struct stats *s = stats_of(job, &all);
    assert_int_equal(s->trials, 1859);
    assert_int_equal(s->level[0].trials, 0);
    assert_int_equal(s->level[1].trials, 12);
    assert_int_equal(s->level[2].trials, 349);
    for (int c = 0; c < 4; c++) {
        assert_true(fabs(s->level[2].mean[c] - mean[c]) < digit[c]);
        assert_true(fabs(s->level[2].sd[c] - sd[c]) < digit[c]);
        assert_true(s->level[3].mean[c] == s->column[c].mean[STATS_ALIKE]);
        assert_near(s->level[3].sd[c], s->column[c].sd[STATS_ALIKE], mean[c]);
    }
    assert_int_equal(s->nclusters, 1);
    stats_close(s);
    accepted_free(&all);
    job_close(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),     cmocka_unit_test(test_counts),
        cmocka_unit_test(test_warnings), cmocka_unit_test(test_ends_that_are_none),
        cmocka_unit_test(test_campi),
    };
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
