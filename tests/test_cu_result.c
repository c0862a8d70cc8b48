/* tests/test_cu_result.c – results from the runs of several policies. */
#include "cu/bench/result.h"
#include "src/sort.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* One run per policy on a machine of one core, without tasks. */
struct fixture {
    struct cu cpu;
    struct cu_set set;
    struct result_run run[4];
    struct result_set results;
};

static void make(struct fixture *f)
{
    *f = (struct fixture){.cpu = {.kind = CU_CPU, .width = 1}};
    f->set = (struct cu_set){.layout = {.ncpu = 1, .width = 1}, .n = 1, .cu = &f->cpu};
    f->results = (struct result_set){
        .host = {.program = "p", .problem = "q", .unit = "u", .set = &f->set, .work = 1},
        .nschedules = 4,
        .repeat = 1,
        .run = f->run};
    const char *const names[] = {"wrong", "cut", "slow", "fast"};
    const double seconds[] = {0.5, 0.1, 3, 2};
    for (int i = 0; i < 4; i++)
        f->run[i] = (struct result_run){.schedule = names[i],
                                        .team = {.steps = 1, .seconds = seconds[i]},
                                        .verified = BENCH_VERIFIED};
    f->run[0].verified = BENCH_WRONG;
    f->run[1].verified = BENCH_WRONG; /* not judged: it was interrupted */
    f->run[1].interrupted = true;
    f->run[2].verified = BENCH_UNVERIFIABLE;
}

static const char *schedule_at(const json_t *root, size_t i)
{
    const json_t *run = json_array_get(json_object_get(root, "runs"), i);
    return json_string_value(json_object_get(run, "schedule"));
}

static const json_t *verdict_at(const json_t *root, size_t i)
{
    return json_object_get(json_array_get(json_object_get(root, "runs"), i), "verified");
}

static void test_an_interrupted_or_wrong_run_is_never_first(void **state)
{
    struct fixture f;
    make(&f);
    json_t *root = result_json(&f.results, true);
    assert_string_equal(schedule_at(root, 0), "fast");
    assert_string_equal(schedule_at(root, 1), "slow");
    assert_string_equal(schedule_at(root, 2), "wrong");
    assert_string_equal(schedule_at(root, 3), "cut");
    assert_true(json_is_true(verdict_at(root, 0)));
    assert_true(json_is_null(verdict_at(root, 1)));
    assert_true(json_is_false(verdict_at(root, 2)));
    assert_true(json_is_null(verdict_at(root, 3)));
    assert_string_equal(result_best(&f.results)->schedule, "fast");
    json_decref(root);
}

static void test_no_run_is_best_where_all_went_wrong(void **state)
{
    struct fixture f;
    make(&f);
    f.results.nschedules = 2;
    assert_null(result_best(&f.results));
}

/* Two good repeats do not hide a wrong one. */
static void test_a_wrong_repeat_speaks_for_its_policy(void **state)
{
    struct fixture f;
    make(&f);
    f.results.nschedules = 1;
    f.results.repeat = 4;
    f.run[1].interrupted = false;
    f.run[1].verified = BENCH_VERIFIED;
    assert_ptr_equal(result_median(&f.results, 0), &f.run[0]);
    f.run[0].verified = BENCH_VERIFIED;
    assert_ptr_equal(result_median(&f.results, 0), &f.run[0]); /* of 0.1 0.5 2 3 */
}

/* Twice the probability of at most k heads in n throws of a coin, computed without tables. */
static double both_tails(int n, int k)
{
    double term = pow(0.5, n), sum = 0;
    for (int i = 0; i <= k; i++) {
        sum += term;
        term *= (double)(n - i) / (i + 1);
    }
    return 2 * sum;
}

static void test_the_interval_is_the_narrowest_that_holds_the_median(void **state)
{
    for (int n = 1; n <= 64; n++) {
        double x[64], low, high;
        for (int i = 0; i < n; i++)
            x[i] = n - i;
        const double sure = sort_median_interval(x, (size_t)n, &low, &high);
        const int below = (int)low - 1;
        assert_true(below >= 0 && (int)high == n - below);
        assert_true(fabs(sure - (1 - both_tails(n, below))) < 1e-12);
        assert_true(sure >= 0.95 || below == 0);
        assert_true(1 - both_tails(n, below + 1) < 0.95);
    }
}

static void test_repeats_say_how_sure_their_median_is(void **state)
{
    struct fixture f;
    struct result_run run[7];
    char *text = NULL;
    size_t size;
    make(&f);
    for (int i = 0; i < 7; i++) {
        run[i] = f.run[3];
        run[i].team.seconds = 1 + (i * 5) % 7; /* 1 6 4 2 7 5 3 */
    }
    f.results.nschedules = 1;
    f.results.repeat = 7;
    f.results.run = run;
    json_t *root = result_json(&f.results, false);
    const json_t *i = json_object_get(root, "seconds_interval");
    assert_true(json_number_value(json_object_get(i, "low")) == 1);
    assert_true(json_number_value(json_object_get(i, "high")) == 7);
    assert_true(json_number_value(json_object_get(i, "confidence")) == 1 - 2 * pow(0.5, 7));
    assert_true(json_number_value(json_object_get(root, "seconds")) == 4);
    json_decref(root);
    FILE *out = open_memstream(&text, &size);
    result_table(out, &f.results);
    fclose(out);
    assert_non_null(strstr(text, "4.000     1.000     7.000"));
    assert_non_null(strstr(text, "median of 7 runs; from and to: its 98% confidence interval"));
    free(text);
    f.results.repeat = 1; /* one repeat says nothing about the spread */
    root = result_json(&f.results, false);
    assert_true(json_is_null(json_object_get(root, "seconds_interval")));
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_interrupted_or_wrong_run_is_never_first),
        cmocka_unit_test(test_no_run_is_best_where_all_went_wrong),
        cmocka_unit_test(test_a_wrong_repeat_speaks_for_its_policy),
        cmocka_unit_test(test_the_interval_is_the_narrowest_that_holds_the_median),
        cmocka_unit_test(test_repeats_say_how_sure_their_median_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
