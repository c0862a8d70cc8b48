/* tests/test_backends_binding.c – drivers' threads and OpenMP places: listing and opening do not
 * change the caller's affinity, workers of unopened devices may use all places, and a cpu device's
 * workers move to the place of the thread that opens it. */
#include "tests/backends.h"

#include "backends/binding.h"
#include <omp.h>

enum { THREADS = 256 };

static bool same(const struct binding *a, const struct binding *b)
{
    return !memcmp(a, b, sizeof *a);
}

static struct binding binding_of(pid_t tid)
{
    struct binding b;
    assert_true(binding_get(tid, &b));
    return b;
}

/* Number of this process's other threads that are bound exactly to `place`. */
static int threads_on(const struct binding *place)
{
    pid_t tid[THREADS];
    int n = binding_threads(tid, THREADS), found = 0;
    for (int i = 0; i < n; i++) {
        struct binding b;
        found += tid[i] != gettid() && binding_get(tid[i], &b) && same(&b, place);
    }
    return found;
}

static void widening_reaches_all_places_and_comes_back(void **state)
{
    struct binding before = binding_of(0), saved;
    assert_int_equal(binding_cpus(&before), 1);
    assert_true(binding_widen(&saved));
    struct binding wide = binding_of(0);
    assert_int_equal(binding_cpus(&wide), 2);
    binding_set(0, &saved);
    struct binding after = binding_of(0);
    assert_true(same(&before, &after));
}

static void listing_leaves_the_caller_and_frees_the_driver(void **state)
{
    if (!devices_of("opencl"))
        skip();
    struct binding here = binding_of(0), saved;
    assert_int_equal(binding_cpus(&here), 1);
    assert_int_equal(threads_on(&here), 0);
    binding_widen(&saved);
    struct binding wide = binding_of(0);
    binding_set(0, &saved);
    struct backend_info info;
    assert_int_equal(backend_find("opencl")->info(0, &info), EK_OK);
    if (info.is_cpu && strstr(info.driver, "PoCL"))
        assert_int_equal(threads_on(&wide), info.compute_units * devices_of("opencl"));
}

static void no_more_workers_than_a_place_holds(void **state)
{
    int n = devices_of("opencl");
    if (!n)
        skip();
    struct backend_info info;
    assert_int_equal(backend_find("opencl")->info(0, &info), EK_OK);
    assert_int_equal(binding_widest_place(), 1);
    if (info.is_cpu && strstr(info.driver, "PoCL"))
        assert_int_equal(info.compute_units, 1);
}

/* Each of two threads in a place of its own opens a device: opencl:0, or one half of it each. */
static void workers_follow_the_opener(void **state)
{
    int n = devices_of("opencl"), failed = 0;
    if (!n)
        skip();
    struct backend_info info;
    assert_int_equal(backend_find("opencl")->info(0, &info), EK_OK);
    bool known = info.is_cpu && strstr(info.driver, "PoCL");
#pragma omp parallel num_threads(2) proc_bind(close) reduction(+ : failed)
    {
        int device = n >= 2 ? omp_get_thread_num() : 0;
        struct binding before = {0}, after = {0};
        binding_get(0, &before);
        struct backend *b = NULL;
        if (omp_get_thread_num() == 1 || n >= 2) {
            failed +=
                backend_open((struct backend_device){backend_find("opencl"), device}, &b) != 0;
            binding_get(0, &after);
            failed += !same(&before, &after) || binding_cpus(&after) != 1;
#pragma omp critical
            failed += known && threads_on(&after) < 1;
            if (b) {
                struct backend_program *p = build_laws(b, "");
                binding_get(0, &after);
                failed += !same(&before, &after);
                backend_unbuild(b, p);
            }
        }
        backend_close(b);
    }
    assert_int_equal(failed, 0);
}

/* Binds the initial thread as libgomp does before main(); other runtimes do it later. */
static void go_to_first_place(void)
{
    int cpu = -1;
    struct binding first = {0};
    omp_get_place_proc_ids(0, &cpu);
    CPU_SET(cpu, first.set);
    binding_set(0, &first);
}

static int binding_tests(void)
{
    go_to_first_place();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widening_reaches_all_places_and_comes_back),
        cmocka_unit_test(listing_leaves_the_caller_and_frees_the_driver),
        cmocka_unit_test(no_more_workers_than_a_place_holds),
        cmocka_unit_test(workers_follow_the_opener),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* libgomp reads the places before main(), so the test re-executes itself with two of them. */
int main(int argc, char **argv)
{
    if (argc > 1)
        return in_process(NULL, binding_tests) + in_process("2", binding_tests);
    struct binding all;
    char places[64];
    int cpu[2], n = 0;
    for (int i = 0; binding_get(0, &all) && i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET(i, all.set))
            cpu[n++] = i;
    if (n < 2)
        return 77;
    snprintf(places, sizeof places, "{%d},{%d}", cpu[0], cpu[1]);
    setenv("OMP_PLACES", places, 1);
    setenv("OMP_PROC_BIND", "close", 1);
    unsetenv("OMP_NUM_THREADS");
    execl("/proc/self/exe", argv[0], "again", (char *)NULL);
    return 1;
}
