/* cu/sim/record.h – turns measured runs into a case for the simulator: task times as if their unit
 * worked alone, slowdown by busy neighbours, launches, links, the exchange, the time between steps.
 * Runs that lost a unit or were interrupted are not used. */
#pragma once

#include "cu/unit/cu.h"
#include "cu/sched/sched.h"
#include "cu/team/team.h"
#include "src/json.h"

struct record; /* measurements of all runs so far */

/* Whether runs of this job can be recorded: all tasks in one process, and not too many. */
bool record_worth(const struct sched_job *job);

/* Opens a record of runs of `job` on `set`, both borrowed. EK_UNAVAILABLE: memory. Caller owns *r;
 * close accepts NULL. One thread, like everything here. */
enum ek_status record_open(const struct cu_set *set, const struct sched_job *job,
                           struct record **r);
void record_close(struct record *r);

/* Adds a finished run for which team_record() was on. A run is ignored if some step did not compute
 * all tasks of the job, because the job was redefined during it. EK_UNAVAILABLE: memory. */
enum ek_status record_team(struct record *r, const struct team *team);
/* The same from the events of each unit, unit [set->n]. */
enum ek_status record_add(struct record *r, int steps, const struct events *const *unit);

/* Adds what `from` (of the same job and set; NULL: nothing) has measured. EK_UNAVAILABLE:
 * memory. */
enum ek_status record_merge(struct record *r, const struct record *from);

/* The case (cu/sim/plan_case.h) with this many steps; policies begin cold unless the job has known
 * seconds. New reference; null if nothing is known about some unit, or out of memory. */
json_t *record_case(struct record *r, const char *name, int steps);
