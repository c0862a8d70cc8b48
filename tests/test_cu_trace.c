/* tests/test_cu_trace.c – --trace writes the Trace Event Format: every event has the keys of its
 * phase, every unit a name, a unit does one thing at a time, and all tasks of all steps are
 * there. */
#include "cu/bench/trace.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { TASKS = 12, UNITS = 3, STEPS = 4 };

static struct cu units[UNITS] = {
    {.index = 0, .kind = CU_CPU, .width = 1, .memory = 0, .name = "cpu0"},
    {.index = 1, .kind = CU_CPU, .width = 1, .memory = 0, .name = "cpu1"},
    {.index = 2, .kind = CU_DEVICE, .width = 1, .memory = 1, .name = "fake:0"},
};
static struct cu_set set = {.layout = {2, 1, 1, 1}, .n = UNITS, .nmemories = 2, .cu = units};
static const char *const policies[] = {"static", "evenkeel"};

static enum ek_status compute(void *ctx, const struct cu *cu, struct ek_range r, double *seconds)
{
    (void)ctx, (void)cu;
    for (size_t t = r.begin; t < r.end; t++)
        seconds[t - r.begin] += 1e-6;
    return EK_OK;
}

static enum ek_status move(void *ctx, size_t task, int from, int to, size_t *bytes)
{
    (void)ctx, (void)task, (void)from, (void)to;
    *bytes += 8;
    return EK_OK;
}

static int phases(const void *ctx)
{
    return 1;
}

static enum ek_status exchange(void *ctx, const struct cu *cu, int phase, struct team_share share,
                               size_t *bytes)
{
    (void)ctx, (void)cu, (void)phase, (void)share, (void)bytes;
    return EK_OK;
}

static const struct team_ops ops = {
    .compute = compute, .move = move, .exchange = exchange, .exchange_phases = phases};

static json_t *traced(void)
{
    char path[] = "/tmp/trace.XXXXXX";
    close(mkstemp(path));
    struct trace *trace;
    json_t *result = json_pack("{s:s}", "program", "test");
    assert_int_equal(trace_open(&trace), EK_OK);
    for (int p = 0; p < 2; p++) {
        struct sched_job job = {.n = TASKS, .grain = 1};
        struct team *t;
        assert_int_equal(team_open(&set, &job, &ops, NULL, policies[p], &t), EK_OK);
        team_record(t);
        assert_int_equal(team_run(t, STEPS), EK_OK);
        assert_int_equal(trace_add(trace, &set, t, policies[p]), EK_OK);
        assert_int_equal(trace_add(trace, &set, t, policies[p]), EK_OK); /* ignores repeats */
        team_close(t);
    }
    assert_int_equal(trace_write(trace, path, result), EK_OK);
    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    unlink(path);
    trace_close(trace);
    json_decref(result);
    return root;
}

static const char *text(const json_t *event, const char *key)
{
    const char *value = json_string_value(json_object_get(event, key));
    assert_non_null(value);
    return value;
}

static int whole(const json_t *event, const char *key)
{
    assert_true(json_is_integer(json_object_get(event, key)));
    return (int)json_integer_value(json_object_get(event, key));
}

static double number(const json_t *event, const char *key)
{
    assert_true(json_is_number(json_object_get(event, key)));
    return json_number_value(json_object_get(event, key));
}

struct seen {
    int process[2], thread[2][UNITS], tasks[2][STEPS], categories[3];
    double end[2][UNITS];
};

/* M: processes are policies, threads are units. */
static void check_name(const json_t *e, struct seen *s)
{
    int pid = whole(e, "pid"), tid = whole(e, "tid");
    const char *name = text(json_object_get(e, "args"), "name");
    if (!strcmp(text(e, "name"), "process_name")) {
        assert_string_equal(name, policies[pid]);
        s->process[pid]++;
    } else {
        assert_string_equal(text(e, "name"), "thread_name");
        assert_string_equal(name, units[tid].name);
        s->thread[pid][tid]++;
    }
}

/* X: complete events, which must not overlap on a thread. */
static void check_event(const json_t *e, struct seen *s)
{
    static const char *const categories[] = {"compute", "move", "exchange"};
    int pid = whole(e, "pid"), tid = whole(e, "tid"), cat = 0;
    const json_t *args = json_object_get(e, "args");
    double ts = number(e, "ts"), dur = number(e, "dur");
    assert_true(pid >= 0 && pid < 2 && tid >= 0 && tid < UNITS && dur >= 0);
    assert_true(ts >= s->end[pid][tid] - 1e-3); /* rounded microseconds */
    s->end[pid][tid] = ts + dur;
    while (cat < 3 && strcmp(categories[cat], text(e, "cat")))
        cat++;
    assert_true(cat < 3);
    assert_memory_equal(text(e, "name"), categories[cat], strlen(categories[cat]));
    s->categories[cat]++;
    assert_true(whole(args, "step") < STEPS);
    size_t first, last;
    const size_t count = (size_t)whole(args, "count"), begin = (size_t)whole(args, "first");
    if (count > 1) {
        assert_int_equal(sscanf(strrchr(text(e, "name"), ' '), "%zu-%zu", &first, &last), 2);
        assert_true(first == begin && last == begin + count - 1);
    } else if (count == 1) {
        assert_int_equal(sscanf(strrchr(text(e, "name"), ' '), "%zu", &first), 1);
        assert_true(first == begin);
    }
    if (cat == 0)
        s->tasks[pid][whole(args, "step")] += whole(args, "count");
}

static void the_format_is_kept(void **state)
{
    struct seen s = {.process = {0}};
    json_t *root = traced(), *e;
    size_t i;
    json_array_foreach(json_object_get(root, "traceEvents"), i, e)
    {
        if (!strcmp(text(e, "ph"), "M")) {
            check_name(e, &s);
        } else {
            assert_string_equal(text(e, "ph"), "X");
            check_event(e, &s);
        }
    }
    for (int p = 0; p < 2; p++) {
        assert_int_equal(s.process[p], 1);
        for (int c = 0; c < UNITS; c++)
            assert_int_equal(s.thread[p][c], 1);
        for (int step = 0; step < STEPS; step++)
            assert_int_equal(s.tasks[p][step], TASKS);
    }
    assert_true(s.categories[0] && s.categories[1] && s.categories[2]);
    assert_string_equal(text(root, "displayTimeUnit"), "ms");
    const json_t *result = json_object_get(json_object_get(root, "otherData"), "result");
    assert_string_equal(text(result, "program"), "test");
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_format_is_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
