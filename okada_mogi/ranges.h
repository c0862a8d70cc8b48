/* okada_mogi/ranges.h – a set of trials as disjoint ranges, e.g. those that are done. */
#pragma once

#include "okada_mogi/trial.h"
#include "src/status.h"
#include <stddef.h>

/* Zeroed = empty. */
struct ranges {
    size_t n, room;
    struct trial_range *range; /* [n] ascending, none touches another */
};

/* Adds a range, which has nothing in common with the set (EK_USAGE if it has) and is not empty.
 * EK_UNAVAILABLE: out of memory. */
enum ek_status ranges_add(struct ranges *r, struct trial_range one);
/* What of `all` is not in the set, into *gaps (zeroed). */
enum ek_status ranges_gaps(const struct ranges *r, struct trial_range all, struct ranges *gaps);
trial_number ranges_count(const struct ranges *r);
void ranges_free(struct ranges *r);
