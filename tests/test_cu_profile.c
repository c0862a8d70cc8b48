/* tests/test_cu_profile.c – profiles are read back to the last bit; damaged ones and those made for
 * something else are refused with the reason. */
#include "cu/sched/profile.h"
#include "tests/scratch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

enum { TASKS = 7, TEXT = 1 << 16 };

static struct backend_ops fake = {.name = "fake"};
static struct backend device[2] = {{.ops = &fake, .info = {.name = "Alpha", .compute_units = 8}},
                                   {.ops = &fake, .info = {.name = "Beta", .compute_units = 8}}};
static struct cu units[] = {
    {.index = 0, .kind = CU_CPU, .width = 2, .name = "cpu0"},
    {.index = 1, .kind = CU_CPU, .width = 2, .name = "cpu1"},
    {.index = 2,
     .kind = CU_DEVICE,
     .width = 1,
     .memory = 1,
     .device = &device[0],
     .name = "fake:0"},
    {.index = 3,
     .kind = CU_DEVICE,
     .width = 1,
     .memory = 2,
     .device = &device[0],
     .name = "fake:1"},
    {.index = 4,
     .kind = CU_DEVICE,
     .width = 1,
     .memory = 3,
     .device = &device[1],
     .name = "fake:2"},
};
static struct cu_set set = {.layout = {2, 2, 3, 1}, .n = 5, .nmemories = 4, .cu = units};

static void open_full(struct profile *p)
{
    assert_int_equal(profile_open("prog", "class \"X\", <3> steps", TASKS, &set, p), EK_OK);
    for (int k = 0; k < p->nkinds; k++) {
        p->kind[k].seconds = ARENA_NEW(&p->arena, TASKS, double);
        for (int t = 0; t < TASKS; t++)
            p->kind[k].seconds[t] = (t + 1) / 3.0 / (1 + 6.0 * k);
    }
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    return path;
}

static void read_text(const char *path, char *text)
{
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    text[fread(text, 1, TEXT - 1, in)] = '\0';
    fclose(in);
}

static void write_text(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void assert_refused(const char *path, const char *because)
{
    struct profile p;
    status_mute(1);
    assert_int_equal(profile_read(path, &p), EK_USAGE);
    status_mute(-1);
    if (!strstr(status_message(), because))
        fail_msg("'%s' is not in: %s", because, status_message());
    assert_null(strchr(status_message(), '\n'));
}

static void units_of_one_kind_share_an_entry(void **state)
{
    struct profile p;
    open_full(&p);
    assert_int_equal(p.nkinds, 3);
    assert_ptr_equal(profile_find(&p, &units[0]), profile_find(&p, &units[1]));
    assert_ptr_equal(profile_find(&p, &units[2]), profile_find(&p, &units[3]));
    assert_ptr_not_equal(profile_find(&p, &units[2]), profile_find(&p, &units[4]));
    profile_close(&p);
}

/* CPU units take (t+1)/3, the two kinds of devices 1/7 and 1/13 of that. */
static void factor_is_the_ratio_of_means(void **state)
{
    struct profile p;
    open_full(&p);
    assert_true(fabs(profile_factor(&p) - 2 / (1 / 7.0 + 1 / 13.0)) < 1e-12);
    p.nkinds = 1;
    assert_true(isnan(profile_factor(&p)));
    p.nkinds = 3;
    profile_close(&p);
}

static void what_is_written_is_read(void **state)
{
    struct profile p, q, any;
    char path[PROFILE_PATH];
    open_full(&p);
    assert_int_equal(profile_path(&p, path), EK_OK);
    assert_int_equal(profile_save(&p, path), EK_OK);
    assert_int_equal(profile_open("prog", "class \"X\", <3> steps", TASKS, &set, &q), EK_OK);
    assert_int_equal(profile_load(path, &q), EK_OK);
    assert_int_equal(profile_read(path, &any), EK_OK);
    assert_int_equal(any.nkinds, 3);
    for (int k = 0; k < 3; k++) {
        assert_memory_equal(p.kind[k].seconds, q.kind[k].seconds, TASKS * sizeof(double));
        assert_memory_equal(p.kind[k].seconds, any.kind[k].seconds, TASKS * sizeof(double));
        assert_string_equal(p.kind[k].name, any.kind[k].name);
    }
    profile_close(&p);
    profile_close(&q);
    profile_close(&any);
}

/* All kinds of damage to a good file, with a word of the message. */
static void damage_is_refused(void **state)
{
    static char good[TEXT], bad[TEXT];
    const struct {
        const char *from, *to, *because;
    } damage[] = {
        {"\"width\": 2", "\"width\": 3", "changed after"},
        {"0.33333", "0.33343", "changed after"},
        {"evenkeel profile", "evenkeel trace", "is not an evenkeel profile"},
        {"\"version\": 1", "\"version\": 2", "has version 2"},
        {"\"check\":", "\"chuck\":", "changed after"},
        {"\"pcf\":", "\"tasks\":", "duplicate"},
        {"\"kinds\": [", "\"kinds\": [}", ":"},
    };
    struct profile p;
    open_full(&p);
    assert_int_equal(profile_save(&p, path_of("good.json")), EK_OK);
    profile_close(&p);
    read_text(path_of("good.json"), good);
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        char *at = strstr(good, damage[i].from);
        assert_non_null(at);
        snprintf(bad, sizeof bad, "%.*s%s%s", (int)(at - good), good, damage[i].to,
                 at + strlen(damage[i].from));
        write_text(path_of("bad.json"), bad);
        assert_refused(path_of("bad.json"), damage[i].because);
    }
}

