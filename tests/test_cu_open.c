/* tests/test_cu_open.c – units in child processes: threads bound where they should be, errors that
 * say why, restarts that leave no trace. The test runs itself as "--units LAYOUT DEVICES". */
#include "cu/unit/cu.h"
#include "cu/unit/topology.h"

#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- the child ------------------------------------------------------------------------------- */

/* Prints "unit cpu0 … thread 1 cpus 0-1" from parallel regions like a team's. */
static void print_threads(const struct cu_set *set)
{
#pragma omp parallel num_threads(set->n) proc_bind(close)
    {
        const struct cu *cu = &set->cu[omp_get_thread_num()];
#pragma omp parallel num_threads(cu->width) proc_bind(CU_BIND_PRIMARY)
        {
            char text[256];
            hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
            if (!topology_thread_cpus(cpus))
                printf("unit %s width %d space %d thread %d cpus %s\n", cu->name, cu->width,
                       cu->memory, omp_get_thread_num(), topology_list(cpus, text, sizeof text));
            hwloc_bitmap_free(cpus);
        }
    }
}

static int run_units(char **argv)
{
    struct cu_options o = {.layout = argv[2],
                           .devices = argv[3],
                           .strict = getenv("STRICT") != NULL,
                           .display_env = getenv("CU_DISPLAY_ENV") != NULL};
    struct cu_set *set;
    enum ek_status st = getenv("FLOAT") ? EK_OK : cu_prepare(&o, argv);
    if (!st)
        st = cu_open(&o, &set);
    if (st)
        return status_exit_code(st);
    print_threads(set);
    printf("default team of %d\n", omp_get_max_threads());
    static const char *const traces[] = {"CU_PLACED", "OMP_PLACES", "OMP_PROC_BIND", "OMP_DYNAMIC"};
    for (int i = 0; i < 4; i++)
        printf("env %s=%s\n", traces[i], getenv(traces[i]) ? getenv(traces[i]) : "");
    cu_close(set);
    return 0;
}

/* ---- the parent ------------------------------------------------------------------------------ */

static char self[4096], output[1 << 16];
static int allowed[2]; /* two cpus that this process may use */

