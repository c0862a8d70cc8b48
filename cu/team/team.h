/* cu/team/team.h – the step loop: all units of a set work on the tasks that a policy gives them.
 *
 * A program gives four verbs. In each step the team runs the exchange (the communication period),
 * then hands out tasks until none is left (the computation period), moving each task's data into
 * the memory node of the unit that got it first. It alone times the two periods and counts bytes
 * and migrations, so every program reports them the same way. */
#ifndef CU_TEAM_H
#define CU_TEAM_H

#include "cu/unit/cu.h"
#include "cu/team/events.h"
#include "cu/sched/sched.h"
#include "src/status.h"
#include <stddef.h>

/* Host work of an exchange: this unit is number `part` of `parts` that divide it (the living CPU
 * units, or all living units where there is none), or has none of it (parts = 0). */
struct team_share {
    int part, parts;
};

/* What a step was like. */
struct team_step {
    int number;            /* from 1 */
    const double *seconds; /* [n] each task's */
    double longest;        /* of the unit that computed and moved longest */
};

/* The verbs; each returns EK_OK or has called status_fail(). `ctx` is the program's own. */
struct team_ops {
    /* One unit computes consecutive tasks whose data is in its memory node; on return the work is
     * done (devices included). seconds[i] += time of task range.begin + i. On the unit's thread. */
    enum ek_status (*compute)(void *ctx, const struct cu *cu, struct ek_range range,
                              double *seconds);
    /* Brings task's data from one memory node to another; *bytes += what was carried. On the thread
     * of a unit that lives in one of the two; the team holds the locks of both memory nodes. NULL:
     * tasks have no data of their own. */
    enum ek_status (*move)(void *ctx, size_t task, int from, int to, size_t *bytes);
    /* Says where tasks live before an exchange, whenever that has changed. One thread, all units
     * idle. Or NULL. */
    enum ek_status (*set_placement)(void *ctx, const int *home);
    /* Phase 0 .. exchange_phases()-1 of the exchange that opens a step, a barrier after each. Every
     * living unit calls it, but devices without tasks may not; who may touch a device is its own
     * unit, and what lies on the host is divided by `share`. *bytes += what crossed between memory
     * nodes. NULL: no exchange. */
    enum ek_status (*exchange)(void *ctx, const struct cu *cu, int phase, struct team_share share,
                               size_t *bytes);
    int (*exchange_phases)(const void *ctx);
    /* Most tasks in one compute() of a CPU unit, 0 = all that the policy gives. Devices always get
     * all, to batch them into few launches. */
    size_t cpu_batch;
    /* The data of all tasks is put aside / comes back to the host as it was put aside last, at
     * first as it was when the run began. One thread, all units idle; `home` says where tasks live.
     * NULL: a run that loses a device cannot go on. */
    enum ek_status (*save)(void *ctx, int step);
    enum ek_status (*restore)(void *ctx);
    /* After each step, before it is saved: *last = true if the work is done, although more steps
     * were asked for; every rank must come to the same answer. One thread, all units idle. Or
     * NULL. */
    enum ek_status (*finish)(void *ctx, const struct team_step *step, bool *last);
    /* After each step: the ranks may have divided their tasks anew. Then *job describes the tasks
     * of this one from now on (it and its arrays stay the program's), and task t was task
     * (*was)[t], or has just come to the host (-1); a task that left is gone. Else *was stays NULL.
     * One thread, all units idle. NULL: tasks stay. */
    enum ek_status (*repartition)(void *ctx, const struct team_step *step,
                                  const struct sched_job **job, const int **was);
};

/* What a run measured. */
struct team_result {
    int steps;              /* finished */
    double seconds;         /* wall time of all steps */
    double computation_s;   /* sum over steps of the computation period (slowest unit) */
    double communication_s; /* sum over steps of the exchange period */
    double moving_s;        /* part of the computation period spent moving tasks, slowest unit */
    double imbalance;       /* mean over steps of max(busy)/mean(busy) - 1 */
    size_t bytes_moved;     /* migrations and exchange, between memory nodes */
    size_t migrations;      /* tasks that changed their memory node */
    int retired;            /* units lost */
    int repeated;           /* steps done again because a device was lost with its data */
};

struct team; /* measurements, homes and the policy of one run */

/* A team of `set` for tasks described by `job`: its members are borrowed, ncu and what units are
 * come from the set; job.unit [set->n], if it is given, adds the seconds and speeds that are known
 * of them. Every task's home is the host at first. Caller owns *t. */
enum ek_status team_open(struct cu_set *set, const struct sched_job *job,
                         const struct team_ops *ops, void *ctx, const char *schedule,
                         struct team **t);
void team_close(struct team *t);

/* Runs `steps` steps. A unit that is lost (EK_LOST from a verb, or CU_FAULT) is retired: others do
 * its tasks; where its memory is lost with it, the run goes back to the data saved last. `save` is
 * called every team_save_every() steps. EK_STOPPED after stop_request() (cu/rank/stop.h): after the
 * current tasks, or where the run is saved after the step, which is saved, too. EK_UNAVAILABLE when
 * the last unit died. t's measurements describe what was finished in either case. One thread. */
enum ek_status team_run(struct team *t, int steps);

/* Warns of faults asked for by CU_FAULT that the run never came to. */
void team_tell_unmet_faults(const struct team *t);

/* Every task's data returns to the host (on the units' threads); homes become the host. */
enum ek_status team_bring_home(struct team *t);

/* Steps between two saves; 0 (the default) never: then a lost device means starting anew. */
void team_save_every(struct team *t, int steps);

const struct team_result *team_result(const struct team *t);
size_t team_unit_tasks(const struct team *t, int cu);

/* What a unit spent its time on, seconds. */
struct team_spent {
    double computing; /* what its tasks took, as `compute` has it */
    double launching; /* what compute() took over and above: launches, waiting for their end */
    double moving;    /* tasks to its memory node */
    /* Of computing and launching: its device had no work, the host gave none. NAN: not known, where
     * a program has its own handles of devices. */
    double starving;
};
struct team_spent team_unit_spent(const struct team *t, int cu);

/* How often a task ran on a kind of unit. */
unsigned team_task_runs(const struct team *t, size_t task, enum cu_kind kind);
/* Median seconds of a task on a kind of unit, NAN if it never ran there or does not exist. */
double team_task_seconds(const struct team *t, size_t task, enum cu_kind kind);

/* The least of all, likewise. */
double team_task_least(const struct team *t, size_t task, enum cu_kind kind);
/* The same of tasks that have left for other ranks, by their numbers among all. */
unsigned team_past_runs(const struct team *t, size_t number, enum cu_kind kind);
double team_past_least(const struct team *t, size_t number, enum cu_kind kind);

/* Called after each step with its number, from one thread; for progress lines. */
void team_on_step(struct team *t, void (*call)(void *arg, int step), void *arg);

/* What each unit did when, recorded from team_record() on. */
void team_record(struct team *t);
const struct events *team_events(const struct team *t, int cu);

#endif
