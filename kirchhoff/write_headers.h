/* kirchhoff/write_headers.h – the geometry of a file of traces as a table. */
#ifndef KIRCHHOFF_WRITE_HEADERS_H
#define KIRCHHOFF_WRITE_HEADERS_H

#include "src/status.h"

/* Writes a row for each live trace of `data` to `path` ("-": standard output): trace, sx, sy, sz,
 * gx, gy, gz, samples, delay. `words`, `set`: as for segy_options_parse() and _set(), or NULL.
 * EK_USAGE, EK_UNAVAILABLE. */
enum ek_status write_headers(const char *data, const char *words, const char *set,
                             const char *path);

#endif
