/* cu/sched/partition_list.h – the tasks of each unit as linked lists, d->head and d->follow, while
 * a partition is improved. */
#pragma once

#include "cu/sched/partition.h"

/* Ends a list; no task. */
static const size_t PARTITION_NONE = (size_t)-1;

static inline void partition_clear_lists(struct partition *d)
{
    for (int c = 0; c < d->job->ncu; c++)
        d->head[c] = PARTITION_NONE;
}

/* Puts a task before the unit's others. */
static inline void partition_link(struct partition *d, int unit, size_t task)
{
    d->follow[task] = d->head[unit];
    d->head[unit] = task;
}

/* Takes a task out of the unit's list, in which it is. */
static inline void partition_unlink(struct partition *d, int unit, size_t task)
{
    size_t *p = &d->head[unit];
    while (*p != task)
        p = &d->follow[*p];
    *p = d->follow[task];
}
