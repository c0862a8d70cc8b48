/* npb_mz/write_npb.h – a result in the layout of the official suite, for scripts that parse it. */
#pragma once

#include "npb_mz/mz.h"
#include <jansson.h>

/* Prints a run's JSON (cu/bench/result.h) as NPB 3.3-MZ reports it: the problem, the norms and
 * their references, the result block, and with `timers` the times of sections. */
void write_npb(FILE *out, const struct mz *mz, int steps, bool timers, const json_t *result);
