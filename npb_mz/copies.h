/* npb_mz/copies.h – copies of all zones in memory that outlives the ranks (cu/rank/survive.h).
 *
 * The ranks of a node share its copies. With several nodes each zone is also copied to another
 * node, while the step goes on. There are two places that take turns: one has the last state that
 * all ranks have finished, the other is being written. A copy is valid if its checksum, which
 * covers zone and step, is right. */
#pragma once

#include "npb_mz/mz.h"

struct copies;

/* Bytes of all copies, on all nodes together. */
size_t copies_bytes(const struct mz_ops *ops, const struct mz_class *class);

/* Takes the memory. *mz is borrowed; rank_of[nzones]: the rank of each zone, NULL: 0.
 * EK_UNAVAILABLE: out of memory. Collective, like all but copies_zone() and copies_has(); close
 * accepts NULL. */
enum ek_status copies_open(const struct mz *mz, const int *rank_of, struct copies **c);
void copies_close(struct copies *c);

/* The zones have been repartitioned. */
enum ek_status copies_partition(struct copies *c, const int *rank_of);

/* Copies a zone of this rank, which is on the host, as it is after `step`, and starts sending the
 * copy to another node. Any thread. */
void copies_zone(struct copies *c, int zone, int step);
/* Whether that has been done. */
bool copies_has(const struct copies *c, int zone, int step);

/* Call it when all zones of this rank have been copied after `step`; when all ranks have, it is the
 * step that copies_find() finds. */
void copies_commit(struct copies *c, int step);

/* The last step of which there are valid copies of all zones, 0: none. */
int copies_find(struct copies *c);
/* Sets the zones of this rank to their state after the `step` > 0 that was found. EK_UNAVAILABLE:
 * out of memory, or a copy is damaged. */
enum ek_status copies_load(struct copies *c, struct mz *mz, int step);
