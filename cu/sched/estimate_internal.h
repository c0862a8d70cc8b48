/* cu/sched/estimate_internal.h – what the parts of the estimates share. */
#pragma once

#include "cu/sched/estimate.h"

#include <math.h>

/* What is this many standard errors off is not by chance. */
#define ESTIMATE_SURE 3.0

/* A change of speed by this factor, beyond chance, is believed at once. */
#define ESTIMATE_SUDDEN 1.1

/* A unit that became slow twice within this many steps may do so again: it must be seen fast twice
 * before that is believed. */
enum { ESTIMATE_WARY = 3 };

/* Of a task: it was interrupted in this step; its latest time was not believed. */
enum { ESTIMATE_INTERRUPTED = 1, ESTIMATE_DOUBTED };

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

/* ---- estimate_unit.c --------------------------------------------------------------------------*/
/* Sums busy, measured and expected times of the units, without interruptions, and counts their
 * tasks: (sum of times)^2 / sum of squares, so that one dominant task counts as one. Writes to
 * e->usual what was expected of each task. */
void estimate_sum_units(struct estimate *e);

/* Scatter before any task has run twice: of the times of each unit's tasks around what the unit
 * takes on the average. After estimate_sum_units(). */
double estimate_first_scatter(struct estimate *e);

/* The units' factors, by those sums; tasks' times scatter by `scatter`. */
void estimate_judge_units(struct estimate *e, double scatter);

/* ---- estimate_fit.c ---------------------------------------------------------------------------*/
/* Lists in e->chosen, by descending cost, the tasks that have run on kind j, or those that did so
 * in this step (now). Returns how many. */
size_t estimate_list(const struct estimate *e, int j, bool now);

/* The estimates of m tasks on that list: medians of their samples. */
void estimate_take_medians(const struct estimate *e, struct estimate_kind *k, size_t m);

/* Fits the line of kind j to the estimates of m tasks on that list, or to their times in this step.
 */
void estimate_fit(struct estimate *e, int j, size_t m, bool now, bool proportional);

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
 * times scatter by `doubt`. Lines that took launches for tasks' times are fitted again. True: some
 * launches have changed. */
bool estimate_learn_inside(struct estimate *e, bool raw, double doubt);

/* Seconds to begin a range on each unit. After tasks and units have been judged. */
void estimate_learn_launches(struct estimate *e);
