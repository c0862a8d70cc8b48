/* cu/bench/bench_profile.h – makes profiles of a program's task times, and gives them to policies.
 */
#pragma once

#include "cu/bench/bench.h"
#include "cu/sched/profile.h"

struct bench_profile {
    struct profile profile;
    struct sched_unit *unit; /* [set->n] with the seconds of the tasks on each unit */
    struct cu_set *set;
    char path[PROFILE_PATH]; /* "": nowhere */
};

/* Opens the profile of this program, problem and set of units. EK_UNAVAILABLE. Caller closes it,
 * also after a failure. One thread, like all functions here. */
enum ek_status bench_profile_open(const struct bench_program *program, const char *problem,
                                  struct cu_set *set, const struct sched_job *job,
                                  struct bench_profile *p);
void bench_profile_close(struct bench_profile *p);

/* Runs the problem's first steps with all tasks on each kind of unit in turn, and writes the
 * profile. EK_STOPPED: interrupted by stop_request(), nothing is written. */
enum ek_status bench_profile_make(struct bench_profile *p, const struct bench_program *program,
                                  void *st, const struct sched_job *job);

/* Gives the stored seconds to the job's policies; false if there are none. A file that cannot be
 * used is ignored with a warning. */
bool bench_profile_use(struct bench_profile *p, struct sched_job *job);
