/* tests/plan_case_text.h – reads a simulator case from a string in a test. */
#pragma once

#include "cu/sim/plan_case.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static inline enum ek_status plan_case_text(struct plan_case *c, const char *text)
{
    char path[32];
    int file = memfd_create("case", 0);
    enum ek_status st = EK_UNAVAILABLE;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (write(file, text, strlen(text)) == (ssize_t)strlen(text))
        st = plan_case_open(c, path);
    close(file);
    return st;
}
