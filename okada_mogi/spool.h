/* okada_mogi/spool.h – the accepted trials of many batches, kept until all have come and then read
 * in the order of trials, as often as wanted. Some stay in memory; what comes beyond them goes to a
 * file without a name in the folder TMPDIR (/tmp), so that large sets need little memory. */
#pragma once

#include "okada_mogi/accepted.h"

enum { SPOOL_MEMORY = 1 << 20 }; /* records in memory, about 50 MB */

struct spool;

/* `memory`: records to keep in memory, SPOOL_MEMORY unless a test wants less. EK_UNAVAILABLE: out
 * of memory. close accepts NULL. One thread at a time, here and in what follows. */
enum ek_status spool_open(size_t memory, struct spool **s);
void spool_close(struct spool *s);

/* Forgets everything. */
void spool_clear(struct spool *s);

/* The accepted trials of a batch, ascending; takes them away from *a. Batches come in any order and
 * have nothing in common. EK_UNAVAILABLE: no memory, or the disk is full. */
enum ek_status spool_put(struct spool *s, struct trial_range batch, struct accepted *a);

/* Records so far. */
size_t spool_count(const struct spool *s);

/* Hands all records to visit(arg), ascending, some at a time; stops where it fails. EK_UNAVAILABLE:
 * the file cannot be read. */
enum ek_status spool_each(struct spool *s,
                          enum ek_status (*visit)(void *arg, const struct accepted_record *record,
                                                  size_t n),
                          void *arg);

/* *held: the trial is among the records. EK_UNAVAILABLE: the file cannot be read. */
enum ek_status spool_find(struct spool *s, trial_number trial, bool *held);
