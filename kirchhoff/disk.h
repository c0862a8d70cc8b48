/* kirchhoff/disk.h – will files fit? Asked before hours of work. */
#pragma once

#include "src/status.h"
#include <stddef.h>

/* EK_UNAVAILABLE with both numbers where `path`, a file or folder that is to be made, needs more
 * bytes than its file system has left. What is no file (file_replaceable()) always fits. */
enum ek_status disk_check(const char *path, size_t bytes);
