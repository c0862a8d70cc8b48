/* okada_mogi/search_state.h – what of a search is done: ranges of trials, whose accepted ones are
 * in the results. Where a file is wanted it is saved every few seconds, and the search goes on with
 * it: nothing is computed or counted twice.
 *
 * The file is whole, of this version and of this job, or the reader is told what it is instead.
 * Plain bytes of this kind of machine: head · ranges · records · their sum (src/checksum.h). */
#pragma once

#include "okada_mogi/ranges.h"
#include "okada_mogi/results.h"
#include <stdint.h>

struct search_state;

/* Of the trials `range` of a job; `job_hash` stands for all that decides about them, see job_sum().
 * path: of the file, NULL: none. Results and path are borrowed. EK_UNAVAILABLE: out of memory. */
enum ek_status search_state_open(struct results *r, struct trial_range range, uint64_t job_hash,
                                 const char *path, struct search_state **c);
void search_state_close(struct search_state *c);

/* A new search begins, or goes on from the file if it is there. EK_USAGE: that is another job's or
 * damaged; EK_UNAVAILABLE: it cannot be written. One thread. */
enum ek_status search_state_begin(struct search_state *c);

/* What remains to be done, into *gaps (zeroed). */
enum ek_status search_state_gaps(struct search_state *c, struct ranges *gaps);

/* The accepted trials of a range, which may have been done in part (by a unit that failed later):
 * what is new of them. Now and then saves the file and moves the progress line. Any thread, as what
 * follows. */
enum ek_status search_state_put(struct search_state *c, struct trial_range range,
                                struct accepted *found);
/* So many more source x station evaluations. */
void search_state_evaluated(struct search_state *c, double evaluations);

/* Source x station evaluations; trials done in all, and without those of the file. */
struct search_state_counts {
    double evaluations;
    trial_number done, computed;
};
struct search_state_counts search_state_counts(struct search_state *c);

/* Saves the file now, if one is wanted. */
enum ek_status search_state_save(struct search_state *c);
/* The search is complete and its results are written: the file goes. */
void search_state_forget(struct search_state *c);

/* The file itself. Written as src/file.h says. EK_UNAVAILABLE: it cannot be. */
enum ek_status search_state_write(const char *path, uint64_t job, const struct ranges *done,
                                  double evaluations, struct spool *records);
/* What was saved goes into *done (zeroed) and among the records. *found = false: there is no such
 * file. EK_USAGE: it is no intact checkpoint of this job; EK_UNAVAILABLE: it cannot be read. */
enum ek_status search_state_read(const char *path, uint64_t job, struct ranges *done,
                                 double *evaluations, struct spool *records, bool *found);
