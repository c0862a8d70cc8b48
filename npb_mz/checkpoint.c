/* npb_mz/checkpoint.c – the state of a run in a file. */
#include "npb_mz/checkpoint.h"
#include "cu/rank/cluster.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As it lies in the file, in the byte order of the machine: a machine of the other order reads
 * another `order` and refuses. */
struct header {
    char magic[8];
    uint64_t order;
    char solver[8], letter[8];
    int64_t steps, step, zones, points, carried;
    uint64_t checksum; /* of everything above */
};

static const struct header blank = {.magic = "EKNPBMZ", .order = 0x0123456789abcdef};

/* FNV-1a over 64-bit words: it only has to notice damage. */
static uint64_t checksum(uint64_t sum, const void *data, size_t bytes)
{
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t word;
        memcpy(&word, (const char *)data + i, 8);
        sum = (sum ^ word) * 0x100000001b3;
    }
    return sum;
}

static uint64_t header_checksum(const struct header *h)
{
    return checksum(0xcbf29ce484222325, h, offsetof(struct header, checksum));
}

static struct header header_of(const struct mz *mz, int steps, int step)
{
    struct header h = blank;
    snprintf(h.solver, sizeof h.solver, "%s", mz->ops->name);
    h.letter[0] = mz->class->letter;
    h.steps = steps;
    h.step = step;
    h.zones = mz->nzones;
    h.points = mz->points;
    h.carried = mz->size_carried;
    h.checksum = header_checksum(&h);
    return h;
}

/* The parts of a zone and where they stand in the file: checksum, u, carried. */
struct record {
    double *u, *carried;
    size_t u_bytes, carried_bytes;
    off_t at;
};

static struct record record_of(const struct mz *mz, int zone)
{
    const struct mz_zone *z = &mz->zone[zone];
    struct record r = {.u = mz_zone_u(mz, zone), .carried = mz->carried + z->carried};
    r.u_bytes = MZ_VARS * (size_t)z->volume * sizeof *r.u;
    r.carried_bytes = mz->ops->carried ? mz->ops->carried(z) * sizeof *r.carried : 0;
    r.at = (off_t)(sizeof(struct header) + (size_t)zone * sizeof(uint64_t) +
                   (size_t)(MZ_VARS * z->first + z->carried) * sizeof(double));
    return r;
}

