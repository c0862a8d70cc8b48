/* tests/test_backends_host.c – specific to the oracle: lost devices, fresh memory, late options. */
#include "tests/backends.h"

#include <math.h>

/* Number of launches on host:`index` before it is lost. */
static int launches_until_lost(int index)
{
    struct backend *b = open_device("host", index);
    struct backend_program *p = build_laws(b, "");
    struct backend_mem *m = alloc_on(b, sizeof(int));
    const struct backend_arg args[] = {backend_arg_mem(m), backend_arg_int(0), backend_arg_int(1)};
    int n = 0, cell;
    const struct backend_rect all = backend_linear(0, 0, sizeof cell);
    status_mute(+1);
    while (n < 10 && !backend_launch(b, BACKEND_COMPUTE, p, PUT, (long[]){1, 1, 1}, 3, args))
        n++;
    if (n < 10) { /* afterwards everything fails */
        assert_int_equal(backend_read(b, BACKEND_COPY, &cell, m, &all), EK_LOST);
        assert_int_equal(backend_wait(b, BACKEND_COMPUTE), EK_LOST);
    }
    status_mute(-1);
    backend_free(b, m);
    backend_unbuild(b, p);
    backend_close(b);
    return n;
}

static void a_fault_loses_the_device(void **state)
{
    assert_int_equal(launches_until_lost(0), 10);
    setenv("CU_HOST_FAULT", "launch:3", 1);
    assert_int_equal(launches_until_lost(0), 2);
    assert_int_equal(launches_until_lost(1), 2);
    setenv("CU_HOST_FAULT", "launch:5@1", 1);
    assert_int_equal(launches_until_lost(0), 10);
    assert_int_equal(launches_until_lost(1), 4);
    unsetenv("CU_HOST_FAULT");
}

static void malformed_faults_are_refused(void **state)
{
    static const char *const bad[] = {"",         "launch",     "launch:",    "launch:0",
                                      "lunch:1",  "launch:1@",  "launch:1@9", "launch@1:2",
                                      "launch:x", "launch:1:1", ":1"};
    struct backend *b = NULL;
    for (int i = 0; i < LENGTH(bad); i++) {
        setenv("CU_HOST_FAULT", bad[i], 1);
        ASSERT_FAILS(EK_USAGE, backend_open((struct backend_device){backend_find("host"), 0}, &b),
                     "launch:3@1");
    }
    unsetenv("CU_HOST_FAULT");
}

static void fresh_memory_is_nan(void **state)
{
    struct backend *b = open_device("host", 0);
    struct backend_mem *m = alloc_on(b, 10 * sizeof(double));
    double got[10] = {0};
    get(b, got, m, sizeof got);
    for (int i = 0; i < 10; i++)
        assert_true(isnan(got[i]));
    backend_free(b, m);
    backend_close(b);
}

static void options_that_come_too_late_are_refused(void **state)
{
    struct backend *b = open_device("host", 0);
    struct backend_program *p = NULL;
    char *text = joined("tests/kernels/laws.c");
    ASSERT_FAILS(EK_UNAVAILABLE, backend_build(b, text, "-w -DN=5", law_kernels, 1, &p), "-DN=5");
    assert_null(p);
    free(text);
    backend_close(b);
}

static void there_are_four_of_them(void **state)
{
    struct backend_info info;
    assert_int_equal(devices_of("host"), 4);
    ASSERT_FAILS(EK_UNAVAILABLE, backend_find("host")->info(4, &info), "host:4");
    ASSERT_FAILS(EK_UNAVAILABLE, backend_find("host")->info(-1, &info), "host:-1");
}

int main(void)
{
    unsetenv("CU_HOST_FAULT");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_loses_the_device),
        cmocka_unit_test(malformed_faults_are_refused),
        cmocka_unit_test(fresh_memory_is_nan),
        cmocka_unit_test(options_that_come_too_late_are_refused),
        cmocka_unit_test(there_are_four_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
