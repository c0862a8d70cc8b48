/* cu/deal.h – who would get which task: a policy's first step under a clock that only counts
 * declared cost over speed. For zones over ranks, where every rank must come to the same answer by
 * itself. */
#ifndef CU_DEAL_H
#define CU_DEAL_H

#include "cu/sched.h"

/* owner[job->n] = unit of each task. Units with speed 0 count as 1. EK_USAGE: bad policy. One
 * thread; the same arguments give the same answer everywhere. */
enum ek_status deal_tasks(const char *schedule, const struct sched_job *job, int *owner);

#endif
