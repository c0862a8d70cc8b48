/* backends/build_log.c – finds the most telling line in a kernel compiler's log. */
#include "backends/build_log.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool wants_all(void)
{
    const char *all = getenv("CU_KERNEL_LOG");
    return all && strcmp(all, "0");
}

void build_log_print(const char *label, const char *log)
{
    if (wants_all() && log && log[strspn(log, "\n ")])
        fprintf(stderr, "%s: the kernel compiler says:\n%s\n", label, log);
}

/* The most telling line: the first with "error:", else the first. */
static void first_error(const char *log, char *line, size_t room)
{
    const char *at = strstr(log, "error:");
    if (!at)
        at = log + strspn(log, "\n ");
    while (at > log && at[-1] != '\n')
        at--;
    snprintf(line, room, "%.*s", (int)strcspn(at, "\n"), at);
}

/* "file(12): error: …", as NVRTC writes it, to "file:12: error: …". */
static void plain_place(char *line)
{
    char *open = line + strcspn(line, "(: "), *close = strstr(line, "): ");
    if (*open != '(' || !close || open + 1 + strspn(open + 1, "0123456789") != close)
        return;
    *open = ':';
    memmove(close, close + 1, strlen(close));
}

enum ek_status build_log_fail(const char *label, const char *log)
{
    char line[800] = "the compiler gives no reason";
    if (log && log[strspn(log, "\n ")])
        first_error(log, line, sizeof line);
    plain_place(line);
    const bool told = strstr(line, "error:");
    FAIL(told ? EK_USAGE : EK_UNAVAILABLE, "%s: %s: %s%s", label,
         told ? "kernel text does not build"
              : "the kernel compiler fails; is the disk of its cache or $TMPDIR full?",
         line, wants_all() ? "" : " (CU_KERNEL_LOG=1 prints all of the compiler's messages)");
}
