/* kirchhoff/write_part.c – images of some chunks in files, to be added up: sums and folds as they
 * are in memory, behind a head that says of which migration they are, with a sum of it all. */
#include "kirchhoff/mig.h"
#include "src/checksum.h"
#include "src/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[17] = "evenkeel image 2";

struct head {
    char magic[16];
    uint64_t problem, sums, folds, sum;
};

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
                             (double)m->segy->layout.size,
                             o->dimension,
                             o->offset_most,
                             o->offset_taper,
                             o->mute_taper,
                             m->filter};
    struct checksum c;
    checksum_begin(&c, "kirchhoff-mig problem");
    checksum_add(&c, number, sizeof number);
    checksum_add_text(&c, migrate_weights[o->weight]);
    checksum_add_text(&c, migrate_datums[o->datum]);
    checksum_add(&c, &m->mute, sizeof m->mute);
    checksum_add_text(&c, m->travel->name);
    checksum_add(&c, m->grid.n, sizeof m->grid.n);
    checksum_add(&c, m->grid.origin, sizeof m->grid.origin);
    checksum_add(&c, m->grid.step, sizeof m->grid.step);
    return checksum_end(&c);
}

static uint64_t sum_of(const void *sums, size_t nsums, const void *folds, size_t nfolds)
{
    struct checksum c;
    checksum_begin(&c, magic);
    checksum_add(&c, sums, nsums * sizeof(double));
    checksum_add(&c, folds, nfolds * sizeof(float));
    return checksum_end(&c);
}

enum ek_status mig_part_write(const struct mig *p, const char *path)
{
    const struct image *m = p->m->image;
    struct head head = {.problem = problem_of(p), .sums = image_sums(m), .folds = image_folds(m)};
    struct file *w;
    memcpy(head.magic, magic, sizeof head.magic);
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
    if (fread(&head, sizeof head, 1, in) != 1 || memcmp(head.magic, magic, sizeof head.magic))
        FAIL(EK_USAGE, "%s: no partial image", path);
    if (head.problem != problem_of(p) || head.sums != image_sums(m) || head.folds != image_folds(m))
        FAIL(EK_USAGE, "%s: a partial image of another migration", path);
    if (fread(sums, sizeof *sums, head.sums, in) != head.sums ||
        fread(folds, sizeof *folds, head.folds, in) != head.folds ||
        head.sum != sum_of(sums, head.sums, folds, head.folds))
        FAIL(EK_USAGE, "%s: a damaged partial image; delete it", path);
    return EK_OK;
}

enum ek_status mig_part_take(const struct mig *p, const char *path, bool adds)
{
    struct image *m = p->m->image;
    FILE *in = fopen(path, "rb");
    if (!in)
        FAIL(EK_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    double *sums = malloc(image_sums(m) * sizeof *sums);
    float *folds = malloc(image_folds(m) * sizeof *folds);
    enum ek_status st = sums && folds ? read_part(p, path, in, sums, folds)
                                      : status_fail(EK_UNAVAILABLE, "%s: out of memory", path);
    if (!st && adds)
        image_add(m, sums, folds);
    free(sums);
    free(folds);
    fclose(in);
    return st;
}
