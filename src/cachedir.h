/* src/cachedir.h – where programs keep what later runs can use. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* "<caches>/<name>" into path [room]. The caches are in $XDG_CACHE_HOME, else in ~/.cache; where
 * that is not named or cannot be written, in $TMPDIR/evenkeel-<uid> (/tmp), which must be this
 * user's alone. False: there is no place, path is "". Any thread. */
bool cachedir_find(const char *name, char *path, size_t room);

/* "$TMPDIR/<name>" (/tmp) into path [room], for what nobody needs later. Any thread. */
void cachedir_temporary(const char *name, char *path, size_t room);
