/* okada_mogi/search_state.h – progress of a search: the ranges of trials that are done, whose
 * accepted trials are in the results. With --checkpoint it is saved every few seconds, and a later
 * search resumes from the file, so that nothing is computed or counted twice.
 *
 * A file that is damaged, of another version or of another job is refused with a message that says
 * so. Format, in the machine's byte order: head · ranges · records · checksum (src/checksum.h). */
#pragma once

#include "okada_mogi/ranges.h"
#include "okada_mogi/results.h"

struct search_state;

/* For the trials `range` of a job; `job_hash`: job_sum(). path: the checkpoint, NULL: none. Results
 * and path are borrowed. EK_UNAVAILABLE: out of memory. */
enum ek_status search_state_open(struct results *r, struct trial_range range, uint64_t job_hash,
                                 const char *path, struct search_state **c);
void search_state_close(struct search_state *c);

/* Begins a new search, or resumes one if the file exists. EK_USAGE: the file is another job's or
 * damaged; EK_UNAVAILABLE: it cannot be written. One thread. */
enum ek_status search_state_begin(struct search_state *c);

/* The trials that remain to be searched, into *gaps (zeroed). */
enum ek_status search_state_gaps(struct search_state *c, struct ranges *gaps);

/* Adds the accepted trials of a range; parts of it that were done before (by a unit that failed
 * later) are ignored. Saves the file from time to time (a failure is only a warning) and
 * updates the progress line. This and the following functions: any thread. */
enum ek_status search_state_put(struct search_state *c, struct trial_range range,
                                struct accepted *found);
/* Adds to the count of source x station evaluations. */
void search_state_evaluated(struct search_state *c, double evaluations);

/* Source x station evaluations; trials done in all, and those computed since resuming. */
struct search_state_counts {
    double evaluations;
    trial_number done, computed;
};
struct search_state_counts search_state_counts(struct search_state *c);

/* Saves the file now, if there is to be one. */
enum ek_status search_state_save(struct search_state *c);
/* The same where the run does not depend on it: a failure is only a warning. */
void search_state_try_to_save(struct search_state *c);
/* Removes the file: the search is complete and its results are written. */
void search_state_forget(struct search_state *c);

/* Writes a file, replacing an older one atomically (src/file.h). EK_UNAVAILABLE: it cannot be. */
enum ek_status search_state_write(const char *path, uint64_t job, const struct ranges *done,
                                  double evaluations, struct spool *records);
/* Reads a file into *done (zeroed) and `records`. *found = false: there is no such file. EK_USAGE:
 * it is not an intact checkpoint of this job; EK_UNAVAILABLE: it cannot be read. */
enum ek_status search_state_read(const char *path, uint64_t job, struct ranges *done,
                                 double *evaluations, struct spool *records, bool *found);
