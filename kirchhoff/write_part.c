/* kirchhoff/write_part.c – partial images: files that hold the image of some chunks, to be added
 * up. A head, which identifies the migration and its samples and has a checksum of the file, is
 * followed by sums and folds as in memory, points summed again, the list of chunks, and the state
 * of least squares. */
#include "kirchhoff/mig.h"
#include "src/checksum.h"
#include "src/file.h"

#include <errno.h>
#include <sys/stat.h>

static const char magic[17] = "evenkeel image A";
enum { KIND = 15 };                       /* characters of `magic` before the version */
enum { SAMPLED = 64, TABLE_HEAD = 1024 }; /* tables in the checksum; bytes of each */
enum { SUMS, FOLDS, AGAIN, DONE, LEAST, PIECES = LEAST + LSM_PIECES };

struct head {
    char magic[16];
    uint64_t problem, bytes[PIECES], silent, traces, sum;
};

/* ---- identifying the migration ----------------------------------------------------------------*/

_Static_assert(sizeof(struct segy_trace) == 6 * 8 + 8 + 4 * 4 + 8,
               "no holes whose bytes are chance");

void mig_sum_chunk(struct mig *p, size_t chunk)
{
    const struct chunks *s = p->m->survey;
    uint64_t sum = 0;
    for (size_t i = s->first[chunk]; i < s->first[chunk + 1]; i++) {
        if (!p->m->segy->sum[s->order[i]])
            return;
        sum += p->m->segy->sum[s->order[i]];
    }
    p->sum[chunk] = sum;
}

/* Checksum of the samples of all chunks that are done and reach the slab; with least squares, of
 * all chunks. Reads traces that this run has not read yet. */
static enum ek_status sum_traces(struct mig *p, const bool *done, uint64_t *sum)
{
    const struct chunks *s = p->m->survey;
    OWNED_MEMORY NEW(float, x, p->m->segy->ns, "out of memory for a trace");
    *sum = 0;
    for (size_t c = 0; c < s->nchunks; c++) {
        if (!p->lsm && !(done[c] && migrate_reaches(p->m, c)))
            continue;
        for (size_t i = s->first[c]; !p->sum[c] && i < s->first[c + 1]; i++)
            if (!p->m->segy->sum[s->order[i]])
                TRY(segy_read(p->m->segy, s->order[i], x));
        if (!p->sum[c])
            mig_sum_chunk(p, c);
        *sum += p->sum[c];
    }
    return EK_OK;
}

/* Adds the tables' geometry and the heads of some tables, which contain checksums of the rest. */
static enum ek_status add_tables(const struct traveltime_cache *t, struct checksum *c)
{
    checksum_add_text(c, t->name);
    checksum_add(c, t->grid.n, sizeof t->grid.n);
    checksum_add(c, t->grid.origin, sizeof t->grid.origin);
    checksum_add(c, t->grid.step, sizeof t->grid.step);
    checksum_add(c, &t->surface, sizeof t->surface);
    for (int i = 0; t->folder && i < t->nodes; i += t->nodes / SAMPLED + 1) {
        char path[4096], head[TABLE_HEAD];
        if (t->made) {
            checksum_add(c, t->made[i]->memory, TABLE_HEAD);
            continue;
        }
        tfolder_path(t->folder, (size_t)i, path);
        FILE *in = fopen(path, "rb");
        const bool read = in && fread(head, sizeof head, 1, in) == 1;
        if (in)
            fclose(in);
        if (!read)
            FAIL(EK_USAGE, "%s: cannot be read; make the tables again", path);
        checksum_add(c, head, sizeof head);
    }
    return EK_OK;
}

