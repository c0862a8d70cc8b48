/* okada_mogi/harvest.h – what a search brings in: batches of accepted trials from all units,
 * written to a file in order, counted, and checked in the end. */
#ifndef OKADA_MOGI_HARVEST_H
#define OKADA_MOGI_HARVEST_H

#include "okada_mogi/stats.h"
#include "src/json.h"
#include <stdbool.h>
#include <stdio.h>

struct harvest;

/* For the trials of `range` of a job (borrowed). path[format]: of a file of accepted trials; NULL:
 * none is written (both borrowed). EK_LACK: no memory. */
enum ek_status harvest_open(const struct job *job, struct trial_range range,
                            const char *const path[ACCEPTED_FORMATS], struct harvest **h);
void harvest_close(struct harvest *h);

/* Forgets what came so far. EK_LACK: a file could not be written here in the end. One thread. */
enum ek_status harvest_begin(struct harvest *h);

/* The accepted trials of a batch, ascending; takes them away from *a. Batches come in any order and
 * together make up the range, each once. Any thread. */
enum ek_status harvest_put(struct harvest *h, struct trial_range batch, struct accepted *a);

/* All batches are in: chooses the best where the job wants them, and writes the files. One
 * thread. EK_LACK: no memory, or a file cannot be written. */
enum ek_status harvest_end(struct harvest *h);

/* Judges trials anew, one by one: neighbours of accepted ones along every axis, random ones, ones
 * at symmetric places, and those on short descents from the best of all these; *right: each is in
 * the harvest exactly if it is acceptable. *checked: how many. One thread. */
enum ek_status harvest_check(struct harvest *h, bool *right, long *checked);

/* Hands all records so far to visit(arg), ascending, some at a time; harvest_held() is how many.
 * Any thread. EK_LACK: what was spooled cannot be read. */
enum ek_status harvest_each(struct harvest *h,
                            enum ek_status (*visit)(void *arg, const struct accepted_record *record,
                                                    size_t n),
                            void *arg);
size_t harvest_held(struct harvest *h);

/* Of the accepted trials, after harvest_end(); NULL where there are none. */
const struct stats *harvest_stats(const struct harvest *h);
/* Accepted trials. */
trial_number harvest_count(const struct harvest *h);
/* accepted, [k_sigma, accepted] for each k, the smallest k that accepts anything, the best trial
 * with its parameters, the statistics, for JSON; new reference, NULL: out of memory. */
json_t *harvest_json(const struct harvest *h);
/* What harvest_json() says, for people. */
void harvest_print(FILE *out, const json_t *facts);

#endif
