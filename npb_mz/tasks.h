/* npb_mz/tasks.h – zones as the tasks of a policy: their cost, the bytes that move with them, their
 * neighbours. For the units of a process the tasks are the zones of its rank; for dividing zones
 * among ranks they are all zones. */
#pragma once

#include "cu/sched/sched.h"
#include "npb_mz/mz.h"

struct tasks {
    struct arena arena;
    int n;
    int *zone;            /* [n] zone of a task */
    int *task;            /* [nzones] task of a zone, -1: none */
    double *cost, *bytes; /* [n] Mop of a step; bytes that move with the zone */
    size_t *first;        /* [n+1] as in struct sched_job */
    size_t *neighbour;    /* [first[n]] */
    double *face_bytes;   /* [first[n]] */
};

/* Allocates for all zones of *mz; there are no tasks yet. EK_UNAVAILABLE: out of memory. close
 * frees also after a failed open, and accepts a zeroed struct. */
enum ek_status tasks_open(const struct mz *mz, struct tasks *tasks);
void tasks_close(struct tasks *tasks);

/* Makes the zones with among[zone] (NULL: all) the tasks, in ascending order. *job describes them
 * and borrows the arrays of *tasks. */
void tasks_number(struct tasks *tasks, const struct mz *mz, const bool *among,
                  struct sched_job *job);
