/* cu/sim/sim.h – simulates policies, with the very code that runs on a machine, under a virtual
 * clock on a model of one. The same case and seed give the same result, to the last bit. */
#pragma once

#include "cu/sim/loss.h"
#include "cu/sched/exchange.h"

/* The share by which a unit is slower while so many others are busy: piecewise linear through (0,
 * 0) and the points, extrapolated beyond the last. No points: no slowdown. */
struct sim_curve {
    int n;
    const double (*point)[2]; /* [n] {busy units, share}, busy units ascending */
};

/* A simulated unit. A range takes `launch` seconds plus, for each task, fixed + cost/speed or
 * seconds[task]; all of that times 1 + slowed[CU_CPU](busy CPU units of its node) +
 * slowed[CU_DEVICE](busy devices of its node), itself not counted, at each moment. */
struct sim_unit {
    enum cu_kind kind;
    int width, memory; /* memory node 0 is the host; every other one has its own link to it */
    int node;          /* units of one node slow one another */
    double speed;      /* cost per second, > 0 */
    double fixed;      /* seconds per task, whatever its cost */
    double launch;     /* seconds per range, whatever its tasks */
    bool batches; /* computes a range as one: its tasks' times, as policies get them, are shares of
                   * the range's by cost, launch included */
    const double *seconds;      /* [n] times instead of fixed + cost/speed, or NULL */
    struct sim_curve slowed[2]; /* by kind of the busy neighbours */
    const double *noise;        /* [nnoise] factors of a task's time, equally likely; or NULL */
    int nnoise;
    /* [nusual][n] factors of each task's time in steps, equally likely, from the calmest to the
     * most disturbed one; or NULL. One is drawn for every sim_case.hold steps, at the same place
     * for all units. */
    const double *const *usual;
    int nusual;
    /* Something else runs on the unit so often per second of its work, each time for so many
     * seconds in the mean: a Poisson process, exponentially distributed. */
    double interruptions, interruption;
};

/* `after` seconds into the computation of step `step` (from 0), the speed of a unit becomes
 * `factor` times its initial one, also for the rest of its present task. Factor 0: the unit dies
 * and what it had not finished is lost. */
struct sim_change {
    int unit, step;
    double after, factor;
};

/* A finished task, reported to sim_case.on_task. Tasks that a dying unit leaves undone are reported
 * when another unit has finished them. */
struct sim_event {
    int step, unit;
    size_t task;
    double start, seconds; /* since the step's computation began */
};

/* The exchange at the beginning of a step takes the sum of these parts. */
enum {
    SIM_FIXED,  /* once */
    SIM_HOST,   /* per byte of faces between tasks on the host */
    SIM_DEVICE, /* per byte of faces inside the device with most of them */
    SIM_CROSS,  /* once, if any face crosses between memory nodes */
    SIM_LINK,   /* per byte on the busiest link */
    SIM_PARTS
};
struct sim_exchange {
    double seconds[SIM_PARTS];
};
extern const char *const sim_exchange_names[SIM_PARTS]; /* in files: "fixed_s" */

struct sim_case {
    struct sched_job job;        /* tasks and graph; unit, ncu and options are not used */
    const struct sim_unit *unit; /* [ncu] */
    int ncu, steps;
    const struct sim_exchange *exchange; /* NULL: each face takes job.link by itself */
    double waits;   /* share of what a device has left of its range that a move out of it waits */
    double between; /* seconds between a step and the next exchange: planning, barriers */
    bool
        cold; /* policies get no speeds or profiles, and know the link only once a task has moved */
    double noise;  /* standard deviation of the logarithm of task times */
    unsigned seed; /* of the noise */
    double hold;   /* steps between draws of sim_unit.usual; below 1 counts as 1 */
    int nchanges;
    const struct sim_change *change;                      /* [nchanges] in order of step and time */
    void (*on_task)(void *arg, const struct sim_event *); /* or NULL */
    void *on_task_arg;
};

