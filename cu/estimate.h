/* cu/estimate.h – what is known about how long each task takes on each unit: measured where it has
 * run there, predicted where it has not.
 *
 * seconds(task, unit) = factor[unit] * seconds[kind of unit][task]. Units are of one kind if they
 * have kind, width and profile in common; the factor is what sets one of them apart (1 = as usual,
 * 2 = half as fast). Estimates are medians of the last three measurements (the lower one of two),
 * so that a single slow one changes nothing. A task that has not run on a kind is predicted by that
 * kind's line seconds = a + b*cost through what has (Tukey's resistant line), times how far the
 * task lies off the line of a kind on which it has run. */
#ifndef CU_ESTIMATE_H
#define CU_ESTIMATE_H

#include "cu/sched.h"
#include <stdbool.h>

enum { ESTIMATE_SAMPLES = 3 };

/* The tasks on one kind of units. */
struct estimate_kind {
    int units;
    const double *profile;              /* [n] or NULL */
    double rate;                        /* declared cost per second where factor is 1; 0 unknown */
    double *seconds;                    /* [n] the estimates */
    double (*sample)[ESTIMATE_SAMPLES]; /* [n] the last measurements, free of unit factors */
    unsigned char *count;               /* [n] how many of them there are */
    double a, b;                        /* the line */
    bool tried;                         /* there is a line */
};

struct estimate {
    size_t n;
    int ncu, nkinds, steps;            /* steps measured */
    bool known;                        /* speeds or profiles were given for all units */
    const double *cost;                /* [n] declared, or NULL */
    size_t *order;                     /* [n] tasks by descending cost */
    int *kind;                         /* [ncu] */
    double *factor;                    /* [ncu] */
    double (*ratio)[ESTIMATE_SAMPLES]; /* [ncu] busy time / expected one, of the last steps */
    struct estimate_kind *of;          /* [nkinds], room for ncu */
    double *seconds;                   /* [n] measured in this step; negative = not executed */
    int *owner;                        /* [n] unit that executed it */
    double error;                      /* median relative error of the last step's predictions */
    double *busy;                      /* [ncu] measured in the last step */
    double *judged, *expected;         /* [ncu] room for estimate_step() */
    double *x, *y, *room;              /* [n] likewise */
};

/* Starts with the job's profiles, speeds and costs; what they leave open counts as equal.
 * EK_LACK: out of memory. estimate_close() frees, also after a failure. One thread. */
enum ek_status estimate_open(struct estimate *e, const struct sched_job *job);
void estimate_close(struct estimate *e);

/* Unit cu took `sec` seconds for the range. On any thread, for different tasks concurrently. */
void estimate_done(struct estimate *e, int cu, struct ek_range r, double sec);

/* Between two steps: takes in what was measured. One thread. */
void estimate_step(struct estimate *e);

/* How far the last step was from a plan: the largest difference between a unit's busy time and its
 * planned one, as a share of the planned makespan. load [ncu] */
double estimate_surprise(const struct estimate *e, const double *load);

static inline double estimate_cost(const struct estimate *e, size_t task)
{
    return e->cost ? e->cost[task] : 1;
}

static inline double estimate_seconds(const struct estimate *e, int cu, size_t task)
{
    return e->factor[cu] * e->of[e->kind[cu]].seconds[task];
}

#endif
