/* okada_mogi/refine.h – the next job of a nested search: a finer grid around what was accepted.
 *
 * Along each axis that varies it reaches one step further than the accepted trials do, but not
 * beyond the range of the job that everything began with, and its steps are a whole fraction of the
 * job's: every accepted trial stays on the grid. All else is kept. */
#pragma once

#include "okada_mogi/stats.h"
#include "src/json.h"

enum { REFINE_MOST = 1000 }; /* times finer in one go */

struct refine {
    int factor[JOB_AXES];
    double min[JOB_AXES], max[JOB_AXES]; /* where the grid may not go beyond */
};

/* For a job and those refined from it. `by`: "2", "3,dip_deg=4", "Ec_m=2,Nc_m=2": by how much the
 * step of each axis is divided, 2 where nothing is said; NULL: 2. EK_USAGE: no such parameter, a
 * factor that is not 1 to REFINE_MOST. */
enum ek_status refine_begin(const struct job *job, const char *by, struct refine *r);

/* The refined job's JSON. Its paths are relative to the same folder as the job's. New reference;
 * EK_UNAVAILABLE: out of memory. */
enum ek_status refine_job(const struct job *job, const struct stats *accepted,
                          const struct refine *r, json_t **refined);

/* Writes it as a job file of its own; the stations' path becomes absolute where that file lies in
 * another folder. EK_UNAVAILABLE: it cannot be written. */
enum ek_status refine_write(const struct job *job, const json_t *refined, const char *path);
