/* tests/test_okada_mogi_state.c – the state of a search and its file: ranges against a map;
 * checkpoints are read back unchanged, and accepted only if whole and of the same job. */
#include "tests/okada_mogi.h"

#include "okada_mogi/search_state.h"

/* ---- ranges -----------------------------------------------------------------------------------*/

enum { TRIALS = 400 };

static void ranges_against_a_map(void **state)
{
    for (int round = 0; round < 50; round++) {
        bool map[TRIALS] = {false};
        struct ranges r = {0}, gaps = {0};
        size_t in = 0, runs = 0;
        for (int i = 0; i < 60; i++) {
            const size_t first = (size_t)job_random(0, TRIALS - 1), room = TRIALS - first;
            const size_t count = 1 + (size_t)job_random(0, room < 20 ? (double)room : 20.);
            const size_t most = count < room ? count : room;
            bool meets = false;
            for (size_t t = first; t < first + most; t++)
                meets |= map[t];
            status_mute(+1);
            assert_int_equal(ranges_add(&r, (struct trial_range){first, most}),
                             meets ? EK_USAGE : EK_OK);
            status_mute(-1);
            for (size_t t = first; t < first + most && !meets; t++)
                map[t] = true;
        }
        for (size_t t = 0; t < TRIALS; t++) {
            in += map[t];
            runs += map[t] && (t == 0 || !map[t - 1]);
        }
        assert_int_equal(r.n, runs);
        assert_true(ranges_count(&r) == in);
        assert_int_equal(ranges_gaps(&r, (struct trial_range){10, TRIALS - 30}, &gaps), EK_OK);
        for (size_t t = 0, g = 0; t < TRIALS; t++) {
            while (g < gaps.n && gaps.range[g].first + gaps.range[g].count <= t)
                g++;
            const bool in_gap = g < gaps.n && t >= (size_t)gaps.range[g].first;
            assert_int_equal(in_gap, !map[t] && t >= 10 && t < TRIALS - 20);
        }
        size_t together = trial_together(gaps.range, gaps.n); /* gaps do not touch */
        assert_int_equal(together, 1);
        for (size_t g = 1; g < gaps.n; g++) { /* until one is moved to its predecessor */
            gaps.range[g].first = gaps.range[g - 1].first + gaps.range[g - 1].count;
            together = trial_together(gaps.range, gaps.n);
            assert_int_equal(together, g + 1);
        }
        ranges_free(&r);
        ranges_free(&gaps);
    }
}

static enum ek_status put_once(void *arg, struct trial_range gap, struct accepted *some)
{
    int *times = arg;
    for (size_t i = 0; i < some->n; i++) {
        assert_true(some->record[i].trial - gap.first < gap.count);
        times[some->record[i].trial]++;
    }
    return EK_OK;
}

/* Ranges overlap at random; the trials that are new are put once each. */
static void what_is_new_is_put_once(void **state)
{
    for (int round = 0; round < 50; round++) {
        struct ranges r = {0};
        int times[TRIALS] = {0};
        bool asked[TRIALS] = {false};
        for (int k = 0; k < 12; k++) {
            const size_t first = (size_t)job_random(0, TRIALS - 1),
                         count = 1 + (size_t)job_random(0, (double)(TRIALS - first) / 3);
            struct accepted found = {0};
            for (size_t t = first; t < first + count; t++) {
                asked[t] = true;
                assert_int_equal(accepted_add(&found, &(struct accepted_record){.trial = t}),
                                 EK_OK);
            }
            assert_int_equal(
                ranges_add_new(&r, (struct trial_range){first, count}, &found, put_once, times),
                EK_OK);
            accepted_free(&found);
        }
        for (size_t t = 0; t < TRIALS; t++)
            assert_int_equal(times[t], asked[t]);
        ranges_free(&r);
    }
}

/* ---- jobs -------------------------------------------------------------------------------------*/

/* 1000 trials of one station. */
static struct job *write_job(const char *accept, const char *k, double max, double observed)
{
    char text[2048];
    struct job *job;
    snprintf(text, sizeof text,
             "site,E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m\nA,0,0,%.17g,.01,.02,.005,.005,.01\n",
             observed);
    job_write("stations.csv", text);
    snprintf(text, sizeof text,
             "{\"model\": \"mogi\", \"stations\": \"stations.csv\", \"accept\": {\"%s\": %s},"
             "\"parameters\": [{\"name\": \"Es_m\", \"min\": 0, \"max\": %.17g, \"n\": 10},"
             "{\"name\": \"Ns_m\", \"value\": 3},"
             "{\"name\": \"d_m\", \"min\": 100, \"max\": 200, \"n\": 10},"
             "{\"name\": \"dV_m3\", \"min\": 1, \"max\": 20, \"n\": 10}]}",
             accept, k, max);
    job = job_read(text, NULL);
    assert_true(job->trials == 1000);
    return job;
}

/* ---- checkpoints ------------------------------------------------------------------------------*/

static struct spool *new_records(void)
{
    struct spool *s;
    assert_int_equal(spool_open(SPOOL_MEMORY, &s), EK_OK);
    return s;
}

static enum ek_status collect(void *arg, const struct accepted_record *record, size_t n)
{
    for (size_t i = 0; i < n; i++)
        TRY(accepted_add(arg, &record[i]));
    return EK_OK;
}

