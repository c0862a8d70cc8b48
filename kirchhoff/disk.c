/* kirchhoff/disk.c – free space of file systems. */
#include "kirchhoff/disk.h"
#include "cu/bench/memory.h"
#include "src/file.h"

#include <sys/resource.h>
#include <sys/statvfs.h>

enum ek_status disk_check(const char *path, size_t files, size_t bytes)
{
    char folder[4096], need[32], have[32], *slash;
    struct statvfs disk;
    struct rlimit limit;
    if (!file_replaceable(path))
        return EK_OK;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < bytes) /* RLIM_INFINITY is the most */
        FAIL(EK_UNAVAILABLE, "%s: a file of %s is to be written, ulimit -f allows %s", path,
             memory_text(bytes, need, sizeof need),
             memory_text((size_t)limit.rlim_cur, have, sizeof have));
    snprintf(folder, sizeof folder, "./%s", path);
    char *const from = *path == '/' ? folder + 2 : folder;
    while (statvfs(from, &disk)) { /* the folder may not exist yet */
        if (!(slash = strrchr(from + 1, '/')))
            return EK_OK;
        *slash = '\0';
    }
    const double room = (double)disk.f_bavail * (double)disk.f_frsize;
    if (disk.f_blocks && room < (double)files * (double)bytes) /* 0: not on a disk */
        FAIL(EK_UNAVAILABLE, "%s: %s are to be written, the disk has room for %s", path,
             memory_text(files * bytes, need, sizeof need),
             memory_text((size_t)room, have, sizeof have));
    return EK_OK;
}
