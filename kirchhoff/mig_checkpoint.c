/* kirchhoff/mig_checkpoint.c – saves the image so far from time to time and when a run is
 * interrupted; the next run resumes from it.
 *
 * OUT.checkpoint is rank 0's file and has the chunks of all former runs. Other ranks save their own
 * chunks beside it in OUT.checkpoint.rankN; the next run merges these into OUT.checkpoint before
 * any rank saves again, so no two valid files share a chunk. */
#include "cu/rank/cluster.h"
#include "kirchhoff/mig.h"
#include "src/clock.h"
#include "src/file.h"

#include <dirent.h>
#include <unistd.h>

static const double usual = 60;             /* seconds between saves without --save-every */
static const double share = 0.01;           /* largest share of the time that saves may take then */
static const double bytes_a_second = 500e6; /* assumed speed of the first save */

/* ---- files ------------------------------------------------------------------------------------*/

enum { NAME = sizeof((struct mig *)NULL)->checkpoint + 300 };

static void name_file(const struct mig *p, int rank, char path[NAME])
{
    snprintf(path, NAME, "%s", p->checkpoint);
    if (rank > 0)
        snprintf(path, NAME, "%s.rank%d", p->checkpoint, rank);
}

static void remove_rank_files(const struct mig *p)
{
    char path[NAME];
    for (int rank = 1; rank < cluster_size(); rank++) {
        name_file(p, rank, path);
        unlink(path);
    }
}

/* Adds a rank's file to the chunks done, and to the files to merge. If the checkpoint already has
 * all its chunks, the previous run ended between merging and removing it, so it is removed now. */
static enum ek_status list_file(struct mig *p, int rank, const char *path)
{
    const size_t n = p->m->survey->nchunks;
    size_t known = 0, new = 0;
    OWNED_MEMORY NEW(bool, before, n, "out of memory for %zu chunks", n);
    memcpy(before, p->done, n * sizeof *before);
    memset(p->done, 0, n * sizeof *before);
    TRY(mig_part_take(p, path, MIG_PART_LIST));
    for (size_t c = 0; c < n; c++) {
        known += p->done[c] && before[c];
        new += p->done[c] && !before[c];
        p->done[c] = p->done[c] || before[c];
    }
    if (known && new)
        FAIL(EK_USAGE, "%s: has traces that %s has, too; delete one of them", path, p->checkpoint);
    if (!new) {
        unlink(path);
        return EK_OK;
    }
    int *more = realloc(p->kept_rank, ((size_t)p->kept_ranks + 1) * sizeof *more);
    if (!more)
        FAIL(EK_UNAVAILABLE, "out of memory for the files of %d ranks", p->kept_ranks + 1);
    p->kept_rank = more;
    p->kept_rank[p->kept_ranks++] = rank;
    return EK_OK;
}

/* Finds the files of other ranks beside the checkpoint. */
static enum ek_status list_rank_files(struct mig *p)
{
    char path[NAME];
    const char *slash = strrchr(p->checkpoint, '/');
    const int above = slash ? (int)(slash + 1 - p->checkpoint) : 0;
    const size_t length = strlen(p->checkpoint + above) + strlen(".rank");
    enum ek_status st = EK_OK;
    snprintf(path, sizeof path, "%.*s.", above, p->checkpoint);
    DIR *folder = opendir(path);
    for (const struct dirent *e; folder && !st && (e = readdir(folder));) {
        const int rank = strlen(e->d_name) > length ? atoi(e->d_name + length) : 0;
        name_file(p, rank, path);
        if (rank > 0 && !strcmp(path + above, e->d_name))
            st = list_file(p, rank, path);
    }
    if (folder)
        closedir(folder);
    return st;
}

/* Removes what killed runs were writing: checkpoints of all ranks, and slabs, whose number may have
 * been another. */
static void clear_half_files(const struct mig *p)
{
    static const char *const kind[] = {"checkpoint", "slab"};
    char start[NAME];
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        snprintf(start, sizeof start, "%.4000s.%s", p->out ? p->out : p->raw, kind[i]);
        file_clean(start);
    }
}

static enum ek_status list_files(struct mig *p)
{
    clear_half_files(p);
    TRY(mig_slabs_alone(p));
    if (p->m->slabs > 1)
        return mig_slabs_resume(p);
    p->kept_part = !access(p->checkpoint, F_OK);
    if (p->kept_part)
        TRY(mig_part_take(p, p->checkpoint, MIG_PART_LIST));
    return p->lsm ? EK_OK : list_rank_files(p);
}

enum ek_status mig_checkpoint_list(struct mig *p)
{
    if (*p->checkpoint && cluster_rank() == 0)
        TRY(list_files(p));
    cluster_share(p->done, p->m->survey->nchunks * sizeof *p->done);
    return EK_OK;
}

/* Sets the time of the next save; `cost`: seconds that a save takes. */
static void plan_next(struct mig *p, double cost)
{
    const double every = p->saving.every;
    const double wait = every < 0 ? fmax(usual, cost / share) : every;
    p->saving.next = *p->checkpoint && every != 0 ? clock_now() + wait : INFINITY;
}

