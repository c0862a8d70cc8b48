/* src/file.c – files are replaced entirely or not at all. */
#include "src/file.h"
#include "src/base.h"
#include "src/sort.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct file {
    char *path;   /* as given by the caller */
    char *target; /* the file to replace, links resolved; NULL: written directly */
    char *beside; /* its temporary name; NULL: unnamed, vanishes with the process */
    int fd;
    FILE *stream;
};

/* ---- inputs -----------------------------------------------------------------------------------*/

/* Sorted. Each is kept open, if a descriptor is to be had, so that its number is not reused once it
 * is deleted. */
static struct input {
    dev_t device;
    ino_t number;
} * inputs;
static size_t ninputs;
static pthread_mutex_t inputs_lock = PTHREAD_MUTEX_INITIALIZER;

SORT_BY(by_device, struct input, SORT_UP(device) ?: SORT_UP(number))

/* Its place among the inputs, or where it would be. */
static size_t place_of(struct input in)
{
    size_t begin = 0, end = ninputs;
    SORT_BISECT(begin, end, by_device(&inputs[middle], &in) < 0)
    return begin;
}

static bool is_at(size_t place, struct input in)
{
    return place < ninputs && !by_device(&inputs[place], &in);
}

static bool is_input(const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return false;
    const struct input in = {st.st_dev, st.st_ino};
    LOCKED(&inputs_lock);
    return is_at(place_of(in), in);
}

void file_input(const char *path)
{
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return;
    const struct input in = {st.st_dev, st.st_ino};
    LOCKED(&inputs_lock);
    const size_t at = place_of(in);
    struct input *more = is_at(at, in) ? NULL : realloc(inputs, (ninputs + 1) * sizeof *more);
    if (!more)
        return;
    inputs = more;
    memmove(more + at + 1, more + at, (ninputs++ - at) * sizeof *more);
    more[at] = in;
    open(path, O_PATH | O_CLOEXEC); /* until the process ends */
}

/* ---- places -----------------------------------------------------------------------------------*/

bool file_replaceable(const char *path)
{
    struct stat found;
    return strcmp(path, "-") && (stat(path, &found) || S_ISREG(found.st_mode));
}

void file_make_folders(const char *path)
{
    OWNED_MEMORY char *folder = strdup(path);
    for (char *slash = folder ? strchr(folder + 1, '/') : NULL; slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(folder, 0777);
        *slash = '/';
    }
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
}

/* A new name survives a power cut only once its folder is synced, too. */
static void sync_folder(const char *path)
{
    OWNED_MEMORY char *folder = folder_of(path);
    const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

/* ---- writing ----------------------------------------------------------------------------------*/

static bool is_pipe(const char *path)
{
    struct stat s;
    return !stat(path, &s) && S_ISFIFO(s.st_mode);
}

static enum ek_status refuse(const char *path, int why)
{
    if (why == ENXIO && is_pipe(path))
        FAIL(EK_UNAVAILABLE, "%s: nobody reads it; start its reader first", path);
    FAIL(EK_UNAVAILABLE, "%s: cannot be written: %s; choose another place", path, strerror(why));
}

/* A stream that could not be written. */
static enum ek_status refuse_stream(const struct file *f, int why)
{
    return f->stream == stdout && status_reader_left() ? EK_OK : refuse(f->path, why);
}

/* Whether the open file still is the file of that name. */
static bool is_current(int fd, const char *name)
{
    struct stat held, there;
    return !fstat(fd, &held) && !stat(name, &there) && held.st_dev == there.st_dev &&
           held.st_ino == there.st_ino;
}

/* Its lock tells file_clean() that somebody is writing it. */
static int create_beside(const struct file *f)
{
    const int fd = open(f->beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 || flock(fd, LOCK_SH) || is_current(fd, f->beside))
        return fd;
    close(fd); /* removed before it was locked */
    errno = EEXIST;
    return -1;
}

static int link_beside(const struct file *f)
{
    char here[64];
    snprintf(here, sizeof here, "/proc/self/fd/%d", f->fd);
    return linkat(AT_FDCWD, here, AT_FDCWD, f->beside, AT_SYMLINK_FOLLOW);
}

/* Calls `make` with temporary names until one is free, also of leftovers and of processes on other
 * nodes that share the folder. Returns what `make` returns, or -1 with errno. */
static int name_beside(struct file *f, int (*make)(const struct file *f))
{
    static atomic_uint count;
    int made = -1;
    for (int attempt = 0; attempt < 100; attempt++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        free(f->beside);
        if (asprintf(&f->beside, "%s.part-%d-%u-%lx", f->target, (int)getpid(),
                     atomic_fetch_add(&count, 1), (unsigned long)now.tv_nsec) < 0)
            f->beside = NULL;
        made = f->beside ? make(f) : -1;
        if (made >= 0 || errno != EEXIST)
            break;
    }
    const int why = errno;
    if (made < 0) {
        free(f->beside); /* was not created */
        f->beside = NULL;
    }
    errno = why;
    return made;
}

/* An unnamed file vanishes if the process is killed. Not every file system supports them, and
 * naming one later needs /proc. */
static int open_nameless(const struct file *f)
{
    OWNED_MEMORY char *folder = folder_of(f->target);
    const int fd = folder && !access("/proc/self/fd", X_OK)
                       ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666)
                       : -1;
    if (fd >= 0)
        flock(fd, LOCK_SH); /* as create_beside() does */
    return fd;
}

