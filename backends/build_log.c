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

/* ---- places of the whole text ---- */

/* The file and line that the text's line `number`, from 1, has by the #line directives before it.
 */
static void line_of(const char *text, long number, char *place, size_t room)
{
    char file[256] = "", name[256];
    long line = 0, given;
    for (long i = 1; i < number && text; i++) {
        const bool set = sscanf(text, "#line %ld \"%255[^\"\n]\"", &given, name) == 2;
        line = set ? given : line + 1;
        if (set)
            memcpy(file, name, sizeof file);
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    snprintf(place, room, *file ? "%s:%ld" : "%s%ld", file, *file ? line : number);
}

/* Reads "<kernel>:98" at the start of a line: the number; *length of what was read, else 0. */
static long whole_place(const char *line, int *length)
{
    long number = 0;
    *length = 0;
    if (sscanf(line, "<%*[a-z ]>:%ld%n", &number, length) != 1)
        *length = 0;
    return number;
}

char *build_log_place(const char *log, const char *text)
{
    char *out = NULL;
    size_t size;
    FILE *to = log ? open_memstream(&out, &size) : NULL;
    for (const char *line = log, *next; to && *line; line = next) {
        char place[300];
        int length;
        const long number = whole_place(line, &length);
        if (length) {
            line_of(text, number, place, sizeof place);
            fputs(place, to);
        }
        next = strchrnul(line, '\n');
        next += *next == '\n';
        fwrite(line + length, 1, (size_t)(next - line) - (size_t)length, to);
    }
    if (to && fclose(to)) {
        free(out);
        out = NULL;
    }
    return out;
}

/* ---- one line of the log ---- */

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
