/* kirchhoff/mig_part.c – images of some chunks in files, to be added up: sums and folds as they are
 * in memory, behind a head that says of which migration they are, with a sum of it all. */
#include "kirchhoff/mig.h"
#include "src/file.h"
#include "src/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[16] = "evenkeel image 1";

struct head {
    char magic[16];
    uint64_t problem, sums, folds, sum;
};

static uint64_t hash_number(uint64_t h, double x)
{
    return hash_bytes(h, &x, sizeof x);
}

/* What makes images addable: the same traces, tables, image and weights. */
static uint64_t problem_of(const struct mig *p)
{
    const struct migrate *m = p->m;
    const struct migrate_options *o = &m->o;
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
                             o->node_spacing,
                             o->deterministic,
                             (double)m->survey->n,
                             (double)m->segy->layout.size};
    uint64_t h = HASH_BASIS;
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        h = hash_number(h, number[i]);
    h = hash_text(h, o->weight);
    h = hash_text(h, o->datum);
    h = hash_text(h, m->travel->name);
    h = hash_number(h, m->derivative);
    for (int a = 0; a < 3; a++) {
        h = hash_number(h, m->grid.n[a]);
        h = hash_number(h, m->grid.origin[a]);
        h = hash_number(h, m->grid.step[a]);
    }
    return h;
}

static uint64_t sum_of(const void *sums, size_t nsums, const void *folds, size_t nfolds)
{
    return hash_bytes(hash_bytes(HASH_BASIS, sums, nsums * sizeof(double)), folds,
                      nfolds * sizeof(float));
}

enum ek_status mig_part_write(const struct mig *p, const char *path)
{
    const struct image *m = p->m->image;
    struct head head = {.problem = problem_of(p), .sums = image_sums(m), .folds = image_folds(m)};
    struct file *w;
    memcpy(head.magic, magic, sizeof magic);
    head.sum = sum_of(m->sum, head.sums, m->fold, head.folds);
    TRY(file_create(path, &w));
    enum ek_status st = file_write(w, &head, sizeof head);
    if (!st)
        st = file_write(w, m->sum, head.sums * sizeof *m->sum);
    if (!st)
        st = file_write(w, m->fold, head.folds * sizeof *m->fold);
    if (st) {
        file_abandon(w);
        return st;
    }
    return file_finish(w);
}

static enum ek_status read_part(const struct mig *p, const char *path, FILE *in, double *sums,
                                float *folds)
{
    const struct image *m = p->m->image;
    struct head head;
    if (fread(&head, sizeof head, 1, in) != 1 || memcmp(head.magic, magic, sizeof magic))
        FAIL(EK_USAGE, "%s: no partial image", path);
    if (head.problem != problem_of(p) || head.sums != image_sums(m) || head.folds != image_folds(m))
        FAIL(EK_USAGE, "%s: a partial image of another migration", path);
    if (fread(sums, sizeof *sums, head.sums, in) != head.sums ||
        fread(folds, sizeof *folds, head.folds, in) != head.folds ||
        head.sum != sum_of(sums, head.sums, folds, head.folds))
        FAIL(EK_USAGE, "%s: a damaged partial image; delete it", path);
    return EK_OK;
}

/* Reads a part and, where `adds`, adds it. */
static enum ek_status take_part(const struct mig *p, const char *path, bool adds)
{
    struct image *m = p->m->image;
    FILE *in = fopen(path, "rb");
    if (!in)
        FAIL(EK_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    double *sums = malloc(image_sums(m) * sizeof *sums);
    float *folds = malloc(image_folds(m) * sizeof *folds);
    enum ek_status st = sums && folds ? read_part(p, path, in, sums, folds)
                                      : status_fail(EK_LACK, "%s: out of memory", path);
    if (!st && adds)
        image_add(m, sums, folds);
    free(sums);
    free(folds);
    fclose(in);
    return st;
}

enum ek_status mig_part_add(struct mig *p, const char *path)
{
    return take_part(p, path, true);
}

enum ek_status mig_part_check(const struct mig *p, const char *path)
{
    return take_part(p, path, false);
}
