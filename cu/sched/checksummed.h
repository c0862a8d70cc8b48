/* cu/sched/checksummed.h – what programs keep for later runs: JSON files that say what they are, of
 * which version, and carry a sum of their content, so that a changed or foreign one is not
 * believed. */
#pragma once

#include "src/status.h"
#include <jansson.h>

enum { CHECKSUMMED_PATH = 4096 };

/* The folder for them: $CU_PROFILE_DIR, else evenkeel/ among the caches (src/cachedir.h).
 * EK_UNAVAILABLE: there is no place to write. */
enum ek_status checksummed_folder(char *path, size_t room);
/* "<folder>/<name>-<16 digits of key>.json" into path [CHECKSUMMED_PATH]. EK_USAGE: too long. */
enum ek_status checksummed_path(const char *name, unsigned long long key, char *path);

/* Adds the sum to `root` (borrowed, with members format and version) and writes it, as a whole or
 * not at all; makes the folders above. EK_UNAVAILABLE: not writable, out of memory. */
enum ek_status checksummed_write(const char *path, json_t *root);

/* New reference in *root. EK_USAGE: there is no such file, or it is no intact file of this format
 * and version (the line says what is wrong). */
enum ek_status checksummed_read(const char *path, const char *format, int version, json_t **root);
