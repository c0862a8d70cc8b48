/* cu/sim/record_fit.h – derives single tasks' times from measured ranges: seconds of a task on a
 * unit working alone, the cost of each range besides its tasks, and the slowdown of both by busy
 * neighbours. */
#pragma once

#include "cu/sim/record_noise.h"

/* The fitted model of a kind of unit: a range takes (launch + sum of seconds[task]) * (1 +
 * slowed[CU_CPU] * busy CPU units + slowed[CU_DEVICE] * busy devices), times a noise factor. */
struct record_kind {
    double *seconds; /* [n] NAN: never computed there, and no line could be fitted */
    double launch;
    double slowed[2];
    struct record_noise noise; /* its factors may be NULL */
};

/* Fits *kind, with kind->seconds [n], to `count` samples by medians and least absolute deviations;
 * up to a third of bad samples do no harm. Tasks without a sample are put on the line of the others
 * over declared cost (cost NULL = equal). EK_UNAVAILABLE: memory. */
enum ek_status record_fit(size_t n, const double *cost, const struct record_sample *sample,
                          size_t count, struct record_kind *kind);
