/* npb_mz/checkpoint.h – the state of a run between two steps, in one file for all ranks.
 *
 * The file has a header and then u and the carried values of each zone, in an order that does not
 * depend on ranks or devices, so a run may resume with others. Each zone's checksum covers the
 * header and the zone's number, too, so that a zone of another problem, step or place is refused.
 * The file is written beside and renamed: a reader never sees half of it. */
#pragma once

#include "npb_mz/mz.h"

struct checkpoint;

/* Checks, before anything is computed, whether a file of this name can be written. EK_USAGE: not a
 * file name; EK_UNAVAILABLE: its directory cannot be written. */
enum ek_status mz_checkpoint_check(const char *path);

/* Locks `path` until close(), which accepts NULL. EK_USAGE: another run has it. Collective, like
 * all functions below except forget(). */
enum ek_status mz_checkpoint_open(const char *path, struct checkpoint **c);
void mz_checkpoint_close(struct checkpoint *c);

/* Whether there is a file to resume from. */
bool mz_checkpoint_exists(const struct checkpoint *c);

/* Writes all claimed zones, which must be on the host, as the state after `step` of `steps` steps.
 * EK_UNAVAILABLE: the file cannot be written; an older one is unchanged. */
enum ek_status mz_checkpoint_save(const struct checkpoint *c, const struct mz *mz, int steps,
                                  int step);

/* Reads the claimed zones; *step = the step they are at. EK_USAGE: the file is cut short, damaged
 * or of another problem; then the zones' contents are undefined. */
enum ek_status mz_checkpoint_load(const struct checkpoint *c, struct mz *mz, int steps, int *step);

/* Removes the file, so that the next run starts from the beginning. On rank 0 only. */
void mz_checkpoint_forget(const struct checkpoint *c);
