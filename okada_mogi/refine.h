/* okada_mogi/refine.h – the next job of a nested search: a finer grid around what was accepted.
 *
 * Along each axis that varies it extends one step beyond the accepted trials, but not beyond the
 * range of the original job, and the job's step is a whole multiple of the new one: every accepted
 * trial stays on the grid. Everything else is kept. */
#pragma once

#include "okada_mogi/stats.h"
#include "src/json.h"

enum { REFINE_MOST = 1000 }; /* largest factor of one round */

struct refine {
    int factor[JOB_AXES];
    double min[JOB_AXES], max[JOB_AXES]; /* the original job's ranges */
};

/* For a job and all jobs refined from it. `by`: "2", "3,dip_deg=4", "Ec_m=2,Nc_m=2": divisors of
 * the step of each axis; 2 for axes not mentioned, or if `by` is NULL. EK_USAGE: no such parameter,
 * or a factor that is not 1 to REFINE_MOST. */
enum ek_status refine_begin(const struct job *job, const char *by, struct refine *r);

/* The refined job as JSON; paths in it are relative to the same folder as the job's. New reference;
 * EK_UNAVAILABLE: out of memory. */
enum ek_status refine_job(const struct job *job, const struct stats *accepted,
                          const struct refine *r, json_t **refined);

/* Writes it as a job file; if that is in another folder than the job, stations' paths become
 * absolute. EK_UNAVAILABLE: it cannot be written. */
enum ek_status refine_write(const struct job *job, const json_t *refined, const char *path);
