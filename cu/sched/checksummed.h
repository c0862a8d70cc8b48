/* cu/sched/checksummed.h – JSON files kept for later runs, with format, version and a checksum of
 * their content, so that a changed or foreign file is not trusted. */
#pragma once

#include "src/status.h"
#include <jansson.h>

enum { CHECKSUMMED_PATH = 4096 };

/* Their folder: $CU_PROFILE_DIR, else evenkeel/ in the cache directory (src/cachedir.h).
 * EK_UNAVAILABLE: there is none. */
enum ek_status checksummed_folder(char *path, size_t room);
/* "<folder>/<name>-<16 digits of key>.json" into path [CHECKSUMMED_PATH]. EK_USAGE: too long. */
enum ek_status checksummed_path(const char *name, unsigned long long key, char *path);

/* Adds the checksum to `root` (borrowed, with members format and version) and writes it atomically;
 * makes missing folders. EK_UNAVAILABLE: not writable, out of memory. */
enum ek_status checksummed_write(const char *path, json_t *root);

/* Reads into *root, a new reference. EK_USAGE: no such file, or it is not an intact file of this
 * format and version (the message says why). */
enum ek_status checksummed_read(const char *path, const char *format, int version, json_t **root);
