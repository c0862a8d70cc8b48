/* cu/sched/assignment.h – which unit would get which task: runs a policy under a clock that only
 * counts declared cost over speed. Used to divide zones among ranks, once for many steps. */
#pragma once

#include "cu/sched/sched.h"

/* owner[job->n] = unit of each task in the best of the steps that the policy needs to settle: one
 * for policies that know everything at once, dozens for those that learn. Units of speed 0 count
 * as 1. EK_USAGE: bad policy. EK_UNAVAILABLE: out of memory. One thread. */
enum ek_status assignment_find(const char *schedule, const struct sched_job *job, int *owner);

/* Returns when the last unit would end; busy[job->ncu] = how long each works, in cost / speed. */
double assignment_span(const struct sched_job *job, const int *owner, double *busy);
