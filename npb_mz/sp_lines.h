/* npb_mz/sp_lines.h – SP's scalar pentadiagonal solves on the host: kernels/sp.h with a grid line
 * per lane. SP_LINES vectors of lines are solved side by side, so that one computes while the other
 * waits for its divisions. With 8 lanes it is one: two would fill the first-level cache (11 vectors
 * per node) and the registers that hold the previous nodes. */
#pragma once

#include "npb_mz/mz.h"
#include "npb_mz/rhs.h"

enum { SP_LINES = LANES < 8 ? 2 : 1 };

/* Doubles of a node: of x lines w, 1/rho, v_x and the speed of sound; of the derived variables of z
 * lines 1/rho, velocity, internal energy per mass and the speed of sound. */
enum { SP_NODE_X = (MZ_VARS + 3) * LANES, SP_NODE_Z = 6 * LANES };

/* The parts of an axis' operators that do not depend on u, and scratch, for lines of n nodes. */
struct sp_along {
    const struct mz *mz;
    int d, n;
    double *rows, *scratch;
};

/* Doubles that sp_along_set() needs at `room`. */
long sp_along_size(int n);
void sp_along_set(struct sp_along *along, const struct mz *mz, int d, int n, double *room);

/* These solve `count` (at least 1, at most SP_LINES are done) vectors of lines whose solution is 0
 * at both ends, and transform it to the variables needed next. Pointers are to node 0 of the first
 * line. */

/* x lines: lines[n][SP_LINES] nodes, in place. */
void sp_lines_x(const struct sp_along *along, double *lines, int count);
/* y lines: records w of a plane, in place, rows w_row doubles apart; the plane in the window, FLOW
 * and NODE rows of `records` records; speeds of sound in rows speed_row doubles apart. */
void sp_lines_y(const struct sp_along *along, double *w, long w_row, const double *flow,
                const double *node, int records, const double *speed, long speed_row, int count);
/* z lines: records w; nodes `prim` of derived variables; adds the solution to u[m*field + k*plane +
 * i] for i < points. */
void sp_lines_z(const struct sp_along *along, const double *w, long w_plane, const double *prim,
                long prim_row, double *u, long field, long plane, int points, int count);
