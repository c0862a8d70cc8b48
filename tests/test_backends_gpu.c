/* tests/test_backends_gpu.c – specific to CUDA and HIP: pinned memory, copies between devices,
 * faults of drivers and compilers. On fake GPUs; also with the real NVRTC or HIPRTC if installed.
 */
#include "tests/backends.h"

#include "backends/build_log.h"
#include "backends/gpu.h"
#include "src/self.h"
#include <dlfcn.h>
#include <limits.h>
#include <sys/stat.h>

static const char *const gpu[] = {"cuda", "hip"};

/* ---- what goes wrong ------------------------------------------------------------------------- */

static void memory_that_the_driver_refuses_is_told_with_numbers(void **state)
{
    for (int k = 0; k < LENGTH(gpu); k++) {
        struct backend *b = open_device(gpu[k], 1);
        struct backend_mem *m = NULL, *held = alloc_on(b, 5000000);
        setenv("FAKEGPU_FAULT", "alloc:2", 1);
        ASSERT_FAILS(EK_UNAVAILABLE, backend_alloc(b, 7000000, &m),
                     "7.0 MB of device memory asked");
        assert_non_null(
            strstr(status_message(), "refused by the driver though 1068.7 MB are free"));
        assert_non_null(strstr(status_message(), "5.0 of 1073.7 MB used"));
        unsetenv("FAKEGPU_FAULT");
        backend_free(b, alloc_on(b, 7000000));
        backend_free(b, held);
        backend_free(b, alloc_on(b, 1073000000)); /* freed memory can be allocated again */
        ASSERT_FAILS(EK_UNAVAILABLE, backend_alloc(b, 2000000000, &m), "0.0 of 1073.7 MB used");
        backend_close(b);
    }
}

/* Memory that other processes use cannot be allocated. */
static void memory_is_shared_with_others(void **state)
{
    struct backend *b = open_device("cuda", 0), *other = open_device("cuda", 0);
    struct backend_mem *m = NULL, *theirs = alloc_on(other, 1000000000);
    ASSERT_FAILS(EK_UNAVAILABLE, backend_alloc(b, 100000000, &m), "73.7 MB can be had");
    backend_free(other, theirs);
    backend_free(b, alloc_on(b, 100000000));
    backend_close(b);
    backend_close(other);
}

static void a_refused_launch_is_no_loss(void **state)
{
    struct backend *b = open_device("cuda", 0);
    struct backend_program *p = build_laws(b, "");
    struct backend_mem *m = alloc_on(b, 2 * sizeof(int));
    const struct backend_arg args[] = {backend_arg_mem(m), backend_arg_int(0), backend_arg_int(7)};
    const long one[3] = {1, 1, 1};
    int cell[2] = {0, 0};
    put(b, m, cell, sizeof cell);
    setenv("FAKEGPU_FAULT", "launch:1", 1);
    ASSERT_FAILS(EK_UNAVAILABLE, backend_launch(b, BACKEND_COMPUTE, p, PUT, one, 3, args),
                 "laws_put: the kernel needs more registers");
    unsetenv("FAKEGPU_FAULT");
    run(b, p, PUT, 1, 1, 1, 3, args);
    get(b, cell, m, sizeof cell);
    assert_int_equal(cell[0], 7);
    backend_free(b, m);
    backend_unbuild(b, p);
    backend_close(b);
}

struct putting {
    struct backend *b;
    struct backend_program *p;
    struct backend_mem *m;
};

static enum ek_status put_seven(void *of)
{
    const struct putting *o = of;
    const struct backend_arg args[] = {backend_arg_mem(o->m), backend_arg_int(0),
                                       backend_arg_int(7)};
    return backend_launch_items(o->b, o->p, PUT, 1, 3, args);
}

static enum ek_status put_seven_and_fail(void *of)
{
    assert_int_equal(put_seven(of), EK_OK);
    return EK_UNAVAILABLE;
}

/* Use of the device by another thread meanwhile. */
static void *copy_beside(void *of)
{
    const struct putting *o = of;
    const int cell[4] = {1, 2, 3, 4};
    const bool copied = !backend_send(o->b, BACKEND_COPY, o->m, cell, sizeof cell) &&
                        !backend_wait(o->b, BACKEND_COPY);
    return copied ? NULL : of;
}

