/* kirchhoff/tables_made.h – a migration's own travel-time tables, for velocities without a formula:
 * strongest arrivals by fronts, and first ones where these fail, as kirchhoff-tt computes them. */
#pragma once

#include "kirchhoff/traveltime_cache.h"

/* Fills t->made, and t->folder with what is known of the tables, for t's grid, surface and
 * velocity, `threads` sources at a time; nothing where there are tables or a formula. They lie in
 * $TMPDIR (/tmp), in files whose names are gone at once: however the process ends, nothing of them
 * stays. EK_USAGE: the velocity; EK_UNAVAILABLE: no room; EK_STOPPED. */
enum ek_status tables_made(struct traveltime_cache *t, int threads);
