/* cu/moldable/exact.h – the best schedule of a few tasks, by branch and bound. */
#pragma once

#include "cu/moldable/timeline.h"

enum { EXACT_TASKS = 10, EXACT_CORES = 64, EXACT_STEPS = 200000 };

/* Are there few enough tasks and cores, and no cluster tasks? */
bool exact_applies(const struct moldable_problem *);

/* Searches for schedules shorter than `best`; false: it finds none. Stores the shortest one in
 * choice [ntasks]. It is optimal unless the search needs more than EXACT_STEPS nodes of its tree.
 */
bool exact_search(struct timeline *, double best, struct moldable_choice *choice);
