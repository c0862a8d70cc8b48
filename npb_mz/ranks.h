/* npb_mz/ranks.h – which zones are whose, where there are several ranks.
 *
 * A policy divides them (cu/sched/assignment.h): at first by declared work and the ranks' cores,
 * then, while the run goes on, by what was measured. Ranks talk after 4 steps and then ever more
 * rarely, up to every 64: the seconds that each zone took and the rank's steps, medians both, say
 * how fast each rank is and what each zone costs; rank 0 divides anew and all do as it says, if the
 * step gets shorter by more than what noise could feign and the time that is left is worth the
 * moves. */
#pragma once

#include "cu/team/team.h"
#include "npb_mz/tasks.h"
#include "src/json.h"

struct ranks;

/* Divides the zones by declared work. *mz and the policy's name are borrowed. EK_USAGE: bad policy;
 * EK_UNAVAILABLE: out of memory. Collective, like everything here; one thread. close accepts
 * NULL. */
enum ek_status ranks_open(const struct mz *mz, const struct cu_set *set, const char *schedule,
                          struct ranks **ranks);
void ranks_close(struct ranks *r);

/* [nzones] rank of each zone; what it will be after ranks_consider() said so. */
const int *ranks_of(const struct ranks *r);
const int *ranks_next(const struct ranks *r);

/* A run begins: measurements are forgotten, the partition stays. */
void ranks_begin(struct ranks *r);
/* After each step: it was so for the zones zone[] of this rank's tasks, `left` are still to come.
 * *move = the zones are to be divided as ranks_next() says. */
enum ek_status ranks_consider(struct ranks *r, const struct tasks *tasks,
                              const struct team_step *step, int left, bool *move);
/* That is done, in so many seconds. */
void ranks_moved(struct ranks *r, double seconds);

/* The partition and how even it was: new reference, on rank 0; NULL: out of memory. */
json_t *ranks_json(struct ranks *r);

/* ---- migrate.c: zones that go to other ranks take their state along ---- */

/* Brings each zone with of[zone] != next[zone] [nzones] from one rank to the other: u, forcing
 * (unless all share one) and what the solver carries, on the host at both ends; mz->mine follows,
 * and the memory of zones that have gone returns to the system. No other messages may be under way.
 * Collective, one thread. EK_UNAVAILABLE: out of memory. */
enum ek_status migrate_zones(struct mz *mz, const int *of, const int *next);
