/* src/self.c – asks the kernel for this program's file. */
#include "src/self.h"
#include "src/file.h"
#include "src/base.h"

#include <errno.h>
#include <limits.h>
#include <sys/auxv.h>
#include <unistd.h>

const char *self_path(void)
{
    static const char proc[] = "/proc/self/exe";
    static char path[PATH_MAX];
    ssize_t n = readlink(proc, path, sizeof path - 1);
    if (n < 0 && errno == ENOENT) /* no /proc */
        return (const char *)getauxval(AT_EXECFN);
    if (n <= 0 || n >= (ssize_t)sizeof path - 1)
        return proc;
    path[n] = '\0';
    return access(path, X_OK) ? proc : path;
}

/* /proc/self/cmdline holds NUL-terminated words. */
char **self_arguments(void)
{
    static char **argv;
    char *text;
    size_t size, n = 0;
    if (argv)
        return argv;
    if (MUTED(file_read("/proc/self/cmdline", &text, &size)))
        return NULL;
    for (size_t i = 0; i < size; i++)
        n += text[i] == '\0';
    argv = calloc(n + 1, sizeof *argv);
    for (size_t i = 0; argv && i < n; i++, text += strlen(text) + 1)
        argv[i] = text;
    return argv;
}
