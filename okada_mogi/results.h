/* okada_mogi/results.h – results of a search: accepted trials of all units; at the end they are
 * written to files in order, summarized and verified. */
#pragma once

#include "okada_mogi/stats.h"
#include "src/json.h"

struct results;

/* For the trials of `range` of a job. path[format]: file for the accepted trials; NULL: none. Job
 * and paths are borrowed. EK_UNAVAILABLE: no memory. */
enum ek_status results_open(const struct job *job, struct trial_range range,
                            const char *const path[ACCEPTED_FORMATS], struct results **h);
void results_close(struct results *h);

/* Discards all results so far. EK_UNAVAILABLE: one of the files cannot be written. One thread. */
enum ek_status results_begin(struct results *h);

/* Receives the accepted trials of all batches; together these are the range, without overlap. */
struct spool *results_spool(struct results *h);

/* Ends the search: selects the best trials if the job asks for them, and writes the files. One
 * thread. EK_UNAVAILABLE: no memory, or a file cannot be written. */
enum ek_status results_end(struct results *h);

/* Judges trials again, one by one: neighbours of accepted ones along every axis and diagonally,
 * random ones, ones at symmetric places, and those on short descents from the best of all these.
 * All trials instead, if they are few; and if nothing is accepted all those that certify.h cannot
 * exclude, if these are few. */
struct results_check {
    bool right;    /* each of them is in the results if and only if it is acceptable, the records of
                      a sample are what the judge and (of plain components) the model's textbook
                      formulas say, and none got lost */
    bool complete; /* all trials are judged or excluded */
    long trials;   /* number judged */
};
/* One thread. */
enum ek_status results_verify(struct results *h, struct results_check *check);

/* Statistics of the accepted trials, after results_end(); NULL: there are none. */
const struct stats *results_stats(const struct results *h);
/* JSON: trials, accepted, levels [{k_sigma accepted}], smallest_k that accepts anything, best
 * trial, statistics, posterior; new reference, NULL: out of memory. */
json_t *results_json(const struct results *h);
/* Prints the contents of results_json(). */
void results_print(FILE *out, const json_t *facts);
