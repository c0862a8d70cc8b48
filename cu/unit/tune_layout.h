/* cu/unit/tune_layout.h – the moves between layouts: with and without each device, wider and
 * narrower CPU units, fewer and more units (leaving cores idle, because busy ones may slow one
 * another), more and fewer threads feeding each device if these have their own cores, and the width
 * that the planner of moldable tasks proposes. */
#pragma once

#include "cu/unit/cu.h"
#include "cu/unit/tune.h"

enum { TUNE_DEVICES = 16 }; /* further devices are not considered */

/* The resources to choose from. */
struct tune_room {
    int cores;     /* for CPU units */
    int ndev;      /* devices, at most TUNE_DEVICES */
    bool keeps;    /* device threads get their own cores if these suffice: the first guess */
    bool rigid;    /* the width of CPU units is fixed */
    bool fine;     /* trials are cheap: also try a single unit more or less */
    int width;     /* of the first guess's CPU units */
    int preferred; /* width worth a trial (cu/moldable/width_selection.h), 0: none known; may
                 change during the search */
};

/* The layout of a point, and which devices it has: bit d of *devices is device d. */
struct cu_layout tune_layout_of(const struct tune_point *point, unsigned *devices);

/* The first guess: all devices, and as many units as there are cores for. */
struct tune_point tune_layout_first(const struct tune_room *room);

/* Moves for tune_search(), whose ctx begins with a struct tune_room. */
int tune_layout_moves(const struct tune_room *room);
bool tune_layout_move(const void *ctx, int m, const struct tune_point *from, struct tune_point *to);
