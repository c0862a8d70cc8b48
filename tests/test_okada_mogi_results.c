/* tests/test_okada_mogi_results.c – results of accepted trials: spooled batches, files, clusters,
 * the final check. */
#include "okada_mogi/clusters.h"
#include "okada_mogi/results.h"
#include "okada_mogi/spool.h"
#include "tests/okada_mogi.h"

#include <endian.h>

static const char station[] = "site,E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m\n"
                              "A,1000,0,0.01,0,0.02,0.005,0.005,0.01\n";

static struct job *open_fault(const char *more)
{
    char text[2048];
    job_write("stations.csv", station);
    snprintf(text, sizeof text,
             "{\"model\": \"okada\", \"stations\": \"stations.csv\", \"accept\": {\"k_sigma\": 2}, "
             "%s \"parameters\": ["
             "{\"name\": \"Ec_m\", \"min\": 0, \"max\": 3, \"n\": 4}, "
             "{\"name\": \"Nc_m\", \"value\": 7}, {\"name\": \"d_m\", \"value\": 1000}, "
             "{\"name\": \"strike_deg\", \"value\": 30}, {\"name\": \"dip_deg\", \"value\": 60}, "
             "{\"name\": \"L_m\", \"value\": 20000}, {\"name\": \"W_m\", \"value\": 10000}, "
             "{\"name\": \"rake_deg\", \"min\": 80, \"max\": 100, \"step\": 10}, "
             "{\"name\": \"slip_m\", \"min\": 0, \"max\": 1.5, \"n\": 4}]}",
             more);
    return job_read(text, NULL);
}

/* ---- spool ------------------------------------------------------------------------------------*/

enum { BATCHES = 7, EACH = 3000 };

static enum ek_status expect_next(void *arg, const struct accepted_record *record, size_t n)
{
    trial_number *next = arg;
    for (size_t i = 0; i < n; i++) {
        assert_true(record[i].trial == *next * 3);
        assert_true(record[i].misfit == (double)*next);
        ++*next;
    }
    return EK_OK;
}

/* Trials 0, 3, 6, …; batches arrive out of order, and one is empty. */
static void spool_with_room(size_t memory)
{
    static const int order[BATCHES] = {4, 0, 6, 2, 1, 5, 3};
    struct spool *s;
    assert_int_equal(spool_open(memory, &s), EK_OK);
    for (int round = 0; round < 2; round++) {
        for (int k = 0; k < BATCHES; k++) {
            struct accepted a = {0};
            const trial_number first = (trial_number)order[k] * EACH;
            for (trial_number i = first; i < first + EACH; i++) {
                const struct accepted_record r = {.trial = 3 * i, .misfit = (double)i};
                assert_int_equal(accepted_add(&a, &r), EK_OK);
            }
            assert_int_equal(spool_put(s, (struct trial_range){3 * first, 3 * EACH}, &a), EK_OK);
            assert_int_equal(a.n, 0);
        }
        assert_int_equal(spool_count(s), BATCHES * EACH);
        for (int twice = 0; twice < 2; twice++) {
            trial_number next = 0;
            assert_int_equal(spool_each(s, expect_next, &next), EK_OK);
            assert_true(next == BATCHES * EACH);
        }
        for (trial_number t = 0; t < 3 * BATCHES * EACH + 10; t += 1 + t % 97) {
            bool held;
            assert_int_equal(spool_find(s, t, &held), EK_OK);
            assert_int_equal(held, t % 3 == 0 && t < 3 * BATCHES * EACH);
        }
        spool_clear(s);
        assert_int_equal(spool_count(s), 0);
    }
    spool_close(s);
}

static void test_spool(void **state)
{
    spool_with_room(SPOOL_MEMORY);
    spool_with_room(2 * EACH);
    spool_with_room(0);
}

static void test_spool_without_disk(void **state)
{
    struct spool *s;
    struct accepted a = {0};
    const struct accepted_record r = {.trial = 1};
    setenv("TMPDIR", "/dev/null/none", 1);
    assert_int_equal(spool_open(0, &s), EK_OK);
    assert_int_equal(accepted_add(&a, &r), EK_OK);
    status_mute(1);
    assert_int_equal(spool_put(s, (struct trial_range){0, 9}, &a), EK_UNAVAILABLE);
    status_mute(-1);
    assert_non_null(strstr(status_message(), "/dev/null/none"));
    unsetenv("TMPDIR");
    accepted_free(&a);
    spool_close(s);
}

