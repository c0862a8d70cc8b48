/* tests/test_src_file.c – files are replaced entirely or not at all, and never an input. */
#include "src/file.h"
#include "tests/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *in_folder(const char *name)
{
    static char path[4][PATH_MAX];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], PATH_MAX, "%s/%s", scratch, name);
    return path[turn];
}

static int entries(void)
{
    int n = -2; /* . and .. */
    DIR *d = opendir(scratch);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void assert_text(const char *path, const char *wanted)
{
    char *text;
    assert_int_equal(file_read_text(path, &text), EK_OK);
    assert_string_equal(text, wanted);
    free(text);
}

static void an_old_file_stays_until_the_new_one_is_whole(void **state)
{
    const char *path = in_folder("a");
    struct file *f;
    assert_int_equal(file_replace_text(path, "old"), EK_OK);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(file_create(path, &f), EK_OK);
    fputs("new", file_stream(f));
    fflush(file_stream(f));
    assert_text(path, "old");
    assert_int_equal(file_finish(f), EK_OK);
    assert_text(path, "new");
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(entries(), 1);
}

static void what_is_abandoned_leaves_nothing(void **state)
{
    struct file *f;
    assert_int_equal(file_create(in_folder("a"), &f), EK_OK);
    assert_int_equal(file_write(f, "x", 1), EK_OK);
    file_abandon(f);
    file_abandon(NULL);
    assert_int_equal(file_try(in_folder("b")), EK_OK);
    assert_int_equal(file_try(""), EK_UNAVAILABLE);
    assert_int_equal(file_try(in_folder(".")), EK_UNAVAILABLE);
    assert_int_equal(entries(), 0);
}

/* A full disk, simulated by a limit on file sizes. */
static void a_full_disk_leaves_the_old_file(void **state)
{
    const char *path = in_folder("a");
    struct rlimit old, small;
    char *much = calloc(1, 1 << 20);
    assert_int_equal(file_replace_text(path, "old"), EK_OK);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 1 << 16;
    setrlimit(RLIMIT_FSIZE, &small);
    status_mute(+1);
    assert_int_equal(file_replace(path, much, 1 << 20), EK_UNAVAILABLE);
    /* If the caller ignores the stream's errors, file_finish() reports them. */
    struct file *f;
    assert_int_equal(file_create(path, &f), EK_OK);
    for (int i = 0; i < 1 << 17; i++)
        fputc('x', file_stream(f));
    assert_int_equal(file_finish(f), EK_UNAVAILABLE);
    status_mute(-1);
    setrlimit(RLIMIT_FSIZE, &old);
    free(much);
    assert_text(path, "old");
    assert_int_equal(entries(), 1);
}

static void two_writers_of_one_file_do_not_meet(void **state)
{
    struct file *f, *g;
    assert_int_equal(file_create(in_folder("a"), &f), EK_OK);
    assert_int_equal(file_create(in_folder("a"), &g), EK_OK);
    fputs("one", file_stream(f));
    fputs("two", file_stream(g));
    assert_int_equal(file_finish(g), EK_OK);
    assert_text(in_folder("a"), "two");
    assert_int_equal(file_finish(f), EK_OK);
    assert_text(in_folder("a"), "one");
}

static bool has_nameless_files(void)
{
    const int fd = open(scratch, O_TMPFILE | O_WRONLY, 0600);
    close(fd);
    return fd >= 0;
}

static void a_killed_writer_leaves_nothing(void **state)
{
    struct file *f;
    int status;
    if (!has_nameless_files())
        skip();
    assert_int_equal(file_replace_text(in_folder("a"), "old"), EK_OK);
    const pid_t child = fork();
    if (!child) {
        if (!file_create(in_folder("a"), &f) && fputs("half", file_stream(f)) > 0)
            fflush(file_stream(f));
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_text(in_folder("a"), "old");
    assert_int_equal(entries(), 1);
}

/* Makes openat() refuse O_TMPFILE, as on NFS. */
static bool forbid_nameless_files(void)
{
    const unsigned flag = O_TMPFILE & ~O_DIRECTORY;
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flag, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof f / sizeof *f, .filter = f};
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* In a separate process, because it cannot be undone: 0; 77 if the kernel does not allow the
 * filter. */
static int write_with_names(void)
{
    struct file *f;
    if (!forbid_nameless_files())
        return 77;
    if (has_nameless_files())
        return 1;
    if (file_create(in_folder("a"), &f) || file_write(f, "new", 3) || entries() != 2)
        return 2;
    if (file_finish(f) || entries() != 1)
        return 3;
    if (file_create(in_folder("b"), &f))
        return 4;
    file_abandon(f);
    return entries() == 1 ? 0 : 5;
}

static void file_systems_without_nameless_files(void **state)
{
    int status;
    assert_int_equal(file_replace_text(in_folder("a"), "old"), EK_OK);
    assert_int_equal(chmod(in_folder("a"), 0604), 0);
    const pid_t child = fork();
    if (!child)
        _exit(write_with_names());
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
    assert_text(in_folder("a"), "new");
    struct stat st;
    assert_int_equal(stat(in_folder("a"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0604);
}

/* A process that is writing such a file, without nameless ones, until it is killed. */
static pid_t begin_writer(const char *name)
{
    int ready[2];
    char said;
    struct file *f;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if a check fails before */
        if (forbid_nameless_files() && !file_create(in_folder(name), &f) &&
            write(ready[1], "x", 1) == 1)
            pause();
        _exit(77);
    }
    close(ready[1]);
    if (read(ready[0], &said, 1) != 1)
        skip();
    close(ready[0]);
    return child;
}

static void end_writer(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void only_what_killed_processes_were_writing_is_removed(void **state)
{
    static const char *const others[] = {"a", "a.part-x", "a.part-1.segy", "b.part-1-0-0"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(file_replace_text(in_folder(others[i]), "kept"), EK_OK);
    const int kept = entries();
    const pid_t living = begin_writer("a.image"), killed = begin_writer("a.slab");
    end_writer(killed);
    assert_int_equal(entries(), kept + 2);
    file_clean(in_folder("a"));
    assert_int_equal(entries(), kept + 1);
    end_writer(living);
    file_clean(in_folder("a.i"));
    assert_int_equal(entries(), kept);
    file_clean(in_folder("nowhere/a"));
}

static void inputs_are_not_overwritten(void **state)
{
    assert_int_equal(file_replace_text(in_folder("in"), "data"), EK_OK);
    assert_int_equal(symlink("in", in_folder("soft")), 0);
    assert_int_equal(link(in_folder("in"), in_folder("hard")), 0);
    file_input(in_folder("in"));
    const int next = dup(0); /* the descriptor that the next file gets */
    close(next);
    file_input(in_folder("in"));
    const int after = dup(0);
    close(after);
    assert_int_equal(after, next); /* a file given twice is kept open once */
    file_input(in_folder("none"));
    status_mute(+1);
    const char *names[] = {"in", "./in", "soft", "hard"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(file_replace_text(in_folder(names[i]), "x"), EK_USAGE);
        assert_non_null(strstr(status_message(), "input"));
        assert_int_equal(file_try(in_folder(names[i])), EK_USAGE);
    }
    status_mute(-1);
    assert_text(in_folder("in"), "data");
    assert_int_equal(file_replace_text(in_folder("none"), "x"), EK_OK);
    file_input("/dev/null");
    assert_int_equal(file_replace_text("/dev/null", "x"), EK_OK);
}

/* More inputs than descriptors, in no order. Last, as later files may get the numbers of those that
 * could not be kept open. */
static void all_of_many_inputs_are_kept(void **state)
{
    enum { MANY = 60 };
    struct rlimit before, few;
    char name[16];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many%d", i * 37 % MANY);
        assert_int_equal(file_replace_text(in_folder(name), "data"), EK_OK);
    }
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 20;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many%d", i * 7 % MANY);
        file_input(in_folder(name));
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    status_mute(+1);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many%d", i);
        assert_int_equal(file_replace_text(in_folder(name), "x"), EK_USAGE);
        assert_text(in_folder(name), "data");
    }
    status_mute(-1);
}

static void links_keep_pointing_and_devices_stay(void **state)
{
    struct stat st;
    assert_int_equal(symlink("real", in_folder("soft")), 0);
    assert_int_equal(file_replace_text(in_folder("real"), "1"), EK_OK);
    assert_int_equal(file_replace_text(in_folder("soft"), "2"), EK_OK);
    assert_text(in_folder("real"), "2");
    assert_int_equal(lstat(in_folder("soft"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(file_replace_text("/dev/null", "x"), EK_OK);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_false(file_replaceable("-"));
    assert_false(file_replaceable("/dev/null"));
    assert_true(file_replaceable(in_folder("none")));
}

static void places_that_allow_nothing_say_so(void **state)
{
    status_mute(+1);
    assert_int_equal(file_replace_text(in_folder("no/such"), "x"), EK_UNAVAILABLE);
    assert_non_null(strstr(status_message(), "no/such"));
    assert_int_equal(file_replace_text("", "x"), EK_UNAVAILABLE);
    char *text = NULL;
    size_t n;
    assert_int_equal(file_read(in_folder("none"), &text, &n), EK_USAGE);
    assert_int_equal(file_read(scratch, &text, &n), EK_USAGE);
    assert_null(text);
    status_mute(-1);
    file_make_folders(in_folder("no/such"));
    assert_int_equal(file_replace_text(in_folder("no/such"), "x"), EK_OK);
}

static void reading_gives_every_byte(void **state)
{
    const size_t sizes[] = {0, 1, (1 << 16) - 1, 1 << 16, (1 << 17) + 3};
    for (int i = 0; i < 5; i++) {
        char *bytes = malloc(sizes[i] + 1), *got;
        size_t n;
        for (size_t k = 0; k < sizes[i]; k++)
            bytes[k] = (char)(k * 2654435761u >> 13);
        assert_int_equal(file_replace(in_folder("a"), bytes, sizes[i]), EK_OK);
        assert_int_equal(file_read(in_folder("a"), &got, &n), EK_OK);
        assert_int_equal(n, sizes[i]);
        assert_memory_equal(bytes, got, n);
        assert_int_equal(got[n], 0);
        free(bytes);
        free(got);
    }
    char *text;
    status_mute(+1);
    assert_int_equal(file_replace(in_folder("a"), "x\ny\0z", 5), EK_OK);
    assert_int_equal(file_read_text(in_folder("a"), &text), EK_USAGE);
    assert_non_null(strstr(status_message(), "a:2: a zero byte"));
    status_mute(-1);
}

/* A missing file is the user's mistake, a lack of descriptors is not. */
static void failures_to_open_say_whose_they_are(void **state)
{
    char *got;
    size_t n;
    struct rlimit old;
    assert_int_equal(file_replace(in_folder("a"), "x", 1), EK_OK);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = old.rlim_max};
    status_mute(+1);
    assert_int_equal(file_read(in_folder("b"), &got, &n), EK_USAGE);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    const enum ek_status st = file_read(in_folder("a"), &got, &n);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    status_mute(-1);
    assert_int_equal(st, EK_UNAVAILABLE);
}

static void names_in_a_file_lie_beside_it(void **state)
{
    static const struct {
        const char *path, *name, *to;
    } with[] = {{"a/b/job.json", "c.csv", "a/b/c.csv"},
                {"a/b/job.json", "../c", "a/b/../c"},
                {"/job.json", "c", "/c"},
                {"job.json", "c", "c"},
                {"a/job.json", "/c", "/c"},
                {"a/job.json", "", ""},
                {"-", "c", "c"}};
    char to[16];
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        assert_int_equal(file_beside(with[i].path, with[i].name, to, sizeof to), EK_OK);
        assert_string_equal(to, with[i].to);
    }
    assert_int_equal(file_beside("a/b/job", "0123456789a", to, sizeof to), EK_OK);
    status_mute(+1);
    assert_int_equal(file_beside("a/b/job", "0123456789ab", to, sizeof to), EK_USAGE);
    status_mute(-1);
    assert_string_equal(to, "a/b/0123456789a");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_folder, scratch_remove)
    const struct CMUnitTest tests[] = {
        TEST(an_old_file_stays_until_the_new_one_is_whole),
        TEST(what_is_abandoned_leaves_nothing),
        TEST(a_full_disk_leaves_the_old_file),
        TEST(two_writers_of_one_file_do_not_meet),
        TEST(a_killed_writer_leaves_nothing),
        TEST(file_systems_without_nameless_files),
        TEST(only_what_killed_processes_were_writing_is_removed),
        TEST(inputs_are_not_overwritten),
        TEST(links_keep_pointing_and_devices_stay),
        TEST(places_that_allow_nothing_say_so),
        TEST(reading_gives_every_byte),
        TEST(failures_to_open_say_whose_they_are),
        TEST(names_in_a_file_lie_beside_it),
        TEST(all_of_many_inputs_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
