/* cu/moldable/width_selection.h – how wide CPU units should be for tasks that can use several cores
 * each: what the planner of moldable tasks (cu/moldable/moldable.h) makes of the tasks' seconds on
 * units of widths that were tried. */
#pragma once

#include "src/status.h"

enum { WIDTH_LEVELS = 128, WIDTHS_TRIED = 16 };

/* Seconds of a problem's tasks, ascending: of many tasks, levels that stand for as many each. */
struct width_tasks {
    int ntasks;                   /* 0: unknown */
    int nlevels;                  /* the smaller one of ntasks and WIDTH_LEVELS */
    double seconds[WIDTH_LEVELS]; /* [nlevels] */
};

struct width_selection {
    int n;                   /* widths that are known */
    int width[WIDTHS_TRIED]; /* [n] ascending */
    struct width_tasks tasks[WIDTHS_TRIED];
};

/* Levels of seconds [ntasks], which are sorted. Not all of them positive and finite: unknown. */
void width_levels(double *seconds, int ntasks, struct width_tasks *tasks);

/* What was seen on units of that width. Ignored: what is unknown, another number of tasks than
 * before, more widths than there is room for; of one width the faster measurement counts. */
void width_selection_add(struct width_selection *m, int width, const struct width_tasks *tasks);

/* *width = the width on which the planner lets most of the work run on `cores` cores, each task on
 * as many as it likes; 0 while fewer than two widths are known. Between widths the seconds go by a
 * power of the width, beyond them by the nearest two's, and never fall faster than the width grows.
 * EK_UNAVAILABLE: out of memory. */
enum ek_status width_selection_best(const struct width_selection *m, int cores, int *width);
