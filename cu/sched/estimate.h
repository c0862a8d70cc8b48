/* cu/sched/estimate.h – estimates of how long each task takes on each unit: measured where it has
 * run, predicted elsewhere.
 *
 * seconds(task, unit) = slowdown[unit] * seconds[kind of unit][task]. Units of one kind have the
 * same kind, width and profile; a unit's slowdown is relative to its kind (1 = usual, 2 = half as
 * fast). Where nothing was known of the units and tasks that change from one to another of the same
 * kind prove that their times are not in proportion, each unit becomes a kind of its own
 * (estimate_again.c).
 *
 * A task's estimate is the median of its last three measurements, so that a single slow one changes
 * nothing. It is shrunk towards the kind's profile or line seconds = a + b*cost (cu/sched/line.h):
 * the more, the more a task's times scatter and the less tasks deviate from the line, so that noise
 * stays out where sizes explain the times. A task that has not run on a kind is predicted by that
 * kind's line, times its deviation from the line of a kind on which it has run. */
#pragma once

#include "cu/sched/fit.h"
#include "cu/sched/line.h"
#include "cu/sched/sched.h"
#include <stdbool.h>

/* Mechanisms that `make ablation` leaves out, one at a time (tests/bench/cu_ablation.h). */
#ifndef WITHOUT
#define WITHOUT(mechanism) false
#endif

/* A device of unknown speed counts as this many CPU units. */
enum { ESTIMATE_DEVICE = 12 };

enum { ESTIMATE_SAMPLES = 3, ESTIMATE_ROWS = 32 };

/* A unit with a larger factor counts as slow. */
#define ESTIMATE_SLOW 1.1

/* The operating system interrupts a unit for a time between these (seconds). */
#define ESTIMATE_BRIEF 5e-4
#define ESTIMATE_SLICE 2e-2

/* Only what took so many times longer than expected may have been interrupted. */
#define ESTIMATE_LATE 3.0

/* What took so much longer than expected may have been interrupted: that alone proves no change. */
static inline bool estimate_doubts(double seconds, double expected)
{
    const double more = seconds - expected;
    return seconds > 30 * expected ||
           (seconds > ESTIMATE_LATE * expected && more > ESTIMATE_BRIEF && more < ESTIMATE_SLICE);
}

/* The tasks on one kind of unit. Seconds are those of a unit of slowdown 1. */
struct estimate_kind {
    enum cu_kind kind;
    const double *profile; /* [n] or NULL */
    double rate;           /* declared cost per second at slowdown 1; 0 unknown */
    double inside;         /* launch seconds hidden in the times of its tasks: inside * part each */
    double *seconds;       /* [n] the estimates */
    struct estimate_sample {
        double sec;
        float part;                /* share of its range's time */
        int unit;                  /* that executed it */
    } (*sample)[ESTIMATE_SAMPLES]; /* [n] latest measurements */
    unsigned char *count;          /* [n] number of measurements */
    double *deviation;             /* [n] from the line: logarithm; NAN: not measured */
    struct estimate_row {
        int unit;
        double tasks, cost, sec;
    } row[ESTIMATE_ROWS]; /* the latest ranges, which tell `inside`; */
    size_t rows;          /* how many there have been; */
    unsigned longer;      /* and those of several tasks */
    size_t enough;        /* rows with which `inside` is fitted next */
    struct line line;
    bool tried;    /* the line has been fitted, */
    bool one_size; /* to tasks of one cost */
    double alike;  /* share of its tasks' deviations from the line that they have elsewhere, too; */
    double spread; /* of its tasks around the line: logarithm, standard deviation */
    double told;   /* and how far measurements tell that: 0 to 1 */
    double unlike, weight; /* evidence that its units are not alike, and sum of its weights */
};

enum { ESTIMATE_LAUNCHES = 8 };

/* Seconds that ranges took on top of their tasks, on one unit. */
struct estimate_ranges {
    _Alignas(64) double seconds; /* sum over this step */
    double last[ESTIMATE_LAUNCHES];
    unsigned count, before;       /* ranges so far; those before this step */
    double first, former, latest; /* measured / expected seconds of the first and the last two
                                     ranges of this step; 0: none */
    bool doubted;                 /* the latest range may have been interrupted */
    double began, clock; /* start of the latest range, and busy seconds so far in this step,
                            transfers excluded */
};

