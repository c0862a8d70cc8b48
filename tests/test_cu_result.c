/* tests/test_cu_result.c – what is made of the runs of several policies. */
#include "cu/bench/result.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Runs of one policy each on a machine of one core, without tasks. */
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
    f->run[1].verified = BENCH_WRONG; /* not judged at all */
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
    (void)state;
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
    (void)state;
    make(&f);
    f.results.nschedules = 2;
    assert_null(result_best(&f.results));
}

/* Two good repeats do not hide the third. */
static void test_a_wrong_repeat_speaks_for_its_policy(void **state)
{
    struct fixture f;
    (void)state;
    make(&f);
    f.results.nschedules = 1;
    f.results.repeat = 4;
    f.run[1].interrupted = false;
    f.run[1].verified = BENCH_VERIFIED;
    assert_ptr_equal(result_median(&f.results, 0), &f.run[0]);
    f.run[0].verified = BENCH_VERIFIED;
    assert_ptr_equal(result_median(&f.results, 0), &f.run[0]); /* of 0.1 0.5 2 3 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_interrupted_or_wrong_run_is_never_first),
        cmocka_unit_test(test_no_run_is_best_where_all_went_wrong),
        cmocka_unit_test(test_a_wrong_repeat_speaks_for_its_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
