/* okada_mogi/spool.c – batches in memory, then in a file. */
#include "okada_mogi/spool.h"
#include "src/sort.h"

#include <errno.h>
#include <unistd.h>

enum { AT_A_TIME = 4096 }; /* records read from the file */

/* A batch with accepted trials: in memory, or in the file, `first` records from its start. */
struct batch {
    struct trial_range range;
    struct accepted_record *record; /* NULL: in the file */
    size_t first, n;
};

struct spool {
    size_t memory; /* room for records in memory */
    struct batch *batch;
    size_t nbatches, room, count, held, filed; /* held, filed: records in memory, in the file */
    bool sorted;
    FILE *file;            /* NULL: not needed so far */
    enum ek_status failed; /* of the first put that failed: reported once, not by every unit */
};

enum ek_status spool_open(size_t memory, struct spool **s)
{
    NEW(struct spool, made, 1, "out of memory for the accepted trials");
    made->memory = memory;
    *s = made;
    return EK_OK;
}

void spool_clear(struct spool *s)
{
    for (size_t b = 0; b < s->nbatches; b++)
        free(s->batch[b].record);
    if (s->file)
        fclose(s->file);
    s->file = NULL;
    s->failed = EK_OK;
    s->nbatches = s->count = s->held = s->filed = 0;
}

void spool_close(struct spool *s)
{
    if (!s)
        return;
    spool_clear(s);
    free(s->batch);
    free(s);
}

/* ---- in ---------------------------------------------------------------------------------------*/

static const char *folder(void)
{
    const char *name = getenv("TMPDIR");
    return name && *name ? name : "/tmp";
}

static enum ek_status file_failed(const char *what)
{
    FAIL(EK_UNAVAILABLE, "%s: accepted trials cannot be %s: %s; set TMPDIR to another folder",
         folder(), what, strerror(errno));
}

static enum ek_status need_file(struct spool *s)
{
    char path[4096];
    if (s->file)
        return EK_OK;
    snprintf(path, sizeof path, "%s/accepted-XXXXXX", folder());
    const int fd = mkstemp(path);
    if (fd >= 0)
        unlink(path); /* it vanishes when the program ends, even by a crash */
    if (fd >= 0 && !(s->file = fdopen(fd, "r+")))
        close(fd);
    return s->file ? EK_OK : file_failed("kept there");
}

static enum ek_status append(struct spool *s, const struct accepted *a)
{
    TRY(need_file(s));
    if (fseeko(s->file, (off_t)(s->filed * sizeof *a->record), SEEK_SET) ||
        fwrite(a->record, sizeof *a->record, a->n, s->file) != a->n || fflush(s->file))
        return file_failed("kept there");
    return EK_OK;
}

enum ek_status spool_put(struct spool *s, struct trial_range range, struct accepted *a)
{
    if (s->failed || !a->n)
        return s->failed;
    struct batch b = {.range = range, .n = a->n};
    TRY(arena_grow(&s->batch, &s->room, s->nbatches, sizeof *s->batch, "batches"));
    if (s->held + a->n <= s->memory) {
        struct accepted_record *fit = realloc(a->record, a->n * sizeof *fit);
        b.record = fit ? fit : a->record;
        s->held += a->n;
        *a = (struct accepted){0};
    } else {
        TRY(s->failed = append(s, a));
        b.first = s->filed;
        s->filed += a->n;
        accepted_free(a);
    }
    s->batch[s->nbatches++] = b;
    s->count += b.n;
    s->sorted = false;
    return EK_OK;
}

size_t spool_count(const struct spool *s)
{
    return s->count;
}

/* ---- out --------------------------------------------------------------------------------------*/

SORT_BY(by_range, struct batch, SORT_UP(range.first))

static void sort(struct spool *s)
{
    if (!s->sorted && s->nbatches)
        qsort(s->batch, s->nbatches, sizeof *s->batch, by_range);
    s->sorted = true;
}

/* Reads n records of a batch, from record i on, from the file. */
static enum ek_status fetch(const struct spool *s, const struct batch *b, size_t i, size_t n,
                            struct accepted_record *to)
{
    if (fseeko(s->file, (off_t)((b->first + i) * sizeof *to), SEEK_SET) ||
        fread(to, sizeof *to, n, s->file) != n)
        return file_failed("read back");
    return EK_OK;
}

enum ek_status spool_each(struct spool *s,
                          enum ek_status (*visit)(void *arg, const struct accepted_record *record,
                                                  size_t n),
                          void *arg)
{
    OWNED_MEMORY struct accepted_record *buffer = malloc(AT_A_TIME * sizeof *buffer);
    if (!buffer)
        FAIL(EK_UNAVAILABLE, "out of memory for accepted trials");
    sort(s);
    for (size_t k = 0; k < s->nbatches; k++) {
        const struct batch *b = &s->batch[k];
        if (b->record)
            TRY(visit(arg, b->record, b->n));
        for (size_t i = 0; i < b->n && !b->record; i += AT_A_TIME) {
            const size_t n = b->n - i < AT_A_TIME ? b->n - i : AT_A_TIME;
            TRY(fetch(s, b, i, n, buffer));
            TRY(visit(arg, buffer, n));
        }
    }
    return EK_OK;
}

enum ek_status spool_find(struct spool *s, trial_number trial, bool *held)
{
    size_t begin = 0, end = s->nbatches;
    sort(s);
    SORT_BISECT(begin, end, s->batch[middle].range.first <= trial) /* the first that is behind it */
    *held = false;
    if (!begin)
        return EK_OK;
    const struct batch *b = &s->batch[begin - 1];
    for (begin = 0, end = b->n; begin < end && !*held;) {
        const size_t middle = begin + (end - begin) / 2;
        struct accepted_record one;
        if (b->record)
            one = b->record[middle];
        else
            TRY(fetch(s, b, middle, 1, &one));
        *held = one.trial == trial;
        if (one.trial < trial)
            begin = middle + 1;
        else
            end = middle;
    }
    return EK_OK;
}