/* A checksum of all that images must share to be added: traces, chunks, tables, grid, weights. */
static enum ek_status find_problem(const struct mig *p, uint64_t *problem)
{
    const struct migrate *m = p->m;
    const struct migrate_options *o = &m->o;
    const struct chunks *s = m->survey;
    const double number[] = {o->aperture,
                             o->aperture_base,
                             o->dip,
                             o->angle,
                             o->taper,
                             o->anti_alias,
                             o->spacing_source,
                             o->spacing_receiver,
                             o->oversample,
                             o->class_first,
                             o->class_width,
                             o->deterministic,
                             (double)m->segy->ns,
                             (double)m->segy->dt,
                             o->dimension,
                             o->offset_most,
                             o->offset_taper,
                             o->mute_taper,
                             o->wavelet,
                             m->filter,
                             m->classes.n};
    struct checksum c;
    checksum_begin(&c, "kirchhoff-mig problem");
    checksum_add(&c, number, sizeof number);
    checksum_add_text(&c, migrate_weights[o->weight]);
    checksum_add_text(&c, migrate_datums[o->datum]);
    checksum_add(&c, &m->mute.n, sizeof m->mute.n); /* without the padding after it */
    checksum_add(&c, m->mute.offset, sizeof m->mute.offset);
    checksum_add(&c, m->mute.time, sizeof m->mute.time);
    checksum_add(&c, &m->mute.taper, sizeof m->mute.taper);
    checksum_add(&c, m->grid.n, sizeof m->grid.n);
    checksum_add(&c, m->grid.origin, sizeof m->grid.origin);
    checksum_add(&c, m->grid.step, sizeof m->grid.step);
    checksum_add(&c, m->segy->trace, m->segy->n * sizeof *m->segy->trace);
    checksum_add(&c, s->order, s->n * sizeof *s->order);
    checksum_add(&c, s->first, (s->nchunks + 1) * sizeof *s->first);
    TRY(add_tables(m->travel, &c));
    *problem = checksum_end(&c);
    return EK_OK;
}

/* ---- files ------------------------------------------------------------------------------------*/

/* Restores the state of least squares and, if the next step does not migrate, the fold of the last
 * migration. */
static void use_least(struct mig *p, void *const piece[PIECES])
{
    void *to[LSM_PIECES];
    uint64_t bytes[LSM_PIECES];
    lsm_pieces(p->lsm, to, bytes);
    for (int i = 0; i < LSM_PIECES; i++)
        memcpy(to[i], piece[LEAST + i], bytes[i]);
    if (!lsm_migrates(p->lsm->at.steps + 1))
        memcpy(p->m->image->fold, piece[FOLDS], image_points(p->m->image) * sizeof(float));
}

/* Points piece[] at the data in memory and fills the head, without checksums and `silent`. */
static enum ek_status fill_head(const struct mig *p, struct head *h, void *piece[PIECES])
{
    const struct image *m = p->m->image;
    void *const at[PIECES] = {m->sum, m->fold, p->m->resum->total, p->done};
    *h =
        (struct head){.bytes = {image_points(m) * sizeof *m->sum, image_points(m) * sizeof *m->fold,
                                (size_t)p->m->resum->n * sizeof *p->m->resum->total,
                                p->m->survey->nchunks * sizeof *p->done}};
    memcpy(h->magic, magic, sizeof h->magic);
    memcpy(piece, at, sizeof at);
    lsm_pieces(p->lsm, piece + LEAST, h->bytes + LEAST);
    return find_problem(p, &h->problem);
}

static uint64_t sum_of(const struct head *h, void *const piece[PIECES])
{
    struct checksum c;
    checksum_begin(&c, magic);
    checksum_add(&c, h, offsetof(struct head, sum));
    for (int i = 0; i < PIECES; i++)
        if (h->bytes[i])
            checksum_add(&c, piece[i], h->bytes[i]);
    return checksum_end(&c);
}

enum ek_status mig_part_write(struct mig *p, const char *path)
{
    struct head head;
    struct file *w;
    void *piece[PIECES];
    TRY(fill_head(p, &head, piece));
    TRY(sum_traces(p, p->done, &head.traces));
    head.silent = (uint64_t)atomic_load(&p->m->image->silent);
    head.sum = sum_of(&head, piece);
    TRY(file_create(path, &w));
    enum ek_status st = file_write(w, &head, sizeof head);
    for (int i = 0; i < PIECES && !st; i++)
        if (head.bytes[i])
            st = file_write(w, piece[i], head.bytes[i]);
    return file_end(w, st);
}

