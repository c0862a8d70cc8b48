/* tests/bench/replay.h – what a replayed result is held against: within a tenth of the published
 * number, or with a reason. */
#ifndef TESTS_BENCH_REPLAY_H
#define TESTS_BENCH_REPLAY_H

#include <math.h>
#include <stdbool.h>

static int replay_unexplained; /* results that differ without a reason */

/* published <= 0: there is none. */
static inline bool replay_differs(double published, double simulated)
{
    return published > 0 && fabs(simulated / published - 1) > 0.1;
}

/* What is printed as the reason; the missing of one is counted. */
static inline const char *replay_reason(bool differs, const char *reason)
{
    if (!differs || *reason)
        return reason;
    replay_unexplained++;
    return "NO REASON KNOWN";
}

#endif
