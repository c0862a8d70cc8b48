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

enum { RECORD_LISTS = 64, RECORD_EACH = 8 };

/* Equally likely factors. The mean of all, times the expected seconds of a run, is what the median
 * run took. */
struct record_noise {
    double list[RECORD_LISTS][RECORD_EACH]; /* of one step each, from the calmest to the most
                                             * disturbed; ascending */
    double hold; /* steps for which a unit is about equally disturbed, at least 1 */
};

/* Finds *noise from measurements of a kind of unit and expected [count], what the fit gives for
 * them.
 *
 * What lasts for a run is no noise: what all times of a unit have in common, and those of one task
 * on it. The variance of the latter's logarithm is the covariance of pairs of measurements (method
 * of moments; Searle, Casella & McCulloch, Variance Components, 1992, chapter 5). The rest is for
 * drawing in stages: steps, and measurements within them (Davison & Hinkley, Bootstrap Methods,
 * 1997, section 3.8), of the third of the runs in the middle by their disturbance, as a simulator
 * is to foretell the median of several runs. EK_UNAVAILABLE: memory. */
enum ek_status record_noise(const struct record_sample *sample, const double *expected,
                            size_t count, struct record_noise *noise);
