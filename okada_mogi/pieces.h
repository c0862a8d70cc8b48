/* okada_mogi/pieces.h – ranges of trials cut into tasks for policies: whole grains of the search,
 * enough tasks to balance the load, none so small that handing it out costs more than it. */
#pragma once

#include "okada_mogi/search.h"

struct pieces {
    size_t n, room;
    struct trial_range *range; /* [n] ascending, not empty */
    double *cost;              /* [n] as search_cost() */
};

/* Cuts `ranges` [nranges], ascending, for `units` units, replacing *t (zeroed = empty).
 * EK_UNAVAILABLE: out of memory, *t is unchanged. */
enum ek_status pieces_cut(struct pieces *t, const struct search *s,
                          const struct trial_range *ranges, size_t nranges, int units);
void pieces_free(struct pieces *t);
