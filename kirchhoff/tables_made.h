/* kirchhoff/tables_made.h – a migration's own travel-time tables for velocities without closed
 * forms: strongest arrivals by wavefronts, first arrivals where those fail, as in kirchhoff-tt. */
#pragma once

#include "kirchhoff/traveltime_cache.h"

/* Computes tables for t's grid, surface and velocity, `threads` sources at a time, into t->made,
 * and their counts into t->folder; does nothing if there are tables or closed forms. The tables are
 * files in $TMPDIR (/tmp) that are unlinked at once, so nothing is left however the process ends.
 * EK_USAGE: the velocity; EK_UNAVAILABLE: no room; EK_STOPPED. */
enum ek_status tables_made(struct traveltime_cache *t, int threads);
