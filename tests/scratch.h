/* tests/scratch.h – a folder, or a file, of a test program's own: made before its tests, removed
 * after them. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch[] = "/tmp/evenkeel-test-XXXXXX";

static inline int scratch_folder(void **state)
{
    strcpy(scratch + strlen(scratch) - 6, "XXXXXX");
    return mkdtemp(scratch) ? 0 : -1;
}

static inline int scratch_file(void **state)
{
    const int fd = mkstemp(scratch);
    return fd < 0 ? -1 : close(fd);
}

static inline int scratch_remove(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    return system(command);
}
