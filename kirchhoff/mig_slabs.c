/* kirchhoff/mig_slabs.c – images that exceed memory are made in slabs: each finished slab is kept
 * in a file, and read back to be checked, written and shown. */
#include "kirchhoff/mig.h"

#include <unistd.h>

void mig_slab_name(struct mig *p, int slab)
{
    const char *image = p->out ? p->out : p->raw;
    if (p->m->slabs > 1)
        snprintf(p->checkpoint, sizeof p->checkpoint, "%.4000s.slab%dof%d", image, slab + 1,
                 p->m->slabs);
}

/* The number of slabs depends on the memory that is free, so it may differ from the interrupted
 * run's. */
enum ek_status mig_slabs_alone(const struct mig *p)
{
    char path[sizeof p->checkpoint];
    const char *image = p->out ? p->out : p->raw;
    const int nx = p->m->whole.n[0], now = p->m->slabs;
    const size_t bytes = image_bytes(&p->m->whole, &p->m->classes);
    for (int slabs = 1; slabs <= nx; slabs++) {
        snprintf(path, sizeof path, "%.4000s.checkpoint", image);
        if (slabs > 1)
            snprintf(path, sizeof path, "%.4000s.slab1of%d", image, slabs);
        if (slabs != now && !access(path, F_OK))
            FAIL(EK_USAGE,
                 "%s: kept of an image in %d slab%s, now it has %d; go on with --image-memory "
                 "%.4g, or delete it to start afresh",
                 path, slabs, slabs > 1 ? "s" : "", now,
                 0x1p-30 * (double)bytes / nx * ((nx + slabs - 1) / slabs + 0.5));
    }
    return EK_OK;
}

static void forget(struct mig *p)
{
    memset(p->done, 0, p->m->survey->nchunks * sizeof *p->done);
    p->m->image->silent = 0;
}

/* Makes `slab` the current one, with none of its chunks done. */
static enum ek_status begin(struct mig *p, int slab)
{
    if (slab != p->m->slab)
        TRY(migrate_slab(p->m, slab));
    mig_slab_name(p, slab);
    forget(p);
    return EK_OK;
}

static bool is_done(const struct mig *p)
{
    for (size_t c = p->first; c < p->end; c++)
        if (!p->done[c])
            return false;
    return true;
}

enum ek_status mig_slabs_resume(struct mig *p)
{
    for (int slab = 0; slab < p->m->slabs; slab++) {
        TRY(begin(p, slab));
        p->kept_slabs = slab;
        p->kept_part = !access(p->checkpoint, F_OK);
        if (p->kept_part)
            TRY(mig_part_take(p, p->checkpoint, MIG_PART_LIST));
        if (!p->kept_part || !is_done(p))
            return EK_OK;
    }
    return EK_OK; /* all are finished: the last one is current, with nothing left to do */
}

enum ek_status mig_slab_end(struct mig *p, bool last)
{
    TRY(mig_part_write(p, p->checkpoint));
    return last ? EK_OK : begin(p, p->m->slab + 1);
}

enum ek_status mig_slab_take(struct mig *p, int slab)
{
    if (p->m->slabs == 1 || p->shown == slab + 1)
        return EK_OK;
    TRY(begin(p, slab));
    image_clear(p->m->image);
    resum_clear(p->m->resum);
    TRY(mig_part_take(p, p->checkpoint, MIG_PART_ADD));
    p->shown = slab + 1;
    return EK_OK;
}

void mig_slabs_remove(struct mig *p)
{
    for (int slab = 0; slab < p->m->slabs; slab++) {
        mig_slab_name(p, slab);
        unlink(p->checkpoint);
    }
}
