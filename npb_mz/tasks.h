/* npb_mz/tasks.h – zones as the tasks of a policy: what they cost, what moving one carries, who
 * exchanges faces with whom. Serves the units of a process, whose tasks are the zones of its rank,
 * and the ranks, whose tasks are all zones. */
#pragma once

#include "cu/sched/sched.h"
#include "npb_mz/mz.h"

struct tasks {
    struct arena arena;
    int n;
    int *zone;            /* [n] of a task */
    int *task;            /* [nzones] of a zone, -1: it is none of them */
    double *cost, *bytes; /* [n] Mop of a step; of u, forcing and carried */
    size_t *first;        /* [n+1] as in struct sched_job */
    size_t *neighbour;    /* [first[n]] */
    double *face_bytes;   /* [first[n]] */
};

/* Room for all zones of *mz, no tasks yet. EK_UNAVAILABLE: out of memory. close frees, also after a
 * failed open, and accepts a zeroed struct. */
enum ek_status tasks_open(const struct mz *mz, struct tasks *tasks);
void tasks_close(struct tasks *tasks);

/* The zones with among[zone] (NULL: all) become the tasks, in their order. *job describes them; its
 * arrays stay those of *tasks. */
void tasks_number(struct tasks *tasks, const struct mz *mz, const bool *among,
                  struct sched_job *job);