/* A file cut off after any number of bytes is refused. */
static void half_a_file_is_refused(void **state)
{
    static char text[TEXT];
    struct profile p;
    open_full(&p);
    assert_int_equal(profile_save(&p, path_of("whole.json")), EK_OK);
    profile_close(&p);
    read_text(path_of("whole.json"), text);
    for (size_t length = strlen(text) - 2; length; length -= length > 40 ? 37 : 1) {
        text[length] = '\0';
        write_text(path_of("half.json"), text);
        assert_refused(path_of("half.json"), "half.json");
    }
    write_text(path_of("half.json"), "");
    assert_refused(path_of("half.json"), "half.json");
}

/* Impossible times, with a correct checksum. */
static void absurd_times_are_refused(void **state)
{
    const double absurd[] = {-1, NAN, INFINITY, 1e10};
    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
        struct profile p;
        open_full(&p);
        p.kind[1].seconds[3] = absurd[i];
        assert_int_equal(profile_save(&p, path_of("absurd.json")), EK_OK);
        assert_refused(path_of("absurd.json"), "seconds");
        profile_close(&p);
    }
}

static void foreign_profiles_are_refused(void **state)
{
    const char *path = path_of("foreign.json");
    const struct {
        const char *program, *problem;
        size_t n;
        int width, feeders;
        const char *device, *because;
    } other[] = {
        {"gorp", "class \"X\", <3> steps", TASKS, 2, 1, "Alpha", "program"},
        {"prog", "class Y", TASKS, 2, 1, "Alpha", "problem"},
        {"prog", "class \"X\", <3> steps", TASKS + 1, 2, 1, "Alpha", "tasks"},
        {"prog", "class \"X\", <3> steps", TASKS, 4, 1, "Alpha", "width 4"},
        {"prog", "class \"X\", <3> steps", TASKS, 2, 3, "Alpha", "width 3"},
        {"prog", "class \"X\", <3> steps", TASKS, 2, 1, "Gamma", "Gamma"},
    };
    struct profile p;
    open_full(&p);
    assert_int_equal(profile_save(&p, path), EK_OK);
    profile_close(&p);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        units[0].width = units[1].width = other[i].width;
        units[2].width = units[3].width = units[4].width = other[i].feeders;
        snprintf(device[0].info.name, sizeof device[0].info.name, "%s", other[i].device);
        assert_int_equal(profile_open(other[i].program, other[i].problem, other[i].n, &set, &p),
                         EK_OK);
        status_mute(1);
        assert_int_equal(profile_load(path, &p), EK_USAGE);
        status_mute(-1);
        assert_non_null(strstr(status_message(), other[i].because));
        assert_null(p.kind[0].seconds);
        profile_close(&p);
        units[0].width = units[1].width = 2;
        units[2].width = units[3].width = units[4].width = 1;
        snprintf(device[0].info.name, sizeof device[0].info.name, "Alpha");
    }
    open_full(&p);
    snprintf(p.cpu, sizeof p.cpu, "Elsewhere 9000");
    status_mute(1);
    assert_int_equal(profile_load(path, &p), EK_USAGE);
    status_mute(-1);
    assert_non_null(strstr(status_message(), "CPU"));
    profile_close(&p);
}

