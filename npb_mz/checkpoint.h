/* npb_mz/checkpoint.h – the state of a run between two steps, in one file for all ranks.
 *
 * The file holds a header and, zone by zone, what a zone carries from step to step, each part with
 * a checksum; its order does not depend on ranks or devices, so a run may go on with others. It is
 * written beside and renamed: a reader never sees half of it. */
#ifndef NPB_MZ_CHECKPOINT_H
#define NPB_MZ_CHECKPOINT_H

#include "npb_mz/mz.h"

/* May there be a checkpoint of this name? Before anything is computed. EK_USAGE: it is no name of a
 * file; EK_LACK: its directory takes no file. */
enum ek_status checkpoint_check(const char *path);

/* Writes all claimed zones, which are on the host, as the state after `step` of `steps` steps.
 * Collective over ranks. EK_LACK: the file cannot be written; an older one stays as it is. */
enum ek_status checkpoint_save(const char *path, const struct mz *mz, int steps, int step);

/* Reads the claimed zones; *step = where the run stands. EK_USAGE: the file is cut short, damaged
 * or another problem's (the line says which); then the zones hold no meaning. */
enum ek_status checkpoint_load(const char *path, struct mz *mz, int steps, int *step);

#endif
