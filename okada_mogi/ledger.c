/* okada_mogi/ledger.c – keeps account of a search. */
#include "okada_mogi/ledger.h"
#include "okada_mogi/snapshot.h"
#include "src/clock.h"
#include "src/progress.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* Seconds between two saves; more where a save takes long, so that it never costs more than a
 * twentieth of the time. */
static const double OFTEN = 2, SHARE = 20;

struct ledger {
    struct harvest *harvest;
    struct trial_range range;
    uint64_t job;
    const char *path;
    pthread_mutex_t lock;
    struct ranges done;
    double evaluations;
    trial_number before, computed; /* of the checkpoint; since then */
    trial_number shown;            /* by runs that are over, for the progress line */
    double next_save;
};

enum ek_status ledger_open(struct harvest *h, struct trial_range range, uint64_t job_hash,
                           const char *path, struct ledger **l)
{
    struct ledger *made = calloc(1, sizeof *made);
    if (!made)
        FAIL(EK_LACK, "out of memory for the search's account");
    *made = (struct ledger){.harvest = h, .range = range, .job = job_hash, .path = path};
    pthread_mutex_init(&made->lock, NULL);
    *l = made;
    return EK_OK;
}

void ledger_close(struct ledger *l)
{
    if (!l)
        return;
    pthread_mutex_destroy(&l->lock);
    ranges_free(&l->done);
    free(l);
}

/* Under the lock. */
static enum ek_status save(struct ledger *l)
{
    const double start = clock_now();
    TRY(snapshot_save(l->path, l->job, &l->done, l->evaluations, l->harvest));
    l->next_save = clock_now() + fmax(OFTEN, SHARE * (clock_now() - start));
    return EK_OK;
}

enum ek_status ledger_begin(struct ledger *l)
{
    bool found = false;
    l->shown += l->before + l->computed;
    ranges_free(&l->done);
    l->evaluations = 0;
    l->before = l->computed = 0;
    TRY(harvest_begin(l->harvest));
    if (!l->path)
        return EK_OK;
    TRY(snapshot_load(l->path, l->job, &l->done, &l->evaluations, l->harvest, &found));
    l->before = ranges_count(&l->done);
    return save(l); /* better now than never */
}

enum ek_status ledger_gaps(struct ledger *l, struct ranges *gaps)
{
    return ranges_gaps(&l->done, l->range, gaps);
}

enum ek_status ledger_put(struct ledger *l, struct trial_range range, struct accepted *found)
{
    pthread_mutex_lock(&l->lock);
    enum ek_status st = ranges_add(&l->done, range);
    if (!st)
        st = harvest_put(l->harvest, range, found);
    l->computed += range.count;
    if (!st && l->path && clock_now() > l->next_save)
        st = save(l);
    progress_at(1e-6 * (double)(l->shown + l->before + l->computed));
    pthread_mutex_unlock(&l->lock);
    return st;
}

void ledger_evaluated(struct ledger *l, double evaluations)
{
    pthread_mutex_lock(&l->lock);
    l->evaluations += evaluations;
    pthread_mutex_unlock(&l->lock);
}

double ledger_evaluations(struct ledger *l)
{
    pthread_mutex_lock(&l->lock);
    const double sum = l->evaluations;
    pthread_mutex_unlock(&l->lock);
    return sum;
}

trial_number ledger_done(struct ledger *l)
{
    pthread_mutex_lock(&l->lock);
    const trial_number done = l->before + l->computed;
    pthread_mutex_unlock(&l->lock);
    return done;
}

trial_number ledger_computed(struct ledger *l)
{
    pthread_mutex_lock(&l->lock);
    const trial_number computed = l->computed;
    pthread_mutex_unlock(&l->lock);
    return computed;
}

enum ek_status ledger_save(struct ledger *l)
{
    if (!l->path)
        return EK_OK;
    pthread_mutex_lock(&l->lock);
    const enum ek_status st = save(l);
    pthread_mutex_unlock(&l->lock);
    return st;
}

void ledger_forget(struct ledger *l)
{
    if (l->path)
        unlink(l->path);
}
