/* tests/test_okada_mogi_refine.c – finer grids around accepted trials keep all of these, stay
 * within their limits, and are valid jobs. */
#include "okada_mogi/refine.h"
#include "tests/okada_mogi.h"

static const char job_text[] =
    "{\"model\": \"mogi\", \"stations\": {\"file\": \"stations.csv\", \"noise_floor\": 0.001}, "
    "\"accept\": {\"k_sigma\": [0.6, 0.9]}, \"constraints\": {\"radius_over_depth\": 0.035}, "
    "\"parameters\": [{\"name\": \"Es_m\", \"min\": -2000, \"max\": 800, \"step\": 400}, "
    "{\"name\": \"Ns_m\", \"value\": 100}, "
    "{\"name\": \"d_m\", \"min\": 2500, \"max\": 9500, \"step\": 500}, "
    "{\"name\": \"dV_m3\", \"min\": 1e5, \"max\": 9.1e6, \"step\": 3e5}]}";

static struct job *open_job(void)
{
    struct job *job;
    job_write("stations.csv", "site,E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m\n"
                              "A,0,0,0.001,0,0.024,0.005,0.005,0.01\n"
                              "B,3000,0,0.014,0.001,0.013,0.005,0.005,0.01\n"
                              "C,0,3000,-0.001,0.012,nan,0.005,0.005,0.01\n");
    job_write("job.json", job_text);
    assert_int_equal(job_open(job_file("job.json"), NULL, &job), EK_OK);
    return job;
}

static struct stats *stats_of(const struct job *job, const struct accepted *all)
{
    struct spool *spool;
    struct stats *s;
    struct accepted copy = {0};
    for (size_t i = 0; i < all->n; i++)
        assert_int_equal(accepted_add(&copy, &all->record[i]), EK_OK);
    assert_int_equal(spool_open(SPOOL_MEMORY, &spool), EK_OK);
    assert_int_equal(spool_put(spool, (struct trial_range){0, job->trials}, &copy), EK_OK);
    assert_int_equal(stats_open(job, spool, &s), EK_OK);
    spool_close(spool);
    return s;
}

/* The number of the trial with these parameters, which must be on the job's grid. */
static trial_number find_trial(const struct job *job, const double *x)
{
    long place[JOB_AXES] = {0};
    for (int a = 0; a < job->naxes; a++) {
        const struct trial_axis *axis = &job->axis[a];
        const double value = x[job_at(job, a)];
        if (axis->n > 1)
            place[a] =
                lround((value - axis->min) / (axis->max - axis->min) * (double)(axis->n - 1));
        assert_true(place[a] >= 0 && place[a] < axis->n);
        assert_true(fabs(trial_value(axis, place[a]) - value) < 1e-9 * (1 + fabs(value)));
    }
    return trial_of(job->axis, job->naxes, place);
}

static bool holds(const struct accepted *all, trial_number trial)
{
    size_t begin = 0, end = all->n;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (all->record[middle].trial < trial)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < all->n && all->record[begin].trial == trial;
}

