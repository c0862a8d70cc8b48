/* npb_mz/copies.h – the state of all zones in memory that outlives the ranks (cu/rank/survive.h).
 *
 * The ranks of a node share its copies, and where there are several nodes, each rank's zones lie on
 * another node, too: they travel while the step goes on. Every zone has two places that take turns:
 * one holds the state that all ranks have finished, the other one is written. A copy counts when
 * its sum, bound to its zone and step, is right. */
#pragma once

#include "npb_mz/mz.h"

struct copies;

/* Bytes that they take, on all nodes together. */
size_t copies_bytes(const struct mz_ops *ops, const struct mz_class *class);

/* Takes the memory. *mz is borrowed; rank_of[nzones] says whose each zone is. EK_UNAVAILABLE.
 * Collective, like all but copies_zone(); close accepts NULL. */
enum ek_status copies_open(const struct mz *mz, const int *rank_of, struct copies **c);
void copies_close(struct copies *c);

/* The zones are divided anew. */
enum ek_status copies_partition(struct copies *c, const int *rank_of);

/* Copies a zone of this rank, which is on the host, as it is after `step`, and sends it to the
 * other node. Any thread. */
void copies_zone(struct copies *c, int zone, int step);
/* Has it been? */
bool copies_has(const struct copies *c, int zone, int step);

/* All zones have been copied after `step`, wherever: that is what copies_load() finds from now
 * on. */
void copies_commit(struct copies *c, int step);

/* The last step that all zones have been copied after, 0: none. */
int copies_find(struct copies *c);
/* The zones of this rank become what they were after the `step` > 0 that was found. EK_UNAVAILABLE:
 * out of memory; a message came damaged. */
enum ek_status copies_load(struct copies *c, struct mz *mz, int step);
