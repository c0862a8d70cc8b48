/* cu/sim/record.h – what runs measured, as a case for the simulator: tasks as if their unit worked
 * alone, how much busy neighbours slow it, launches, links, the exchange, the time between steps.
 *
 * Runs that lost a unit or were interrupted are left out. */
#pragma once

#include "cu/unit/cu.h"
#include "cu/sched/sched.h"
#include "cu/team/team.h"
#include "src/json.h"

struct record; /* measurements of all runs so far */

/* Whether runs of this job can be a record: all of it in one process, and not too many tasks. */
bool record_worth(const struct sched_job *job);

/* Of runs of `job` on `set`, both borrowed. EK_UNAVAILABLE: memory. Caller owns *r; close accepts
 * NULL. One thread, like all of it. */
enum ek_status record_open(const struct cu_set *set, const struct sched_job *job,
                           struct record **r);
void record_close(struct record *r);

/* Takes in a finished run that team_record() was on for; one whose steps were not all of them all
 * tasks of the job, for it was described anew on the way, is left out. EK_UNAVAILABLE: memory. */
enum ek_status record_team(struct record *r, const struct team *team);
/* The same from the events of each unit, unit [set->n]. */
enum ek_status record_add(struct record *r, int steps, const struct events *const *unit);

/* Adds what `from` (of the same job and set; NULL: nothing) has measured. EK_UNAVAILABLE:
 * memory. */
enum ek_status record_merge(struct record *r, const struct record *from);

/* The case (cu/sim/plan_case.h) of so many steps, whose policies begin cold unless the job has
 * known seconds. New reference; null where some unit was never used and nothing is known of it, or
 * memory is out. */
json_t *record_case(struct record *r, const char *name, int steps);
