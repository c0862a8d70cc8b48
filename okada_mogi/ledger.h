/* okada_mogi/ledger.h – what of a search is done: ranges of trials, whose accepted ones go into the
 * harvest. Together they are the checkpoint, which is saved every few seconds where one is wanted,
 * and with which a search goes on: nothing is computed or counted twice. */
#ifndef OKADA_MOGI_LEDGER_H
#define OKADA_MOGI_LEDGER_H

#include "okada_mogi/harvest.h"
#include "okada_mogi/ranges.h"
#include <stdint.h>

struct ledger;

/* Of the trials `range` of a job; `job_hash` stands for all that decides about them. path: of the
 * checkpoint, NULL: none. Harvest and path are borrowed. EK_LACK: out of memory. */
enum ek_status ledger_open(struct harvest *h, struct trial_range range, uint64_t job_hash,
                           const char *path, struct ledger **l);
void ledger_close(struct ledger *l);

/* A new search begins, or goes on from the checkpoint if it is there. EK_USAGE: the file is another
 * job's or damaged; EK_LACK: it cannot be written. One thread. */
enum ek_status ledger_begin(struct ledger *l);

/* What remains to be done, into *gaps (zeroed). */
enum ek_status ledger_gaps(struct ledger *l, struct ranges *gaps);

/* The accepted trials of a range that was not done before; takes them away from *found. Now and
 * then saves the checkpoint and moves the progress line. Any thread. */
enum ek_status ledger_put(struct ledger *l, struct trial_range range, struct accepted *found);
/* So many more source x station evaluations. Any thread. */
void ledger_evaluated(struct ledger *l, double evaluations);
double ledger_evaluations(struct ledger *l);
/* Trials done in all. */
trial_number ledger_done(struct ledger *l);
/* Trials done since ledger_begin(), without those of the checkpoint. */
trial_number ledger_computed(struct ledger *l);

/* Saves the checkpoint now, if one is wanted. */
enum ek_status ledger_save(struct ledger *l);
/* The search is complete and its results are written: the checkpoint goes. */
void ledger_forget(struct ledger *l);

#endif
