/* src/status.c – records and prints the one line that explains a failure. */
#include "src/status.h"

#include <stdarg.h>
#include <stdio.h>

static const char *program = "evenkeel";
static _Thread_local char message[1024];
static _Thread_local int muted;

int status_exit_code(enum ek_status st)
{
    return st == EK_LOST ? EK_LACK : (int)st;
}

enum ek_status status_fail(enum ek_status st, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    if (!muted)
        fprintf(stderr, "%s: %s\n", program, message);
    return st;
}

void status_warn(const char *fmt, ...)
{
    if (muted)
        return;
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
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

void status_program(const char *name)
{
    program = name;
}
