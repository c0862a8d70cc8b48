/* src/clock.c – the system's clocks in seconds. */
#include "src/clock.h"

#include <time.h>

static double read_clock(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double clock_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double clock_cpu(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
