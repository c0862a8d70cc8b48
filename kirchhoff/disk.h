/* kirchhoff/disk.h – checks that files will fit, before hours of work. */
#pragma once

#include "src/base.h"

/* EK_UNAVAILABLE, with both numbers, if `path`, a file or folder yet to be made, needs more bytes
 * than its file system has left. "-", pipes and devices (file_replaceable()) always pass. */
enum ek_status disk_check(const char *path, size_t bytes);