struct estimate {
    size_t n;
    int ncu, nkinds, steps;        /* steps analysed */
    bool changed;                  /* some unit's speed changed in the last step */
    bool disturbed;                /* some task was interrupted in it */
    bool known;                    /* all units have a declared speed or a profile */
    bool divided;                  /* units of one kind have proved to be unlike */
    const double *cost;            /* [n] declared, or NULL */
    const struct sched_unit *unit; /* [ncu] the job's */
    struct arena *arena;           /* likewise */
    size_t *order;                 /* [n] tasks by descending cost */
    int *kind;                     /* [ncu] */
    double *factor, *slowdown;     /* [ncu] measured; and slightly better for untried units */
    double *declared;              /* [ncu] the initial factor */
    double *doubt;  /* [ncu] how many times slower than that it may be in the next step */
    double *launch; /* [ncu] seconds to begin a range at slowdown 1, hidden ones included */
    bool *judged;   /* [ncu] the unit has worked, so its factor is measured */
    bool *sudden;   /* [ncu] its speed changed in this step */
    int *slowed;    /* [ncu] step in which it last became slow suddenly, */
    bool *again;    /* [ncu] and whether that was soon after the time before */
    struct estimate_ranges *ranges;    /* [ncu] */
    double (*ratio)[ESTIMATE_SAMPLES]; /* [ncu] measured / expected busy time in the last steps */
    struct estimate_kind *of;          /* [nkinds], room for ncu */
    double *seconds;                   /* [n] of this step; negative = not executed */
    double *usual;                     /* [n] scratch: expected seconds, if executed */
    int *owner;                        /* [n] unit that executed it in this step */
    int *before;                       /* [n] scratch: unit that executed it last before */
    unsigned char *interrupted;        /* [n] whether something else ran on the unit meanwhile */
    float *range;                      /* [n] its share of its range's time */
    size_t *length;                    /* [n] tasks from it to the end of its range */
    float *start;                      /* [n] when it began, in busy seconds of its unit */
    double noise[ESTIMATE_SAMPLES];    /* relative scatter of a task's times in the last steps */
    unsigned noises;                   /* number of valid entries */
    double *busy;                      /* [ncu] busy seconds in the last step */
    double *seen, *expected, *tasks, *guessed; /* [ncu] scratch of estimate_step() */
    double *x, *y, *scratch;                   /* [n] likewise */
    size_t *chosen;                            /* [n] likewise */
};

/* Starts from the job's profiles, speeds and costs; units count as equal as far as these do not
 * tell. Memory comes from the job's arena. EK_UNAVAILABLE: out of memory. One thread. */
enum ek_status estimate_open(struct estimate *e, const struct sched_job *job);

/* Unit cu took `sec` seconds for the range, each[i] of them for its tasks (NULL: not measured; the
 * remainder was its launch). On any thread, concurrently for different tasks. */
void estimate_done(struct estimate *e, int cu, struct ek_range r, double sec, const double *each);

/* Between two steps: updates the estimates by what was measured. One thread, as all below. */
void estimate_step(struct estimate *e);

/* By what factor the task is off the kind's line, if it has run there on its own; else NAN. */
double estimate_off_line(const struct estimate *e, const struct estimate_kind *k, size_t t);

/* Instead of estimate_step(): ignores the step. */
void estimate_pass(struct estimate *e);

/* Relative scatter of the times of one task; 0 until some task has run twice. */
double estimate_noise(const struct estimate *e);

static inline double estimate_cost(const struct estimate *e, size_t task)
{
    return e->cost ? e->cost[task] : 1;
}

static inline double estimate_seconds(const struct estimate *e, int cu, size_t task)
{
    return e->slowdown[cu] * e->of[e->kind[cu]].seconds[task];
}

/* Nobody knows yet whether launches are hidden in the times of a device's tasks: too few ranges
 * were longer than those before. */
static inline bool estimate_may_hide(const struct estimate *e, int cu)
{
    const struct estimate_kind *k = &e->of[e->kind[cu]];
    return !e->known && k->kind == CU_DEVICE && k->longer < 2 && !(e->launch[cu] > 0);
}

static inline double estimate_launch(const struct estimate *e, int cu)
{
    return e->slowdown[cu] * e->launch[cu];
}
