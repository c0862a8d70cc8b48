/* kirchhoff/eikonal.h – first arrivals in any velocity, sharp interfaces included: |grad T| = 1 / v
 * by fast sweeping.
 *
 * Each cell has a mean slowness; where v jumps within a cell, slowness is less along the layers
 * than across, because a wave that grazes them sees only the fastest. T at one corner of a cell
 * follows from the other seven by differences centred in the cell, exact for plane waves and second
 * order where v is smooth. Where the wave does not come through the cell, T comes along one of its
 * faces or edges, by the fastest adjacent cell (head waves, diffractions). The least T is kept.
 * Around the source T is the closed form with v and its gradient there, as far as the cells agree
 * with it. Eight sweeps, one for each combination of directions in x, y and z, are repeated until
 * nothing changes.
 *
 * L is that of dynamic ray tracing without second derivatives of v: L = Q / sqrt(v_s v), Q the
 * integral of v^2 dT along the ray, exact where v is linear. Q / T is propagated along with T. */
#pragma once

#include "cu/unit/cu.h"
#include "kirchhoff/eikonal_line.h"
#include "kirchhoff/ttable.h"

/* The medium: read only, shared by all shots of a run. */
struct eikonal;

/* For tables on `grid`; low, high: corners of the box in which sources lie and waves may travel.
 * EK_USAGE: v is not positive; EK_UNAVAILABLE: memory; EK_STOPPED, without a message:
 * stop_heard(). The velocity is borrowed. The caller owns *e; close accepts NULL. */
enum ek_status eikonal_open(const struct velocity *v, const struct grid *grid, const double low[3],
                            const double high[3], struct eikonal **e);
void eikonal_close(struct eikonal *e);
OWNED_POINTER(struct eikonal, eikonal_close)

/* Fills every node of t with T, p and L, without caustics. Uses the unit's threads (`cu`, NULL: the
 * calling one); any number of them gives the same bits. EK_USAGE: the source lies outside the box;
 * EK_UNAVAILABLE: memory; EK_STOPPED, without a message: stop_heard(). */
enum ek_status eikonal_solve(const struct eikonal *e, const struct cu *cu, struct ttable *t);
