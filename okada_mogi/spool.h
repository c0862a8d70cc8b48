/* okada_mogi/spool.h – collects the accepted trials of batches in any order, and then reads them in
 * the order of trials, any number of times. Beyond a certain number they go to an unnamed file in
 * the folder TMPDIR (/tmp), so that large sets need little memory. */
#pragma once

#include "okada_mogi/accepted.h"

enum { SPOOL_MEMORY = 1 << 20 }; /* records in memory, about 50 MB */

struct spool;

/* `memory`: records to keep in memory, SPOOL_MEMORY except in tests. EK_UNAVAILABLE: out of memory.
 * close accepts NULL. All functions: one thread at a time. */
enum ek_status spool_open(size_t memory, struct spool **s);
void spool_close(struct spool *s);

/* Forgets everything. */
void spool_clear(struct spool *s);

/* Takes the accepted trials of a batch, ascending, from *a. Batches come in any order and do not
 * overlap. EK_UNAVAILABLE: no memory, or the disk is full. */
enum ek_status spool_put(struct spool *s, struct trial_range batch, struct accepted *a);

/* Records so far. */
size_t spool_count(const struct spool *s);

/* Passes all records to visit(arg), ascending, some at a time; stops if that fails. EK_UNAVAILABLE:
 * the file cannot be read. */
enum ek_status spool_each(struct spool *s,
                          enum ek_status (*visit)(void *arg, const struct accepted_record *record,
                                                  size_t n),
                          void *arg);

/* *held: whether the trial is among the records. EK_UNAVAILABLE: the file cannot be read. */
enum ek_status spool_find(struct spool *s, trial_number trial, bool *held);