static enum ek_status put_seven_beside_a_copy(void *of)
{
    pthread_t other;
    void *wrong = of;
    assert_int_equal(put_seven(of), EK_OK);
    assert_int_equal(pthread_create(&other, NULL, copy_beside, of), 0);
    assert_int_equal(pthread_join(other, &wrong), 0);
    assert_null(wrong);
    return EK_OK;
}

static void launches_are_gathered_beside_others_copies(void **state)
{
    for (int k = 0; k < LENGTH(gpu); k++) {
        struct putting o = {.b = open_device(gpu[k], 0)};
        struct backend_graph *graph;
        int cell[4] = {0};
        o.p = build_laws(o.b, "");
        o.m = alloc_on(o.b, sizeof cell);
        backend_capture(o.b, put_seven_beside_a_copy, &o, &graph);
        assert_non_null(graph);
        assert_int_equal(backend_graph_start(o.b, graph), EK_OK);
        get(o.b, cell, o.m, sizeof cell);
        assert_memory_equal(cell, ((int[4]){7, 2, 3, 4}), sizeof cell);
        backend_graph_free(o.b, graph);
        backend_free(o.b, o.m);
        backend_unbuild(o.b, o.p);
        backend_close(o.b);
    }
}

/* A program, buffer or graph freed while its launches are running: they are completed first, even
 * if the calling thread last worked with another device. */
static void what_is_under_way_is_waited_for(void **state)
{
    for (int k = 0; k < LENGTH(gpu); k++) {
        struct putting o = {.b = open_device(gpu[k], 0)};
        struct backend_graph *graph;
        struct backend_mem *other = alloc_on(o.b, 4 * sizeof(int));
        int cell[4] = {0};
        o.p = build_laws(o.b, "");
        o.m = alloc_on(o.b, 4 * sizeof(int));
        assert_int_equal(put_seven(&o), EK_OK);
        backend_free(o.b, o.m);
        o.m = other;
        put(o.b, o.m, cell, sizeof cell);
        backend_capture(o.b, put_seven_and_fail, &o, &graph);
        assert_null(graph);
        backend_capture(o.b, put_seven, &o, &graph);
        assert_non_null(graph);
        assert_int_equal(backend_graph_start(o.b, graph), EK_OK);
        backend_close(open_device(gpu[k], 1));
        backend_graph_free(o.b, graph);
        get(o.b, cell, o.m, sizeof cell);
        assert_int_equal(cell[0], 7);
        put(o.b, o.m, (int[4]){0}, sizeof cell);
        assert_int_equal(put_seven(&o), EK_OK);
        backend_close(open_device(gpu[k], 1));
        backend_unbuild(o.b, o.p);
        get(o.b, cell, o.m, sizeof cell);
        assert_int_equal(cell[0], 7);
        backend_free(o.b, o.m);
        backend_close(o.b);
    }
}

/* A device that fails to open releases everything: the fake reports leaks. */
static void a_device_that_does_not_open_keeps_nothing(void **state)
{
    for (int k = 0; k < LENGTH(gpu); k++) {
        struct backend *b = NULL;
        setenv("FAKEGPU_FAULT", "queue:2", 1);
        ASSERT_FAILS(EK_UNAVAILABLE,
                     backend_open((struct backend_device){backend_find(gpu[k]), 1}, &b),
                     "creating a queue");
        unsetenv("FAKEGPU_FAULT");
    }
}

static void too_large_a_group_is_refused(void **state)
{
    struct backend *b = open_device("cuda", 0);
    struct backend_program *p = NULL;
    char *text = joined("tests/kernels/laws.c");
    setenv("FAKEGPU_GROUP", "32", 1);
    ASSERT_FAILS(EK_UNAVAILABLE, backend_build(b, text, "", law_kernels, LAW_KERNELS, &p),
                 "needs a work-group of 64, the device supports 32");
    setenv("FAKEGPU_GROUP", "64", 1);
    assert_int_equal(backend_build(b, text, "", law_kernels, LAW_KERNELS, &p), EK_OK);
    backend_unbuild(b, p);
    unsetenv("FAKEGPU_GROUP");
    free(text);
    backend_close(b);
}

static void too_large_a_grid_is_refused(void **state)
{
    struct backend *b = open_device("hip", 0);
    struct backend_program *p = build_laws(b, "");
    struct backend_mem *m = alloc_on(b, sizeof(int));
    const struct backend_arg args[] = {backend_arg_mem(m), backend_arg_int(1), backend_arg_int(1),
                                       backend_arg_int(1)};
    const long high[3] = {1, 131073, 1};
    ASSERT_FAILS(EK_UNAVAILABLE, backend_launch(b, BACKEND_COMPUTE, p, INDEX, high, 4, args),
                 "65537 groups in direction 1, the device allows 65535");
    backend_free(b, m);
    backend_unbuild(b, p);
    backend_close(b);
}

