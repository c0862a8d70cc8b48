/* tests/test_backends_cache.c – compiled kernels on disk: entries are intact or absent, a second
 * build uses the first one's code, and damage only costs a compilation. */
#include "tests/backends.h"

#include "backends/cache.h"
#include "src/cachedir.h"
#include <dirent.h>
#include <sys/stat.h>

static struct cache_key key_of(const char *a, const char *b)
{
    return cache_key((const char *const[]){a, b}, 2);
}

static void entry_path(char path[512], const char *name)
{
    snprintf(path, 512, "%s/evenkeel/%s", getenv("XDG_CACHE_HOME"), name);
}

static void keys_tell_parts_apart(void **state)
{
    struct cache_key a = key_of("ab", "c"), b = key_of("a", "bc"), c = key_of("ab", "c");
    assert_string_not_equal(a.hex, b.hex);
    assert_string_equal(a.hex, c.hex);
    assert_int_equal(strlen(a.hex), 32);
}

static void entries_come_back(void **state)
{
    unsigned char in[5000], *out = NULL;
    size_t size = 0;
    struct cache_key key = key_of("entries", "come back");
    assert_false(cache_load(&key, &out, &size));
    for (int i = 0; i < LENGTH(in); i++)
        in[i] = (unsigned char)draw(256);
    cache_save(&key, in, sizeof in);
    assert_true(cache_load(&key, &out, &size));
    assert_int_equal(size, sizeof in);
    assert_memory_equal(out, in, sizeof in);
    free(out);
}

/* Every byte of an entry matters, and so does its length. */
static void damaged_entries_are_absent(void **state)
{
    const unsigned char in[] = "some code";
    unsigned char *out = NULL, file[256];
    size_t size = 0;
    struct cache_key key = key_of("damaged", "entry");
    char path[512];
    cache_save(&key, in, sizeof in);
    entry_path(path, key.hex);
    FILE *f = fopen(path, "rb+");
    size_t length = fread(file, 1, sizeof file, f);
    assert_in_range(length, sizeof in, sizeof file - 1);
    for (size_t i = 0; i < length; i++) {
        fseek(f, (long)i, SEEK_SET);
        fputc(file[i] ^ 0x10, f);
        fflush(f);
        assert_false(cache_load(&key, &out, &size));
        fseek(f, (long)i, SEEK_SET);
        fputc(file[i], f);
        fflush(f);
    }
    assert_true(cache_load(&key, &out, &size));
    free(out);
    fclose(f);
    assert_int_equal(truncate(path, (off_t)length - 1), 0);
    assert_false(cache_load(&key, &out, &size));
    assert_int_equal(truncate(path, 3), 0);
    assert_false(cache_load(&key, &out, &size));
}

static void it_can_be_turned_off(void **state)
{
    unsigned char *out = NULL;
    size_t size = 0;
    struct cache_key key = key_of("turned", "off");
    setenv("CU_KERNEL_CACHE", "0", 1);
    cache_save(&key, (const unsigned char *)"x", 1);
    assert_false(cache_load(&key, &out, &size));
    setenv("CU_KERNEL_CACHE", "1", 1);
    assert_false(cache_load(&key, &out, &size));
}

static void no_place_is_no_error(void **state)
{
    char kept[512], path[512];
    unsigned char *out = NULL;
    size_t size = 0;
    struct cache_key key = key_of("no", "place");
    snprintf(kept, sizeof kept, "%s", getenv("XDG_CACHE_HOME"));
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
    setenv("TMPDIR", "/proc/nowhere", 1);
    cache_save(&key, (const unsigned char *)"x", 1);
    assert_false(cache_load(&key, &out, &size));
    assert_false(cachedir_find("x", path, sizeof path));
    assert_string_equal(path, "");
    setenv("XDG_CACHE_HOME", kept, 1);
    unsetenv("TMPDIR");
}

/* ---- a device's programs ---- */

/* Finds the newest entry and counts them. Entries are always new files, so a changed inode number
 * means that it was rewritten. */
static ino_t newest_entry(char path[512], int *n)
{
    char folder[512];
    entry_path(folder, "");
    DIR *dir = opendir(folder);
    ino_t newest = 0;
    struct timespec last = {0, 0};
    *n = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char name[800];
        struct stat st;
        snprintf(name, sizeof name, "%s%s", folder, e->d_name);
        if (e->d_name[0] == '.' || stat(name, &st))
            continue;
        ++*n;
        if (st.st_mtim.tv_sec > last.tv_sec ||
            (st.st_mtim.tv_sec == last.tv_sec && st.st_mtim.tv_nsec >= last.tv_nsec)) {
            last = st.st_mtim;
            newest = st.st_ino;
            snprintf(path, 512, "%.511s", name);
        }
    }
    if (dir)
        closedir(dir);
    return newest;
}

/* The back end that builds. */
static const char *builder = "opencl";

/* Options of the newest entry: PoCL has compiled the text with them already. */
#define LAST "-DKERNEL_NO_FMA"

