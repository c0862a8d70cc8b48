/* cu/bench/bench_profile.h – programs make profiles and take what they know from them. */
#pragma once

#include "cu/bench/bench.h"
#include "cu/sched/profile.h"

struct bench_profile {
    struct profile profile;
    struct sched_unit *unit; /* [set->n] seconds of the tasks on each unit, for the job */
    struct cu_set *set;
    char path[PROFILE_PATH];
};

/* For this program's problem and units. EK_UNAVAILABLE. Caller closes, also after a failure. One
 * thread, like all of it. */
enum ek_status bench_profile_open(const struct bench_program *program, const char *problem,
                                  struct cu_set *set, const struct sched_job *job,
                                  struct bench_profile *p);
void bench_profile_close(struct bench_profile *p);

/* Runs the problem's first steps once with all tasks on each kind of unit and writes the profile.
 * EK_STOPPED: stop_request() came in between, nothing was written. */
enum ek_status bench_profile_make(struct bench_profile *p, const struct bench_program *program,
                                  void *st, const struct sched_job *job);

/* Gives the stored seconds to the job's policies; false when there are none. A file that is refused
 * is ignored with one line on stderr. */
bool bench_profile_use(struct bench_profile *p, struct sched_job *job);
