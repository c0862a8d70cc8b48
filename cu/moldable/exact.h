/* cu/moldable/exact.h – the best schedule of a few tasks, by branch and bound. */
#pragma once

#include "cu/moldable/timeline.h"

enum { EXACT_TASKS = 10, EXACT_CORES = 64 };

/* Are there few enough tasks and cores, and does packing_applies() hold? */
bool exact_applies(const struct moldable_problem *);

/* Searches for schedules shorter than *best; stores the shortest found in choice [ntasks] and its
 * makespan in *best. It is optimal unless the search needs more than `steps` nodes of its tree. */
void exact_search(const struct timeline *, double *best, struct moldable_choice *choice,
                  long steps);
