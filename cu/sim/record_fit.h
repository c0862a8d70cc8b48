/* cu/sim/record_fit.h – from measured ranges of tasks to the times of single ones: what a task
 * takes when its unit works alone, what each range costs beside its tasks, and how much busy
 * neighbours slow both. */
#pragma once

#include "cu/sched/sched.h"
#include "src/status.h"

/* A range of tasks that a unit computed. */
struct record_sample {
    struct ek_range tasks;
    double seconds;
    double busy[2]; /* how many neighbours of each kind were busy meanwhile, on the mean */
};

enum { RECORD_NOISE = 64 };

/* A kind of units, as found: a range takes (launch + sum of seconds[task]) * (1 + slowed[CU_CPU] *
 * busy CPU units + slowed[CU_DEVICE] * busy devices), times one of the equally likely factors. */
struct record_kind {
    double *seconds; /* [n] NAN: never computed there, and no line could be drawn */
    double launch;
    double slowed[2];
    double noise[RECORD_NOISE]; /* ascending; its mean times what is fitted is what was measured */
};

/* Fits kind->seconds [n] and the numbers to `count` samples by medians and least absolute
 * deviations: up to a third of bad samples do no harm. Tasks without a sample lie on the line of
 * the others over their declared cost (cost NULL = equal). EK_UNAVAILABLE: memory. */
enum ek_status record_fit(size_t n, const double *cost, const struct record_sample *sample,
                          size_t count, struct record_kind *kind);