static enum ek_status load(const char *path, uint64_t sum, struct accepted *all,
                           struct ranges *done)
{
    struct spool *h = new_records();
    double evaluations = 0;
    bool found = false;
    enum ek_status st = search_state_read(path, sum, done, &evaluations, h, &found);
    assert_true(st || (found && evaluations == 17));
    if (!st)
        st = spool_each(h, collect, all);
    spool_close(h);
    return st;
}

static void fill(struct spool *h, struct ranges *done)
{
    static const struct trial_range range[] = {{500, 100}, {0, 50}, {60, 40}, {999, 1}};
    for (size_t i = 0; i < sizeof range / sizeof *range; i++) {
        struct accepted a = {0};
        for (trial_number t = range[i].first; t < range[i].first + range[i].count; t += 1 + i)
            if (i != 1)
                assert_int_equal(
                    accepted_add(&a, &(struct accepted_record){t, 1. / (double)(t + 1), 2, 3, 4}),
                    EK_OK);
        assert_int_equal(ranges_add(done, range[i]), EK_OK);
        assert_int_equal(spool_put(h, range[i], &a), EK_OK);
    }
}

static void checkpoints_come_back(void **state)
{
    struct spool *h = new_records();
    struct ranges done = {0}, again = {0};
    struct accepted before = {0}, after = {0};
    char path[256];
    snprintf(path, sizeof path, "%s", job_file("checkpoint"));
    fill(h, &done);
    assert_int_equal(spool_each(h, collect, &before), EK_OK);
    assert_int_equal(before.n, 100 + 14 + 1);
    assert_int_equal(search_state_write(path, 99, &done, 17, h), EK_OK);
    assert_int_equal(load(path, 99, &after, &again), EK_OK);
    assert_int_equal(after.n, before.n);
    for (size_t i = 0; i < after.n; i++) {
        assert_true(after.record[i].trial == before.record[i].trial);
        assert_true(after.record[i].misfit == before.record[i].misfit);
        assert_true(after.record[i].rms == before.record[i].rms);
    }
    assert_int_equal(again.n, done.n);
    assert_memory_equal(again.range, done.range, done.n * sizeof *done.range);
    unlink(path);
    spool_close(h);
    ranges_free(&done);
    ranges_free(&again);
    accepted_free(&before);
    accepted_free(&after);
}

static size_t read_bytes(const char *path, char *bytes, size_t room)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t n = fread(bytes, 1, room, f);
    fclose(f);
    return n;
}

static void write_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

/* With any byte changed or any length cut, the whole file is refused. */
static void damaged_checkpoints_are_refused(void **state)
{
    static char bytes[1 << 16];
    struct spool *h = new_records();
    struct ranges done = {0};
    char path[256];
    snprintf(path, sizeof path, "%s", job_file("damaged"));
    fill(h, &done);
    assert_int_equal(search_state_write(path, 99, &done, 17, h), EK_OK);
    const size_t n = read_bytes(path, bytes, sizeof bytes);
    assert_true(n > 1000 && n < sizeof bytes);
    status_mute(+1);
    for (size_t i = 0; i < 2 * n; i += i < 200 ? 1 : 13) {
        struct ranges again = {0};
        struct accepted all = {0};
        bytes[i % n] ^= 4;
        write_bytes(path, bytes, i < n ? n : i - n);
        bytes[i % n] ^= 4;
        assert_int_equal(load(path, 99, &all, &again), EK_USAGE);
        ranges_free(&again);
        accepted_free(&all);
    }
    struct ranges again = {0};
    struct accepted all = {0};
    write_bytes(path, bytes, n);
    assert_int_equal(load(path, 98, &all, &again), EK_USAGE);
    assert_non_null(strstr(status_message(), "another job"));
    assert_int_equal(search_state_write("/dev/null/none/file", 99, &done, 17, h), EK_UNAVAILABLE);
    status_mute(-1);
    unlink(path);
    spool_close(h);
    ranges_free(&done);
}

static uint64_t sum_of(const char *accept, const char *k, double max, double observed)
{
    struct job *job = write_job(accept, k, max, observed);
    const uint64_t sum = job_sum(job, (struct trial_range){0, job->trials});
    job_close(job);
    return sum;
}

/* The checksum of a job depends on each of its numbers. */
static void sums_tell_jobs_apart(void **state)
{
    const uint64_t sum = sum_of("k_sigma", "2", 10, 0.01);
    assert_true(sum == sum_of("k_sigma", "2", 10, 0.01));
    assert_true(sum != sum_of("k_sigma", "2.5", 10, 0.01));
    assert_true(sum != sum_of("k_sigma", "[1, 2]", 10, 0.01));
    assert_true(sum != sum_of("misfit_below", "2", 10, 0.01));
    assert_true(sum != sum_of("k_sigma", "2", 11, 0.01));
    assert_true(sum != sum_of("k_sigma", "2", 10, 0.0100001));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_against_a_map),  cmocka_unit_test(what_is_new_is_put_once),
        cmocka_unit_test(checkpoints_come_back), cmocka_unit_test(damaged_checkpoints_are_refused),
        cmocka_unit_test(sums_tell_jobs_apart),
    };
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
