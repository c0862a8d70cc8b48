/* okada_mogi/accepted.h – accepted trials: records in memory, and the file that they end up in.
 *
 * The file is a CSV table: trial number, parameters in the job's order, misfit, chi2, rms_m:
 *   index,Es_m,Ns_m,d_m,dV_m3,misfit,chi2,rms_m
 * Rows are in trial order, whoever found them and whenever. */
#ifndef OKADA_MOGI_ACCEPTED_H
#define OKADA_MOGI_ACCEPTED_H

#include "okada_mogi/job.h"
#include "src/status.h"
#include <stddef.h>

/* Plain bytes: may be sent to another node of the same kind as they are. */
struct accepted_record {
    trial_number trial;
    double misfit; /* as the job wants it measured, see enum job_misfit */
    double most;   /* max |r|, r = (predicted - observed) / sigma */
    double chi2;   /* sum r^2 */
    double rms;    /* of predicted - observed over all components, m */
};

/* A growing list. Zeroed = empty. */
struct accepted {
    struct accepted_record *record;
    size_t n, room;
};

/* EK_LACK: out of memory. */
enum ek_status accepted_add(struct accepted *a, const struct accepted_record *r);
void accepted_free(struct accepted *a);
/* Ascending by trial / by misfit (equal misfits by trial). */
void accepted_sort(struct accepted *a);
void accepted_sort_best(struct accepted *a);

/* A file under construction beside `path`. */
struct accepted_file;

/* Begins the file of a job's trials of `range`. EK_LACK: it cannot be written. */
enum ek_status accepted_file_open(const char *path, const struct job *job, struct trial_range range,
                                  struct accepted_file **f);
/* All accepted trials of `range`, ascending; ranges come in any order, each once, and together make
 * up the file's. What follows without a gap is written at once, the rest waits in memory. Takes the
 * records away from *a. Any thread. EK_LACK: no memory, or the disk is full. */
enum ek_status accepted_file_put(struct accepted_file *f, struct trial_range range,
                                 struct accepted *a);
/* Ends the file: in place as a whole, or (keep = false) not at all. Accepts NULL. */
enum ek_status accepted_file_close(struct accepted_file *f, bool keep);

#endif