static void a_lost_device_fails_every_call(void **state)
{
    struct backend *b = open_device("cuda", 1), *other = open_device("cuda", 0);
    struct backend_program *p = build_laws(b, "");
    struct backend_mem *m = alloc_on(b, 64), *none = NULL, *alive = alloc_on(other, 64);
    const struct backend_arg args[] = {backend_arg_mem(m), backend_arg_int(0), backend_arg_int(7)};
    const struct backend_rect all = backend_linear(0, 0, 64);
    char bytes[64] = "";
    setenv("FAKEGPU_FAULT", "lost:1", 1);
    run(b, p, PUT, 1, 1, 1, 3, args);
    unsetenv("FAKEGPU_FAULT");
    ASSERT_FAILS(EK_LOST, backend_wait(b, BACKEND_COMPUTE), "cuda:1");
    ASSERT_FAILS(EK_LOST, backend_read(b, BACKEND_COPY, bytes, m, &all), "cuda:1");
    ASSERT_FAILS(EK_LOST, backend_alloc(b, 8, &none), "cuda:1");
    ASSERT_FAILS(EK_LOST, backend_copy(b, m, other, alive, &all), "cuda:1");
    put(other, alive, bytes, sizeof bytes); /* the other one still works */
    backend_free(b, m);
    backend_unbuild(b, p);
    backend_close(b);
    backend_free(other, alive);
    backend_close(other);
}

/* ---- which devices --------------------------------------------------------------------------- */

/* The devices selected by a list, as "cuda:0 hip:1". */
static const char *chosen(const char *list, int want)
{
    static char text[256];
    struct backend_device d[8];
    int n = 0;
    text[0] = '\0';
    assert_int_equal(backend_parse(list, want, d, LENGTH(d), &n), EK_OK);
    for (int i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s:%d", i ? " " : "",
                 d[i].ops->name, d[i].index);
    return text;
}

/* Two devices of each vendor: cuda:0 cuda:1 hip:0 hip:1. */
static void neighbours_on_a_node_take_other_gpus(void **state)
{
    static const struct {
        int rank, ranks, want;
        const char *devices;
    } row[] = {{0, 2, 1, "cuda:0"},
               {1, 2, 1, "cuda:1"},
               {1, 2, 2, "hip:0 hip:1"},
               {2, 3, 1, "hip:0"},
               {5, 8, 1, "cuda:1"}, /* more ranks than GPUs: shared */
               {1, 2, 3, "hip:1 cuda:0 cuda:1"},
               {0, 2, -1, "cuda:0 cuda:1"},
               {1, 2, -1, "hip:0 hip:1"},
               {0, 3, -1, "cuda:0 cuda:1"},
               {1, 3, -1, "hip:0"},
               {2, 3, -1, "hip:1"},
               {1, 6, -1, "cuda:1"},
               {2, 6, -1, ""}, /* more ranks than GPUs: not shared */
               {4, 6, -1, "hip:1"},
               {0, 1, -1, "cuda:0 cuda:1 hip:0 hip:1"}};
    for (int i = 0; i < LENGTH(row); i++) {
        backend_share(row[i].rank, row[i].ranks);
        assert_string_equal(chosen("auto", row[i].want), row[i].devices);
        assert_string_equal(chosen("hip:1,cuda:0", 2), "hip:1 cuda:0"); /* by name is by name */
    }
}

/* Each part of a partitioned GPU is a device; in another back end it is the same GPU. */
static void parts_of_a_gpu_are_devices(void **state)
{
    setenv("FAKEGPU_PARTS", "1", 1);
    backend_share(0, 1);
    assert_string_equal(chosen("auto", -1), "cuda:0 cuda:1 hip:0 hip:1");
    unsetenv("FAKEGPU_PARTS");
}

