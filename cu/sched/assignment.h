/* cu/sched/assignment.h – who would get which task: a policy's steps under a clock that only counts
 * declared cost over speed. For zones over ranks: a division that is made now and kept for many
 * steps. */
#pragma once

#include "cu/sched/sched.h"

/* owner[job->n] = unit of each task in the best of the steps that the policy needs until it changes
 * nothing any more: one for those that know at once, some dozens for those that learn. Units with
 * speed 0 count as 1. EK_USAGE: bad policy. EK_UNAVAILABLE: out of memory. One thread. */
enum ek_status assignment_find(const char *schedule, const struct sched_job *job, int *owner);

/* When the last unit would be done, and how long each is busy: busy[job->ncu], in cost / speed. */
double assignment_span(const struct sched_job *job, const int *owner, double *busy);
