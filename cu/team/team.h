/* cu/team/team.h – the step loop: all units of a set work on the tasks that a policy gives them.
 *
 * A program provides verbs. In each step the team runs the exchange (the communication period),
 * then hands out tasks until none is left (the computation period), first moving each task's data
 * to the memory node of the unit that computes it. Only the team times the two periods and counts
 * bytes and migrations, so that all programs report them in the same way. */
#ifndef CU_TEAM_H
#define CU_TEAM_H

#include "cu/unit/cu.h"
#include "cu/team/events.h"
#include "cu/sched/sched.h"
#include "src/status.h"
#include <stddef.h>

/* A unit's share of the host work of an exchange: it is number `part` of the `parts` units that
 * divide it (the CPU units that take part, or all if there are none); parts = 0: no share. */
struct team_share {
    int part, parts;
};

/* A finished step. */
struct team_step {
    int number;            /* from 1 */
    const double *seconds; /* [n] time of each task */
    double longest;        /* the longest time that a unit spent computing and moving, s */
};

/* The verbs; each returns EK_OK or has called status_fail(). `ctx` belongs to the program. */
struct team_ops {
    /* Computes consecutive tasks whose data is in the unit's memory node; the work must be done on
     * return, also on devices. seconds[i] += time of task range.begin + i. On the unit's thread. */
    enum ek_status (*compute)(void *ctx, const struct cu *cu, struct ek_range range,
                              double *seconds);
    /* Moves a task's data from one memory node to another; *bytes += bytes moved. On the thread of
     * a unit of one of the two memory nodes; the team holds the locks of both. NULL: tasks have no
     * data of their own. */
    enum ek_status (*move)(void *ctx, size_t task, int from, int to, size_t *bytes);
    /* Tells the program, before an exchange, that tasks now live at home[task]. One thread, all
     * units idle. Or NULL. */
    enum ek_status (*set_placement)(void *ctx, const int *home);
    /* Phase 0 .. exchange_phases()-1 of the exchange that opens a step, with a barrier after each.
     * Called by every living unit, except perhaps units without tasks. A device may be used only
     * by its own unit; the work on host data is divided by `share`. *bytes += bytes moved between
     * memory nodes. NULL: no exchange. */
    enum ek_status (*exchange)(void *ctx, const struct cu *cu, int phase, struct team_share share,
                               size_t *bytes);
    int (*exchange_phases)(const void *ctx);
    /* Most tasks in one compute() of a CPU unit, 0: whole ranges. Devices always get whole ranges,
     * to batch them into few launches. */
    size_t cpu_batch;
    /* Saves the data of all tasks, which live at set_placement()'s homes; restores the data saved
     * last, or that of the beginning of the run, on the host. One thread, all units idle. NULL: a
     * run that loses a device cannot go on. */
    enum ek_status (*save)(void *ctx, int step);
    enum ek_status (*restore)(void *ctx);
    /* After each step, before it is saved: may set *last = true to end the run early; all ranks
     * must agree. One thread, all units idle. Or NULL. */
    enum ek_status (*finish)(void *ctx, const struct team_step *step, bool *last);
    /* After each step, ranks may divide their tasks anew. Then *job describes this rank's tasks
     * from now on (it and its arrays belong to the program); task t was task (*was)[t], or has just
     * arrived on the host (-1). Otherwise *was stays NULL. One thread, all units idle. NULL: tasks
     * stay. */
    enum ek_status (*repartition)(void *ctx, const struct team_step *step,
                                  const struct sched_job **job, const int **was);
};

/* The measurements of a run. */
struct team_result {
    int steps;              /* finished */
    double seconds;         /* wall time of all steps */
    double computation_s;   /* sum over steps of the computation period (slowest unit) */
    double communication_s; /* sum over steps of the exchange period */
    double moving_s;        /* part of the computation period spent moving tasks, slowest unit */
    double planning_s;      /* sum over steps of the policy's decisions between them */
    double imbalance;       /* mean over steps of max(busy)/mean(busy) - 1 */
    size_t bytes_moved;     /* migrations and exchange, between memory nodes */
    size_t migrations;      /* tasks that changed their memory node */
    int retired;            /* units lost */
    int repeated;           /* steps done again because a device was lost with its data */
};

struct team; /* measurements, tasks' homes and the policy of one run */

/* Opens a team of `set` for the tasks of `job`, whose arrays are borrowed. The units are the set's;
 * job.unit [set->n] or NULL adds known seconds and speeds. All tasks live on the host at first.
 * Caller owns *t. */
enum ek_status team_open(struct cu_set *set, const struct sched_job *job,
                         const struct team_ops *ops, void *ctx, const char *schedule,
                         struct team **t);
void team_close(struct team *t);

/* Runs `steps` steps. A unit that is lost (EK_LOST from a verb, or CU_FAULT) is retired: others do
 * its tasks; if its memory is lost, too, the run goes back to the data saved last. Calls `save`
 * every team_save_every() steps. EK_STOPPED after stop_request() (cu/rank/stop.h): after the
 * current tasks or, if the run is saved, after the current step, which is saved. EK_UNAVAILABLE:
 * the last unit is lost. In any case t's measurements describe what was finished. One thread. */
enum ek_status team_run(struct team *t, int steps);

/* Warns of faults in CU_FAULT that did not happen. */
void team_tell_unmet_faults(const struct team *t);

/* Moves every task's data back to the host, on the units' threads. */
enum ek_status team_bring_home(struct team *t);

/* Sets the steps between two saves; 0 (the default): none, so a lost device restarts the run. */
void team_save_every(struct team *t, int steps);

const struct team_result *team_result(const struct team *t);
size_t team_unit_tasks(const struct team *t, int cu);

/* How a unit spent its time, seconds. */
struct team_spent {
    double computing; /* sum of its tasks' times */
    double launching; /* further time in compute(): launching, waiting for the end */
    double moving;    /* moving tasks to its memory node */
    /* The part of computing and launching in which its device had no work from the host. NAN:
     * unknown, because the program uses its own device handles. */
    double starving;
};
struct team_spent team_unit_spent(const struct team *t, int cu);

/* How often a task ran on a kind of unit. */
unsigned team_task_runs(const struct team *t, size_t task, enum cu_kind kind);
/* Median seconds of a task on a kind of unit, NAN if it never ran there or does not exist. */
double team_task_seconds(const struct team *t, size_t task, enum cu_kind kind);

/* The shortest time, likewise. */
double team_task_least(const struct team *t, size_t task, enum cu_kind kind);
/* The same for tasks that have left for other ranks, by their number among all ranks' tasks. */
unsigned team_past_runs(const struct team *t, size_t number, enum cu_kind kind);
double team_past_least(const struct team *t, size_t number, enum cu_kind kind);

/* Sets a function that is called after each step with its number, on one thread. */
void team_on_step(struct team *t, void (*call)(void *arg, int step), void *arg);

/* Records from now on what each unit does when. */
void team_record(struct team *t);
const struct events *team_events(const struct team *t, int cu);

#endif