/* Builds the laws' kernels on a fresh device and checks that they work. */
static void build_and_try(const char *options)
{
    struct backend *b = open_device(builder, 0);
    struct backend_program *p = build_laws(b, options);
    struct backend_mem *m = alloc_on(b, sizeof(int));
    int cell = 0;
    run(b, p, PUT, 1, 1, 1, 3,
        (struct backend_arg[]){backend_arg_mem(m), backend_arg_int(0), backend_arg_int(42)});
    get(b, &cell, m, sizeof cell);
    assert_int_equal(cell, 42);
    backend_free(b, m);
    backend_unbuild(b, p);
    backend_close(b);
}

static void a_second_build_takes_the_first_ones_code(void **state)
{
    if (!devices_of(builder))
        skip();
    char path[512], again[512];
    int before, n, later;
    newest_entry(path, &before);
    build_and_try("");
    ino_t first = newest_entry(path, &n);
    assert_int_equal(n, before + 1);
    build_and_try("");
    assert_true(newest_entry(again, &later) == first);
    assert_int_equal(later, n);
    build_and_try(LAST);
    assert_true(newest_entry(again, &later) != first);
    assert_int_equal(later, n + 1);
}

static void damaged_code_is_compiled_anew(void **state)
{
    if (!devices_of(builder))
        skip();
    char path[512], again[512];
    int n, later;
    build_and_try(LAST);
    ino_t first = newest_entry(path, &n);
    FILE *f = fopen(path, "rb+");
    fseek(f, -100, SEEK_END);
    for (int i = 0; i < 100; i++)
        fputc(0x55, f);
    fclose(f);
    build_and_try(LAST);
    assert_true(newest_entry(again, &later) != first);
    assert_string_equal(again, path);
    assert_int_equal(later, n);
}

/* PoCL would compile everything again to export its code. */
static void pocls_code_is_left_to_pocl(void **state)
{
    if (!devices_of(builder))
        skip();
    char path[512];
    int before, n;
    newest_entry(path, &before);
    unsetenv("CU_KERNEL_CACHE");
    build_and_try("-DPOCLS=1");
    setenv("CU_KERNEL_CACHE", "1", 1);
    newest_entry(path, &n);
    struct backend *b = open_device(builder, 0);
    assert_int_equal(n - before, !strcasestr(b->info.driver, "pocl"));
    backend_close(b);
    if (n > before) /* LAST stays the newest */
        assert_int_equal(unlink(path), 0);
}

/* An intact entry that the driver refuses, as after an update without a new version number. */
static void code_that_the_driver_refuses_is_compiled_anew(void **state)
{
    if (!devices_of(builder))
        skip();
    char path[512], again[512];
    int n;
    build_and_try(LAST);
    newest_entry(path, &n);
    struct cache_key key = {""};
    snprintf(key.hex, sizeof key.hex, "%s", strrchr(path, '/') + 1);
    cache_save(&key, (const unsigned char *)"no binary", 9);
    ino_t planted = newest_entry(path, &n);
    build_and_try(LAST);
    assert_true(newest_entry(again, &n) != planted);
    assert_string_equal(again, path);
}

/* Valid code of another compiler, or for another driver. */
static void code_of_another_maker_is_compiled_anew(void **state)
{
    if (!devices_of(builder))
        skip();
    char path[512], again[512];
    unsigned char *code;
    size_t size;
    int n;
    build_and_try(LAST);
    newest_entry(path, &n);
    struct cache_key key = {""};
    snprintf(key.hex, sizeof key.hex, "%s", strrchr(path, '/') + 1);
    assert_true(cache_load(&key, &code, &size));
    code[0] ^= 1; /* in its maker's name */
    cache_save(&key, code, size);
    free(code);
    const ino_t planted = newest_entry(path, &n);
    build_and_try(LAST);
    assert_true(newest_entry(again, &n) != planted);
    assert_string_equal(again, path);
}

static int cache_tests(void)
{
    setenv("CU_KERNEL_CACHE", "1", 1); /* PoCL's code, too */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_tell_parts_apart),
        cmocka_unit_test(entries_come_back),
        cmocka_unit_test(damaged_entries_are_absent),
        cmocka_unit_test(it_can_be_turned_off),
        cmocka_unit_test(no_place_is_no_error),
        cmocka_unit_test(a_second_build_takes_the_first_ones_code),
        cmocka_unit_test(pocls_code_is_left_to_pocl),
        cmocka_unit_test(damaged_code_is_compiled_anew),
        cmocka_unit_test(code_that_the_driver_refuses_is_compiled_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

static int gpu_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_build_takes_the_first_ones_code),
        cmocka_unit_test(damaged_code_is_compiled_anew),
        cmocka_unit_test(code_that_the_driver_refuses_is_compiled_anew),
        cmocka_unit_test(code_of_another_maker_is_compiled_anew),
    };
    return cmocka_run_group_tests_name(builder, tests, NULL, NULL);
}

static int over_gpus(void)
{
    builder = "cuda";
    int failed = in_process(NULL, gpu_tests);
    builder = "hip";
    return failed + in_process(NULL, gpu_tests);
}

int main(void)
{
    return fakes() ? over_gpus() : in_process(NULL, cache_tests) + with_fakes("fakegpu");
}
