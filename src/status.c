/* src/status.c – records and prints the one line that explains a failure. */
#include "src/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *program = "evenkeel";
static _Thread_local char message[1024];
static _Thread_local int muted;
static int warnings_muted;

int status_exit_code(enum ek_status st)
{
    return st == EK_LOST ? EK_UNAVAILABLE : (int)st;
}

/* A message is one line, and does nothing to a terminal, whatever a file or an option holds. */
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

void status_begin(const char *name)
{
    int fd;
    status_program(name);
    while ((fd = open("/dev/null", O_RDONLY)) >= 0 && fd <= STDERR_FILENO)
        continue; /* to read only: what is written there fails, and is not lost in silence */
    if (fd >= 0)
        close(fd);
}

int status_end(enum ek_status st)
{
    errno = 0;
    if (!st && (fflush(stdout) || ferror(stdout)))
        st = status_fail(EK_UNAVAILABLE,
                         "standard output cannot be written: %s; the result is incomplete",
                         errno ? strerror(errno) : "an earlier write failed");
    return status_exit_code(st);
}
