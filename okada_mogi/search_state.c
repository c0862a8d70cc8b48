/* okada_mogi/search_state.c – progress of a search; writes, verifies and reads checkpoints. */
#include "okada_mogi/search_state.h"
#include "cu/rank/stop.h"
#include "src/checksum.h"
#include "src/clock.h"
#include "src/file.h"
#include "src/progress.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

/* Seconds between two saves; longer if a save is slow, so that saving takes at most 1/20 of the
 * time. */
static const double OFTEN = 2, SHARE = 20;

struct search_state {
    struct results *results;
    struct trial_range range;
    uint64_t job;
    const char *path;
    pthread_mutex_t lock;
    struct ranges done;
    double evaluations;
    trial_number before, computed; /* trials done in the file; since then */
    trial_number shown;            /* done in earlier runs, for the progress line */
    double next_save;
    bool warned; /* that a save has failed */
};

enum ek_status search_state_open(struct results *r, struct trial_range range, uint64_t job_hash,
                                 const char *path, struct search_state **c)
{
    NEW(struct search_state, made, 1, "out of memory for the search's account");
    *made = (struct search_state){.results = r, .range = range, .job = job_hash, .path = path};
    pthread_mutex_init(&made->lock, NULL);
    *c = made;
    return EK_OK;
}

void search_state_close(struct search_state *c)
{
    if (!c)
        return;
    pthread_mutex_destroy(&c->lock);
    ranges_free(&c->done);
    free(c);
}

/* Under the lock. */
static enum ek_status save(struct search_state *c)
{
    const double start = clock_now();
    TRY(search_state_write(c->path, c->job, &c->done, c->evaluations, results_spool(c->results)));
    c->next_save = clock_now() + fmax(OFTEN, SHARE * (clock_now() - start));
    return EK_OK;
}

/* A save that fails costs no results: the search goes on, and saves later. Under the lock. */
static void try_to_save(struct search_state *c)
{
    if (!MUTED(save(c)))
        return;
    c->next_save = clock_now() + SHARE * OFTEN;
    if (!c->warned)
        status_warn("%s; the search goes on without being saved", status_message());
    c->warned = true;
}

enum ek_status search_state_begin(struct search_state *c)
{
    bool found = false;
    c->shown += c->before + c->computed;
    ranges_free(&c->done);
    c->evaluations = 0;
    c->before = c->computed = 0;
    TRY(results_begin(c->results));
    if (!c->path)
        return EK_OK;
    TRY(search_state_read(c->path, c->job, &c->done, &c->evaluations, results_spool(c->results),
                          &found));
    c->before = ranges_count(&c->done);
    return save(c); /* fails now, not after hours, if it cannot be written */
}

enum ek_status search_state_gaps(struct search_state *c, struct ranges *gaps)
{
    return ranges_gaps(&c->done, c->range, gaps);
}

static enum ek_status put_new(void *arg, struct trial_range range, struct accepted *found)
{
    struct search_state *c = arg;
    c->computed += range.count;
    return spool_put(results_spool(c->results), range, found);
}

enum ek_status search_state_put(struct search_state *c, struct trial_range range,
                                struct accepted *found)
{
    LOCKED(&c->lock);
    TRY(ranges_add_new(&c->done, range, found, put_new, c));
    progress_at(1e-6 * (double)(c->shown + c->before + c->computed));
    if (c->path && (clock_now() > c->next_save || stop_save_wanted()))
        try_to_save(c);
    return EK_OK;
}

void search_state_evaluated(struct search_state *c, double evaluations)
{
    LOCKED(&c->lock);
    c->evaluations += evaluations;
}

struct search_state_counts search_state_counts(struct search_state *c)
{
    LOCKED(&c->lock);
    return (struct search_state_counts){c->evaluations, c->before + c->computed, c->computed};
}

enum ek_status search_state_save(struct search_state *c)
{
    if (!c->path)
        return EK_OK;
    LOCKED(&c->lock);
    return save(c);
}

void search_state_try_to_save(struct search_state *c)
{
    if (!c->path)
        return;
    LOCKED(&c->lock);
    try_to_save(c);
}

void search_state_forget(struct search_state *c)
{
    if (c->path)
        unlink(c->path);
}

/* ---- writing ----------------------------------------------------------------------------------*/

enum { VERSION = 2, AT_ONCE = 4096 };
static const char magic[] = "EKSEARCH", what[] = "okada_mogi checkpoint 2";

struct head {
    char magic[8];
    uint32_t version, record; /* bytes of a record */
    uint64_t job, ranges, records;
    double evaluations;
};

/* A file, and the checksum of everything read or written so far. */
struct stream {
    const char *path;
    FILE *in;
    struct file *out;
    struct checksum sum;
};

static enum ek_status put(struct stream *s, const void *data, size_t bytes)
{
    checksum_add(&s->sum, data, bytes);
    return file_write(s->out, data, bytes);
}

static enum ek_status put_records(void *arg, const struct accepted_record *record, size_t n)
{
    return put(arg, record, n * sizeof *record);
}

