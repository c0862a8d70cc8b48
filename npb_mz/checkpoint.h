/* npb_mz/checkpoint.h – the state of a run between two steps, in one file for all ranks.
 *
 * The file holds a header and, zone by zone, what a zone carries from step to step; its order does
 * not depend on ranks or devices, so a run may go on with others. The sum of each zone is bound to
 * the header and the zone's number, so that no zone of another problem, step or place is taken. It
 * is written beside and renamed: a reader never sees half of it. */
#pragma once

#include "npb_mz/mz.h"

struct checkpoint;

/* May there be a checkpoint of this name? Before anything is computed. EK_USAGE: it is no name of a
 * file; EK_UNAVAILABLE: its directory takes no file. */
enum ek_status mz_checkpoint_check(const char *path);

/* Nobody else works on `path` until close(), which takes NULL. EK_USAGE: another run does. All of
 * these are collective over ranks. */
enum ek_status mz_checkpoint_open(const char *path, struct checkpoint **c);
void mz_checkpoint_close(struct checkpoint *c);

/* Whether there is one to go on from. */
bool mz_checkpoint_exists(const struct checkpoint *c);

/* Writes all claimed zones, which are on the host, as the state after `step` of `steps` steps.
 * EK_UNAVAILABLE: the file cannot be written; an older one stays as it is. */
enum ek_status mz_checkpoint_save(const struct checkpoint *c, const struct mz *mz, int steps,
                                  int step);

/* Reads the claimed zones; *step = where the run stands. EK_USAGE: the file is cut short, damaged
 * or another problem's (the line says which); then the zones hold no meaning. */
enum ek_status mz_checkpoint_load(const struct checkpoint *c, struct mz *mz, int steps, int *step);

/* Removes the file: the next run begins anew. On rank 0 alone. */
void mz_checkpoint_forget(const struct checkpoint *c);
