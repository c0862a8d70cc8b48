/* cu/moldable/width_selection.h – how many cores a CPU unit should have for a program's tasks: the
 * planner of moldable tasks (cu/moldable/moldable.h) decides from the tasks' seconds on units of
 * the widths that were tried. */
#pragma once

#include "src/base.h"

enum { WIDTH_LEVELS = 128, WIDTHS_TRIED = 16 };

/* Seconds of a problem's tasks, ascending; if there are many, quantiles that represent equally many
 * tasks each. */
struct width_tasks {
    int ntasks;                   /* 0: unknown */
    int nlevels;                  /* min(ntasks, WIDTH_LEVELS) */
    double seconds[WIDTH_LEVELS]; /* [nlevels] */
};

struct width_selection {
    int n;                   /* widths that are known */
    int width[WIDTHS_TRIED]; /* [n] ascending */
    struct width_tasks tasks[WIDTHS_TRIED];
};

/* Makes *tasks from seconds [ntasks], which it sorts. Unknown unless all are positive and finite.
 */
void width_levels(double *seconds, int ntasks, struct width_tasks *tasks);

/* Adds the tasks' seconds on units of that width; of two measurements of a width the faster counts.
 * Ignored if unknown, if the number of tasks differs, or if there are too many widths. */
void width_selection_add(struct width_selection *m, int width, const struct width_tasks *tasks);

/* *width = the width that does most of the work when `cores` cores are planned and each task may
 * have any width; 0 while fewer than two widths are known. Seconds between two widths follow a
 * power law, beyond them that of the nearest two, and never fall faster than the width grows.
 * EK_UNAVAILABLE: out of memory. */
enum ek_status width_selection_best(const struct width_selection *m, int cores, int *width);