static uint64_t record_checksum(const struct record *r)
{
    return checksum(checksum(0xcbf29ce484222325, r->u, r->u_bytes), r->carried, r->carried_bytes);
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool put(int fd, const void *data, size_t bytes, off_t at)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pwrite(fd, (const char *)data + done, bytes - done, at + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static bool put_zones(int fd, const struct mz *mz)
{
    for (int zone = 0; zone < mz->nzones; zone++) {
        const struct record r = record_of(mz, zone);
        if (!mz->mine[zone])
            continue;
        const uint64_t sum = record_checksum(&r);
        if (!put(fd, &sum, sizeof sum, r.at) ||
            !put(fd, r.u, r.u_bytes, r.at + (off_t)sizeof sum) ||
            !put(fd, r.carried, r.carried_bytes, r.at + (off_t)(sizeof sum + r.u_bytes)))
            return false;
    }
    return true;
}

static enum ek_status name_beside(const char *path, char *beside, size_t room)
{
    if (snprintf(beside, room, "%s.part", path) >= (int)room)
        FAIL(EK_USAGE, "checkpoint %.60s…: the file's name is too long", path);
    return EK_OK;
}

/* Rank 0 makes the file anew, whatever a killed run has left; the others must find it there. */
static int open_part(const char *beside, const struct header *h)
{
    int fd = -1;
    if (cluster_rank() == 0) {
        fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (fd >= 0 && !put(fd, h, sizeof *h, 0)) {
            const int why = errno;
            close(fd);
            errno = why;
            fd = -1;
        }
    }
    const int why = errno;
    cluster_barrier();
    errno = why;
    return cluster_rank() == 0 ? fd : open(beside, O_WRONLY);
}

/* This rank's part; 0 or why not. */
static int write_part(const char *beside, const struct mz *mz, const struct header *h)
{
    const int fd = open_part(beside, h);
    if (fd < 0)
        return errno;
    errno = ENOSPC; /* a write of nothing does not say why */
    const int why = put_zones(fd, mz) && !fsync(fd) ? 0 : errno;
    close(fd);
    return why;
}

static void directory_of(const char *path, char *directory, size_t room)
{
    const char *slash = strrchr(path, '/');
    const int length = slash ? (int)(slash - path) + 1 : 1;
    snprintf(directory, room, "%.*s", length, slash ? path : ".");
}

/* The new name outlives a power cut only once its directory is written, too. */
static void sync_directory(const char *path)
{
    char directory[PATH_MAX];
    directory_of(path, directory, sizeof directory);
    const int fd = open(directory, O_RDONLY | O_DIRECTORY);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

enum ek_status checkpoint_check(const char *path)
{
    char beside[PATH_MAX], directory[PATH_MAX];
    struct stat st;
    TRY(name_beside(path, beside, sizeof beside));
    directory_of(path, directory, sizeof directory);
    if (!*path || (!stat(path, &st) && !S_ISREG(st.st_mode)))
        FAIL(EK_USAGE, "checkpoint '%s': not the name of a file; give one", path);
    if (access(directory, W_OK | X_OK))
        FAIL(EK_LACK, "checkpoint %s: no file can be made in %s: %s", path, directory,
             strerror(errno));
    return EK_OK;
}

enum ek_status checkpoint_save(const char *path, const struct mz *mz, int steps, int step)
{
    char beside[PATH_MAX];
    TRY(name_beside(path, beside, sizeof beside));
    const struct header h = header_of(mz, steps, step);
    const int why = write_part(beside, mz, &h);
    if (cluster_any(why)) {
        if (cluster_rank() == 0)
            unlink(beside);
        FAIL(EK_LACK, "checkpoint %s: cannot be written: %s; an older one stays as it is", path,
             why ? strerror(why) : "another rank cannot write its part");
    }
    if (cluster_rank() == 0 && rename(beside, path))
        FAIL(EK_LACK, "checkpoint %s: cannot be replaced: %s", path, strerror(errno));
    if (cluster_rank() == 0)
        sync_directory(path);
    cluster_barrier();
    return EK_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

static enum ek_status get(const char *path, int fd, void *data, size_t bytes, off_t at)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pread(fd, (char *)data + done, bytes - done, at + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            FAIL(EK_LACK, "checkpoint %s: cannot be read: %s", path, strerror(errno));
        if (n == 0)
            FAIL(EK_USAGE, "checkpoint %s: cut short at byte %lld; delete it to start anew", path,
                 (long long)at + (long long)done);
        done += (size_t)n;
    }
    return EK_OK;
}

static enum ek_status check_header(const char *path, const struct header *h, const struct mz *mz,
                                   int steps)
{
    struct header wanted = header_of(mz, steps, (int)h->step);
    if (memcmp(h->magic, wanted.magic, sizeof h->magic) || h->order != wanted.order)
        FAIL(EK_USAGE, "checkpoint %s: not a checkpoint of this program on this kind of machine",
             path);
    if (h->checksum != header_checksum(h))
        FAIL(EK_USAGE, "checkpoint %s: its header is damaged; delete it to start anew", path);
    if (memcmp(h, &wanted, sizeof *h))
        FAIL(EK_USAGE,
             "checkpoint %s: it is of %.8s class %.1s, %lld steps, not of %s class %c, "
             "%d steps; delete it or name another file",
             path, h->solver, h->letter, (long long)h->steps, mz->ops->name, mz->class->letter,
             steps);
    if (h->step < 0 || h->step > steps)
        FAIL(EK_USAGE, "checkpoint %s: it stands at step %lld of %d", path, (long long)h->step,
             steps);
    return EK_OK;
}

/* Nothing may be missing, nothing may follow. */
static enum ek_status check_size(const char *path, int fd, const struct mz *mz)
{
    struct stat st;
    const struct record last = record_of(mz, mz->nzones - 1);
    const off_t want = last.at + (off_t)(sizeof(uint64_t) + last.u_bytes + last.carried_bytes);
    if (fstat(fd, &st))
        FAIL(EK_LACK, "checkpoint %s: cannot be read: %s", path, strerror(errno));
    if (st.st_size != want)
        FAIL(EK_USAGE, "checkpoint %s: %s, %lld bytes instead of %lld; delete it to start anew",
             path, st.st_size < want ? "cut short" : "something follows it", (long long)st.st_size,
             (long long)want);
    return EK_OK;
}

static enum ek_status get_zones(const char *path, int fd, struct mz *mz)
{
    for (int zone = 0; zone < mz->nzones; zone++) {
        const struct record r = record_of(mz, zone);
        uint64_t sum;
        if (!mz->mine[zone])
            continue;
        TRY(get(path, fd, &sum, sizeof sum, r.at));
        TRY(get(path, fd, r.u, r.u_bytes, r.at + (off_t)sizeof sum));
        TRY(get(path, fd, r.carried, r.carried_bytes, r.at + (off_t)(sizeof sum + r.u_bytes)));
        if (sum != record_checksum(&r))
            FAIL(EK_USAGE, "checkpoint %s: zone %d is damaged; delete it to start anew", path,
                 zone);
    }
    return EK_OK;
}

enum ek_status checkpoint_load(const char *path, struct mz *mz, int steps, int *step)
{
    struct header h;
    const int fd = open(path, O_RDONLY);
    if (fd < 0)
        FAIL(EK_LACK, "checkpoint %s: cannot be opened: %s", path, strerror(errno));
    enum ek_status st = get(path, fd, &h, sizeof h, 0);
    if (!st)
        st = check_header(path, &h, mz, steps);
    if (!st)
        st = check_size(path, fd, mz);
    if (!st)
        st = get_zones(path, fd, mz);
    close(fd);
    if (!st)
        *step = (int)h.step;
    return st;
}