static void devices_have_names_for_all_times(void **state)
{
    struct backend_device d[2];
    struct backend_info i;
    int n;
    assert_int_equal(backend_find("cuda")->info(1, &i), EK_OK);
    assert_string_equal(i.uuid, "GPU-c0d1e2f3-0415-2637-4859-6a7b8c9daebf");
    assert_int_equal(backend_find("hip")->info(0, &i), EK_OK);
    assert_string_equal(i.uuid, "GPU-0123456789abcdef");
    assert_string_equal(chosen("cuda:0000:A1:00.0,hip:GPU-0123", 2), "cuda:1 hip:0");
    assert_string_equal(chosen("cuda:GPU-c0d1e2f3-0415-2637-4859-6a7b8c9daebf", 1), "cuda:1");
    assert_string_equal(chosen("cuda:MIG-c0d1e2f3-0415-2637-4859-6a7b8c9daebf", 1), "cuda:1");
    ASSERT_FAILS(EK_USAGE, backend_parse("cuda:GPU-", 1, d, 2, &n),
                 "does not name a device"); /* both */
    ASSERT_FAILS(EK_USAGE, backend_parse("cuda:MIG-c1", 1, d, 2, &n), "does not name a device");
    ASSERT_FAILS(EK_USAGE, backend_parse("cuda:CPU-c0d1", 1, d, 2, &n), "does not name a device");
    ASSERT_FAILS(EK_USAGE, backend_parse("cuda:0000:b1:00.0", 1, d, 2, &n),
                 "does not name a device");
    ASSERT_FAILS(EK_USAGE, backend_parse("cuda:-1", 1, d, 2, &n), "does not name a device");
}

/* ---- libraries and compilers ----------------------------------------------------------------- */

static void libraries_are_listed(void **state)
{
    struct backend_library l[BACKEND_LIBRARIES];
    assert_int_equal(backend_libraries(backend_find("cuda"), l), 2);
    assert_true(l[0].loaded && l[1].loaded);
    assert_string_equal(l[0].name, "libcuda.so.1");
    assert_string_equal(l[0].version, "CUDA 12.8");
    assert_string_equal(l[1].what, "compiler");
    assert_int_equal(backend_libraries(backend_find("hip"), l), 2);
    assert_string_equal(l[0].name, "libamdhip64.so.6");
    assert_string_equal(l[0].version, "HIP 6.2");
    assert_string_equal(l[1].name, "libhiprtc.so.6");
    assert_int_equal(backend_libraries(backend_find("host"), l), 0);
}