/* Reads the head and the pieces; *whole: sizes and checksum are right. The caller frees them. */
static enum ek_status read_pieces(const char *path, FILE *in, struct head *head,
                                  void *piece[PIECES], bool *whole)
{
    struct stat about;
    const bool known = !fstat(fileno(in), &about) && fread(head, sizeof *head, 1, in) == 1;
    uint64_t left = known ? (uint64_t)about.st_size - sizeof *head : 0;
    *whole = known;
    for (int i = 0; i < PIECES && *whole; i++) {
        const uint64_t bytes = head->bytes[i];
        *whole = bytes <= left;
        if (*whole && !(piece[i] = malloc(bytes + 1)))
            FAIL(EK_UNAVAILABLE, "%s: out of memory", path);
        *whole = *whole && fread(piece[i], 1, bytes, in) == bytes;
        left -= bytes;
    }
    *whole = *whole && !left && head->sum == sum_of(head, piece);
    return EK_OK;
}

static enum ek_status read_part(const struct mig *p, const char *path, enum mig_part_use use,
                                FILE *in, struct head *head, void *piece[PIECES])
{
    struct head own;
    void *at[PIECES];
    bool whole;
    TRY(fill_head(p, &own, at));
    TRY(read_pieces(path, in, head, piece, &whole));
    if (!whole && !memcmp(head->magic, magic, KIND) &&
        memcmp(head->magic, magic, sizeof head->magic))
        FAIL(EK_USAGE, "%s: a partial image of another version; delete it to start afresh", path);
    if (!whole && use == MIG_PART_CHECK) {
        status_warn("%s: a damaged partial image is computed again", path);
        return EK_UNVERIFIED;
    }
    if (!whole)
        FAIL(EK_USAGE, "%s: a damaged partial image; delete it to start afresh", path);
    if (head->problem != own.problem || memcmp(head->bytes, own.bytes, sizeof own.bytes))
        FAIL(EK_USAGE,
             "%s: a partial image of another migration; delete it, or choose another name", path);
    return EK_OK;
}

static enum ek_status use_part(struct mig *p, const char *path, enum mig_part_use use,
                               const struct head *head, void *const piece[PIECES])
{
    const bool *done = piece[DONE];
    uint64_t traces = head->traces;
    if (use != MIG_PART_ADD) /* a file of an earlier run, checked before it is added */
        TRY(sum_traces(p, done, &traces));
    if (traces != head->traces)
        FAIL(EK_USAGE, "%s: a partial image of another migration: traces have changed", path);
    if (p->lsm) {
        use_least(p, piece);
        return EK_OK;
    }
    for (size_t c = 0; c < p->m->survey->nchunks; c++)
        if (use == MIG_PART_ADD && done[c] && p->done[c])
            FAIL(EK_USAGE, "%s: has traces that are in the image already; delete it", path);
    for (size_t c = 0; c < p->m->survey->nchunks && use != MIG_PART_CHECK; c++)
        p->done[c] = p->done[c] || done[c];
    if (use != MIG_PART_ADD)
        return EK_OK;
    image_add(p->m->image, piece[SUMS], piece[FOLDS]);
    resum_take(p->m->resum, piece[AGAIN]);
    p->m->image->silent += (long)head->silent;
    return EK_OK;
}

enum ek_status mig_part_take(struct mig *p, const char *path, enum mig_part_use use)
{
    struct head head;
    void *piece[PIECES] = {NULL};
    OWNED_STREAM FILE *in = fopen(path, "rb");
    if (!in)
        return file_not_opened(path, errno);
    enum ek_status st = read_part(p, path, use, in, &head, piece);
    THEN(st, use_part(p, path, use, &head, piece));
    for (int i = 0; i < PIECES; i++)
        free(piece[i]);
    return st;
}