enum ek_status search_state_write(const char *path, uint64_t job, const struct ranges *done,
                                  double evaluations, struct spool *records)
{
    struct stream s = {.path = path};
    struct head head = {.version = VERSION,
                        .record = sizeof(struct accepted_record),
                        .job = job,
                        .ranges = done->n,
                        .records = spool_count(records),
                        .evaluations = evaluations};
    memcpy(head.magic, magic, sizeof head.magic);
    checksum_begin(&s.sum, what);
    TRY(file_create(path, &s.out));
    enum ek_status st = put(&s, &head, sizeof head);
    if (!st && done->n)
        st = put(&s, done->range, done->n * sizeof *done->range);
    THEN(st, spool_each(records, put_records, &s));
    const uint64_t sum = checksum_end(&s.sum);
    THEN(st, put(&s, &sum, sizeof sum));
    return file_end(s.out, st);
}

/* ---- reading ----------------------------------------------------------------------------------*/

static enum ek_status damaged(const struct stream *s)
{
    FAIL(EK_USAGE, "%s: this checkpoint is cut short or damaged; delete it to start afresh",
         s->path);
}

static enum ek_status get(struct stream *s, void *data, size_t bytes)
{
    if (fread(data, 1, bytes, s->in) != bytes)
        return damaged(s);
    checksum_add(&s->sum, data, bytes);
    return EK_OK;
}

static enum ek_status get_head(struct stream *s, uint64_t job, struct head *head)
{
    if (fread(head, sizeof *head, 1, s->in) != 1 || memcmp(head->magic, magic, sizeof head->magic))
        FAIL(EK_USAGE, "%s: this is no checkpoint; choose another file for --checkpoint", s->path);
    if (head->version != VERSION || head->record != sizeof(struct accepted_record))
        FAIL(EK_USAGE, "%s: a checkpoint of version %u, this program writes version %d; remove it",
             s->path, head->version, VERSION);
    if (head->job != job)
        FAIL(EK_USAGE,
             "%s: the checkpoint of another job, other stations or other --trials; remove it or "
             "choose another file",
             s->path);
    checksum_add(&s->sum, head, sizeof *head);
    return EK_OK;
}

/* Verifies the checksum before anything of the file is used. */
static enum ek_status prove(struct stream *s, uint64_t job, struct head *head)
{
    char chunk[1 << 14];
    uint64_t sum;
    TRY(get_head(s, job, head));
    const off_t begin = ftello(s->in), bytes = (off_t)(head->ranges * sizeof(struct trial_range) +
                                                       head->records * head->record);
    if (fseeko(s->in, 0, SEEK_END) || ftello(s->in) != begin + bytes + (off_t)sizeof sum)
        return damaged(s);
    fseeko(s->in, begin, SEEK_SET);
    for (off_t left = bytes; left > 0;) {
        const size_t some = left < (off_t)sizeof chunk ? (size_t)left : sizeof chunk;
        TRY(get(s, chunk, some));
        left -= (off_t)some;
    }
    if (fread(&sum, sizeof sum, 1, s->in) != 1 || sum != checksum_end(&s->sum))
        return damaged(s);
    fseeko(s->in, begin, SEEK_SET);
    return EK_OK;
}

/* Reads the records of a range (records are sorted like ranges), some at a time. */
static enum ek_status get_records(struct stream *s, struct trial_range range, uint64_t *left,
                                  struct accepted_record *next, struct spool *records)
{
    OWNED(accepted_free) struct accepted some = {0};
    while (next->trial - range.first < range.count) {
        if (some.n == AT_ONCE) { /* up to the next record */
            const trial_number count = next->trial - range.first;
            TRY(spool_put(records, (struct trial_range){range.first, count}, &some));
            range = (struct trial_range){next->trial, range.count - count};
        }
        TRY(accepted_add(&some, next));
        if (*left) {
            --*left;
            TRY(get(s, next, sizeof *next));
        } else {
            next->trial = range.first - 1; /* no more records: outside of every range */
        }
    }
    return spool_put(records, range, &some);
}

static enum ek_status get_all(struct stream *s, const struct head *head, struct ranges *done,
                              struct spool *records)
{
    struct accepted_record next = {.trial = ~(trial_number)0};
    uint64_t left = head->records;
    for (uint64_t i = 0; i < head->ranges; i++) {
        struct trial_range range;
        TRY(get(s, &range, sizeof range));
        TRY(ranges_add(done, range));
    }
    if (left) {
        left--;
        TRY(get(s, &next, sizeof next));
    }
    for (size_t i = 0; i < done->n; i++)
        TRY(get_records(s, done->range[i], &left, &next, records));
    return EK_OK;
}

enum ek_status search_state_read(const char *path, uint64_t job, struct ranges *done,
                                 double *evaluations, struct spool *records, bool *found)
{
    struct head head;
    struct stream s = {.path = path, .in = fopen(path, "rb")};
    *found = s.in != NULL;
    if (!s.in && errno == ENOENT)
        return EK_OK;
    if (!s.in)
        FAIL(EK_UNAVAILABLE, "%s: cannot be read: %s", path, strerror(errno));
    checksum_begin(&s.sum, what);
    enum ek_status st = prove(&s, job, &head);
    THEN(st, get_all(&s, &head, done, records));
    if (!st)
        *evaluations = head.evaluations;
    fclose(s.in);
    return st;
}
