/* okada_mogi/search_best.c – for accept.best: a bound on the misfit of the n best trials.
 *
 * The largest misfit of any n different trials bounds the n-th least of all. The first bound comes
 * from random samples and short descents; every batch tightens it. */
#include "okada_mogi/descent.h"
#include "okada_mogi/search_method.h"

#include <pthread.h>

enum { SAMPLES = 4096, DESCENTS = 8 };

struct search_best {
    pthread_mutex_t lock;
    size_t room;           /* number of trials wanted, n */
    struct accepted least; /* at most n different trials, best first */
    double bound;          /* atomic, read without the lock */
};

/* The first `room` of two sorted lists, without duplicates. */
static enum ek_status merge(const struct accepted *a, const struct accepted *b, size_t room,
                            struct accepted *out)
{
    size_t i = 0, k = 0;
    while (out->n < room && (i < a->n || k < b->n)) {
        const bool from_a =
            k == b->n || (i < a->n && accepted_better(&a->record[i], &b->record[k]));
        const struct accepted_record *next = from_a ? &a->record[i++] : &b->record[k++];
        if (!out->n || out->record[out->n - 1].trial != next->trial)
            TRY(accepted_add(out, next));
    }
    return EK_OK;
}

static void set_bound(struct search_best *b)
{
    if (b->least.n == b->room)
        __atomic_store(&b->bound, &b->least.record[b->room - 1].misfit, __ATOMIC_RELAXED);
}

/* Merges `more`, and sorts it by misfit. */
static enum ek_status take(struct search_best *b, struct accepted *more)
{
    struct accepted merged = {0};
    accepted_sort_best(more);
    LOCKED(&b->lock);
    enum ek_status st = merge(&b->least, more, b->room, &merged);
    if (!st) {
        accepted_free(&b->least);
        b->least = merged;
        set_bound(b);
    } else {
        accepted_free(&merged);
    }
    return st;
}

enum ek_status search_best_note(struct search_best *b, const struct accepted_record *record,
                                size_t n)
{
    OWNED(accepted_free) struct accepted more = {0};
    const double bound = search_best_bound(b);
    for (size_t i = 0; b && i < n; i++)
        if (record[i].misfit <= bound)
            TRY(accepted_add(&more, &record[i]));
    return more.n ? take(b, &more) : EK_OK;
}

double search_best_bound(const struct search_best *b)
{
    double bound = INFINITY;
    if (b)
        __atomic_load(&b->bound, &bound, __ATOMIC_RELAXED);
    return bound;
}

/* ---- the first bound --------------------------------------------------------------------------*/

/* State of the first exploration. */
struct scout {
    const struct job *job;
    struct judge *judge;
    struct accepted seen;
};

static enum ek_status evaluate(void *arg, const long *place, double *misfit)
{
    struct scout *s = arg;
    struct accepted_record record;
    const trial_number trial = trial_of(s->job->axis, s->job->naxes, place);
    *misfit = INFINITY;
    if (trial - s->job->wanted.first >= s->job->wanted.count ||
        !judge_trial(s->judge, trial, &record, NULL))
        return EK_OK;
    if (!isnan(record.misfit))
        *misfit = record.misfit;
    return judge_accepts(s->job, &record, INFINITY) ? accepted_add(&s->seen, &record) : EK_OK;
}

static enum ek_status explore(struct scout *s)
{
    const struct descent_objective objective = {evaluate, s};
    OWNED(accepted_free) struct accepted start = {0};
    uint64_t seed = 1;
    for (int i = 0; i < SAMPLES; i++) {
        struct accepted_record r;
        const trial_number trial = trial_random(s->job->wanted, &seed);
        if (judge_trial(s->judge, trial, &r, NULL) && !isnan(r.misfit))
            TRY(accepted_add(&start, &r));
    }
    accepted_sort_best(&start);
    for (size_t i = 0; i < start.n && i < DESCENTS; i++)
        TRY(descent_run(s->job, &objective, start.record[i].trial, start.record[i].misfit));
    return EK_OK;
}

enum ek_status search_best_open(const struct job *job, struct search_best **b)
{
    NEW(struct search_best, made, 1, "%s: out of memory for the best %ld trials", job->path,
        job->accept.best);
    struct scout scout = {.job = job};
    pthread_mutex_init(&made->lock, NULL);
    made->room = (size_t)job->accept.best;
    made->bound = INFINITY;
    enum ek_status st = judge_open(job, &scout.judge);
    THEN(st, explore(&scout));
    THEN(st, search_best_note(made, scout.seen.record, scout.seen.n));
    accepted_free(&scout.seen);
    judge_close(scout.judge);
    return HAND_OUT(st, made, b, search_best_close);
}

void search_best_close(struct search_best *b)
{
    if (!b)
        return;
    pthread_mutex_destroy(&b->lock);
    accepted_free(&b->least);
    free(b);
}
