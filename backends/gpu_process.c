/* backends/gpu_process.c – runs a run-time compiler in a separate process: this program, executed
 * under another name, compiles one text and exits before main().
 *
 * It must be a new process image, because a fork would still contain the first vendor's LLVM. The
 * compiler is called from a constructor that acts only under that name, so that it works in
 * whatever program this library is linked into. */
#include "backends/build_log.h"
#include "backends/gpu.h"
#include "src/file.h"
#include "src/owned.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char process_name[] = "evenkeel-compile";

/* argv of the process: its name, library, prefix, then the compiler's options. */
enum { ARG_NAME, ARG_LIBRARY, ARG_PREFIX, ARG_OPTIONS };
enum { MAX_OPTIONS = 64 };

/* Its file descriptors: the text is standard input; output printed by libraries is kept separate.
 */
enum { IN, PRINTED, PRINTED_TOO, CODE, LOG, FILES };

/* Its exit codes. */
enum { BUILT, NOT_BUILT, NO_COMPILER };

/* ---- files in memory ------------------------------------------------------------------------- */

/* Writes to memory files are never interrupted or partial. */
static bool put(int fd, const void *data, size_t size)
{
    return write(fd, data, size) == (ssize_t)size;
}

/* Reads a whole file from its start, whatever the shared offset, and appends a NUL; the caller
 * frees it. */
static char *get(int fd, size_t *size)
{
    char path[32], *data = NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return MUTED(file_read(path, &data, size)) ? NULL : data;
}

/* ---- the process ----------------------------------------------------------------------------- */

static int serve(int argc, char **argv)
{
    size_t size;
    struct gpu_code made = {0};
    char *text = get(IN, &size);
    status_program(process_name);
    if (!text || gpu_compiler_run(argv[ARG_LIBRARY], argv[ARG_PREFIX], text, argc - ARG_OPTIONS,
                                  (const char *const *)argv + ARG_OPTIONS, &made))
        return NO_COMPILER;
    fflush(stdout);
    if (made.log && !put(LOG, made.log, strlen(made.log)))
        return NO_COMPILER;
    if (!made.code)
        return NOT_BUILT;
    return put(CODE, made.code, made.size) ? BUILT : NO_COMPILER;
}

/* _exit() skips the exit handlers of the compiler's libraries. */
__attribute__((constructor)) static void serve_if_called(int argc, char **argv)
{
    if (argc >= ARG_OPTIONS && !strcmp(argv[ARG_NAME], process_name))
        _exit(serve(argc, argv));
}

/* ---- its caller ------------------------------------------------------------------------------ */

/* Moves a descriptor beyond the numbers that the files get in the process. */
static int above(int fd)
{
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FILES);
    if (fd >= 0)
        close(fd);
    return high;
}

static bool open_files(int file[FILES], const char *text)
{
    for (int i = 0; i < FILES; i++)
        file[i] = above(i == PRINTED_TOO ? dup(file[PRINTED]) : memfd_create("compile", 0));
    for (int i = 0; i < FILES; i++)
        if (file[i] < 0)
            return false;
    return put(file[IN], text, strlen(text));
}

static void close_files(const int file[FILES])
{
    for (int i = 0; i < FILES; i++)
        if (file[i] >= 0)
            close(file[i]);
}

/* Executes this program under the other name; returns its pid, or 0 with errno. */
static pid_t start(const int file[FILES], char *const argv[])
{
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < FILES; i++)
        posix_spawn_file_actions_adddup2(&actions, file[i], i);
    errno = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return errno ? 0 : pid;
}

static int await(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

static const char *last_line(char *log)
{
    size_t end = strlen(log);
    while (end && log[end - 1] == '\n')
        log[--end] = '\0';
    const char *at = strrchr(log, '\n');
    return at ? at + 1 : log;
}

/* Collects the output of a process that ended with `status`. */
static enum ek_status collect(const char *label, const struct gpu_compiler *c, int status,
                              const int file[FILES], struct gpu_code *out)
{
    size_t size;
    if (WIFEXITED(status) && WEXITSTATUS(status) <= NOT_BUILT) {
        out->log = get(file[LOG], &size);
        out->code =
            WEXITSTATUS(status) == BUILT ? (unsigned char *)get(file[CODE], &out->size) : NULL;
        return EK_OK;
    }
    OWNED_MEMORY char *printed = get(file[PRINTED], &size);
    const char *words = printed ? last_line(printed) : "";
    if (WIFSIGNALED(status))
        FAIL(EK_UNAVAILABLE,
             "%s: the compiler %s %d.%d died (signal %d); it may not know %s: install a newer "
             "one%s%s",
             label, c->library, c->major, c->minor, WTERMSIG(status), c->target,
             *words ? "; its last message: " : "", words);
    FAIL(EK_UNAVAILABLE, "%s: the compiler %s does not work: %s", label, c->library, words);
}

enum ek_status gpu_process_compile(const char *label, const struct gpu_compiler *c,
                                   const char *prefix, const char *text, int noptions,
                                   const char *const *options, struct gpu_code *out)
{
    const char *argv[ARG_OPTIONS + MAX_OPTIONS + 1] = {process_name, c->library, prefix};
    int file[FILES];
    pid_t pid = 0;
    for (int i = 0; i < noptions && i < MAX_OPTIONS; i++)
        argv[ARG_OPTIONS + i] = options[i];
    if (open_files(file, text))
        pid = start(file, (char *const *)argv);
    enum ek_status st =
        pid ? collect(label, c, await(pid), file, out)
            : status_fail(EK_UNAVAILABLE, "%s: cannot start a process for the compiler: %s", label,
                          strerror(errno));
    close_files(file);
    return st;
}

/* ---- options --------------------------------------------------------------------------------- */

/* The compiler's command line. */
struct words {
    char room[1024], target[128];
    int n;
    const char *word[MAX_OPTIONS];
};

static enum ek_status read_options(const struct gpu_vendor *v, const char *label,
                                   const char *target, const char *options, struct words *w)
{
    if (snprintf(w->room, sizeof w->room, "%s", options) >= (int)sizeof w->room)
        FAIL(EK_USAGE, "%s: the kernel options are longer than %zu characters: %.40s…", label,
             sizeof w->room, options);
    snprintf(w->target, sizeof w->target, "%s%s", v->arch_option, target);
    w->n = 0;
    w->word[w->n++] = w->target;
    char *rest = w->room;
    for (char *word; (word = strsep(&rest, " "));) {
        if (!*word)
            continue;
        if (w->n + 2 > MAX_OPTIONS)
            FAIL(EK_USAGE, "%s: more than %d kernel options", label, MAX_OPTIONS);
        w->word[w->n++] = word;
        if (!strcmp(word, "-DKERNEL_NO_FMA"))
            w->word[w->n++] = v->no_fma_option;
    }
    return EK_OK;
}

enum ek_status gpu_compile(const struct gpu_vendor *v, const char *label,
                           const struct gpu_compiler *c, const char *text, const char *options,
                           struct gpu_code *made)
{
    struct words w;
    TRY(read_options(v, label, c->target, options, &w));
    TRY(gpu_process_compile(label, c, v->compiler_prefix, text, w.n, w.word, made));
    build_log_print(label, made->log);
    return made->code ? EK_OK : build_log_fail(label, made->log);
}
