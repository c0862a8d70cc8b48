/* tests/bench/replay.h – what a replayed result is held against: what the simulator made of the
 * paper's numbers when the row was written, within a band, and the published number: within a
 * tenth, or with a reason.
 *
 * The band: the simulator gives the same to the last bit, but policies may break ties otherwise or
 * improve a little; a policy that does something else is off by more.
 *
 * REPLAY_AS="static-pcf=static-pcf:pcf=1" replays another policy in the place of one: it must fail.
 */
#ifndef TESTS_BENCH_REPLAY_H
#define TESTS_BENCH_REPLAY_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double REPLAY_BAND = 0.02;

static int replay_unexplained; /* results that differ from the published ones without a reason */
static int replay_changed;     /* results that are not what they were */

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

/* "" or that it is not what is expected, which is counted. */
static inline const char *replay_expect(double expected, double simulated)
{
    static char text[64];
    if (fabs(simulated / expected - 1) <= REPLAY_BAND)
        return "";
    replay_changed++;
    snprintf(text, sizeof text, "  NOT %.4g AS EXPECTED", expected);
    return text;
}

/* The policy to run in the place of this one. */
static inline const char *replay_as(const char *policy)
{
    const char *as = getenv("REPLAY_AS");
    size_t length = strlen(policy);
    return as && !strncmp(as, policy, length) && as[length] == '=' ? as + length + 1 : policy;
}

static inline int replay_verdict(void)
{
    if (replay_changed)
        printf("\n%d results are not what is expected\n", replay_changed);
    return replay_unexplained || replay_changed ? 1 : 0;
}

#endif
