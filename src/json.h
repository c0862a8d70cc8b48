/* src/json.h – what every program needs on top of Jansson: whole files, written safely. */
#ifndef SRC_JSON_H
#define SRC_JSON_H

#include "src/status.h"
#include <jansson.h>
#include <stdbool.h>

/* `path` names a file, there or to be made, that another one may take the place of: neither "-" nor
 * a pipe nor a device. */
bool json_replaces(const char *path);

/* Writes `text` to `path` ("-" = standard output): beside the target, fsync, rename, so that a
 * reader never sees half a file; pipes and devices are written to as they are. EK_LACK if the disk
 * or folder does not allow it. */
enum ek_status json_write_text(const char *path, const char *text);

/* Writes `root` (borrowed) indented, numbers with up to 15 digits, the same way. */
enum ek_status json_write(const char *path, const json_t *root);

/* A number, or null where it is not finite (JSON has no NaN). New reference. */
json_t *json_number_or_null(double x);

#endif
