/* npb_mz/run.h – a problem opened on the units of this process, as the files behind program.h share
 * it:
 *
 *   program.c   what is asked for, and what is said of a run
 *   run.c       opening and closing; the state in the beginning, saved, taken up again
 *   verbs.c     the verbs of a step
 *   tasks.c     this rank's zones as tasks
 *   ranks.c     with several ranks: whose each zone is
 *   remote.c    with several ranks: faces between them */
#pragma once

#include "cu/bench/bench.h"
#include "npb_mz/checkpoint.h"
#include "npb_mz/copies.h"
#include "npb_mz/device.h"
#include "npb_mz/faces.h"
#include "npb_mz/mz.h"
#include "npb_mz/ranks.h"
#include "npb_mz/remote.h"
#include "npb_mz/tasks.h"

struct run {
    struct arena arena;
    const char *letter, *ranks_schedule, *checkpoint_path, *launch; /* options */
    int steps, every, survive;
    bool npb;

    bool timers;         /* the sections' times are wanted */
    const char *policy;  /* the first one that ran, */
    bool several;        /* and it is not the only one */
    struct mz_class own; /* the class with another time step */

    const char *solver; /* "bt-mz" */
    const struct mz_ops *ops;
    const struct mz_class *class;
    struct mz *mz;
    struct checkpoint *checkpoint; /* NULL: none is asked for */
    struct copies *copies;         /* likewise */
    int begun; /* step at which this run took the state up: 0, or that of what was saved */
    int now;   /* steps that are finished */
    int filed; /* steps of this run when it was saved in the file last */

    struct cu_set *set;
    struct sched_job *job; /* the shared main's, described by `tasks` */
    struct tasks tasks;    /* this rank's zones */
    int *was;              /* [nzones] number that a task had before the last partition */
    int *home;             /* [nzones] memory node of each zone, as faces want it */
    struct faces *faces;
    struct mz_work **work;  /* [units] of CPU units, NULL for devices */
    struct device **device; /* [units] of devices, NULL for CPU units */
    struct mz_work *judge;  /* for the verification */

    struct ranks *ranks;   /* NULL where there is one rank, */
    struct remote *remote; /* likewise */
};

/* Fields, units, tasks: as the members of struct bench_program. */
enum ek_status run_open(void *st, struct cu_set *set, struct sched_job *job);
enum ek_status run_prepare(void *st, const struct cu *cu);
void run_release(void *st, const struct cu *cu);
void run_close(void *st);

/* The initial state, or the one saved last. */
enum ek_status run_reset(void *st);

/* What lives in the memory node of a device; on the host: NULL. */
struct device *run_device(const struct run *r, int memory);
/* Brings a zone's state to the host, if it lives elsewhere, where it stays valid. One thread. */
enum ek_status run_fetch(struct run *r, int zone);

/* Other zones, or the first: those with ranks_of() this rank become the tasks. */
void run_take_zones(struct run *r);

/* What units do in a step. */
extern const struct team_ops verbs_ops;
