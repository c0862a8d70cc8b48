/* src/cachedir.c – tries the candidate folders in order. */
#include "src/cachedir.h"
#include "src/file.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Whether the folder's file system has room for compiled kernels and, if they are to `run` from
 * there, allows that. */
static bool serves(const char *path, bool run)
{
    const unsigned long long least = 8 << 20; /* bytes */
    struct statvfs s;
    return statvfs(path, &s) ||
           ((unsigned long long)s.f_bavail * s.f_frsize >= least && !(run && s.f_flag & ST_NOEXEC));
}

/* "<base><rest>/", if it is a writable folder with room or can be created. */
static bool usable(const char *base, const char *rest, bool run, char *path, size_t room)
{
    if (!base || base[0] != '/' || snprintf(path, room, "%s%s/", base, rest) >= (int)room)
        return false;
    file_make_folders(path);
    return !access(path, W_OK) && serves(path, run);
}

/* In a world-writable folder others could have planted this one: it must be ours alone. */
static bool private_below(const char *base, bool run, char *path, size_t room)
{
    char rest[40];
    struct stat s;
    snprintf(rest, sizeof rest, "/evenkeel-%ld", (long)geteuid());
    if (snprintf(path, room, "%s%s", base, rest) >= (int)room)
        return false;
    file_make_folders(path);
    mkdir(path, 0700);
    if (!usable(base, rest, run, path, room))
        return false;
    path[strlen(path) - 1] = '\0'; /* lstat() then sees a link itself */
    if (lstat(path, &s) || !S_ISDIR(s.st_mode) || s.st_uid != geteuid() || s.st_mode & 022)
        return false;
    strcat(path, "/");
    return true;
}

static const char *temporary(void)
{
    const char *tmp = getenv("TMPDIR");
    return tmp && *tmp ? tmp : "/tmp";
}

void cachedir_temporary(const char *name, char *path, size_t room)
{
    snprintf(path, room, "%s/%s", temporary(), name);
}

static bool find(const char *name, bool run, char *path, size_t room)
{
    const char *xdg = getenv("XDG_CACHE_HOME");
    bool found = xdg && xdg[0] == '/' ? usable(xdg, "", run, path, room)
                                      : usable(getenv("HOME"), "/.cache", run, path, room);
    if (!found)
        found = private_below(temporary(), run, path, room);
    const size_t used = found ? strlen(path) : 0;
    found = found && snprintf(path + used, room - used, "%s", name) < (int)(room - used);
    if (!found)
        path[0] = '\0';
    return found;
}

bool cachedir_find(const char *name, char *path, size_t room)
{
    return find(name, false, path, room);
}

bool cachedir_find_code(const char *name, char *path, size_t room)
{
    return find(name, true, path, room);
}
