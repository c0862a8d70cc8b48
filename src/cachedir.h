/* src/cachedir.h – where programs keep files for later runs. */
#pragma once

#include "src/base.h"

/* Writes "<caches>/<name>" to path [room]. The caches are in $XDG_CACHE_HOME, else ~/.cache; if
 * that is unset, not writable or full, in $TMPDIR/evenkeel-<uid> (default /tmp), which must belong
 * to this user alone. Returns false and path = "" if there is no usable place. Any thread. */
bool cachedir_find(const char *name, char *path, size_t room);

/* The same for code that is loaded from there: passes over file systems mounted noexec. */
bool cachedir_find_code(const char *name, char *path, size_t room);

/* Writes "$TMPDIR/<name>" (default /tmp) to path [room], for short-lived files. Any thread. */
void cachedir_temporary(const char *name, char *path, size_t room);
