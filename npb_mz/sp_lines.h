/* npb_mz/sp_lines.h – SP's scalar pentadiagonal solves on the host: kernels/sp.h with a grid line
 * per lane, and SP_LINES vectors of lines side by side, so that one computes while the other waits
 * for its divisions. Two wide vectors would take all of the first-level cache (11 vectors a node),
 * and the registers in which the nodes before are kept. */
#pragma once

#include "npb_mz/mz.h"
#include "npb_mz/rhs.h"

enum { SP_LINES = LANES < 8 ? 2 : 1 };

/* Doubles of a node of x lines: w, then 1/rho, v_x and the speed of sound; of the derived variables
 * of z lines: 1/rho, velocity, internal energy per mass, speed of sound. */
enum { SP_NODE_X = (MZ_VARS + 3) * LANES, SP_NODE_Z = 6 * LANES };

/* An axis' operators but for what depends on the nodes, and scratch; for lines of n nodes. */
struct sp_along {
    const struct mz *mz;
    int d, n;
    double *rows, *scratch;
};

/* Doubles that sp_along_set() takes. */
long sp_along_size(int n);
void sp_along_set(struct sp_along *along, const struct mz *mz, int d, int n, double *room);

/* Solve `count` (1 .. SP_LINES) vectors of lines, 0 at both ends, and take the solution to the
 * variables that come after the axis. Where node 0 of the first line is: */

/* lines[n][SP_LINES] nodes, in place. */
void sp_lines_x(const struct sp_along *along, double *lines, int count);
/* Records w of a plane, in place, rows w_row doubles apart; the plane's rows of `records` records
 * in the window: flows and nodes; the speed of sound. */
void sp_lines_y(const struct sp_along *along, double *w, long w_row, const double *flow,
                const double *node, int records, const double *speed, long speed_row, int count);
/* Records w; nodes `prim`; the solution is added to u[m*field + k*plane + i] for i < points. */
void sp_lines_z(const struct sp_along *along, const double *w, long w_plane, const double *prim,
                long prim_row, double *u, long field, long plane, int points, int count);
