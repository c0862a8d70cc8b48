/* npb_mz/checkpoint.c – the state of a run in a file. */
#include "npb_mz/checkpoint.h"
#include "cu/rank/cluster.h"
#include "src/checksum.h"
#include "src/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The beginning of the file, in the byte order of the machine; `order` lets a machine of the other
 * byte order refuse it. */
struct header {
    char magic[8];
    uint64_t order;
    char solver[8], letter[8];
    int64_t steps, step, zones, points, carried;
    double dt;
    uint64_t checksum; /* of everything above */
};

static const struct header blank = {.magic = "EKNPBM4", .order = 0x0123456789abcdef};

struct checkpoint {
    char *path;        /* symbolic links resolved */
    char beside[4096]; /* the file that is written, then renamed to path */
    int lock;          /* of rank 0; -1: not locked */
};

static uint64_t header_checksum(const struct header *h)
{
    return checksum_of("npb-mz checkpoint 2", h, offsetof(struct header, checksum));
}

static struct header header_of(const struct mz *mz, int steps, int step)
{
    struct header h = blank;
    snprintf(h.solver, sizeof h.solver, "%s", mz->ops->name);
    h.letter[0] = mz->class->letter;
    h.steps = steps;
    h.dt = mz->class->dt;
    h.step = step;
    h.zones = mz->nzones;
    h.points = mz->points;
    h.carried = mz->size_carried;
    h.checksum = header_checksum(&h);
    return h;
}

/* A zone's record in the file: checksum, u, carried values; `at` is its offset. */
struct record {
    int64_t zone;
    double *u, *carried;
    size_t u_bytes, carried_bytes;
    off_t at;
};

static struct record record_of(const struct mz *mz, int zone)
{
    const struct mz_zone *z = &mz->zone[zone];
    struct mz_part part[MZ_PARTS];
    mz_parts(mz, zone, part);
    struct record r = {.zone = zone,
                       .u = part[MZ_U].host,
                       .carried = part[MZ_CARRIED].host,
                       .u_bytes = part[MZ_U].doubles * sizeof *r.u,
                       .carried_bytes = part[MZ_CARRIED].doubles * sizeof *r.u};
    r.at = (off_t)(sizeof(struct header) + (size_t)zone * sizeof(uint64_t) +
                   (size_t)(MZ_VARS * z->first + z->carried) * sizeof(double));
    return r;
}

static uint64_t record_checksum(const struct header *h, const struct record *r)
{
    struct checksum c;
    checksum_begin(&c, "npb-mz checkpoint zone 2");
    checksum_add(&c, h, sizeof *h);
    checksum_add(&c, &r->zone, sizeof r->zone);
    checksum_add(&c, r->u, r->u_bytes);
    checksum_add(&c, r->carried, r->carried_bytes);
    return checksum_end(&c);
}

/* ---- opening --------------------------------------------------------------------------------- */

enum ek_status mz_checkpoint_check(const char *path)
{
    struct stat st;
    if (!*path || (!stat(path, &st) && !S_ISREG(st.st_mode)))
        FAIL(EK_USAGE, "checkpoint '%s': not a file name; give one", path);
    return file_try(path);
}

static enum ek_status take(struct checkpoint *c)
{
    const int n = snprintf(c->beside, sizeof c->beside, "%s.part-", c->path), room = 12;
    if (n + room > (int)sizeof c->beside)
        FAIL(EK_USAGE, "checkpoint %.60s…: the file's name is too long", c->path);
    if (cluster_rank() == 0) {
        TRY(file_lock(c->path, &c->lock));
        file_clean(c->beside); /* as we hold the lock, nobody is writing it */
    }
    snprintf(c->beside + n, room, "%d", (int)getpid());
    cluster_share(c->beside, sizeof c->beside);
    return EK_OK;
}

enum ek_status mz_checkpoint_open(const char *path, struct checkpoint **out)
{
    struct checkpoint *c = calloc(1, sizeof *c);
    if (c && !(c->path = realpath(path, NULL)))
        c->path = strdup(path);
    if (c)
        c->lock = -1;
    const enum ek_status st =
        c && c->path ? take(c) : status_fail(EK_UNAVAILABLE, "checkpoint %s: out of memory", path);
    return HAND_OUT(st, c, out, mz_checkpoint_close);
}

void mz_checkpoint_close(struct checkpoint *c)
{
    if (!c)
        return;
    if (c->lock >= 0)
        file_unlock(c->path, c->lock);
    free(c->path);
    free(c);
}

/* Rank 0 decides, so that all ranks resume or none. */
bool mz_checkpoint_exists(const struct checkpoint *c)
{
    bool there = !access(c->path, F_OK);
    cluster_share(&there, sizeof there);
    return there;
}

