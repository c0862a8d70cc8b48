/* tests/backends.h – what the tests of back ends share: a private place for caches, the devices
 * that there are, and the kernels of tests/kernels/laws.c. */
#pragma once

#include "backends/backend.h"
#include "src/embed.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH(array) ((int)(sizeof(array) / sizeof *(array)))

/* The order in which programs built by build_laws() have their kernels. */
enum law_kernel { COUNT, INDEX, GROUPED, ARGUMENTS, ARITHMETIC, PUT, SLOW, TAKE, LAW_KERNELS };
static const struct backend_kernel law_kernels[LAW_KERNELS] = {
    [COUNT] = {"laws_count", {64, 1, 1}},
    [INDEX] = {"laws_index", {4, 2, 2}},
    [GROUPED] = {"laws_group", {4, 2, 2}},
    [ARGUMENTS] = {"laws_arguments", {1, 1, 1}},
    [ARITHMETIC] = {"laws_arithmetic", {64, 1, 1}},
    [PUT] = {"laws_put", {1, 1, 1}},
    [SLOW] = {"laws_slow", {1, 1, 1}},
    [TAKE] = {"laws_take", {64, 1, 1}},
};

static inline char *joined(const char *path)
{
    char *text = embed_join(&path, 1);
    assert_non_null(text);
    return text;
}

static inline struct backend_program *build_laws(struct backend *b, const char *options)
{
    struct backend_program *p = NULL;
    char *text = joined("tests/kernels/laws.c");
    assert_int_equal(backend_build(b, text, options, law_kernels, LAW_KERNELS, &p), EK_OK);
    free(text);
    return p;
}

static inline struct backend *open_device(const char *name, int index)
{
    struct backend *b = NULL;
    const struct backend_ops *ops = backend_find(name);
    assert_non_null(ops);
    assert_int_equal(backend_open((struct backend_device){ops, index}, &b), EK_OK);
    return b;
}

/* Devices of a back end, 0 when it has none. */
static inline int devices_of(const char *name)
{
    int n = 0;
    status_mute(+1);
    enum ek_status st = backend_find(name)->count(&n);
    status_mute(-1);
    return st ? 0 : n;
}

static inline struct backend_mem *alloc_on(struct backend *b, size_t bytes)
{
    struct backend_mem *m = NULL;
    assert_int_equal(backend_alloc(b, bytes, &m), EK_OK);
    return m;
}

static inline void put(struct backend *b, struct backend_mem *m, const void *from, size_t bytes)
{
    struct backend_rect all = backend_linear(0, 0, bytes);
    assert_int_equal(backend_write(b, BACKEND_COMPUTE, m, from, &all), EK_OK);
    assert_int_equal(backend_wait(b, BACKEND_COMPUTE), EK_OK);
}

static inline void get(struct backend *b, void *to, struct backend_mem *m, size_t bytes)
{
    struct backend_rect all = backend_linear(0, 0, bytes);
    assert_int_equal(backend_read(b, BACKEND_COMPUTE, to, m, &all), EK_OK);
    assert_int_equal(backend_wait(b, BACKEND_COMPUTE), EK_OK);
}

static inline void run(struct backend *b, struct backend_program *p, int kernel, int x, int y,
                       int z, int nargs, const struct backend_arg *args)
{
    const long global[3] = {x, y, z};
    assert_int_equal(backend_launch(b, BACKEND_COMPUTE, p, kernel, global, nargs, args), EK_OK);
}

/* A call that must fail with `want`, quietly, and say `word`. */
#define ASSERT_FAILS(want, call, word)                                                             \
    do {                                                                                           \
        status_mute(+1);                                                                           \
        enum ek_status got_ = (call);                                                              \
        status_mute(-1);                                                                           \
        assert_int_equal(got_, want);                                                              \
        if (!strstr(status_message(), word))                                                       \
            fail_msg("'%s' is not in: %s", (const char *)(word), status_message());                \
    } while (0)

/* Uniform random numbers of a fixed sequence (Knuth's 64-bit linear congruential generator). */
static inline unsigned draw(unsigned below)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

/* What a law is tried on, and a law: a cmocka test whose state is the subject. */
struct subject {
    struct backend *b;
    struct backend_program *laws;
};
struct law {
    const char *name;
    CMUnitTestFunction law;
};
#define LAW(name)                                                                                  \
    {                                                                                              \
#name, name                                                                                \
    }

static inline bool is_host(const struct backend *b)
{
    return !strcmp(b->ops->name, "host");
}

