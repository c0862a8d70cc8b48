/* okada_mogi/pieces.h – ranges of trials cut into tasks for policies: whole grains of the search,
 * enough of them to choose from, none too small to be worth handing out. */
#pragma once

#include "okada_mogi/search.h"
#include "src/status.h"
#include <stddef.h>

struct pieces {
    size_t n, room;
    struct trial_range *range; /* [n] ascending, not empty */
    double *cost;              /* [n] as search_cost() */
};

/* Cuts `ranges` [nranges], ascending, for `units` units; what was in *t before is gone. Zeroed *t =
 * none. EK_UNAVAILABLE: out of memory, *t is as it was. */
enum ek_status pieces_cut(struct pieces *t, const struct search *s,
                          const struct trial_range *ranges, size_t nranges, int units);
void pieces_free(struct pieces *t);
