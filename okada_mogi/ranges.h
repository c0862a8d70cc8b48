/* okada_mogi/ranges.h – a set of trials, e.g. those done, as disjoint ranges. */
#pragma once

#include "okada_mogi/accepted.h"

/* Zeroed = empty. */
struct ranges {
    size_t n, room;
    struct trial_range *range; /* [n] ascending, with gaps between them */
};

/* Adds a range, not empty. EK_USAGE: it overlaps the set; EK_UNAVAILABLE: out of memory. */
enum ek_status ranges_add(struct ranges *r, struct trial_range one);
/* Adds the parts of a range that are not in the set yet; calls put(arg) for each such gap with
 * those of the range's accepted trials that are in it. */
enum ek_status ranges_add_new(struct ranges *r, struct trial_range range, struct accepted *found,
                              enum ek_status (*put)(void *arg, struct trial_range gap,
                                                    struct accepted *some),
                              void *arg);
/* The parts of `all` that are not in the set, into *gaps (zeroed). */
enum ek_status ranges_gaps(const struct ranges *r, struct trial_range all, struct ranges *gaps);
trial_number ranges_count(const struct ranges *r);
void ranges_free(struct ranges *r);
