/* okada_mogi/snapshot.c – writes and believes files of done ranges and accepted trials. */
#include "okada_mogi/snapshot.h"
#include "src/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERSION = 1, AT_ONCE = 4096 };
static const char magic[8] = "EKSEARCH";

struct snapshot_head {
    char magic[8];
    uint32_t version, record; /* bytes of a record */
    uint64_t job, ranges, records;
    double evaluations;
};

/* A file and the sum of what has gone through it. */
struct stream {
    FILE *f;
    uint64_t sum;
};

/* ---- saving -----------------------------------------------------------------------------------*/

static void put(struct stream *s, const void *data, size_t bytes)
{
    if (!bytes)
        return;
    fwrite(data, 1, bytes, s->f);
    s->sum = hash_bytes(s->sum, data, bytes);
}

static enum ek_status put_records(void *arg, const struct accepted_record *record, size_t n)
{
    put(arg, record, n * sizeof *record);
    return EK_OK;
}

static enum ek_status write_failed(const char *path)
{
    FAIL(EK_LACK, "%s: cannot be written: %s; choose another place for --checkpoint", path,
         strerror(errno));
}

static enum ek_status write_all(struct stream *s, const struct snapshot_head *head,
                                const struct ranges *done, struct harvest *h)
{
    put(s, head, sizeof *head);
    put(s, done->range, done->n * sizeof *done->range);
    TRY(harvest_each(h, put_records, s));
    fwrite(&s->sum, sizeof s->sum, 1, s->f);
    return EK_OK;
}

enum ek_status snapshot_save(const char *path, uint64_t job, const struct ranges *done,
                             double evaluations, struct harvest *h)
{
    struct snapshot_head head = {.version = VERSION,
                                 .record = sizeof(struct accepted_record),
                                 .job = job,
                                 .ranges = done->n,
                                 .records = harvest_held(h),
                                 .evaluations = evaluations};
    struct stream s = {NULL, HASH_BASIS};
    char *beside;
    memcpy(head.magic, magic, sizeof head.magic);
    if (asprintf(&beside, "%s.part-%d", path, (int)getpid()) < 0)
        FAIL(EK_LACK, "%s: out of memory", path);
    enum ek_status st = EK_OK;
    if (!(s.f = fopen(beside, "wb"))) {
        st = write_failed(path);
    } else {
        st = write_all(&s, &head, done, h);
        const bool bad = ferror(s.f) || fflush(s.f) || fsync(fileno(s.f));
        if (!st && (fclose(s.f) || bad || rename(beside, path)))
            st = write_failed(path);
        if (st)
            unlink(beside);
    }
    free(beside);
    return st;
}

/* ---- loading ----------------------------------------------------------------------------------*/

static enum ek_status damaged(const char *path)
{
    FAIL(EK_USAGE, "%s: this checkpoint is cut short or damaged; remove it to begin anew", path);
}

static enum ek_status get(struct stream *s, const char *path, void *data, size_t bytes)
{
    if (fread(data, 1, bytes, s->f) != bytes)
        return damaged(path);
    s->sum = hash_bytes(s->sum, data, bytes);
    return EK_OK;
}

static enum ek_status get_head(struct stream *s, const char *path, uint64_t job,
                               struct snapshot_head *head)
{
    if (fread(head, sizeof *head, 1, s->f) != 1 || memcmp(head->magic, magic, sizeof magic))
        FAIL(EK_USAGE, "%s: this is no checkpoint; choose another file for --checkpoint", path);
    if (head->version != VERSION || head->record != sizeof(struct accepted_record))
        FAIL(EK_USAGE, "%s: a checkpoint of version %u, this program writes version %d; remove it",
             path, head->version, VERSION);
    if (head->job != job)
        FAIL(EK_USAGE,
             "%s: the checkpoint of another job, other stations or other --trials; remove it or "
             "choose another file",
             path);
    s->sum = hash_bytes(s->sum, head, sizeof *head);
    return EK_OK;
}

/* The sum first: nothing of a damaged file is believed. */
static enum ek_status prove(struct stream *s, const char *path, uint64_t job,
                            struct snapshot_head *head)
{
    static char chunk[1 << 16];
    uint64_t sum;
    TRY(get_head(s, path, job, head));
    const off_t begin = ftello(s->f), bytes = (off_t)(head->ranges * sizeof(struct trial_range) +
                                                      head->records * head->record);
    if (fseeko(s->f, 0, SEEK_END) || ftello(s->f) != begin + bytes + (off_t)sizeof sum)
        return damaged(path);
    fseeko(s->f, begin, SEEK_SET);
    for (off_t left = bytes; left > 0;) {
        const size_t some = left < (off_t)sizeof chunk ? (size_t)left : sizeof chunk;
        TRY(get(s, path, chunk, some));
        left -= (off_t)some;
    }
    if (fread(&sum, sizeof sum, 1, s->f) != 1 || sum != s->sum)
        return damaged(path);
    fseeko(s->f, begin, SEEK_SET);
    return EK_OK;
}

/* The records of a range, which are in order like the ranges; some at a time. */
static enum ek_status get_records(struct stream *s, const char *path, struct trial_range range,
                                  uint64_t *left, struct accepted_record *next, struct harvest *h)
{
    struct accepted some = {0};
    enum ek_status st = EK_OK;
    while (!st && next->trial - range.first < range.count) {
        if (some.n == AT_ONCE) { /* up to the next record */
            const trial_number count = next->trial - range.first;
            TRY(harvest_put(h, (struct trial_range){range.first, count}, &some));
            range = (struct trial_range){next->trial, range.count - count};
        }
        st = accepted_add(&some, next);
        if (!st && *left) {
            --*left;
            st = get(s, path, next, sizeof *next);
        } else {
            next->trial = range.first - 1; /* there is none any more */
        }
    }
    if (!st)
        st = harvest_put(h, range, &some);
    accepted_free(&some);
    return st;
}

static enum ek_status get_all(struct stream *s, const char *path, const struct snapshot_head *head,
                              struct ranges *done, struct harvest *h)
{
    struct accepted_record next = {.trial = ~(trial_number)0};
    uint64_t left = head->records;
    for (uint64_t i = 0; i < head->ranges; i++) {
        struct trial_range r;
        TRY(get(s, path, &r, sizeof r));
        TRY(ranges_add(done, r));
    }
    if (left) {
        left--;
        TRY(get(s, path, &next, sizeof next));
    }
    for (size_t i = 0; i < done->n; i++)
        TRY(get_records(s, path, done->range[i], &left, &next, h));
    return EK_OK;
}

enum ek_status snapshot_load(const char *path, uint64_t job, struct ranges *done,
                             double *evaluations, struct harvest *h, bool *found)
{
    struct snapshot_head head;
    struct stream s = {fopen(path, "rb"), HASH_BASIS};
    *found = s.f != NULL;
    if (!s.f && errno == ENOENT)
        return EK_OK;
    if (!s.f)
        FAIL(EK_LACK, "%s: cannot be read: %s", path, strerror(errno));
    enum ek_status st = prove(&s, path, job, &head);
    if (!st)
        st = get_all(&s, path, &head, done, h);
    if (!st)
        *evaluations = head.evaluations;
    fclose(s.f);
    return st;
}
