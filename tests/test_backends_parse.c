/* tests/test_backends_parse.c – devices by name: what is accepted, and what each refusal says. */
#include "tests/backends.h"

enum { MAX = 8 };

static void expect_names(const char *list, int want, const char *expected)
{
    struct backend_device d[MAX];
    char got[256] = "";
    int n = -1;
    assert_int_equal(backend_parse(list, want, d, MAX, &n), EK_OK);
    for (int i = 0; i < n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s:%d", i ? "," : "",
                 d[i].ops->name, d[i].index);
    assert_string_equal(got, expected);
}

static void lists_are_read_in_order(void **state)
{
    expect_names("host:0", 1, "host:0");
    expect_names("host:3,host:0,host:1", 3, "host:3,host:0,host:1");
    expect_names("host:2", -1, "host:2");
    expect_names(" host:2,\tHOST:0 , Host: 1\n", 3, "host:2,host:0,host:1");
}

static void refusals_explain(void **state)
{
    static const struct {
        const char *list;
        enum ek_status st;
        const char *says;
    } cases[] = {
        {"", EK_USAGE, "opencl:0"},
        {"host", EK_USAGE, "'host' does not name a device"},
        {"host:", EK_USAGE, "'host:' does not name a device"},
        {"host:x", EK_USAGE, "'host:x' does not name a device"},
        {"host:-1", EK_USAGE, "'host:-1' does not name a device"},
        {" ", EK_USAGE, "'' does not name a device"},
        {":1", EK_USAGE, "':1' does not name a device"},
        {"host:0,", EK_USAGE, "'' does not name a device"},
        {"host:0,,host:1", EK_USAGE, "'' does not name a device"},
        {"hots:0", EK_USAGE, "'host'"},
        {"host:0,host:1,host:0", EK_USAGE, "'host:0' is named twice"},
        {"host:4", EK_UNAVAILABLE, "host:3 ("},
        {"host:99999999999", EK_USAGE, "does not name a device"},
    };
    for (int i = 0; i < LENGTH(cases); i++) {
        struct backend_device d[MAX];
        int n = -7;
        ASSERT_FAILS(cases[i].st, backend_parse(cases[i].list, 1, d, MAX, &n), cases[i].says);
        assert_int_equal(n, -7);
    }
    struct backend_device one;
    int n;
    ASSERT_FAILS(EK_USAGE, backend_parse("host:0,host:1", 2, &one, 1, &n), "more than 1");
}

static void a_device_too_many_lists_what_there_is(void **state)
{
    struct backend_device d[MAX];
    char name[32], first[32];
    int n, there = devices_of("opencl");
    if (!there)
        skip();
    snprintf(name, sizeof name, "opencl:%d", there);
    ASSERT_FAILS(EK_UNAVAILABLE, backend_parse(name, 1, d, MAX, &n), "opencl:0 (");
    snprintf(first, sizeof first, "has %d", there);
    assert_non_null(strstr(status_message(), first));
}

static void auto_takes_what_is_asked_for(void **state)
{
    struct backend_device d[MAX];
    int n = -1;
    expect_names("auto", 0, "");
    expect_names(" AUTO ", 0, "");
    assert_int_equal(backend_parse("auto", -1, d, MAX, &n), EK_OK);
    assert_in_range(n, devices_of("opencl") ? 1 : 0, MAX);
    for (int i = 0; i < n; i++)
        assert_string_not_equal(d[i].ops->name, "host");
    if (n)
        assert_int_equal(backend_parse("auto", 1, d, MAX, &n), EK_OK);
    ASSERT_FAILS(EK_UNAVAILABLE, backend_parse("auto", 1000, d, MAX, &n), "of the 1000");
}

static void listing_names_every_device(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    backend_print(out);
    fclose(out);
    for (int b = 0; b < backend_count(); b++) {
        char label[32];
        int n = devices_of(backend_at(b)->name);
        assert_non_null(strstr(text, backend_at(b)->name));
        for (int i = 0; i < n; i++) {
            snprintf(label, sizeof label, "%s:%d", backend_at(b)->name, i);
            assert_non_null(strstr(text, label));
        }
    }
    free(text);
}

static void back_ends_are_found_by_name(void **state)
{
    for (int b = 0; b < backend_count(); b++)
        assert_ptr_equal(backend_find(backend_at(b)->name), backend_at(b));
    assert_null(backend_find("none"));
    assert_null(backend_at(-1));
    assert_null(backend_at(backend_count()));
}

static int parse_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read_in_order),
        cmocka_unit_test(refusals_explain),
        cmocka_unit_test(a_device_too_many_lists_what_there_is),
        cmocka_unit_test(auto_takes_what_is_asked_for),
        cmocka_unit_test(listing_names_every_device),
        cmocka_unit_test(back_ends_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* "auto" with three equal cpu devices, and with no OpenCL at all. */
static void auto_fills_up_with_cpu_devices(void **state)
{
    if (devices_of("opencl") != 3)
        skip();
    expect_names("auto", 2, "opencl:0,opencl:1");
    expect_names("auto", -1, "opencl:0,opencl:1,opencl:2");
}

static int split_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_fills_up_with_cpu_devices),
        cmocka_unit_test(a_device_too_many_lists_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

static void a_machine_without_devices_says_why(void **state)
{
    struct backend_device d[MAX];
    int n = -1;
    if (devices_of("opencl")) /* not every loader knows that variable */
        skip();
    expect_names("auto", -1, "");
    ASSERT_FAILS(EK_UNAVAILABLE, backend_parse("opencl:0", 1, d, MAX, &n), "no OpenCL platform");
    ASSERT_FAILS(EK_UNAVAILABLE, backend_parse("auto", 1, d, MAX, &n), "0 of the 1");
}

static int bare_tests(void)
{
    setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1); /* there may be real ones */
    setenv("HIP_VISIBLE_DEVICES", "-1", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_machine_without_devices_says_why)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return in_process(NULL, parse_tests) + in_process("3", split_tests) +
           in_process(NULL, bare_tests);
}