static inline int try_laws(const struct backend_ops *ops, int index, const struct law *laws, int n)
{
    enum { ROOM = 64 };
    struct CMUnitTest tests[ROOM];
    struct subject s = {0};
    if (n > ROOM || backend_open((struct backend_device){ops, index}, &s.b))
        return 1;
    s.laws = build_laws(s.b, "");
    for (int i = 0; i < n; i++)
        tests[i] = (struct CMUnitTest){laws[i].name, laws[i].law, NULL, NULL, &s};
    int failed = _cmocka_run_group_tests(s.b->label, tests, (size_t)n, NULL, NULL);
    backend_unbuild(s.b, s.laws);
    backend_close(s.b);
    return failed;
}

/* The laws over every device of one back end; returns how many failed. */
static inline int over_devices_of(const char *name, const struct law *laws, int n)
{
    int failed = 0;
    for (int i = 0; i < devices_of(name); i++)
        failed += try_laws(backend_find(name), i, laws, n);
    return failed;
}

/* The laws over every device of every back end. */
static inline int over_devices(const struct law *laws, int n)
{
    int failed = 0;
    for (int b = 0; b < backend_count(); b++)
        failed += over_devices_of(backend_at(b)->name, laws, n);
    return failed;
}

/* Whether a process failed; 1 or 0, whatever its exit code: a sum of 255, of a crash, and 1 would
 * be the exit code 0. */
static inline int failed_process(int status)
{
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* Runs `tests` in a process of its own whose cache is private and whose CU_OPENCL_SPLIT is `split`
 * (NULL: unset): drivers are found once in a process, so each setting needs a new one. PoCL's own
 * cache stays: what it compiles is the same each time, and most of what these tests cost. Returns
 * whether they failed. */
static inline int in_process(const char *split, int (*tests)(void))
{
    char dir[] = "/tmp/evenkeel-test-XXXXXX";
    if (!mkdtemp(dir))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        setenv("XDG_CACHE_HOME", dir, 1);
        if (split)
            setenv("CU_OPENCL_SPLIT", split, 1);
        exit(tests() != 0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    char clean[64];
    snprintf(clean, sizeof clean, "rm -rf '%s'", dir);
    return system(clean) || failed_process(status);
}

/* The folders with which with_fakes() started this process, or NULL. */
static inline const char *fakes(void)
{
    return getenv("EVENKEEL_FAKES");
}

/* The tests of each back end that has a device; under with_fakes(), of the vendors' alone. */
static inline int over_backends(int (*tests)(const struct backend_ops *ops))
{
    int failed = 0;
    for (int b = 0; b < backend_count(); b++) {
        const struct backend_ops *ops = backend_at(b);
        const bool vendor = !strcmp(ops->name, "cuda") || !strcmp(ops->name, "hip");
        if (devices_of(ops->name) && (!fakes() || vendor))
            failed += tests(ops);
    }
    return failed;
}

/* Whether OpenCL has a cpu device, as PoCL's: it computes for the fakes. */
static inline bool fakes_can_be(void)
{
    const struct backend_ops *ops = backend_find("opencl");
    bool cpu = false;
    for (int i = devices_of("opencl") - 1; i >= 0 && !cpu; i--) {
        struct backend_info info;
        cpu = !ops->info(i, &info) && info.is_cpu;
    }
    if (!cpu)
        puts("no OpenCL device on the cpus here (PoCL) for the fake GPUs");
    return cpu;
}

/* Starts this test program anew with fakes of the vendors' libraries: those of tests/fakegpu/
 * in `folders` of the build, as "fakegpu/hip2cuda:fakegpu". Returns whether they failed; 0 where
 * PoCL is missing, which computes for them. */
static inline int with_fakes(const char *folders)
{
    if (!fakes_can_be())
        return 0;
    char build[512] = "", path[2048] = "", *rest, *list = strdup(folders);
    if (readlink("/proc/self/exe", build, sizeof build - 1) < 0 || !list)
        return 1;
    for (int up = 0; up < 2; up++)
        *strrchr(build, '/') = '\0';
    rest = list;
    for (char *folder; (folder = strsep(&rest, ":"));)
        snprintf(path + strlen(path), sizeof path - strlen(path), "%s/%s:", build, folder);
    free(list);
    pid_t child = fork();
    if (child == 0) {
        const char *before = getenv("LD_LIBRARY_PATH");
        strncat(path, before ? before : "", sizeof path - strlen(path) - 1);
        setenv("LD_LIBRARY_PATH", path, 1);
        setenv("EVENKEEL_FAKES", folders, 1);
        setenv("FAKEGPU_STRICT", "1", 1);
        execl("/proc/self/exe", "with-fakes", (char *)NULL);
        _exit(1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return failed_process(status);
}

/* The same for a program without other tests: it is skipped where they cannot be. */
static inline int with_fakes_only(const char *folders)
{
    return fakes_can_be() ? with_fakes(folders) : 77;
}
