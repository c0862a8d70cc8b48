/* kirchhoff/source_positions.h – positions of the sources that tables are computed for. */
#pragma once

#include "kirchhoff/tfolder.h"

struct source_positions {
    size_t n;
    double (*at)[3];                /* [n] m, owned */
    struct tfolder_surface surface; /* the sources' grid, if they lie on one */
};

/* text: "NXxNY:STEP[@X,Y[,Z]]", a grid, x slowest, whose first source is at X, Y, Z (default: the
 * first node of `grid`); "FILE.csv" with columns x, y and optionally z; or NULL for `shots` sources
 * spread evenly over the top of `grid`. EK_USAGE: malformed; EK_UNAVAILABLE: memory. close is fine
 * after a failed open. */
enum ek_status source_positions_open(const char *text, int shots, const struct grid *grid,
                                     struct source_positions *p);
void source_positions_close(struct source_positions *p);
