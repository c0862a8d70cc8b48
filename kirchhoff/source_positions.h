/* kirchhoff/source_positions.h – where the sources of tables are. */
#pragma once

#include "kirchhoff/tfolder.h"

struct source_positions {
    size_t n;
    double (*at)[3];                /* [n] m, owned */
    struct tfolder_surface surface; /* their grid, if they lie on one */
};

/* "NXxNY:STEP[@X,Y[,Z]]": a grid, x slowest, at the depth Z (the first node of `grid` by default,
 * as X and Y); "FILE.csv": columns x, y and optionally z. NULL: `shots` sources spread evenly over
 * the top of `grid`. EK_USAGE: malformed; EK_UNAVAILABLE: memory. close is fine after a failed
 * open. */
enum ek_status source_positions_open(const char *text, int shots, const struct grid *grid,
                                     struct source_positions *p);
void source_positions_close(struct source_positions *p);