/* Three rounds with different factors. */
static void test_nested(void **state)
{
    static const char *const by[] = {NULL, "3", "1,d_m=2"};
    static const int factor[][4] = {{2, 2, 2, 2}, {3, 3, 3, 3}, {1, 1, 2, 1}};
    struct job *job = open_job(), *next;
    struct refine limits, r;
    json_t *refined;
    int inside = 0, at_limit = 0;
    assert_int_equal(refine_begin(job, NULL, &limits), EK_OK);
    for (int round = 0; round < 3; round++) {
        struct accepted all = job_search(job, SEARCH_EXACT, 1);
        struct stats *s = stats_of(job, &all);
        assert_true(all.n > 10);
        assert_int_equal(refine_begin(job, by[round], &r), EK_OK);
        memcpy(r.min, limits.min, sizeof r.min);
        memcpy(r.max, limits.max, sizeof r.max);
        assert_int_equal(refine_job(job, s, &r, &refined), EK_OK);
        assert_int_equal(job_take(job->path, refined, NULL, &next), EK_OK);
        json_decref(refined);
        assert_true(next->axis[2].n == 1 && next->axis[2].min == 100); /* nu comes first */
        assert_int_equal(next->nconstraints, 1);
        assert_int_equal(next->accept.nk, 2);
        for (int c = 0; c < s->ncolumns; c++) {
            const int a = s->column[c].axis;
            const struct trial_axis *axis = &next->axis[a];
            const double step =
                (job->axis[a].max - job->axis[a].min) / (double)(job->axis[a].n - 1);
            const double finer = (axis->max - axis->min) / (double)(axis->n - 1);
            assert_true(fabs(finer * factor[round][a - 1] / step - 1) < 1e-9);
            /* A step beyond the accepted trials, if that is within the limits, which it may hit. */
            const double low = s->column[c].min - step, high = s->column[c].max + step;
            const bool lower = low >= limits.min[a] - 1e-6 * step;
            const bool higher = high <= limits.max[a] + 1e-6 * step;
            assert_true(fabs(axis->min - (lower ? low : low + step)) < 1e-6 * step);
            assert_true(fabs(axis->max - (higher ? high : high - step)) < 1e-6 * step);
            inside += lower && higher;
            at_limit += fabs(low - limits.min[a]) < 1e-6 * step;
            at_limit += fabs(high - limits.max[a]) < 1e-6 * step;
        }
        struct accepted finer = job_search(next, SEARCH_EXACT, 1);
        for (size_t i = 0; i < all.n; i++) {
            double x[JOB_AXES];
            job_parameters(job, all.record[i].trial, x);
            assert_true(holds(&finer, find_trial(next, x)));
        }
        accepted_free(&finer);
        accepted_free(&all);
        stats_close(s);
        job_close(job);
        job = next;
    }
    assert_true(inside >= 3 && at_limit >= 2);
    job_close(job);
}

static void test_factors(void **state)
{
    struct job *job = open_job();
    struct refine r;
    assert_int_equal(refine_begin(job, "4,dV_m3=1,Es_m=7", &r), EK_OK);
    assert_int_equal(r.factor[1], 7);
    assert_int_equal(r.factor[3], 4);
    assert_int_equal(r.factor[4], 1);
    static const char *const wrong[] = {"0", "x", "2,d=3", "d_m=", "1.5", "", "2000"};
    status_mute(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(refine_begin(job, wrong[i], &r), EK_USAGE);
    assert_int_equal(refine_begin(job, "d_n=3", &r), EK_USAGE);
    assert_non_null(strstr(status_message(), "did you mean 'd_m'"));
    status_mute(-1);
    job_close(job);
}

/* A job file next to the job names its stations as the job does; one elsewhere also finds them. */
static void test_files(void **state)
{
    struct job *job = open_job(), *written;
    struct accepted all = job_search(job, SEARCH_EXACT, 1);
    struct stats *s = stats_of(job, &all);
    struct refine r;
    json_t *refined;
    char elsewhere[] = "/tmp/okada-mogi-refined-XXXXXX", path[64];
    assert_non_null(mkdtemp(elsewhere));
    snprintf(path, sizeof path, "%s/job.json", elsewhere);
    assert_int_equal(refine_begin(job, NULL, &r), EK_OK);
    assert_int_equal(refine_job(job, s, &r, &refined), EK_OK);
    json_object_set_new(json_array_get(json_object_get(refined, "parameters"), 1), "value",
                        json_real(0.1 + 0.2)); /* 17 digits */
    const char *const paths[] = {job_file("refined.json"), path};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(refine_write(job, refined, paths[i]), EK_OK);
        assert_int_equal(job_open(paths[i], NULL, &written), EK_OK);
        assert_int_equal(written->stations.n, 3);
        assert_true(written->axis[2].min == 0.1 + 0.2); /* nu comes first */
        const char *file =
            json_string_value(json_object_get(json_object_get(written->root, "stations"), "file"));
        assert_int_equal(strcmp(file, "stations.csv") == 0, i == 0);
        job_close(written);
        unlink(paths[i]);
    }
    rmdir(elsewhere);
    json_decref(refined);
    stats_close(s);
    accepted_free(&all);
    job_close(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
