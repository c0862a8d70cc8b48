/* src/self.c – asks the kernel for this program's file. */
#include "src/self.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *self_path(void)
{
    static const char proc[] = "/proc/self/exe";
    static char path[PATH_MAX];
    ssize_t n = readlink(proc, path, sizeof path - 1);
    if (n <= 0 || n >= (ssize_t)sizeof path - 1)
        return proc;
    path[n] = '\0';
    return access(path, X_OK) ? proc : path;
}

/* All of /proc/self/cmdline: words that end in a NUL each, and one NUL more. */
static char *read_arguments(size_t *size)
{
    FILE *f = fopen("/proc/self/cmdline", "r");
    char *text = NULL;
    size_t room = 4096, n = 0, got = 1;
    while (f && got) {
        char *more = realloc(text, room);
        if (!more)
            break;
        text = more;
        got = fread(text + n, 1, room - n - 1, f);
        n += got;
        room *= 2;
    }
    if (f)
        fclose(f);
    if (text && !got)
        text[n] = '\0';
    *size = n;
    return !got ? text : NULL;
}

char **self_arguments(void)
{
    static char **argv;
    size_t size = 0, n = 0;
    if (argv)
        return argv;
    char *text = read_arguments(&size);
    for (size_t i = 0; text && i < size; i++)
        n += text[i] == '\0';
    argv = text ? calloc(n + 1, sizeof *argv) : NULL;
    for (size_t i = 0; argv && i < n; i++, text += strlen(text) + 1)
        argv[i] = text;
    return argv;
}
