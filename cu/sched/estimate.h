/* cu/sched/estimate.h – what is known about how long each task takes on each unit: measured where
 * it has run there, predicted where it has not.
 *
 * seconds(task, unit) = slowdown[unit] * seconds[kind of unit][task]. Units are of one kind if they
 * have kind, width and profile in common; the slowdown is what sets one of them apart (1 = as
 * usual, 2 = half as fast).
 *
 * A task's estimate is the median of its last three measurements, so that a single slow one changes
 * nothing, drawn towards what the others of its kind say of it: the kind's profile, or the kind's
 * line seconds = a + b*cost (cu/sched/line.h). It is drawn the more, the more measurements of one
 * task scatter and the less tasks lie off the line: where sizes tell the times, noise does not get
 * into the estimates. A task that has not run on a kind is predicted by that kind's line, times how
 * far it lies off the line of a kind on which it has run. */
#pragma once

#include "cu/sched/line.h"
#include "cu/sched/sched.h"
#include <stdbool.h>

/* What `make ablation` leaves out, one at a time (tests/bench/cu_ablation.h); nothing elsewhere. */
#ifndef WITHOUT
#define WITHOUT(mechanism) false
#endif

/* A device of which nothing is known counts as so many CPU units. */
enum { ESTIMATE_DEVICE = 8 };

enum { ESTIMATE_SAMPLES = 3 };

/* A unit of a larger factor is slow. */
#define ESTIMATE_SLOW 1.1

/* The tasks on one kind of units. Seconds are those of a unit of slowdown 1. */
struct estimate_kind {
    enum cu_kind kind;
    const double *profile; /* [n] or NULL */
    double rate;           /* declared cost per second where slowdown is 1; 0 unknown */
    double inside;         /* seconds to begin a range that are in its tasks': inside / k of k */
    float *part;           /* [n] 1 / k of the last sample */
    double *seconds;       /* [n] the estimates */
    double (*sample)[ESTIMATE_SAMPLES]; /* [n] the last measurements */
    unsigned char *count;               /* [n] how many of them there are */
    struct line line;
    bool tried; /* there is a line */
};

enum { ESTIMATE_LAUNCHES = 8 };

/* What ranges took beside their tasks on one unit, the latest ones. */
struct estimate_begun {
    _Alignas(64) double seconds; /* all of this step */
    double last[ESTIMATE_LAUNCHES];
    unsigned count, before; /* all; those before this step */
    double first, latest;   /* seconds / expected ones of two ranges of this step; 0: none */
    double began, clock;    /* of the last one, since the step began, without what brings tasks */
};

struct estimate {
    size_t n;
    int ncu, nkinds, steps;            /* steps measured */
    bool changed;                      /* some unit's speed has, in the last step */
    bool known;                        /* speeds or profiles were given for all units */
    const double *cost;                /* [n] declared, or NULL */
    const struct sched_unit *unit;     /* [ncu] the job's */
    size_t *order;                     /* [n] tasks by descending cost */
    int *kind;                         /* [ncu] */
    double *factor, *slowdown;         /* [ncu] as measured; and with hope for the untried */
    double *declared;                  /* [ncu] the factor at first */
    double *launch;                    /* [ncu] seconds to begin a range at slowdown 1: beside its
                                        * tasks', and in them */
    bool *judged;                      /* [ncu] the unit has worked, its factor is known */
    bool *sudden;                      /* [ncu] its speed has changed in this step */
    int *slowed;                       /* [ncu] step in which it suddenly became slow, */
    bool *again;                       /* [ncu] soon after it had become slow before */
    struct estimate_begun *begun;      /* [ncu] */
    double (*ratio)[ESTIMATE_SAMPLES]; /* [ncu] busy time / expected one, of the last steps */
    struct estimate_kind *of;          /* [nkinds], room for ncu */
    double *seconds;                   /* [n] measured in this step; negative = not executed */
    int *owner;                        /* [n] unit that executed it */
    float *range;                      /* [n] 1 / tasks in its range */
    float *start;                      /* [n] seconds since the step began, likewise */
    double noise[ESTIMATE_SAMPLES];    /* relative scatter of a task's times, of the last steps */
    unsigned noises;                   /* how many of them there are */
    double *busy;                      /* [ncu] measured in the last step */
    double *seen, *expected, *tasks;   /* [ncu] room for estimate_step() */
    double *x, *y, *room;              /* [n] likewise */
};

/* Starts with the job's profiles, speeds and costs; what they leave open counts as equal. Its
 * memory is the job's arena's. EK_UNAVAILABLE: out of memory. One thread. */
enum ek_status estimate_open(struct estimate *e, const struct sched_job *job);

/* Unit cu took `sec` seconds for the range, each[i] of them for its tasks (NULL: not known; the
 * rest was its launch). On any thread, for different tasks concurrently. */
void estimate_done(struct estimate *e, int cu, struct ek_range r, double sec, const double *each);

/* Between two steps: takes in what was measured. One thread, as the rest. */
void estimate_step(struct estimate *e);

/* Instead of that: the step says nothing. */
void estimate_pass(struct estimate *e);

/* How far the last step was from a plan: the largest difference between a unit's busy time and its
 * planned one, as a share of the planned makespan. load [ncu] */
double estimate_surprise(const struct estimate *e, const double *load);

/* Relative scatter of the times of one task, 0 while no task has run twice. */
double estimate_noise(const struct estimate *e);

static inline double estimate_cost(const struct estimate *e, size_t task)
{
    return e->cost ? e->cost[task] : 1;
}

static inline double estimate_seconds(const struct estimate *e, int cu, size_t task)
{
    return e->slowdown[cu] * e->of[e->kind[cu]].seconds[task];
}

static inline double estimate_launch(const struct estimate *e, int cu)
{
    return e->slowdown[cu] * e->launch[cu];
}
