/* src/status.c – records and prints the one line that explains a failure. */
#include "src/base.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

static const char *program = "evenkeel";
enum { END = 400, LINE = 2 * END + 8 }; /* bytes of either end that a long message keeps */
static _Thread_local char message[LINE];
static _Thread_local int muted;
static int warnings_muted;
static bool echoes;
static bool begun;       /* main() has begun */
static bool pipes_quiet; /* our caller ignores SIGPIPE */
static bool ended;       /* main() has chosen the exit code */

int status_exit_code(enum ek_status st)
{
    return st == EK_LOST ? EK_UNAVAILABLE : (int)st;
}

static bool continues_character(char c)
{
    return (c & 0xc0) == 0x80; /* UTF-8 */
}

/* Cuts the middle of a message that does not fit, of n bytes: its beginning (what, where) and its
 * end (why, what to do) stay. Without memory it loses its end. */
static void make_short(char line[LINE], int n, const char *fmt, va_list ap)
{
    char *all;
    int head = END, tail = n - END;
    if (vasprintf(&all, fmt, ap) < 0)
        return;
    while (continues_character(all[head]))
        head--;
    while (continues_character(all[tail]))
        tail++;
    snprintf(line, LINE, "%.*s … %s", head, all, all + tail);
    free(all);
}

/* Formats a message as one line without terminal control characters, whatever text it quotes. */
static void make_line(char line[LINE], const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    const int n = vsnprintf(line, LINE, fmt, ap);
    if (n < 0)
        snprintf(line, LINE, "%s", fmt);
    else if (n > 2 * END)
        make_short(line, n, fmt, again);
    va_end(again);
    for (; *line; line++)
        if ((unsigned char)*line < ' ' || *line == 0x7f)
            *line = '?';
}

enum ek_status status_repeat(enum ek_status st)
{
    if (!muted && echoes) {
        signal(SIGTERM, SIG_DFL);
        nanosleep(&(struct timespec){5, 0}, NULL);
        echoes = false; /* nobody ends this process: what else it has to say is its own */
    }
    if (!muted)
        fprintf(stderr, "%s: %s\n", program, message);
    return st;
}

enum ek_status status_fail(enum ek_status st, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    make_line(message, fmt, ap);
    va_end(ap);
    return status_repeat(st);
}

void status_warn(const char *fmt, ...)
{
    if (muted || warnings_muted)
        return;
    char line[LINE];
    va_list ap;
    va_start(ap, fmt);
    make_line(line, fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s: warning: %s\n", program, line);
}

const char *status_message(void)
{
    return message;
}

void status_mute(int delta)
{
    muted += delta;
}

void status_mute_warnings(int delta)
{
    warnings_muted += delta;
}

void status_echo(bool on)
{
    echoes = on;
}

enum ek_status status_unmute(enum ek_status st)
{
    muted--;
    return st;
}

void status_program(const char *name)
{
    program = name;
}

/* OpenMP's runtime exits with 1 if it cannot create a thread; our 1 means a failed verification. */
static void end_of_a_library(int code, void *nothing)
{
    (void)nothing;
    if (code == EXIT_FAILURE && !ended)
        _exit(EK_UNAVAILABLE);
}

/* For SIGXFSZ and SIGPIPE: the write itself reports a file that is too large or a pipe without a
 * reader. A handler instead of SIG_IGN, so that programs executed from here get the default. */
static void ignore_signal(int number)
{
    (void)number;
}

#ifndef EK_SHARED
/* Replaces the C library's abort() for this program and its libraries. Transports and drivers call
 * it if they get no thread, file or memory, after a message of their own. Aborts within the C
 * library (a damaged heap, a failed assertion) do not come here: they remain SIGABRT. */
__attribute__((noreturn)) void abort(void)
{
    Dl_info caller, here;
    sigset_t aborts;
    if (begun && dladdr(__builtin_return_address(0), &caller) && dladdr(&program, &here) &&
        caller.dli_fbase != here.dli_fbase) {
        dprintf(STDERR_FILENO,
                "%s: the library %s gave up, see above; ulimit -a shows what is limited\n", program,
                caller.dli_fname);
        _exit(EK_UNAVAILABLE);
    }
    signal(SIGABRT, SIG_DFL);
    sigemptyset(&aborts);
    sigaddset(&aborts, SIGABRT);
    pthread_sigmask(SIG_UNBLOCK, &aborts, NULL);
    raise(SIGABRT);
    _exit(EK_UNAVAILABLE);
}
#endif

void status_begin(const char *name)
{
    const struct sigaction ignore = {.sa_handler = ignore_signal, .sa_flags = SA_RESTART};
    struct sigaction before;
    int fd;
    status_program(name);
    begun = true;
    sigaction(SIGXFSZ, &ignore, NULL);
    sigaction(SIGPIPE, &ignore, &before);
    pipes_quiet = before.sa_handler == SIG_IGN;
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, waitpid() could not work */
    on_exit(end_of_a_library, NULL);
    while ((fd = open("/dev/null", O_RDONLY)) >= 0 && fd <= STDERR_FILENO)
        continue; /* read-only: writes there fail instead of being lost silently */
    if (fd >= 0)
        close(fd);
}

bool status_reader_left(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && out.revents & POLLERR;
}

int status_end(enum ek_status st)
{
    errno = 0;
    ended = true;
    const bool failed = !st && (fflush(stdout) || ferror(stdout));
    if (failed && !pipes_quiet && status_reader_left()) {
        signal(SIGPIPE, SIG_DFL); /* as any other program, but after its files are written */
        raise(SIGPIPE);
    }
    if (failed)
        st = status_fail(EK_UNAVAILABLE,
                         "standard output cannot be written: %s; the result is incomplete",
                         errno ? strerror(errno) : "an earlier write failed");
    return status_exit_code(st);
}