/* ---- files ------------------------------------------------------------------------------------*/

/* The bytes of a file with the records of all trials. */
static char *write_all(const struct job *job, enum accepted_format format, size_t *size)
{
    struct accepted_file *f;
    static char bytes[1 << 16];
    const size_t n = (size_t)job->trials;
    assert_int_equal(accepted_file_open(job_file("out"), format, job, n, &f), EK_OK);
    for (size_t i = 0; i < n; i++) {
        const struct accepted_record r = {
            .trial = i, .misfit = 0.5 * (double)i, .chi2 = (double)i, .rms = 0.25};
        assert_int_equal(accepted_file_put(f, &r, 1), EK_OK);
    }
    assert_int_not_equal(access(job_file("out"), F_OK), 0); /* absent until it is complete */
    assert_int_equal(accepted_file_end(f, EK_OK), EK_OK);
    FILE *in = fopen(job_file("out"), "r");
    assert_non_null(in);
    *size = fread(bytes, 1, sizeof bytes - 1, in);
    bytes[*size] = '\0';
    fclose(in);
    unlink(job_file("out"));
    return bytes;
}

static void test_csv(void **state)
{
    size_t size;
    struct job *job = open_fault("");
    char *text = write_all(job, ACCEPTED_CSV, &size);
    static const char start[] =
        "index,Ec_m,Nc_m,d_m,strike_deg,dip_deg,L_m,W_m,rake_deg,slip_m,misfit,chi2,rms_m,Mw\n"
        "0,0,7,1000,30,60,20000,10000,80,0,0,0,0.25,\n" /* no slip, no magnitude */
        "1,0,7,1000,30,60,20000,10000,80,0.5,0.5,1,0.25,6.25";
    assert_memory_equal(text, start, sizeof start - 1);
    job_close(job);
}

static uint64_t u64_at(const char *bytes)
{
    uint64_t x;
    memcpy(&x, bytes, sizeof x);
    return le64toh(x);
}

