/* cu/moldable/exact.h – the best schedule of a few tasks, by branch and bound. */
#pragma once

#include "cu/moldable/timeline.h"

enum { EXACT_TASKS = 10, EXACT_CORES = 64 };

/* Few enough tasks and cores, and those that packing_applies() is for. */
bool exact_applies(const struct moldable_problem *);

/* Puts the best schedule that is shorter than *best into choice [ntasks], and its makespan into
 * *best; the best one of all if that takes no more than `steps` looks. */
void exact_search(const struct timeline *, double *best, struct moldable_choice *choice,
                  long steps);
