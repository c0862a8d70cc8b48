/* okada_mogi/dry_run.h – what a search would take, before it begins. */
#pragma once

#include "okada_mogi/search.h"

/* Prints one line: trials of the range, geometries (places whose responses are computed: of all
 * sources, without regard to constraints and range), memory, seconds on one core, accepted trials
 * and the disk that they need: from tasks of all over the range that are searched for half a second
 * at most, and from the set-up. EK_UNAVAILABLE as search_open(). One thread. */
enum ek_status dry_run(const struct job *job, enum search_method method, struct trial_range range);
