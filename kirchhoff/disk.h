/* kirchhoff/disk.h – checks that files will fit, before hours of work. */
#pragma once

#include "src/base.h"

/* EK_UNAVAILABLE, with both numbers, if `path`, a file or folder of `files` files yet to be made of
 * `bytes` each, needs more than its file system has left, or a file more than this process may
 * write. "-", pipes and devices (file_replaceable()) always pass. */
enum ek_status disk_check(const char *path, size_t files, size_t bytes);
