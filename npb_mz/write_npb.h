/* npb_mz/write_npb.h – a result in the words and columns of the official suite, for scripts that
 * parse them. */
#pragma once

#include "npb_mz/mz.h"
#include <jansson.h>
#include <stdio.h>

/* The members of a run's JSON (cu/bench/result.h) as a report of NPB 3.3-MZ: what ran, the norms
 * beside their references, the result block; with `timers` also the sections' times. */
void write_npb(FILE *out, const struct mz *mz, int steps, bool timers, const json_t *result);
