/* npb_mz/migrate.h – zones that go to other ranks take their state along. */
#ifndef NPB_MZ_MIGRATE_H
#define NPB_MZ_MIGRATE_H

#include "npb_mz/mz.h"

/* Brings each zone with of[zone] != next[zone] [nzones] from one rank to the other: u, forcing
 * (unless all share one) and what the solver carries, on the host at both ends; mz->mine follows,
 * and the memory of zones that have gone returns to the system. No other messages may be under way.
 * Collective, one thread. EK_UNAVAILABLE: out of memory. */
enum ek_status migrate_zones(struct mz *mz, const int *of, const int *next);

#endif
