/* cu/sched/estimate_internal.h – what the parts of the estimates share. */
#pragma once

#include "cu/sched/estimate.h"

#include <math.h>

/* What is this many standard errors off is not by chance. */
#define ESTIMATE_SURE 3.0

/* A change of speed by this factor, beyond chance, is believed at once. */
#define ESTIMATE_SUDDEN 1.1

/* Of a normal distribution: standard deviation / median distance from the middle. */
#define ESTIMATE_PER_MEDIAN 1.4826

/* A declared launch of which ranges show less than this share beside their tasks is hidden. */
static inline bool estimate_hides(double beside, double declared)
{
    return beside < 0.1 * declared;
}

/* A measurement of this step, converted to a unit of factor 1. */
static inline double estimate_normal(const struct estimate *e, size_t t)
{
    return e->seconds[t] / e->factor[e->owner[t]];
}

static inline double estimate_on_line(const struct estimate *e, const struct estimate_kind *k,
                                      size_t t)
{
    return line_at(k->line, estimate_cost(e, t));
}

/* The estimates of tasks that have run on kind k: medians of their samples. */
void estimate_take_medians(const struct estimate *e, struct estimate_kind *k);

/* Fits the line of kind j to this step's times (raw) or to the estimates of tasks that have run. */
void estimate_fit(struct estimate *e, int j, bool raw, bool proportional);

/* Learns from tasks that have run on several kinds how far those of each deviate alike on the
 * others; times scatter by `scatter`. */
void estimate_compare(struct estimate *e, double scatter);

/* What a deviation by this factor on kind k makes probable on others. */
static inline double estimate_likewise(const struct estimate_kind *k, double factor)
{
    return k->alike < 1 && factor > 0 ? pow(factor, k->alike) : factor;
}

/* ---- estimate_again.c -------------------------------------------------------------------------*/
/* Memory for a kind's tasks, from the job's arena. */
void estimate_allocate(const struct estimate *e, struct estimate_kind *k);

/* In the first step, a unit with long tasks may have been taken for a slow one. In the second,
 * these tasks show on other units what they take. */
void estimate_judge_again(struct estimate *e);

/* Units of one kind on which the same tasks take times in other proportions become kinds of their
 * own. Before anything else is learnt from a step. */
void estimate_split(struct estimate *e);

/* ---- estimate_launch.c ------------------------------------------------------------------------*/
/* After a unit's first ranges: a declared launch that they do not show beside their tasks is hidden
 * in the tasks' times. */
void estimate_hide_launches(struct estimate *e);

/* Launches that are hidden in the times of devices' tasks, by ranges of unlike lengths; tasks'
 * times scatter by `doubt`. Lines that took launches for tasks' times are fitted again. */
void estimate_learn_inside(struct estimate *e, bool raw, double doubt);

/* Seconds to begin a range on each unit. After tasks and units have been judged. */
void estimate_learn_launches(struct estimate *e);
