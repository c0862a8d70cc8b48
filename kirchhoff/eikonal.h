/* kirchhoff/eikonal.h – first arrivals in any velocity, sharp ones too: |grad T| = 1 / v by fast
 * sweeping.
 *
 * Slowness is a mean over each cell, and less along than across the layers that v jumps between
 * within it: a wave that grazes them sees the fastest alone. From the seven other corners of a cell
 * T at the eighth follows by differences centred in the cell, which are exact for plane waves and
 * second order where v is smooth; where the wave does not come through the cell, T comes along a
 * face or an edge of it, by the fastest cell beside (head waves, diffractions). The least of all
 * stays. Around the source T is the closed form with v and its gradient there, as far as the cells
 * agree with that. Eight sweeps, one for each way in which x, y, z can grow, until none changes
 * anything.
 *
 * L is that of dynamic ray tracing without second derivatives of v, L = Q / sqrt(v_s v), Q the
 * integral of v^2 dT along the ray: exact where v is linear. Q / T is carried along with T. */
#pragma once

#include "cu/unit/cu.h"
#include "kirchhoff/eikonal_line.h"
#include "kirchhoff/ttable.h"
#include "src/owned.h"

/* The medium, shared by all shots of a run; read only. */
struct eikonal;

/* For tables on `grid`; low, high: corners of the box in which sources lie and waves may travel.
 * EK_UNAVAILABLE: memory. The velocity is borrowed. The caller owns *e; close accepts NULL. */
enum ek_status eikonal_open(const struct velocity *v, const struct grid *grid, const double low[3],
                            const double high[3], struct eikonal **e);
void eikonal_close(struct eikonal *e);
OWNED_POINTER(struct eikonal, eikonal_close)

/* Every node of t: T, p, L, without caustics. On the unit's threads (`cu`, NULL: the calling one);
 * the same bits for any number of them. EK_USAGE: the source lies outside the box;
 * EK_UNAVAILABLE: memory. */
enum ek_status eikonal_solve(const struct eikonal *e, const struct cu *cu, struct ttable *t);
