/* cu/sim/sim.h – the policies under a virtual clock: the very code that runs on a machine, on a
 * model of one. The same case and seed give the same result, to the last bit. */
#pragma once

#include "cu/sim/loss.h"
#include "cu/sched/exchange.h"
#include <stdbool.h>

/* By which share a unit is slower while so many others are busy: piecewise linear through (0, 0)
 * and the points, beyond the last one as before it. Without points it is not slowed. */
struct sim_curve {
    int n;
    const double (*point)[2]; /* [n] {busy units, share}, busy units ascending */
};

/* One simulated unit. A range of tasks takes `launch` seconds, each of its tasks fixed + cost/speed
 * or seconds[task]; all of that times 1 + slowed[CU_CPU](busy CPU units of its node) +
 * slowed[CU_DEVICE](busy devices of its node), itself not counted, at each moment. */
struct sim_unit {
    enum cu_kind kind;
    int width, memory; /* memory node 0 is the host; every other one has a link of its own to it */
    int node;          /* units of one node slow one another */
    double speed;      /* cost per second, > 0 */
    double fixed;      /* seconds per task whatever its cost: launches */
    double launch;     /* seconds per range, whatever it holds */
    const double *seconds;      /* [n] times instead of fixed + cost/speed, or NULL */
    struct sim_curve slowed[2]; /* per cu_kind of the busy neighbours */
    const double *noise;        /* [nnoise] factors of a task's time, equally likely; or NULL */
    int nnoise;
};

/* `after` seconds into the computation of step `step` (from 0) the speed of a unit becomes `factor`
 * times what it was at the start, also for what is left of its task; with 0 the unit dies, and what
 * it had not finished is lost. */
struct sim_change {
    int unit, step;
    double after, factor;
};

/* A task that a unit has done, as sim_case.on_task hears of it; of what a unit that dies leaves
 * undone it hears when another one has done it. */
struct sim_event {
    int step, unit;
    size_t task;
    double start, seconds; /* since the step's computation began */
};

/* What the exchange that opens a step takes: the sum of what its parts do. */
enum {
    SIM_FIXED,  /* once */
    SIM_HOST,   /* for a byte of faces between two tasks on the host */
    SIM_DEVICE, /* for a byte of faces inside the device that has most of them */
    SIM_CROSS,  /* once if any face crosses between memory nodes */
    SIM_LINK,   /* for a byte that crosses on the link that carries most */
    SIM_PARTS
};
struct sim_exchange {
    double seconds[SIM_PARTS];
};
extern const char *const sim_exchange_names[SIM_PARTS]; /* in files: "fixed_s" */

struct sim_case {
    struct sched_job job;        /* tasks; unit, ncu and options are not used */
    const struct sim_unit *unit; /* [ncu] */
    int ncu, steps;
    const struct sim_exchange *exchange; /* NULL: each face by itself takes job.link */
    double between; /* seconds from the end of a step to the next exchange: planning, barriers */
    bool cold; /* policies begin without speeds and profiles, and know the link once a task moved */
    double noise;  /* standard deviation of the logarithm of a task's time, on any unit */
    unsigned seed; /* of the noise */
    int nchanges;
    const struct sim_change *change;                      /* [nchanges] in order of step and time */
    void (*on_task)(void *arg, const struct sim_event *); /* or NULL */
    void *on_task_arg;
};

struct sim_result {
    double makespan;      /* computation period of the last step, s */
    double total;         /* all steps: computation, communication and what is between, s */
    double computation;   /* sum of the computation periods, migrations included, s */
    double communication; /* sum of the exchanges that open a step, s */
    double lower_bound;   /* of the last step, by the times that its tasks have; NAN unknown */
    double bounds;        /* sum of those of all steps, s */
    double ratio;         /* makespan / lower_bound */
    double worst_ratio;   /* the largest one of a step from the fourth on; NAN: no such */
    int steps_to_steady;  /* steps until the period stays within 1 % (and noise) of the last one */
    struct loss loss;     /* of all steps, against that bound in each of them */
    size_t migrations;    /* tasks that changed their memory node */
    double bytes_moved;   /* by migrations and exchanges */
};

/* Runs all steps of the case under a policy ("dynamic:chunk=4"). span [steps] or NULL: the
 * computation period of each step. Memory transfers: a block takes link.latency + bytes *
 * link.per_byte on the link of each device that it leaves or enters (job.link NULL = free);
 * links work at the same time, a migrating task holds up its new unit. EK_USAGE: bad policy;
 * EK_UNAVAILABLE: memory, or all units died; EK_UNVERIFIED: the policy lost or repeated a task. One
 * thread. */
enum ek_status sim_run(const struct sim_case *c, const char *schedule, double *span,
                       struct sim_result *result);

/* How much of each part an exchange has when task t's data is in memory node home[t] of nmemories.
 * room [2 * nmemories] */
void sim_exchange_parts(const struct sched_job *job, const int *home, int nmemories, double *room,
                        double part[SIM_PARTS]);
/* Its seconds; *busiest: exchange_crossing(). */
double sim_exchange_seconds(const struct sim_case *c, const int *home, int nmemories, double *room,
                            const struct exchange_load *busiest);

/* Share by which `busy` neighbours slow a unit of this curve. */
double sim_curve_at(const struct sim_curve *curve, double busy);

/* Seconds of a task on a unit that works alone, without noise. */
static inline double sim_seconds(const struct sim_case *c, const struct sim_unit *u, size_t task)
{
    double cost = c->job.cost ? c->job.cost[task] : 1;
    return u->seconds ? u->seconds[task] : u->fixed + cost / u->speed;
}

/* Every task takes the same time on both. */
static inline bool sim_alike(const struct sim_unit *a, const struct sim_unit *b)
{
    return a->seconds == b->seconds && a->fixed == b->fixed && a->speed == b->speed &&
           a->noise == b->noise;
}

/* Lower bound of a step in which unit u runs at factor[u] (NULL = 1) times its speed, 0 = dead;
 * without noise, contention and transfers. NAN: a time or memory is missing. */
double sim_bound(const struct sim_case *c, const double *factor);

/* Lower bound of step `step` of the case, noise included; of a unit that changes within it the best
 * counts. */
double sim_step_bound(const struct sim_case *c, int step);

/* Why no assignment is faster: unit_price [ncu] and task_price [n] add up to 1, none is negative,
 * and the sum over all tasks of the smallest (unit_price[u] + task_price[t]) * seconds of t on u,
 * which is returned, is a time in which that step cannot be done: the dual of the linear programme
 * in which tasks are divided among units but never run on two at once. NAN: not known. */
double sim_certificate(const struct sim_case *c, int step, double *unit_price, double *task_price);

/* Factor by which noise makes a task longer in that step on this unit. */
double sim_noise(const struct sim_case *c, const struct sim_unit *u, int step, size_t task);

/* The factor of each unit's speed in that step, the best one where it changes; 0 dead. */
void sim_factors(const struct sim_case *c, int step, double *factor);

/* What a second of each unit is worth in that step, price [ncu]: they add up to 1, and are 0 for
 * dead units. False, and no prices, where there is no bound. */
bool sim_prices(const struct sim_case *c, const double *factor, double *price);

/* By what the run of *r is slower than the bounds of its steps; did [ncu] is what each unit did,
 * prices are filled in. */
struct loss sim_loss(const struct sim_case *c, const double *factor, const struct sim_result *r,
                     struct loss_share *did);
