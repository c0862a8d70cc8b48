/* src/process.c – what /proc says. */
#include "src/process.h"

#include <dirent.h>
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

/* '?': there is no such process. */
static char state_of(pid_t pid, pid_t *parent)
{
    char path[32], state = '?';
    int above = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = pid > 1 ? fopen(path, "re") : NULL;
    if (!f)
        return '?';
    if (fscanf(f, "%*d (%*[^)]) %c %d", &state, &above) != 2)
        state = '?';
    fclose(f);
    *parent = above;
    return state;
}

bool process_is_frozen(pid_t pid)
{
    pid_t parent;
    return state_of(pid, &parent) == 'T';
}

static bool is_below(pid_t pid, pid_t top)
{
    pid_t parent = 0;
    while (pid != top && pid > 1 && state_of(pid, &parent) != '?')
        pid = parent;
    return pid == top;
}

pid_t process_frozen_below(pid_t top)
{
    DIR *all = opendir("/proc");
    pid_t found = 0;
    for (const struct dirent *e; all && !found && (e = readdir(all));) {
        const pid_t pid = atoi(e->d_name);
        if (process_is_frozen(pid) && is_below(pid, top))
            found = pid;
    }
    if (all)
        closedir(all);
    return found;
}
