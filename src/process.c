/* src/process.c – what /proc says. */
#include "src/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static bool begins(const char *text, const char *const *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strncmp(text, out[i], strlen(out[i])))
            return true;
    return false;
}

char **process_environment(const char *const *out, size_t n)
{
    size_t all = 0, kept = 0;
    while (environ[all])
        all++;
    char **env = calloc(all + 2, sizeof *env);
    for (size_t i = 0; env && i < all; i++)
        if (!begins(environ[i], out, n))
            env[kept++] = environ[i];
    return env;
}

bool process_is_frozen(pid_t pid)
{
    char path[32], state = '?';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = pid > 1 ? fopen(path, "r") : NULL;
    if (!f)
        return false;
    const int n = fscanf(f, "%*d (%*[^)]) %c", &state);
    fclose(f);
    return n == 1 && state == 'T';
}