static void unlink_beside(struct file *f)
{
    if (f->beside)
        unlink(f->beside);
    free(f->beside);
    f->beside = NULL;
}

/* A mount point, such as a single file mounted into a container, cannot be replaced. */
static bool is_mount_point(const char *path)
{
    struct statx s;
    return !statx(AT_FDCWD, path, 0, STATX_TYPE, &s) && s.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

static int open_part(struct file *f)
{
    struct stat old;
    if (is_mount_point(f->target)) {
        errno = EBUSY;
        return -1;
    }
    f->fd = open_nameless(f);
    if (f->fd < 0)
        f->fd = name_beside(f, create_beside);
    if (f->fd >= 0 && !stat(f->target, &old))
        fchmod(f->fd, old.st_mode & 07777);
    return f->fd;
}

static bool (*given_up)(void); /* NULL: never */

void file_wait_until(bool (*stopped)(void))
{
    given_up = stopped;
}

/* open() would wait for the reader of a pipe even after a signal. */
static int open_pipe(const char *path)
{
    const struct timespec nap = {.tv_nsec = 20000000};
    int fd;
    while ((fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && errno == ENXIO &&
           !(given_up && given_up()))
        nanosleep(&nap, NULL);
    if (fd >= 0)
        fcntl(fd, F_SETFL, 0);
    return fd;
}

static int open_as_is(const char *path)
{
    if (strcmp(path, "-"))
        return is_pipe(path) ? open_pipe(path) : open(path, O_WRONLY | O_CLOEXEC);
    fflush(stdout);
    return STDOUT_FILENO;
}

static enum ek_status begin(struct file *f, const char *path)
{
    int fd = -1;
    if (!*path)
        return refuse("a file without a name", ENOENT);
    if (is_input(path))
        FAIL(EK_USAGE, "%s: is an input of this run and is not overwritten; choose another file",
             path);
    f->path = strdup(path);
    if (f->path && !file_replaceable(path)) {
        fd = open_as_is(path);
    } else if (f->path) {
        f->target = realpath(path, NULL);
        if (f->target || (f->target = strdup(path)))
            fd = open_part(f);
    }
    if (fd < 0)
        return refuse(path, errno);
    f->stream = fd == STDOUT_FILENO ? stdout : fdopen(fd, "w");
    return f->stream ? EK_OK : refuse(path, ENOMEM);
}

enum ek_status file_create(const char *path, struct file **out)
{
    NEW(struct file, f, 1, "%s: out of memory", path);
    const enum ek_status st = begin(f, path);
    return HAND_OUT(st, f, out, file_abandon);
}

FILE *file_stream(struct file *f)
{
    return f->stream;
}

enum ek_status file_write(struct file *f, const void *bytes, size_t n)
{
    return fwrite(bytes, 1, n, f->stream) == n ? EK_OK : refuse_stream(f, errno);
}

enum ek_status file_place(const char *beside, const char *path)
{
    if (rename(beside, path)) {
        const int why = errno;
        unlink(beside);
        return refuse(path, why);
    }
    sync_folder(path);
    return EK_OK;
}

int file_sync(int fd)
{
    return fsync(fd) && errno != EINVAL && errno != ENOTSUP && errno != ENOSYS ? errno : 0;
}

enum ek_status file_finish(struct file *f)
{
    /* errno of an earlier failed write is lost; a full disk is the usual cause. */
    int why = ferror(f->stream) ? ENOSPC : 0;
    if (fflush(f->stream))
        why = errno;
    if (!why && f->target)
        why = file_sync(fileno(f->stream));
    if (!why && f->target && !f->beside && name_beside(f, link_beside) < 0)
        why = errno;
    const int lock = dup(fileno(f->stream)); /* keeps it until the file is in place */
    if (f->stream != stdout && fclose(f->stream) && !why)
        why = errno;
    enum ek_status st = why ? refuse_stream(f, why) : EK_OK;
    f->stream = NULL;
    if (!st && f->target)
        st = file_place(f->beside, f->target);
    close(lock);
    if (!st) {
        free(f->beside);
        f->beside = NULL;
    }
    file_abandon(f);
    return st;
}

enum ek_status file_end(struct file *f, enum ek_status st)
{
    if (!st)
        return file_finish(f);
    file_abandon(f);
    return st;
}

void file_abandon(struct file *f)
{
    if (!f)
        return;
    if (f->stream && f->stream != stdout)
        fclose(f->stream);
    unlink_beside(f);
    free(f->target);
    free(f->path);
    free(f);
}

enum ek_status file_replace(const char *path, const void *bytes, size_t n)
{
    struct file *f;
    TRY(file_create(path, &f));
    return file_end(f, file_write(f, bytes, n));
}

enum ek_status file_replace_text(const char *path, const char *text)
{
    return file_replace(path, text, strlen(text));
}

enum ek_status file_try(const char *path)
{
    struct stat found;
    struct file *f;
    if (!path)
        return EK_OK;
    if (!stat(path, &found) && S_ISDIR(found.st_mode))
        return refuse(path, EISDIR);
    if (!file_replaceable(path))
        return EK_OK;
    TRY(file_create(path, &f));
    file_abandon(f);
    return EK_OK;
}

/* ---- locks ------------------------------------------------------------------------------------*/

static char *lock_name(const char *path)
{
    char *name;
    return asprintf(&name, "%s.lock", path) < 0 ? NULL : name;
}

/* Says who holds the lock. */
static enum ek_status refuse_lock(int fd, const char *path)
{
    char owner[128] = "";
    const ssize_t n = pread(fd, owner, sizeof owner - 1, 0);
    close(fd);
    FAIL(EK_USAGE, "%s: %s works on it; wait for its end or choose another file", path,
         n > 0 ? owner : "another process");
}

/* Writes the owner into the lock file. */
static void write_owner(int fd)
{
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    if (ftruncate(fd, 0) || dprintf(fd, "process %d on %s", (int)getpid(), host) < 0)
        return; /* the message then says "another process" */
}

enum ek_status file_lock(const char *path, int *lock)
{
    char *name = lock_name(path);
    int fd = -1, busy = 0;
    while (name && (fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) >= 0) {
        busy = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
        if (busy || is_current(fd, name))
            break;
        close(fd); /* its last owner has removed it */
    }
    const int why = name ? errno : ENOMEM;
    free(name);
    if (fd < 0)
        return refuse(path, why);
    if (busy)
        return refuse_lock(fd, path);
    write_owner(fd);
    *lock = fd;
    return EK_OK;
}

void file_unlock(const char *path, int lock)
{
    OWNED_MEMORY char *name = lock_name(path);
    if (name && is_current(lock, name))
        unlink(name);
    close(lock);
}

/* ---- what killed processes left ---------------------------------------------------------------*/

/* Whether name_beside() makes such names. */
static bool is_part(const char *name)
{
    static const char mark[] = ".part-";
    const char *end = strrchr(name, '.');
    return end && !strncmp(end, mark, strlen(mark)) &&
           !end[strlen(mark) + strspn(end + strlen(mark), "0123456789abcdef-")];
}

void file_clean(const char *start)
{
    OWNED_MEMORY char *above = folder_of(start);
    DIR *folder = above ? opendir(above) : NULL;
    const char *slash = strrchr(start, '/'), *name = slash ? slash + 1 : start;
    for (const struct dirent *e; folder && (e = readdir(folder));) {
        if (strncmp(e->d_name, name, strlen(name)) || !is_part(e->d_name))
            continue;
        const int fd = openat(dirfd(folder), e->d_name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
            unlinkat(dirfd(folder), e->d_name, 0);
        close(fd);
    }
    if (folder)
        closedir(folder);
}

/* ---- reading ----------------------------------------------------------------------------------*/

static const size_t TEXT_MOST = (size_t)1 << 30;

/* Reads to the end; a text only to its first zero byte or its maximum size. */
static char *read_stream(FILE *in, bool text, size_t *n)
{
    size_t used = 0, room = 1 << 16, got;
    char *all = malloc(room);
    while (all && (got = fread(all + used, 1, room - used - 1, in)) > 0) {
        const bool enough = text && (memchr(all + used, 0, got) || used > TEXT_MOST);
        used += got;
        if (enough)
            break;
        if (used < room - 1)
            continue;
        char *more = realloc(all, room *= 2);
        if (!more)
            free(all);
        all = more;
    }
    if (all)
        all[used] = '\0';
    *n = used;
    return all;
}

enum ek_status file_not_opened(const char *path, int why)
{
    const bool machine =
        why == EMFILE || why == ENFILE || why == ENOMEM || why == EIO || why == ESTALE;
    FAIL(machine ? EK_UNAVAILABLE : EK_USAGE, "%s: cannot be opened: %s", path, strerror(why));
}

static enum ek_status read_whole(const char *path, bool text, char **bytes, size_t *n)
{
    const bool standard = !strcmp(path, "-");
    const char *name = standard ? "standard input" : path;
    FILE *in = standard ? stdin : fopen(path, "re");
    if (!in)
        return file_not_opened(name, errno);
    size_t length;
    char *all = read_stream(in, text, &length);
    const int why = ferror(in) ? errno : 0;
    if (!standard)
        fclose(in);
    if (!all)
        FAIL(EK_UNAVAILABLE, "%s: out of memory while reading", name);
    if (why) {
        free(all);
        FAIL(why == EISDIR ? EK_USAGE : EK_UNAVAILABLE, "%s: cannot be read: %s", name,
             strerror(why));
    }
    *bytes = all;
    *n = length;
    return EK_OK;
}

enum ek_status file_read(const char *path, char **bytes, size_t *n)
{
    return read_whole(path, false, bytes, n);
}

char *file_text_start(char *text)
{
    return text + (strncmp(text, "\xef\xbb\xbf", 3) ? 0 : 3);
}

enum ek_status file_read_text(const char *path, char **text)
{
    char *all;
    size_t n, line = 1;
    TRY(read_whole(path, true, &all, &n));
    if (strlen(all) == n && n <= TEXT_MOST) {
        const char *start = file_text_start(all);
        memmove(all, start, strlen(start) + 1);
        *text = all;
        return EK_OK;
    }
    if (strlen(all) == n) {
        free(all);
        FAIL(EK_USAGE, "%s: more than %zu MiB of text, and no end of it", path, TEXT_MOST >> 20);
    }
    for (const char *c = all; *c; c++)
        line += *c == '\n';
    free(all);
    FAIL(EK_USAGE, "%s:%zu: a zero byte: this is no text file",
         strcmp(path, "-") ? path : "standard input", line);
}

bool file_ends_in(const char *path, const char *end)
{
    const size_t n = strlen(path), m = strlen(end);
    return n > m && !strcmp(path + n - m, end);
}

enum ek_status file_beside(const char *path, const char *name, char *to, size_t room)
{
    const char *slash = strrchr(path, '/');
    const size_t folder = *name && *name != '/' && slash ? (size_t)(slash - path) + 1 : 0;
    if (folder + strlen(name) >= room)
        FAIL(EK_USAGE, "%s: '%.40s…' names a file by more than %zu bytes", path, name, room - 1);
    memcpy(to, path, folder);
    strcpy(to + folder, name);
    return EK_OK;
}
