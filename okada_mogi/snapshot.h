/* okada_mogi/snapshot.h – an unfinished search in a file: the ranges that are done, and the
 * trials accepted there. Written beside and renamed, with a sum at its end: a reader sees a whole
 * file, of this version and of this job, or is told what it is instead.
 *
 * Plain bytes of this kind of machine: struct snapshot_head · ranges · records · sum (FNV-1a). */
#ifndef OKADA_MOGI_SNAPSHOT_H
#define OKADA_MOGI_SNAPSHOT_H

#include "okada_mogi/harvest.h"
#include "okada_mogi/ranges.h"
#include <stdint.h>

/* `job`: the sum of everything that decides about the results, see job_sum(). EK_LACK: the file
 * cannot be written, an older one stays as it is. */
enum ek_status snapshot_save(const char *path, uint64_t job, const struct ranges *done,
                             double evaluations, struct harvest *h);

/* What was saved goes into *done (zeroed) and into the harvest. *found = false: there is no such
 * file. EK_USAGE: it is no intact checkpoint of this job; EK_LACK: it cannot be read. */
enum ek_status snapshot_load(const char *path, uint64_t job, struct ranges *done,
                             double *evaluations, struct harvest *h, bool *found);

#endif