enum ek_status mig_checkpoint_add(struct mig *p)
{
    char path[NAME];
    if (p->kept_part)
        TRY(mig_part_take(p, p->checkpoint, MIG_PART_ADD));
    for (int i = 0; i < p->kept_ranks; i++) {
        name_file(p, p->kept_rank[i], path);
        TRY(mig_part_take(p, path, MIG_PART_ADD));
    }
    if (p->kept_ranks)
        TRY(mig_part_write(p, p->checkpoint));
    p->kept_part = p->kept_part || p->kept_ranks;
    while (p->kept_ranks > 0) {
        name_file(p, p->kept_rank[--p->kept_ranks], path);
        unlink(path);
    }
    plan_next(p, (double)image_bytes(&p->m->grid, &p->m->classes) / bytes_a_second);
    cluster_barrier(); /* no rank may save before all files are merged */
    return EK_OK;
}

void mig_checkpoint_remove(void *st)
{
    struct mig *p = st;
    if (p->m->slabs > 1)
        mig_slabs_remove(p);
    if (!*p->checkpoint)
        return;
    if (p->kept_part)
        unlink(p->checkpoint);
    remove_rank_files(p);
}

/* ---- now and then -----------------------------------------------------------------------------*/

/* Saves when no unit is adding; called with the lock held. If saving fails, warns once and the run
 * goes on. */
static void save(struct mig *p)
{
    char path[NAME];
    const double start = clock_now();
    struct mig_saving *s = &p->saving;
    s->now = true;
    while (s->adding)
        pthread_cond_wait(&s->changed, &s->lock);
    name_file(p, cluster_rank(), path);
    const bool failed = MUTED(mig_part_write(p, path));
    if (failed && !s->failed)
        status_warn("the image so far is not saved: %s", status_message());
    s->failed = s->failed || failed;
    p->kept_part = p->kept_part || !failed;
    s->now = false;
    pthread_cond_broadcast(&s->changed);
    plan_next(p, clock_now() - start);
}

void mig_add_begin(struct mig *p)
{
    struct mig_saving *s = &p->saving;
    LOCKED(&s->lock);
    while (s->now)
        pthread_cond_wait(&s->changed, &s->lock);
    s->adding++;
}

/* Least squares saves between steps only (mig_step_end()). */
void mig_add_end(struct mig *p)
{
    struct mig_saving *s = &p->saving;
    LOCKED(&s->lock);
    if (--s->adding == 0)
        pthread_cond_broadcast(&s->changed);
    if (!s->now && !p->lsm && clock_now() >= s->next)
        save(p);
}

static void note_steps(struct mig *p)
{
    p->lsm->at.steps = p->steps;
    p->lsm->at.again = p->again;
}

void mig_step_end(struct mig *p)
{
    LOCKED(&p->saving.lock);
    note_steps(p);
    if (clock_now() >= p->saving.next)
        save(p);
}

/* ---- an interrupted run -----------------------------------------------------------------------*/

/* Keeps the last whole step of least squares. */
static enum ek_status keep_steps(struct mig *p)
{
    if (p->steps == p->kept_steps) {
        status_warn("interrupted within the first step of this run, of which nothing is kept");
        return EK_OK;
    }
    note_steps(p);
    TRY(mig_write_anywhere(p, p->checkpoint, mig_part_write));
    status_warn("interrupted after %d of %d iterations, kept in %s; run it again to go on",
                p->lsm->at.done, p->iterations, p->checkpoint);
    return EK_OK;
}

enum ek_status mig_interrupted(void *st)
{
    struct mig *p = st;
    size_t left = 0;
    for (size_t c = p->first; c < p->end; c++)
        left += !p->done[c];
    if (!*p->checkpoint) {
        if (!p->part)
            status_warn("nothing is kept of a run without an image, with --compare or --repeat");
        return EK_OK;
    }
    if (p->lsm)
        return keep_steps(p);
    TRY(mig_write_anywhere(p, p->checkpoint, mig_part_write));
    if (p->m->slabs > 1)
        status_warn("slab %d of %d:", p->m->slab + 1, p->m->slabs);
    status_warn("interrupted with %zu of %zu chunks summed, kept in %s; run it again to go on",
                p->end - p->first - left, p->end - p->first, p->checkpoint);
    return EK_OK;
}

/* The rank that has a chunk knows its checksum, the others have 0. Sent in halves, as a double
 * holds 53 bits. */
enum ek_status mig_gather(struct mig *p)
{
    const size_t n = p->m->survey->nchunks;
    OWNED_MEMORY NEW(double, all, 3 * n + 1, "out of memory for %zu chunks", n);
    for (size_t c = 0; c < n; c++) {
        all[3 * c] = p->done[c];
        all[3 * c + 1] = (double)(p->sum[c] >> 32);
        all[3 * c + 2] = (double)(uint32_t)p->sum[c];
    }
    cluster_max(all, 3 * n);
    for (size_t c = 0; c < n; c++) {
        p->done[c] = all[3 * c] > 0;
        p->sum[c] = (uint64_t)all[3 * c + 1] << 32 | (uint64_t)all[3 * c + 2];
    }
    image_gather(p->m->image);
    double silent = (double)atomic_load(&p->m->image->silent);
    cluster_sum(&silent, 1);
    p->m->image->silent = cluster_rank() == 0 ? (long)silent : 0;
    return EK_OK;
}

/* Rank 0 gathers what all ranks have and keeps it as if it had done it alone. */
enum ek_status mig_save_all(struct mig *p)
{
    TRY(mig_gather(p));
    (void)resum_judge(p->m->resum); /* also sums the check points' totals of all ranks */
    p->first = p->span[0];
    p->end = p->span[1];
    if (cluster_rank() == 0) {
        TRY(mig_interrupted(p));
        remove_rank_files(p);
    }
    return EK_STOPPED;
}
