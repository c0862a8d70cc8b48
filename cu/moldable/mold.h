/* cu/moldable/mold.h – how wide CPU units should be for tasks that can use several cores each: what
 * the planner of moldable tasks (cu/moldable/moldable.h) makes of the tasks' seconds on units of
 * widths that were tried. */
#ifndef CU_MOLD_H
#define CU_MOLD_H

#include "src/status.h"

enum { MOLD_LEVELS = 128, MOLD_WIDTHS = 16 };

/* Seconds of a problem's tasks, ascending: of many tasks, levels that stand for as many each. */
struct mold_tasks {
    int ntasks;                  /* 0: unknown */
    int nlevels;                 /* the smaller one of ntasks and MOLD_LEVELS */
    double seconds[MOLD_LEVELS]; /* [nlevels] */
};

struct mold {
    int n;                  /* widths that are known */
    int width[MOLD_WIDTHS]; /* [n] ascending */
    struct mold_tasks tasks[MOLD_WIDTHS];
};

/* Levels of seconds [ntasks], which are sorted. Not all of them positive and finite: unknown. */
void mold_levels(double *seconds, int ntasks, struct mold_tasks *tasks);

/* What was seen on units of that width. Ignored: what is unknown, another number of tasks than
 * before, more widths than there is room for; of one width the faster measurement counts. */
void mold_add(struct mold *m, int width, const struct mold_tasks *tasks);

/* *width = the width on which the planner lets most of the work run on `cores` cores, each task on
 * as many as it likes; 0 while fewer than two widths are known. Between widths the seconds go by a
 * power of the width, beyond them by the nearest two's, and never fall faster than the width grows.
 * EK_LACK: out of memory. */
enum ek_status mold_width(const struct mold *m, int cores, int *width);

#endif
