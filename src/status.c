/* src/status.c – records and prints the one line that explains a failure. */
#include "src/status.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program = "evenkeel";
static _Thread_local char message[1024];
static _Thread_local int muted;
static int warnings_muted;
static bool ended; /* main() has chosen the exit code */

int status_exit_code(enum ek_status st)
{
    return st == EK_LOST ? EK_UNAVAILABLE : (int)st;
}

/* Keeps a message on one line and free of terminal control characters, whatever text it quotes. */
static void make_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

enum ek_status status_fail(enum ek_status st, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    make_line(message);
    if (!muted)
        fprintf(stderr, "%s: %s\n", program, message);
    return st;
}

void status_warn(const char *fmt, ...)
{
    if (muted || warnings_muted)
        return;
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    make_line(line);
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

/* For SIGXFSZ: writing beyond a file size limit is reported by the write itself. A handler instead
 * of SIG_IGN, so that programs executed from here get the default. */
static void ignore_signal(int number)
{
    (void)number;
}

/* Drivers and transports abort where they get no thread, file or memory; they have said which. */
static void give_up(int number)
{
    static const char why[] = ": a library that it uses gave up, see above; ulimit -a shows what "
                              "is limited\n";
    (void)number;
    if (write(STDERR_FILENO, program, strlen(program)) < 0 ||
        write(STDERR_FILENO, why, sizeof why - 1) < 0)
        _exit(EK_UNAVAILABLE); /* there is nobody to tell */
    _exit(EK_UNAVAILABLE);
}

void status_begin(const char *name)
{
    const struct sigaction large = {.sa_handler = ignore_signal, .sa_flags = SA_RESTART},
                           given_up = {.sa_handler = give_up, .sa_flags = SA_RESETHAND};
    int fd;
    status_program(name);
    sigaction(SIGXFSZ, &large, NULL);
    sigaction(SIGABRT, &given_up, NULL);
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, waitpid() could not work */
    on_exit(end_of_a_library, NULL);
    while ((fd = open("/dev/null", O_RDONLY)) >= 0 && fd <= STDERR_FILENO)
        continue; /* read-only: writes there fail instead of being lost silently */
    if (fd >= 0)
        close(fd);
}

int status_end(enum ek_status st)
{
    errno = 0;
    ended = true;
    if (!st && (fflush(stdout) || ferror(stdout)))
        st = status_fail(EK_UNAVAILABLE,
                         "standard output cannot be written: %s; the result is incomplete",
                         errno ? strerror(errno) : "an earlier write failed");
    return status_exit_code(st);
}
