/* npb_mz/ranks.h – divides zones among several ranks.
 *
 * A policy divides them (cu/sched/assignment.h): first by declared work and the ranks' cores, then,
 * during the run, by measured times. After 4 steps, and then at intervals that double up to 64, the
 * ranks exchange medians of the seconds of their zones and steps, which give the speed of each rank
 * and the cost of each zone. Rank 0 then repartitions, and all follow, if the step gets shorter by
 * more than noise and the remaining steps save clearly more than the moves cost. */
#pragma once

#include "cu/team/team.h"
#include "npb_mz/tasks.h"
#include "src/json.h"

struct ranks;

/* Divides the zones by declared work. *mz and the policy's name are borrowed. EK_USAGE: bad policy;
 * EK_UNAVAILABLE: out of memory. All functions here are collective and take one thread. close
 * accepts NULL. */
enum ek_status ranks_open(const struct mz *mz, const struct cu_set *set, const char *schedule,
                          struct ranks **ranks);
void ranks_close(struct ranks *r);

/* [nzones] rank of each zone; its next rank, if ranks_consider() has set *move. */
const int *ranks_of(const struct ranks *r);
const int *ranks_next(const struct ranks *r);

/* A run begins: forgets measurements, keeps the partition. */
void ranks_begin(struct ranks *r);
/* Call it after each step of this rank's tasks; `left` steps are still to come. *move = the zones
 * must now move as ranks_next() says. */
enum ek_status ranks_consider(struct ranks *r, const struct tasks *tasks,
                              const struct team_step *step, int left, bool *move);
/* They have moved, in so many seconds. */
void ranks_moved(struct ranks *r, double seconds);

/* The partition and its imbalance: new reference; NULL: out of memory. */
json_t *ranks_json(struct ranks *r);

/* ---- migrate.c ---- */

/* Moves each zone with of[zone] != next[zone] [nzones] from one rank to the other: u, forcing
 * (unless all share one) and what the solver carries, on the host at both ends. Updates mz->mine
 * and returns the memory of zones that have left to the system. No other messages may be pending.
 * EK_UNAVAILABLE: out of memory. */
enum ek_status migrate_zones(struct mz *mz, const int *of, const int *next);
