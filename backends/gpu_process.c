/* backends/gpu_process.c – runs a run-time compiler in a process of its own: this program started
 * anew under another name, which compiles one text and leaves before main().
 *
 * It has to be a new process image: a fork of a process that holds one vendor's LLVM would still
 * hold it. Whatever main() does, and whatever program this library is linked into, the compiler is
 * therefore called from a constructor, which only that name wakes. */
#include "backends/gpu.h"
#include "src/file.h"

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

/* Its files: the text comes in as standard input; whatever libraries print is kept apart. */
enum { IN, PRINTED, PRINTED_TOO, CODE, LOG, FILES };

/* How it ends. */
enum { BUILT, NOT_BUILT, NO_COMPILER };

/* ---- files in memory ------------------------------------------------------------------------- */

/* In one piece: nothing interrupts a write to memory. */
static bool put(int fd, const void *data, size_t size)
{
    return write(fd, data, size) == (ssize_t)size;
}

/* All of a file, with a NUL behind it, wherever others stand in it; the caller frees. */
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

/* _exit(): what the compiler's libraries would do at the end is not waited for. */
__attribute__((constructor)) static void serve_if_called(int argc, char **argv)
{
    if (argc >= ARG_OPTIONS && !strcmp(argv[ARG_NAME], process_name))
        _exit(serve(argc, argv));
}

/* ---- its caller ------------------------------------------------------------------------------ */

/* Numbers beyond those that the files shall have in the process. */
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

/* Starts this program under the other name; its pid, or 0 with errno. */
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

/* What a process left behind that ended with `status`. */
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
    char *printed = get(file[PRINTED], &size);
    const char *words = printed ? last_line(printed) : "";
    enum ek_status st =
        WIFSIGNALED(status)
            ? status_fail(EK_UNAVAILABLE,
                          "%s: the compiler %s %d.%d died (signal %d); it may not know %s: install "
                          "a newer one%s%s",
                          label, c->library, c->major, c->minor, WTERMSIG(status), c->target,
                          *words ? "; its last words: " : "", words)
            : status_fail(EK_UNAVAILABLE, "%s: the compiler %s does not work: %s", label,
                          c->library, words);
    free(printed);
    return st;
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
