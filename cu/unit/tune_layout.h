/* cu/unit/tune_layout.h – the moves among layouts: with and without each device, wider and narrower
 * CPU units, fewer and more of them (the others' cores are parked, for they may slow one another),
 * more and fewer threads that feed a device where these have cores of their own,
 * and the width that the planner of moldable tasks proposes. */
#pragma once

#include "cu/unit/cu.h"
#include "cu/unit/tune.h"

enum { TUNE_DEVICES = 16 }; /* of more, the first ones */

/* What there is to choose from. */
struct tune_room {
    int cores;     /* for CPU units */
    int ndev;      /* devices, at most TUNE_DEVICES */
    bool keeps;    /* devices' threads have a core of their own where that fits: the first guess */
    bool rigid;    /* the width of CPU units is given */
    bool fine;     /* a trial costs little: single units more and less are tried, too */
    int width;     /* of the first guess */
    int preferred; /* width that is worth a trial (cu/moldable/width_selection.h), 0: none is known.
                 May change meanwhile */
};

/* The layout of a point, and which devices it has: bit d of *devices is device d. */
struct cu_layout tune_layout_of(const struct tune_point *point, unsigned *devices);

/* The first guess: as many units as there are cores for, and all devices. */
struct tune_point tune_layout_first(const struct tune_room *room);

/* Moves for tune_search(), whose ctx begins with a struct tune_room. */
int tune_layout_moves(const struct tune_room *room);
bool tune_layout_move(const void *ctx, int m, const struct tune_point *from, struct tune_point *to);
