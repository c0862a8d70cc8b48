/* okada_mogi/ranges.h – a set of trials as disjoint ranges, e.g. those that are done. */
#pragma once

#include "okada_mogi/accepted.h"

/* Zeroed = empty. */
struct ranges {
    size_t n, room;
    struct trial_range *range; /* [n] ascending, none touches another */
};

/* Adds a range, which has nothing in common with the set (EK_USAGE if it has) and is not empty.
 * EK_UNAVAILABLE: out of memory. */
enum ek_status ranges_add(struct ranges *r, struct trial_range one);
/* Adds what is new of a range, gap by gap: put(arg) gets each with those of the accepted trials of
 * the range that are in it. */
enum ek_status ranges_add_new(struct ranges *r, struct trial_range range, struct accepted *found,
                              enum ek_status (*put)(void *arg, struct trial_range gap,
                                                    struct accepted *some),
                              void *arg);
/* What of `all` is not in the set, into *gaps (zeroed). */
enum ek_status ranges_gaps(const struct ranges *r, struct trial_range all, struct ranges *gaps);
trial_number ranges_count(const struct ranges *r);
void ranges_free(struct ranges *r);
