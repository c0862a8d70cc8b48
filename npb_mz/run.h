/* npb_mz/run.h – a problem that is open on the units of this process. Shared by the files behind
 * program.h:
 *
 *   program.c   options, verdict and report
 *   run.c       opens and closes; sets the initial state or resumes from a saved one
 *   verbs.c     what the team calls in a step
 *   tasks.c     this rank's zones as tasks
 *   ranks.c     with several ranks: divides zones among them
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

    bool timers;         /* print the times of sections */
    const char *policy;  /* the last one that began */
    bool several;        /* more than one policy runs */
    struct mz_class own; /* the class with the time step of the input file */

    const char *solver; /* "bt-mz" */
    const struct mz_ops *ops;
    const struct mz_class *class;
    struct mz *mz;
    struct checkpoint *checkpoint; /* NULL: not asked for */
    struct copies *copies;         /* likewise */
    int begun;                     /* step from which this run started or resumed */
    int now;                       /* steps that are finished */
    int filed;                     /* step of this run at which the file was saved last */

    struct cu_set *set;
    struct sched_job *job; /* the shared main's; its arrays are those of `tasks` */
    struct tasks tasks;    /* this rank's zones */
    int *was;              /* [nzones] number that a task had before the last repartition */
    int *home;             /* [nzones] memory node of each zone, or FACES_ELSEWHERE */
    struct faces *faces;
    struct mz_work **work;  /* [units] of CPU units, NULL for devices */
    struct device **device; /* [units] of devices, NULL for CPU units */
    struct mz_work *judge;  /* for the verification */

    struct ranks *ranks;   /* NULL if there is one rank */
    struct remote *remote; /* likewise */
};

/* Members of struct bench_program. */
enum ek_status run_open(void *st, struct cu_set *set, struct sched_job *job);
enum ek_status run_prepare(void *st, const struct cu *cu);
void run_release(void *st, const struct cu *cu);
void run_close(void *st);

/* Sets the initial state, or the one saved last. */
enum ek_status run_reset(void *st);

/* The device of a memory node; NULL for the host. */
struct device *run_device(const struct run *r, int memory);
/* Copies a zone's state to the host if it lives on a device, where it stays valid. One thread. */
enum ek_status run_fetch(struct run *r, int zone);

/* Makes the zones with mz->mine the tasks. */
void run_take_zones(struct run *r);

/* What the team calls in a step. */
extern const struct team_ops verbs_ops;
