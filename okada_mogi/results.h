/* okada_mogi/results.h – what a search brings in: accepted trials from all units, in the end
 * written to files in order, summed up and checked. */
#pragma once

#include "okada_mogi/stats.h"
#include "src/json.h"
#include <stdbool.h>
#include <stdio.h>

struct results;

/* For the trials of `range` of a job (borrowed). path[format]: of a file of accepted trials; NULL:
 * none is written (both borrowed). EK_UNAVAILABLE: no memory. */
enum ek_status results_open(const struct job *job, struct trial_range range,
                            const char *const path[ACCEPTED_FORMATS], struct results **h);
void results_close(struct results *h);

/* Forgets what came so far. EK_UNAVAILABLE: a file could not be written here in the end. One
 * thread. */
enum ek_status results_begin(struct results *h);

/* For the accepted trials of all batches, which together make up the range, each once. */
struct spool *results_spool(struct results *h);

/* All batches are in: chooses the best where the job wants them, and writes the files. One
 * thread. EK_UNAVAILABLE: no memory, or a file cannot be written. */
enum ek_status results_end(struct results *h);

/* Judges trials anew, one by one: neighbours of accepted ones along every axis, random ones, ones
 * at symmetric places, and those on short descents from the best of all these; *right: each is in
 * the results exactly if it is acceptable. *checked: how many. One thread. */
enum ek_status results_verify(struct results *h, bool *right, long *checked);

/* Of the accepted trials, after results_end(); NULL where there are none. */
const struct stats *results_stats(const struct results *h);
/* accepted, [k_sigma, accepted] for each k, the smallest k that accepts anything, the best trial
 * with its parameters, the statistics, the posterior, for JSON; new reference, NULL: out of
 * memory. */
json_t *results_json(const struct results *h);
/* What results_json() says, for people. */
void results_print(FILE *out, const json_t *facts);