struct sim_result {
    double makespan;      /* computation of the last step, s */
    double total;         /* all steps: computation, communication and time between, s */
    double computation;   /* sum over steps, migrations included, s */
    double communication; /* sum of the exchanges, s */
    double lower_bound;   /* of the last step, by its tasks' true times; NAN unknown */
    double bounds;        /* sum of the lower bounds of all steps, s */
    double ratio;         /* makespan / lower_bound */
    double worst_ratio;   /* largest ratio from the fourth step on; NAN: fewer steps */
    int steps_to_steady;  /* steps until computation stays within 1 % (plus noise) of the last step
                           */
    struct loss loss;     /* of all steps, against their lower bounds */
    size_t migrations;    /* tasks that changed their memory node */
    double bytes_moved;   /* by migrations and exchanges */
};

/* Runs all steps of the case under a policy ("dynamic:chunk=4"). span [steps] or NULL: the
 * computation period of each step. A block of data takes link.latency + bytes * link.per_byte on
 * the link of each device that it leaves or enters (job.link NULL: free); links work concurrently,
 * a migrating task holds up its new unit. EK_USAGE: bad policy; EK_UNAVAILABLE: memory, or all
 * units died; EK_UNVERIFIED: the policy lost or repeated a task. One thread. */
enum ek_status sim_run(const struct sim_case *c, const char *schedule, double *span,
                       struct sim_result *result);

/* Amount of each part of an exchange when task t's data is in memory node home[t] of nmemories.
 * room [2 * nmemories] is scratch space. */
void sim_exchange_parts(const struct sched_job *job, const int *home, int nmemories, double *room,
                        double part[SIM_PARTS]);
/* Its seconds; *busiest from exchange_crossing(). */
double sim_exchange_seconds(const struct sim_case *c, const int *home, int nmemories, double *room,
                            const struct exchange_load *busiest);

/* The share by which `busy` neighbours slow a unit with this curve. */
double sim_curve_at(const struct sim_curve *curve, double busy);

/* Seconds of a task on a unit working alone, without noise. */
static inline double sim_seconds(const struct sim_case *c, const struct sim_unit *u, size_t task)
{
    double cost = c->job.cost ? c->job.cost[task] : 1;
    return u->seconds ? u->seconds[task] : u->fixed + cost / u->speed;
}

/* Whether every task takes the same time on both. */
static inline bool sim_alike(const struct sim_unit *a, const struct sim_unit *b)
{
    return a->seconds == b->seconds && a->fixed == b->fixed && a->speed == b->speed &&
           a->noise == b->noise && a->usual == b->usual && a->interruptions == b->interruptions &&
           a->interruption == b->interruption;
}

/* Whether its tasks take other times in each step, besides sim_case.noise. */
static inline bool sim_is_noisy(const struct sim_unit *u)
{
    return u->noise || u->usual || u->interruptions > 0;
}

/* Lower bound of a step in which unit u runs at factor[u] (NULL = 1) times its speed, 0 = dead;
 * without noise, contention and transfers. NAN: a time or memory is missing. */
double sim_bound(const struct sim_case *c, const double *factor);

/* Lower bound of step `step`, noise included; a unit that changes within the step counts at its
 * best. */
double sim_step_bound(const struct sim_case *c, int step);

/* Certificate of a lower bound: unit_price [ncu] and task_price [n] are not negative and add up to
 * 1; the sum over all tasks of the smallest (unit_price[u] + task_price[t]) * seconds of t on u,
 * which is returned, is a lower bound of the step. (The dual of the linear programme in which a
 * task may be divided among units but never runs on two at once.) NAN: not known. */
double sim_certificate(const struct sim_case *c, int step, double *unit_price, double *task_price);

/* Noise factor of a task's time in that step on this unit. */
double sim_noise(const struct sim_case *c, const struct sim_unit *u, int step, size_t task);

/* Speed factor of each unit in that step, the best one where it changes; 0: dead. */
void sim_factors(const struct sim_case *c, int step, double *factor);

/* Price of a second of each unit in that step, price [ncu], adding up to 1; 0 for dead units.
 * False, and no prices, where there is no bound. */
bool sim_prices(const struct sim_case *c, const double *factor, double *price);

/* Lost time, by cause, of run *r against its steps' bounds; work [ncu] is the work of each unit,
 * prices are filled in. */
struct loss sim_loss(const struct sim_case *c, const double *factor, const struct sim_result *r,
                     struct loss_share *work);