/* A compiler outside the loader's path, in lib64 or lib of $HOME_OF_IT. */
static void compilers_are_found_where_a_variable_says(void **state)
{
    char home[] = "/tmp/compilerXXXXXX", folder[64], link[96], build[512] = "";
    const struct gpu_vendor v = {
        .compiler = {{"libnowhere.so.9", "libathome.so.1"}, {NULL}, "ATHOME"},
        .compiler_prefix = "nvrtc",
        .compiler_advice = "look elsewhere"};
    struct gpu_compiler c;
    assert_non_null(mkdtemp(home));
    assert_true(readlink("/proc/self/exe", build, sizeof build - 32) > 0);
    for (int up = 0; up < 2; up++)
        *strrchr(build, '/') = '\0';
    strcat(build, "/fakegpu/libnvrtc.so.12");
    snprintf(folder, sizeof folder, "%s/lib64", home);
    snprintf(link, sizeof link, "%s/libathome.so.1", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(symlink(build, link), 0);
    assert_int_equal(MUTED(gpu_compiler_choose(&v, "", "sm_80", 12, &c)), EK_UNAVAILABLE);
    setenv("ATHOME", home, 1);
    assert_int_equal(gpu_compiler_choose(&v, "", "sm_80", 12, &c), EK_OK);
    assert_string_equal(c.library, link);
    unlink(link);
    rmdir(folder);
    rmdir(home);
}

static void devices_say_what_they_are(void **state)
{
    struct backend_info i;
    assert_int_equal(backend_find("cuda")->info(1, &i), EK_OK);
    assert_string_equal(i.name, "Fake CUDA GPU 1");
    assert_string_equal(i.arch, "sm_80");
    assert_string_equal(i.pci, "0000:a1:00.0");
    assert_int_equal(i.memory, 1024u << 20);
    assert_int_equal(i.max_group, 1024);
    assert_int_equal(i.local_memory, 49152);
    assert_true(i.fp64 && !i.is_cpu);
    assert_int_equal(backend_find("hip")->info(0, &i), EK_OK);
    assert_string_equal(i.arch, "gfx90a");
    assert_string_equal(i.vendor, "AMD");
    ASSERT_FAILS(EK_UNAVAILABLE, backend_find("hip")->info(2, &i), "HIP has 2");
}

/* Builds the laws' kernels on a back end's first device, with `arch` as its devices' architecture;
 * this test has a process of its own, so it may change the environment. */
static enum ek_status build_for(const char *back_end, const char *arch)
{
    struct backend *b = NULL;
    struct backend_program *p = NULL;
    setenv("FAKEGPU_ARCH", arch, 1);
    assert_int_equal(backend_open((struct backend_device){backend_find(back_end), 0}, &b), EK_OK);
    char *text = joined("tests/kernels/laws.c");
    status_mute(+1);
    enum ek_status st = backend_build(b, text, "", law_kernels, LAW_KERNELS, &p);
    status_mute(-1);
    free(text);
    backend_unbuild(b, p);
    backend_close(b);
    unsetenv("FAKEGPU_ARCH");
    return st;
}

static void the_architecture_decides_on_the_compiler(void **state)
{
    assert_int_equal(build_for("cuda", "sm_70"), EK_OK); /* older than NVRTC 13 knows */
    assert_int_equal(build_for("cuda", "sm_88"), EK_OK); /* newer than NVRTC 12 knows: through PTX
                                                          */
    assert_int_equal(build_for("cuda", "sm_35"), EK_UNAVAILABLE);
    assert_non_null(strstr(status_message(), "libnvrtc.so.12 12.8 knows sm_50 and newer"));
    assert_int_equal(build_for("hip", "gfx906:sramecc+:xnack-"), EK_OK);
    assert_int_equal(build_for("hip", "gfx942"), EK_UNAVAILABLE);
    assert_non_null(strstr(status_message(), "died (signal 6); it may not know gfx942"));
}

static void a_driver_that_refuses_code_says_which(void **state)
{
    setenv("FAKEGPU_FAULT", "load:1", 1);
    struct backend *b = open_device("cuda", 1);
    struct backend_program *p = NULL;
    char *text = joined("tests/kernels/laws.c");
    ASSERT_FAILS(EK_UNAVAILABLE,
                 backend_build(b, text, "-DREFUSED=1", law_kernels, LAW_KERNELS, &p),
                 "libnvrtc.so.12 12.8 made for sm_80 on a driver of CUDA 12.8");
    assert_non_null(strstr(status_message(), "the fake driver rejects it"));
    unsetenv("FAKEGPU_FAULT");
    free(text);
    backend_close(b);
}

/* Bugs of a caller, in a separate process. */
static int bugs(void)
{
    struct backend *b = open_device("cuda", 0);
    struct gpu_state *d = b->dev;
    const struct gpu_driver *driver = d->driver;
    struct backend_program *p = build_laws(b, "");
    struct gpu_program *code = (struct gpu_program *)p;
    struct backend_mem *m = alloc_on(b, 64);
    const struct backend_arg args[] = {backend_arg_mem(m), backend_arg_int(0), backend_arg_int(7)};
    const long one[3] = {1, 1, 1};
    void *pinned, *address = gpu_address(m),
                  *value[3] = {&address, (void *)&args[1].as, (void *)&args[2].as};
    assert_int_equal(driver->pinned_alloc(&pinned, 64, 4), 0);
    assert_int_not_equal(
        driver->launch(code->function[PUT], 1, 1, 1, 2, 1, 1, 0, d->stream[0], value, NULL), 0);
    if (!strcmp(getenv("BUGS"), "unload")) {
        assert_int_equal(backend_launch(b, BACKEND_COMPUTE, p, PUT, one, 3, args), EK_OK);
        driver->module_unload(code->module);
    }
    return 0; /* leaves everything open */
}

static void bugs_of_callers_are_said(void **state)
{
    static const char *const said[2][7] = {
        {"pinned memory with flags 4", "launched with 2 in direction 0, its text says 1",
         "its context was retained 1 times more", "queues were never freed",
         "1 modules were never freed", "1 pinned buffers were never freed", "buffers of 64 bytes"},
        {"is unloaded while it is queued"}};
    for (int k = 0; k < 2; k++) {
        char command[PATH_MAX + 80], text[8192] = "";
        snprintf(command, sizeof command,
                 "ASAN_OPTIONS=use_sigaltstack=0:detect_leaks=0 FAKEGPU_STRICT=0 BUGS=%s '%s' 2>&1",
                 k ? "unload" : "leave", self_path());
        FILE *f = popen(command, "r");
        assert_non_null(f);
        text[fread(text, 1, sizeof text - 1, f)] = '\0';
        assert_int_equal(pclose(f), 0);
        for (int i = 0; i < 7 && said[k][i]; i++)
            if (!strstr(text, said[k][i]))
                fail_msg("'%s' is not in: %s", said[k][i], text);
    }
}

static int fake_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_launch_is_no_loss),
        cmocka_unit_test(bugs_of_callers_are_said),
        cmocka_unit_test(a_device_that_does_not_open_keeps_nothing),
        cmocka_unit_test(what_is_under_way_is_waited_for),
        cmocka_unit_test(launches_are_gathered_beside_others_copies),
        cmocka_unit_test(too_large_a_group_is_refused),
        cmocka_unit_test(memory_that_the_driver_refuses_is_told_with_numbers),
        cmocka_unit_test(a_driver_that_refuses_code_says_which),
        cmocka_unit_test(memory_is_shared_with_others),
        cmocka_unit_test(too_large_a_grid_is_refused),
        cmocka_unit_test(neighbours_on_a_node_take_other_gpus),
        cmocka_unit_test(parts_of_a_gpu_are_devices),
        cmocka_unit_test(devices_have_names_for_all_times),
        cmocka_unit_test(libraries_are_listed),
        cmocka_unit_test(compilers_are_found_where_a_variable_says),
        cmocka_unit_test(devices_say_what_they_are),
        cmocka_unit_test(the_architecture_decides_on_the_compiler),
        cmocka_unit_test(a_lost_device_fails_every_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- without fakes --------------------------------------------------------------------------- */

static void logs_are_told_in_one_way(void **state)
{
    static const struct {
        const char *log, *says;
    } cases[] = {
        {"a/b.c(12): warning #1: w\na/b.c(31): error: no such thing\n1 error\n",
         "a/b.c:31: error: no such thing"},
        {"a/b.c:3:14: error: f(2): is (not) known\n", "a/b.c:3:14: error: f(2): is (not) known"},
        {"\n\nptxas is not amused\n", "ptxas is not amused"},
        {"", "gives no reason"},
        {NULL, "gives no reason"},
    };
    for (int i = 0; i < LENGTH(cases); i++)
        ASSERT_FAILS(i < 2 ? EK_USAGE : EK_UNAVAILABLE, build_log_fail("cuda:9", cases[i].log),
                     cases[i].says);
}

/* As of NVIDIA's OpenCL, which counts the lines of the whole text. */
static void lines_of_the_whole_text_are_those_of_files(void **state)
{
    static const char text[] = "a\n#line 1 \"x/head.h\"\nb\nc\n#line 1 \"y/k.c\"\nd\n"
                               "#line 41 \"y/k.c\"\ne\nf\n";
    static const struct {
        const char *log, *placed;
    } cases[] = {
        {"<kernel>:4:2: error: c\n", "x/head.h:2:2: error: c\n"},
        {"1 error.\n<kernel>:6:14: error: d\n  d\n", "1 error.\ny/k.c:1:14: error: d\n  d\n"},
        {"<program source>:9:1: warning: f", "y/k.c:42:1: warning: f"},
        {"<kernel>:1:1: error: a", "1:1: error: a"},
        {"y/k.c:3:1: error: <kernel>:4\n<x>\n", "y/k.c:3:1: error: <kernel>:4\n<x>\n"},
        {"", ""},
    };
    for (int i = 0; i < LENGTH(cases); i++) {
        char *placed = build_log_place(cases[i].log, text);
        assert_string_equal(placed, cases[i].placed);
        free(placed);
    }
    assert_null(build_log_place(NULL, text));
}

static void missing_libraries_are_named(void **state)
{
    void *handle;
    char name[GPU_LIBRARY_NAME], why[GPU_WHY];
    const struct gpu_library none = {{"libnone.so.2", "libnone.so.1"}, {"/usr/share"}, NULL};
    const struct gpu_library broken = {{"libnone.so.1", "/etc/passwd"}, {"/usr/share"}, NULL};
    assert_false(gpu_library_open(&none, &handle, name, why));
    assert_string_equal(why, "libnone.so.2, libnone.so.1 not found");
    assert_false(gpu_library_open(&broken, &handle, name, why));
    assert_non_null(strstr(why, "/etc/passwd"));
    assert_null(strstr(why, "not found"));
}

/* Compiles a text in a separate process; false if there is no such compiler. */
static bool compile(const char *library, const char *prefix, const char *option, const char *target,
                    const char *text, enum ek_status *st, struct gpu_code *made)
{
    struct gpu_compiler c = {.major = 0};
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return false;
    char word[128];
    snprintf(c.library, sizeof c.library, "%s", library);
    snprintf(c.target, sizeof c.target, "%s", target);
    snprintf(word, sizeof word, "%s%s", option, target);
    const char *const options[] = {word, "-DKERNEL_NO_FMA"};
    *made = (struct gpu_code){0};
    status_mute(+1);
    *st = gpu_process_compile("test", &c, prefix, text, 2, options, made);
    status_mute(-1);
    return true;
}

static void try_real_compiler(const char *library, const char *prefix, const char *option,
                              const char *target)
{
    enum ek_status st;
    struct gpu_code made;
    char *text = joined("tests/kernels/laws.c");
    char *bad = strdup(text);
    memcpy(strstr(bad, "GID(0)"), "GID_0 ", 6);
    if (!compile(library, prefix, option, target, text, &st, &made)) {
        free(text);
        free(bad);
        skip();
    }
    assert_int_equal(st, EK_OK);
    assert_non_null(made.code);
    assert_memory_equal(made.code, "\177ELF", 4);
    free(made.code);
    free(made.log);
    compile(library, prefix, option, target, bad, &st, &made);
    assert_int_equal(st, EK_OK);
    assert_null(made.code);
    ASSERT_FAILS(EK_USAGE, build_log_fail("test", made.log), "tests/kernels/laws.c:13");
    assert_non_null(strstr(status_message(), "GID_0"));
    free(made.log);
    free(text);
    free(bad);
}

static void nvrtc_compiles_the_laws(void **state)
{
    try_real_compiler("libnvrtc.so.13", "nvrtc", "--gpu-architecture=", "sm_90");
}

/* With PoCL in use in this process, which HIPRTC would abort. */
static void hiprtc_compiles_the_laws_beside_pocl(void **state)
{
    static struct backend *b; /* static: skip() does not return, and this is no leak */
    static struct backend_program *p;
    b = devices_of("opencl") ? open_device("opencl", 0) : NULL;
    p = b ? build_laws(b, "") : NULL;
    try_real_compiler("libamdhip64.so.5", "hiprtc", "--offload-arch=", "gfx90a");
    if (b) {
        backend_unbuild(b, p);
        backend_close(b);
    }
}

static void a_compiler_that_dies_is_survived(void **state)
{
    enum ek_status st;
    struct gpu_code made;
    if (!compile("libamdhip64.so.5", "hiprtc", "--offload-arch=", "gfx1100", "int x;", &st, &made))
        skip();
    if (st) { /* Debian 12's: ends its process */
        assert_null(made.code);
        assert_non_null(strstr(status_message(), "gfx1100"));
    }
    free(made.code);
    free(made.log);
    assert_true(compile("libc.so.6", "nvrtc", "", "x", "int x;", &st, &made));
    assert_int_equal(st, EK_UNAVAILABLE);
    assert_non_null(strstr(status_message(), "nvrtcVersion"));
}

/* A machine may have no driver, a driver without devices, or devices: each gives one line. */
static void what_there_is_not_is_told(void **state)
{
    for (int k = 0; k < LENGTH(gpu); k++) {
        int n = 0;
        status_mute(+1);
        enum ek_status st = backend_find(gpu[k])->count(&n);
        status_mute(-1);
        if (!st)
            continue;
        assert_int_equal(st, EK_UNAVAILABLE);
        assert_non_null(strstr(status_message(), ": no device ("));
        assert_null(strchr(status_message(), '\n'));
    }
}

static int real_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_are_told_in_one_way),
        cmocka_unit_test(lines_of_the_whole_text_are_those_of_files),
        cmocka_unit_test(missing_libraries_are_named),
        cmocka_unit_test(nvrtc_compiles_the_laws),
        cmocka_unit_test(hiprtc_compiles_the_laws_beside_pocl),
        cmocka_unit_test(a_compiler_that_dies_is_survived),
        cmocka_unit_test(what_there_is_not_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    if (getenv("BUGS"))
        return bugs();
    return fakes() ? in_process(NULL, fake_tests)
                   : in_process(NULL, real_tests) + with_fakes("fakegpu");
}