void mz_checkpoint_forget(const struct checkpoint *c)
{
    unlink(c->path);
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

static bool put_zones(int fd, const struct mz *mz, const struct header *h)
{
    for (int zone = 0; zone < mz->nzones; zone++) {
        const struct record r = record_of(mz, zone);
        if (!mz->mine[zone])
            continue;
        const uint64_t sum = record_checksum(h, &r);
        if (!put(fd, &sum, sizeof sum, r.at) ||
            !put(fd, r.u, r.u_bytes, r.at + (off_t)sizeof sum) ||
            !put(fd, r.carried, r.carried_bytes, r.at + (off_t)(sizeof sum + r.u_bytes)))
            return false;
    }
    return true;
}

/* Rank 0 creates the file; then the others open it. */
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

/* Writes this rank's zones; returns 0 or the errno. */
static int write_part(const char *beside, const struct mz *mz, const struct header *h)
{
    const int fd = open_part(beside, h);
    if (fd < 0)
        return errno;
    errno = ENOSPC; /* write() that returns 0 does not set it */
    const int why = put_zones(fd, mz, h) ? file_sync(fd) : errno;
    close(fd);
    return why;
}

/* The same errno on all ranks, since the first that ends ends all, before others have said theirs.
 * Where rank 0 has created no file the others have ENOENT, which is less than most. */
static int worst_of_ranks(int why)
{
    double worst = why;
    cluster_max(&worst, 1);
    return (int)worst;
}

enum ek_status mz_checkpoint_save(const struct checkpoint *c, const struct mz *mz, int steps,
                                  int step)
{
    const struct header h = header_of(mz, steps, step);
    const int why = worst_of_ranks(write_part(c->beside, mz, &h));
    if (why) {
        if (cluster_rank() == 0)
            unlink(c->beside);
        cluster_barrier(); /* the first rank that ends would end rank 0 before that */
        FAIL(EK_UNAVAILABLE, "checkpoint %s: cannot be written: %s; any older one is unchanged",
             c->path, strerror(why));
    }
    if (cluster_rank() == 0)
        TRY(file_place(c->beside, c->path));
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
            FAIL(EK_UNAVAILABLE, "checkpoint %s: cannot be read: %s", path, strerror(errno));
        if (n == 0)
            FAIL(EK_USAGE, "checkpoint %s: cut short at byte %lld; delete it to start afresh", path,
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
        FAIL(EK_USAGE, "checkpoint %s: its header is damaged; delete it to start afresh", path);
    if (memcmp(h, &wanted, sizeof *h))
        FAIL(
            EK_USAGE,
            "checkpoint %s: it is of %.8s class %.1s, %lld steps of %.9g, but this run is %s class "
            "%c, %d steps of %.9g; delete it or name another file",
            path, h->solver, h->letter, (long long)h->steps, h->dt, mz->ops->name,
            mz->class->letter, steps, mz->class->dt);
    if (h->step < 0 || h->step > steps)
        FAIL(EK_USAGE, "checkpoint %s: it claims to be at step %lld of %d", path,
             (long long)h->step, steps);
    return EK_OK;
}

/* The file must end exactly behind the last zone. */
static enum ek_status check_size(const char *path, int fd, const struct mz *mz)
{
    struct stat st;
    const struct record last = record_of(mz, mz->nzones - 1);
    const off_t want = last.at + (off_t)(sizeof(uint64_t) + last.u_bytes + last.carried_bytes);
    if (fstat(fd, &st))
        FAIL(EK_UNAVAILABLE, "checkpoint %s: cannot be read: %s", path, strerror(errno));
    if (st.st_size != want)
        FAIL(EK_USAGE, "checkpoint %s: %s, %lld bytes instead of %lld; delete it to start afresh",
             path, st.st_size < want ? "cut short" : "too long", (long long)st.st_size,
             (long long)want);
    return EK_OK;
}

static enum ek_status get_zones(const char *path, int fd, struct mz *mz, const struct header *h)
{
    for (int zone = 0; zone < mz->nzones; zone++) {
        const struct record r = record_of(mz, zone);
        uint64_t sum;
        if (!mz->mine[zone])
            continue;
        TRY(get(path, fd, &sum, sizeof sum, r.at));
        TRY(get(path, fd, r.u, r.u_bytes, r.at + (off_t)sizeof sum));
        TRY(get(path, fd, r.carried, r.carried_bytes, r.at + (off_t)(sizeof sum + r.u_bytes)));
        if (sum != record_checksum(h, &r))
            FAIL(EK_USAGE, "checkpoint %s: zone %d is damaged; delete it to start afresh", path,
                 zone);
    }
    return EK_OK;
}

enum ek_status mz_checkpoint_load(const struct checkpoint *c, struct mz *mz, int steps, int *step)
{
    struct header h;
    const int fd = open(c->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        FAIL(EK_UNAVAILABLE, "checkpoint %s: cannot be opened: %s", c->path, strerror(errno));
    enum ek_status st = get(c->path, fd, &h, sizeof h, 0);
    THEN(st, check_header(c->path, &h, mz, steps));
    THEN(st, check_size(c->path, fd, mz));
    THEN(st, get_zones(c->path, fd, mz, &h));
    close(fd);
    if (!st)
        *step = (int)h.step;
    return st;
}