/* Runs the child under `environment`, its stdout and stderr to `output`. Returns its exit code. */
static int units(const char *environment, const char *layout, const char *devices)
{
    char command[8192];
    snprintf(command, sizeof command,
             "env -u OMP_PLACES -u OMP_PROC_BIND %s '%s' --units '%s' '%s' 2>&1", environment, self,
             layout, devices);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = 0;
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void assert_says(const char *words)
{
    if (!strstr(output, words))
        fail_msg("'%s' is not in: %s", words, output);
}

static int count(const char *words)
{
    int n = 0;
    for (const char *p = output; (p = strstr(p, words)); p += strlen(words))
        n++;
    return n;
}

static void assert_exits(int got, int want)
{
    if (got != want)
        fail_msg("exit code %d instead of %d: %s", got, want, output);
}

/* OMP_PLACES with this process's first two cpus, then `more`. */
static const char *two_places(const char *more)
{
    static char text[256];
    snprintf(text, sizeof text, "OMP_PLACES='{%d}:1:1,{%d}:1:1' %s", allowed[0], allowed[1], more);
    return text;
}

static const char *on_two_cpus(void)
{
    static char text[64];
    snprintf(text, sizeof text, "taskset -c %d,%d", allowed[0], allowed[1]);
    return text;
}

static void a_layout_alone_binds(void **state)
{
    char want[128];
    assert_exits(units(on_two_cpus(), "2x1", ""), 0);
    for (int i = 0; i < 2; i++) {
        snprintf(want, sizeof want, "unit cpu%d width 1 space 0 thread 0 cpus %d\n", i, allowed[i]);
        assert_says(want);
    }
    assert_int_equal(count("unit "), 2);
}

/* More threads than the places have cpus would only wait for one another. */
static void the_default_team_fits_the_places(void **state)
{
    assert_exits(units(on_two_cpus(), "1x1", ""), 0);
    assert_says("default team of 1\n");
    assert_exits(units(on_two_cpus(), "2x1", ""), 0);
    assert_says("default team of 2\n");
}

static void inner_threads_stay_in_their_unit(void **state)
{
    char cpus[32], want[128];
    snprintf(cpus, sizeof cpus, allowed[1] == allowed[0] + 1 ? "%d-%d" : "%d,%d", allowed[0],
             allowed[1]);
    assert_exits(units(on_two_cpus(), "1x2", ""), 0);
    for (int thread = 0; thread < 2; thread++) {
        snprintf(want, sizeof want, "unit cpu0 width 2 space 0 thread %d cpus %s\n", thread, cpus);
        assert_says(want);
    }
    assert_int_equal(count("unit "), 2);
}

static void devices_have_their_own_thread_and_memory(void **state)
{
    char want[128];
    assert_exits(units(on_two_cpus(), "1x1+1", "host:0"), 0);
    snprintf(want, sizeof want, "unit host:0 width 1 space 1 thread 0 cpus %d\n", allowed[1]);
    assert_says(want);
    assert_exits(units(on_two_cpus(), "0x0+2", "host:0,host:1"), 0);
    assert_says("unit host:0 width 1 space 1 ");
    assert_says("unit host:1 width 1 space 2 ");
}

/* All threads of a device are bound to its place, derived or given. */
static void a_devices_threads_are_bound(void **state)
{
    char cpus[32], want[128], environment[160];
    snprintf(cpus, sizeof cpus, allowed[1] == allowed[0] + 1 ? "%d-%d" : "%d,%d", allowed[0],
             allowed[1]);
    snprintf(environment, sizeof environment, "OMP_PLACES='{%d,%d}'", allowed[0], allowed[1]);
    const char *const environments[] = {on_two_cpus(), environment};
    for (int given = 0; given < 2; given++) {
        assert_exits(units(environments[given], "0x0+1x2", "host:0"), 0);
        for (int thread = 0; thread < 2; thread++) {
            snprintf(want, sizeof want, "unit host:0 width 2 space 1 thread %d cpus %s\n", thread,
                     cpus);
            assert_says(want);
        }
        assert_int_equal(count("unit "), 2);
        assert_int_equal(count("warning"), 0);
    }
    assert_exits(units(on_two_cpus(), "1x1+2x2", "host:0,host:1"), 0);
    assert_says("warning: layout 1x1+2x2: 5 threads on 2 cpus");
    assert_int_equal(count("unit cpu0 width 1 "), 1);
    assert_int_equal(count("unit host:0 width 2 "), 2);
    assert_int_equal(count("unit host:1 width 2 "), 2);
    snprintf(environment, sizeof environment, "STRICT=1 %s", on_two_cpus());
    assert_exits(units(environment, "1x1+1x2", "host:0"), 3);
    assert_says("layout 1x1+1x2: 3 threads on 2 cpus");
    assert_exits(units(environment, "0x0+1x2", "host:0"), 0);
    assert_exits(units(two_places(""), "1x1+1x2", "host:0"), 2);
    assert_says("1 wide, but 2 threads feed a device of layout 1x1+1x2");
}

static void auto_leaves_a_core_to_each_device(void **state)
{
    assert_exits(units(on_two_cpus(), "auto", "host:0"), 0);
    assert_int_equal(count("unit cpu"), 1);
    assert_int_equal(count("unit host"), 1);
    assert_exits(units(on_two_cpus(), "", ""), 0);
    assert_int_equal(count("unit host"), 0);
    assert_true(count("unit cpu") >= 1);
}

static void only_allowed_cpus_are_used(void **state)
{
    char environment[64], want[64];
    snprintf(environment, sizeof environment, "taskset -c %d", allowed[1]);
    snprintf(want, sizeof want, "thread 0 cpus %d\n", allowed[1]);
    assert_exits(units(environment, "auto", ""), 0);
    assert_int_equal(count("unit "), 1);
    assert_says(want);
}

static void places_and_layout_must_agree(void **state)
{
    assert_exits(units(two_places(""), "1x1+1", "host:0"), 0);
    assert_int_equal(count("unit "), 2);
    assert_exits(units(two_places(""), "2x1+1", "host:0"), 2);
    assert_says("has 2 places, but layout 2x1+1 needs 3");
    assert_exits(units(two_places(""), "1x2+1", "host:0"), 2);
    assert_says("1 wide, but a CPU unit of layout 1x2+1 is 2 wide");
}

static void places_alone_mean_a_layout(void **state)
{
    assert_exits(units(two_places(""), "", ""), 0);
    assert_int_equal(count("unit cpu"), 2);
    assert_exits(units(two_places(""), "auto", "host:0"), 0);
    assert_int_equal(count("unit cpu"), 1);
    assert_int_equal(count("unit host:0"), 1);
    assert_exits(units(two_places(""), "auto", "host:0,host:1,host:2"), 2);
    assert_says("has 2 places, but 3 devices");
}

static void places_without_binding_are_bound(void **state)
{
    assert_exits(units(two_places("OMP_PROC_BIND=false"), "2x1", ""), 0);
    assert_says("warning: OMP_PROC_BIND=false leaves threads unbound");
    char want[64];
    snprintf(want, sizeof want, "unit cpu1 width 1 space 0 thread 0 cpus %d\n", allowed[1]);
    assert_says(want);
    assert_exits(units("OMP_PROC_BIND=false", "2x1", ""), 0);
    assert_says("warning: OMP_PROC_BIND=false leaves threads unbound");
    assert_int_equal(count("warning:"), 1);
}

static void places_of_another_machine_are_refused(void **state)
{
    assert_exits(units("OMP_PLACES='{0:2}:1:1,{70000}'", "", ""), 2); /* beyond any machine */
    assert_exits(units("OMP_PLACES='{9000:2}:2:2'", "2x2", ""), 3);
    assert_says("names cpus 9000-9003, which this process may not use");
    assert_exits(units("OMP_PLACES='{0:3}:1:1, {4}:1:1'", "1x4+1", "host:0"), 2);
    assert_says("3 wide, but a CPU unit of layout 1x4+1 is 4 wide");
}

static void a_restart_leaves_no_trace(void **state)
{
    assert_exits(units(on_two_cpus(), "2x1", ""), 0);
    assert_says("env CU_PLACED=\nenv OMP_PLACES=\nenv OMP_PROC_BIND=\nenv OMP_DYNAMIC=\n");
    char environment[128];
    snprintf(environment, sizeof environment, "OMP_DYNAMIC=true OMP_PROC_BIND=false %s",
             on_two_cpus());
    assert_exits(units(environment, "2x1", ""), 0);
    assert_int_equal(count("unit cpu"), 2);
}

static void a_guard_of_another_process_is_ignored(void **state)
{
    static const char *const guards[] = {"CU_PLACED=1", "CU_PLACED='1 9x9+9 OMP_PLACES'",
                                         "CU_PLACED=nonsense", "CU_PLACED="};
    for (int i = 0; i < 4; i++) {
        char environment[128];
        snprintf(environment, sizeof environment, "%s %s", guards[i], on_two_cpus());
        assert_exits(units(environment, "2x1", ""), 0);
        assert_int_equal(count("unit cpu"), 2);
    }
}

static void more_threads_than_cpus(void **state)
{
    char environment[128];
    assert_exits(units(on_two_cpus(), "2x1+1", "host:0"), 0);
    assert_int_equal(count("warning: layout 2x1+1: 3 threads on 2 cpus"), 1);
    snprintf(environment, sizeof environment, "STRICT=1 %s", on_two_cpus());
    assert_exits(units(environment, "2x1+1", "host:0"), 3);
    assert_says("layout 2x1+1: 3 threads on 2 cpus");
    assert_exits(units(environment, "1x1+1", "host:0"), 0);
    assert_exits(units(on_two_cpus(), "1x5", ""), 0);
    assert_int_equal(count("unit cpu0"), 5);
}

static void devices_and_layout_must_agree(void **state)
{
    assert_exits(units("", "1x1+2", "host:0"), 2);
    assert_says("layout 1x1+2 has 2 devices, but 'host:0' names 1");
    assert_exits(units("", "1x1+1", "hots:0"), 2);
    assert_exits(units("", "1x1+1", "host:999"), 3);
    assert_exits(units("", "9x9+999", ""), 3);
    assert_says("999 devices");
    assert_exits(units(two_places(""), "1x1+1", "host:999"), 3); /* found by the unit's thread */
}

static void a_thread_limit_is_noticed(void **state)
{
    assert_exits(units("OMP_THREAD_LIMIT=1", "2x1", ""), 3);
    assert_says("OMP_THREAD_LIMIT");
    assert_exits(units("OMP_THREAD_LIMIT=3", "2x2", ""), 3);
    assert_says("OMP_THREAD_LIMIT");
    assert_exits(units("OMP_MAX_ACTIVE_LEVELS=1 OMP_NUM_THREADS=1", "1x2", ""), 0);
    assert_int_equal(count("unit cpu0"), 2);
}

static void the_settings_are_shown(void **state)
{
    char environment[128], want[128];
    snprintf(environment, sizeof environment, "CU_DISPLAY_ENV=1 %s", on_two_cpus());
    assert_exits(units(environment, "1x1+1", "host:0"), 0);
    assert_int_equal(count("CU_LAYOUT = '1x1+1'"), 1);
    assert_int_equal(count("CU_DEVICES = 'host:0'"), 1);
    snprintf(want, sizeof want, "OMP_PLACES = '{%d}", allowed[0]);
    assert_says(want);
}

static void without_prepare_units_float(void **state)
{
    assert_exits(units("FLOAT=1", "3x2+1", "host:0"), 0);
    assert_int_equal(count("unit cpu"), 6);
    assert_int_equal(count("unit host:0"), 1);
}

static bool find_two_cpus(void)
{
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    bool found = !topology_process_cpus(cpus) && hwloc_bitmap_weight(cpus) >= 2;
    allowed[0] = hwloc_bitmap_first(cpus);
    allowed[1] = hwloc_bitmap_next(cpus, allowed[0]);
    hwloc_bitmap_free(cpus);
    return found;
}

int main(int argc, char **argv)
{
    status_program("test");
    if (argc == 4 && !strcmp(argv[1], "--units"))
        return run_units(argv);
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0 || !find_two_cpus()) {
        puts("needs two cpus");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layout_alone_binds),
        cmocka_unit_test(the_default_team_fits_the_places),
        cmocka_unit_test(inner_threads_stay_in_their_unit),
        cmocka_unit_test(devices_have_their_own_thread_and_memory),
        cmocka_unit_test(a_devices_threads_are_bound),
        cmocka_unit_test(auto_leaves_a_core_to_each_device),
        cmocka_unit_test(only_allowed_cpus_are_used),
        cmocka_unit_test(places_and_layout_must_agree),
        cmocka_unit_test(places_alone_mean_a_layout),
        cmocka_unit_test(places_without_binding_are_bound),
        cmocka_unit_test(places_of_another_machine_are_refused),
        cmocka_unit_test(a_restart_leaves_no_trace),
        cmocka_unit_test(a_guard_of_another_process_is_ignored),
        cmocka_unit_test(more_threads_than_cpus),
        cmocka_unit_test(devices_and_layout_must_agree),
        cmocka_unit_test(a_thread_limit_is_noticed),
        cmocka_unit_test(the_settings_are_shown),
        cmocka_unit_test(without_prepare_units_float),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
