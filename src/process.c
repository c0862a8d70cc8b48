/* src/process.c – what /proc says. */
#include "src/process.h"

#include <stdio.h>

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
