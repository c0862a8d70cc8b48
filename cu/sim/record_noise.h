/* cu/sim/record_noise.h – what a fit leaves of measured times, such that a simulator can draw it as
 * it came: some runs are calmer than others, and in each run some steps, which follow one another.
 * Drawn anew for each task it would break patterns that real runs repeat from step to step. */
#pragma once

#include "cu/sched/sched.h"
#include "src/base.h"

/* A measured range of tasks. */
struct record_sample {
    struct ek_range tasks;
    double seconds;
    double busy[2];      /* mean number of busy neighbours of each kind */
    int run, unit, step; /* when and where it was measured */
};

enum { RECORD_STEPS = 64, RECORD_FACTORS = 4096 };

/* Steps of a job of n tasks: RECORD_STEPS, or fewer, so that they have about RECORD_FACTORS
 * factors. */
static inline int record_steps(size_t n)
{
    const size_t steps = RECORD_FACTORS / (n + 1);
    return steps < 1 ? 1 : steps < RECORD_STEPS ? (int)steps : RECORD_STEPS;
}

/* Factors by which times differ from the expected ones, in equally likely steps. */
struct record_noise {
    double *factor; /* [record_steps(n)][n] of each task in each step, from the calmest step to the
                     * most disturbed one; or NULL: not wanted */
    double hold;    /* steps for which a unit is about equally disturbed, at least 1 */
};

/* Finds *noise of n tasks from measurements of a kind of unit and expected [count], what the fit
 * gives for them. A task that did not run in a step was as much more disturbed than the
 * others as in the most similar step in which it did. Their mean is that of measured / expected
 * seconds, as disturbances add up over a run.
 *
 * What lasts for a run is no noise: what all times of a unit have in common, and those of one task
 * on it. The variance of the latter's logarithm is the covariance of pairs of measurements (method
 * of moments; Searle, Casella & McCulloch, Variance Components, 1992, chapter 5). The rest is for
 * drawing whole steps, as a bootstrap of clusters does (Davison & Hinkley, Bootstrap Methods, 1997,
 * section 3.8), from the third of the runs in the middle by their disturbance: a simulator is to
 * foretell the median of several runs. EK_UNAVAILABLE: memory. */
enum ek_status record_noise(size_t n, const struct record_sample *sample, const double *expected,
                            size_t count, struct record_noise *noise);