static double real_at(const char *bytes)
{
    const uint64_t bits = u64_at(bytes);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void test_binary(void **state)
{
    size_t size;
    struct job *job = open_fault("\"rigidity_Pa\": 40e9,");
    const char *bytes = write_all(job, ACCEPTED_BINARY, &size);
    assert_memory_equal(bytes, "EKTRIALS", 8);
    const uint64_t word = u64_at(bytes + 8);
    const size_t header = word >> 32, columns = u64_at(bytes + 24) & 0xffffffff;
    assert_int_equal(word & 0xffffffff, 1);
    assert_int_equal(header % 8, 0);
    assert_int_equal(u64_at(bytes + 16), job->trials);
    assert_int_equal(columns, 13);
    assert_int_equal(u64_at(bytes + 24) >> 32, 16 + 8 * columns);
    assert_string_equal(bytes + 32, "Ec_m,Nc_m,d_m,strike_deg,dip_deg,L_m,W_m,rake_deg,slip_m,"
                                    "misfit,chi2,rms_m,Mw");
    assert_int_equal(size, header + (size_t)job->trials * (16 + 8 * columns));
    for (size_t i = 0; i < (size_t)job->trials; i++) {
        const char *row = bytes + header + i * (16 + 8 * columns);
        double x[JOB_AXES];
        job_parameters(job, i, x);
        assert_true(u64_at(row) == i && u64_at(row + 8) == 0);
        for (int a = 0; a < 9; a++)
            assert_true(real_at(row + 16 + 8 * a) == x[a]);
        assert_true(real_at(row + 16 + 8 * 10) == (double)i);
        const double magnitude = real_at(row + 16 + 8 * 12);
        assert_true(x[8] > 0 ? fabs(magnitude - (log10(40e9 * 2e8 * x[8]) - 9.1) / 1.5) < 1e-12
                             : isnan(magnitude));
    }
    job_close(job);
}

/* ---- clusters ---------------------------------------------------------------------------------*/

enum { AXES = 4, SIDE = 6, CELLS = SIDE * SIDE * SIDE * SIDE };

static const struct trial_axis cube[AXES] = {
    {0, 1, SIDE}, {0, 1, SIDE}, {0, 1, SIDE}, {0, 1, SIDE}};

static bool touch(int i, int k)
{
    long a[AXES], b[AXES];
    trial_place(cube, AXES, (trial_number)i, a);
    trial_place(cube, AXES, (trial_number)k, b);
    for (int d = 0; d < AXES; d++)
        if (labs(a[d] - b[d]) > 1)
            return false;
    return true;
}

/* Labels every cell connected with cell i. */
static void flood(const bool *there, int *label, int i)
{
    for (int k = 0; k < CELLS; k++)
        if (there[k] && label[k] != label[i] && touch(i, k)) {
            label[k] = label[i];
            flood(there, label, k);
        }
}

static void each_cell(struct clusters *s, const bool *there,
                      void (*visit)(struct clusters *s, const long *place))
{
    long place[AXES];
    for (int i = 0; i < CELLS; i++)
        if (there[i]) {
            trial_place(cube, AXES, (trial_number)i, place);
            visit(s, place);
        }
}

/* Random cells, from few to most, against a flood fill over all pairs. */
static void test_clusters(void **state)
{
    static const long low[AXES] = {0}, high[AXES] = {SIDE - 1, SIDE - 1, SIDE - 1, SIDE - 1};
    size_t several = 0;
    for (int round = 0; round < 40; round++) {
        bool there[CELLS];
        int label[CELLS] = {0};
        size_t found = 0, size[CELLS] = {0};
        struct clusters *s;
        for (int i = 0; i < CELLS; i++)
            there[i] = job_random(0, 1) < 0.003 + 0.0002 * round * round;
        for (int i = 0; i < CELLS; i++)
            if (there[i] && !label[i]) {
                label[i] = i + 1;
                flood(there, label, i);
                found++;
            }
        for (int i = 0; i < CELLS; i++)
            size[label[i] ? label[i] - 1 : 0] += label[i] > 0;
        assert_int_equal(clusters_open(AXES, low, high, CELLS + 1, &s), EK_OK);
        each_cell(s, there, clusters_add);
        assert_int_equal(clusters_join(s), EK_OK);
        each_cell(s, there, clusters_count);
        assert_int_equal(clusters_rank(s), found);
        assert_int_equal(clusters_coarseness(s), 1);
        size_t seen[CELLS] = {0};
        for (int i = 0; i < CELLS; i++) {
            long place[AXES];
            trial_place(cube, AXES, (trial_number)i, place);
            if (!there[i])
                continue;
            const size_t number = clusters_of(s, place);
            assert_true(number < found);
            assert_true(!seen[number] || seen[number] == (size_t)label[i]);
            seen[number] = (size_t)label[i];
        }
        for (size_t k = 1; k < found; k++)
            assert_true(size[seen[k - 1] - 1] >= size[seen[k] - 1]);
        several += found > 2;
        clusters_close(s);
    }
    assert_true(several > 5);
}

/* With little memory, two distant blocks stay apart and all trials are counted. */
static void test_coarse_clusters(void **state)
{
    static const long low[2] = {-50, 10}, high[2] = {949, 1009};
    struct clusters *s;
    assert_int_equal(clusters_open(2, low, high, 64, &s), EK_OK);
    for (int pass = 0; pass < 2; pass++) {
        for (long x = 0; x < 1000; x++)
            for (long y = 0; y < 1000; y++)
                if ((x < 300 && y < 200) || (x > 700 && y > 800)) {
                    const long place[2] = {x - 50, y + 10};
                    (pass ? clusters_count : clusters_add)(s, place);
                }
        if (!pass)
            assert_int_equal(clusters_join(s), EK_OK);
    }
    assert_int_equal(clusters_rank(s), 2);
    assert_int_equal(clusters_of(s, (const long[]){-50, 10}), 0); /* 300 * 200 > 299 * 199 */
    assert_int_equal(clusters_of(s, (const long[]){949, 1009}), 1);
    assert_true(clusters_coarseness(s) > 1);
    clusters_close(s);
}

/* ---- the check --------------------------------------------------------------------------------*/

/* One trial of 2.6e9 explains everything but was lost: the check finds it; off the symmetry axes it
 * does so by a descent. */
static void test_lost_trial(void **state)
{
    const char *const path[ACCEPTED_FORMATS] = {NULL};
    for (int away = 0; away < 2; away++) {
        const struct model *m = model_find("mogi");
        const double truth[] = {100. * away, 0, 2000, 3e6, 0.25};
        char text[2048];
        int used = snprintf(text, sizeof text, "E_m,N_m,uE_m,uN_m,uU_m\n");
        for (int i = 0; i < 5; i++) {
            const double e = 1500 * (i % 3 - 1), n = 2000 * (i / 3);
            double u[3];
            model_forward(m, truth, e, n, u);
            used += snprintf(text + used, sizeof text - (size_t)used, "%g,%g,%.17g,%.17g,%.17g\n",
                             e, n, u[0], u[1], u[2]);
        }
        job_write("stations.csv", text);
        job_write(
            "job.json",
            "{\"model\": \"mogi\", \"stations\": {\"file\": \"stations.csv\", \"sigma\": 1e-7}, "
            "\"accept\": {\"k_sigma\": 1}, \"parameters\": ["
            "{\"name\": \"Es_m\", \"min\": -20000, \"max\": 20000, \"step\": 100}, "
            "{\"name\": \"Ns_m\", \"min\": -20000, \"max\": 20000, \"step\": 100}, "
            "{\"name\": \"d_m\", \"min\": 1000, \"max\": 3000, \"step\": 10}, "
            "{\"name\": \"dV_m3\", \"min\": -4e6, \"max\": 4e6, \"step\": 1e5}]}");
        struct job *job;
        struct results *h;
        struct results_check check;
        assert_int_equal(job_open(job_file("job.json"), NULL, &job), EK_OK);
        assert_int_equal(results_open(job, (struct trial_range){0, job->trials}, path, &h), EK_OK);
        struct accepted right = job_search(job, SEARCH_EXACT, 1);
        assert_int_equal(right.n, 1);
        /* correct; lost; one number of its record wrong */
        for (int fault = 0; fault < 6; fault++) {
            struct accepted found = {0};
            if (fault != 1)
                assert_int_equal(accepted_add(&found, right.record), EK_OK);
            if (fault > 1) {
                struct accepted_record *r = found.record;
                double *const number[] = {&r->misfit, &r->most, &r->chi2, &r->rms};
                *number[fault - 2] += fault == 5 ? 1e-8 : 0.01;
            }
            assert_int_equal(results_begin(h), EK_OK);
            assert_int_equal(
                spool_put(results_spool(h), (struct trial_range){0, job->trials}, &found), EK_OK);
            assert_int_equal(results_end(h), EK_OK);
            assert_int_equal(results_verify(h, &check), EK_OK);
            assert_int_equal(check.right, !fault);
        }
        accepted_free(&right);
        results_close(h);
        job_close(job);
    }
}

static void (*mogi_respond)(const struct model *m, const double *const *value, const double *east,
                            const double *north, double *out);

/* Mogi's responses, of which the eastern component is too large by a thousandth. */
static void respond_wrongly(const struct model *m, const double *const *value, const double *east,
                            const double *north, double *out)
{
    mogi_respond(m, value, east, north, out);
    for (int l = 0; l < MODEL_LANES; l++)
        out[l] *= 1.001;
}

/* A job with few trials, of which one explains the data; `wrong`: by wrong responses. */
static void check_small_job(bool wrong, bool lost, bool expected)
{
    static const char parameters[] =
        "\"parameters\": [{\"name\": \"Es_m\", \"min\": -9000, \"max\": 9000, \"n\": 19}, "
        "{\"name\": \"Ns_m\", \"min\": -9000, \"max\": 9000, \"n\": 19}, "
        "{\"name\": \"d_m\", \"value\": 500}, "
        "{\"name\": \"dV_m3\", \"min\": -4e6, \"max\": 4e6, \"n\": 5}]}";
    const char *const path[ACCEPTED_FORMATS] = {NULL};
    struct model model = *model_find("mogi");
    char text[1024];
    struct results_check check;
    struct job *job;
    struct results *h;
    mogi_respond = model.respond;
    model.respond = wrong ? respond_wrongly : mogi_respond;
    /* far apart, so that no other trial comes near and no way leads downhill to this one */
    const double at[] = {7000, -3000, 500, 4e6, 0.25};
    int used = snprintf(text, sizeof text, "E_m,N_m,uE_m,uN_m,uU_m\n");
    for (int i = 0; i < 3; i++) {
        double u[3];
        model_forward(&model, at, 7300 + 100 * i, -3000 + 70 * i, u);
        used += snprintf(text + used, sizeof text - (size_t)used, "%d,%d,%.17g,%.17g,%.17g\n",
                         7300 + 100 * i, -3000 + 70 * i, u[0], u[1], u[2]);
    }
    job_write("stations.csv", text);
    snprintf(text, sizeof text,
             "{\"model\": \"mogi\", \"stations\": {\"file\": \"stations.csv\", \"sigma\": 1e-4}, "
             "\"accept\": {\"k_sigma\": 1}, %s",
             parameters);
    job = job_read(text, &model);
    assert_int_equal(results_open(job, (struct trial_range){0, job->trials}, path, &h), EK_OK);
    struct accepted found = job_search(job, SEARCH_EXACT, 1);
    assert_true(found.n == 1);
    found.n -= lost;
    assert_int_equal(results_begin(h), EK_OK);
    assert_int_equal(spool_put(results_spool(h), (struct trial_range){0, job->trials}, &found),
                     EK_OK);
    assert_int_equal(results_end(h), EK_OK);
    assert_int_equal(results_verify(h, &check), EK_OK);
    assert_int_equal(check.right, expected);
    accepted_free(&found);
    results_close(h);
    job_close(job);
}

/* The search of 3e7 trials loses the only one that fits. Samples and descents miss it, as its
 * valley is narrow; but outside of a few boxes nothing fits, and in these all trials are judged. */
static void test_lost_needle(void **state)
{
    const double truth[] = {6000, 2000, 500, 1e6, 0.25};
    const double place[][2] = {{3720, 480}, {2394, 2780}, {5687, -1916}, {-4324, -6933}};
    const char *const path[ACCEPTED_FORMATS] = {NULL};
    char text[1024];
    int used = snprintf(text, sizeof text, "E_m,N_m,uE_m,uN_m,uU_m\n");
    for (int i = 0; i < 4; i++) {
        double u[3];
        model_forward(model_find("mogi"), truth, place[i][0], place[i][1], u);
        used += snprintf(text + used, sizeof text - (size_t)used, "%g,%g,%.17g,%.17g,%.17g\n",
                         place[i][0], place[i][1], u[0], u[1], u[2]);
    }
    job_write("stations.csv", text);
    job_write("job.json",
              "{\"model\": \"mogi\", \"stations\": {\"file\": \"stations.csv\", \"sigma\": 1e-6}, "
              "\"accept\": {\"k_sigma\": 1}, \"parameters\": ["
              "{\"name\": \"Es_m\", \"min\": -20000, \"max\": 20000, \"step\": 100}, "
              "{\"name\": \"Ns_m\", \"min\": -20000, \"max\": 20000, \"step\": 100}, "
              "{\"name\": \"d_m\", \"min\": 500, \"max\": 5500, \"step\": 500}, "
              "{\"name\": \"dV_m3\", \"min\": -8e6, \"max\": 8e6, \"step\": 1e6}]}");
    struct job *job;
    struct results *h;
    struct results_check check;
    assert_int_equal(job_open(job_file("job.json"), NULL, &job), EK_OK);
    struct accepted found = job_search(job, SEARCH_EXACT, 1);
    assert_true(found.n == 1);
    const trial_number needle = found.record[0].trial;
    accepted_free(&found);
    for (int there = 0; there < 2; there++) { /* in the range that is searched, or not */
        const struct trial_range range = {0, there ? job->trials : needle};
        assert_int_equal(results_open(job, range, path, &h), EK_OK);
        assert_int_equal(results_begin(h), EK_OK);
        assert_int_equal(results_end(h), EK_OK);
        assert_int_equal(results_verify(h, &check), EK_OK);
        assert_true(check.complete && check.right == !there);
        results_close(h);
    }
    job_close(job);
}

/* An error of the responses, which search and judge share, does not verify; nor does a search of
 * few trials that has lost one. */
static void test_small_jobs(void **state)
{
    check_small_job(false, false, true);
    check_small_job(false, true, false);
    check_small_job(true, false, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spool),       cmocka_unit_test(test_spool_without_disk),
        cmocka_unit_test(test_csv),         cmocka_unit_test(test_binary),
        cmocka_unit_test(test_clusters),    cmocka_unit_test(test_coarse_clusters),
        cmocka_unit_test(test_lost_trial),  cmocka_unit_test(test_small_jobs),
        cmocka_unit_test(test_lost_needle),
    };
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