/* Other problems, machines and layouts have files of their own. */
static void names_differ_where_keys_do(void **state)
{
    struct profile p;
    char first[PROFILE_PATH], second[PROFILE_PATH];
    open_full(&p);
    assert_int_equal(profile_path(&p, first), EK_OK);
    char *const key[] = {p.program, p.problem, p.cpu, p.kind[2].name};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++) {
        key[i][0]++;
        assert_int_equal(profile_path(&p, second), EK_OK);
        assert_string_not_equal(first, second);
        key[i][0]--;
    }
    p.kind[0].width++;
    assert_int_equal(profile_path(&p, second), EK_OK);
    assert_string_not_equal(first, second);
    profile_close(&p);
}

/* Checks that profiles go to <scratch><rest>. */
static void assert_folder(const char *rest)
{
    char path[PROFILE_PATH], wanted[PROFILE_PATH];
    snprintf(wanted, sizeof wanted, "%s%s", scratch, rest);
    assert_int_equal(checksummed_folder(path, sizeof path), EK_OK);
    assert_string_equal(path, wanted);
}

static void set_below(const char *name, const char *rest)
{
    char path[PROFILE_PATH];
    snprintf(path, sizeof path, "%s%s", scratch, rest);
    setenv(name, path, 1);
}

/* Without a usable home, caches go to a private folder in TMPDIR; a symbolic link there, which
 * somebody else may have made, is not followed. */
static void folders_in_their_order(void **state)
{
    char own[64], name[PROFILE_PATH];
    set_below("XDG_CACHE_HOME", "/x/y");
    set_below("HOME", "/h");
    set_below("TMPDIR", "/t");
    snprintf(own, sizeof own, "/t/evenkeel-%d/evenkeel", (int)geteuid());
    assert_folder("");
    unsetenv("CU_PROFILE_DIR");
    assert_folder("/x/y/evenkeel");
    setenv("XDG_CACHE_HOME", "relative", 1);
    assert_folder("/h/.cache/evenkeel");
    unsetenv("XDG_CACHE_HOME");
    assert_folder("/h/.cache/evenkeel");
    setenv("HOME", "/proc/nowhere", 1);
    assert_folder(own);
    unsetenv("HOME");
    assert_folder(own);
    snprintf(name, sizeof name, "%s/t/evenkeel-%d", scratch, (int)geteuid());
    assert_int_equal(rmdir(name), 0);
    assert_int_equal(symlink("/tmp", name), 0);
    status_mute(1);
    assert_int_equal(checksummed_folder(name, sizeof name), EK_UNAVAILABLE);
    status_mute(-1);
    unsetenv("TMPDIR");
    setenv("CU_PROFILE_DIR", scratch, 1);
}

/* Missing folders are made; an incomplete profile replaces nothing. */
static void saving_is_all_or_nothing(void **state)
{
    struct profile p, q;
    struct stat s;
    char path[128];
    snprintf(path, sizeof path, "%s/deep/er/p.json", scratch);
    open_full(&p);
    assert_int_equal(profile_save(&p, path), EK_OK);
    p.kind[2].seconds = NULL;
    status_mute(1);
    assert_int_equal(profile_save(&p, path), EK_UNVERIFIED);
    assert_int_equal(profile_read("/nonexistent", &q), EK_USAGE);
    status_mute(-1);
    assert_int_equal(profile_read(path, &q), EK_OK);
    assert_int_equal(stat(path, &s), 0);
    profile_close(&p);
    profile_close(&q);
}

static int set_up(void **state)
{
    return scratch_folder(state) ? -1 : setenv("CU_PROFILE_DIR", scratch, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_of_one_kind_share_an_entry),
        cmocka_unit_test(factor_is_the_ratio_of_means),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(half_a_file_is_refused),
        cmocka_unit_test(absurd_times_are_refused),
        cmocka_unit_test(foreign_profiles_are_refused),
        cmocka_unit_test(names_differ_where_keys_do),
        cmocka_unit_test(folders_in_their_order),
        cmocka_unit_test(saving_is_all_or_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_remove);
}
