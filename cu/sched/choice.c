/* cu/sched/choice.c – what a partition promises, and whether that is enough to switch. */
#include "cu/sched/choice.h"

#include <math.h>
#include <string.h>

/* Doubt in the estimates counts up to this share of a step. */
static const double MOST_DOUBT = 0.02;

/* Leaving units out must promise at least a gain of WORTH (times at most MOST_CAUTION after failed
 * attempts), because less is known about units than about tasks; but trying it teaches the most. */
static const double WORTH = 0.02, MOST_CAUTION = 3;

/* A move while annealing takes as long as so many exchanges that are tried. */
enum { PER_MOVE = 30 };

static double doubt_of(const struct choice *c)
{
    return fmin(estimate_noise(c->estimate), MOST_DOUBT);
}

/* Predicted seconds of a step under a partition, with neighbours as busy as it makes them. */
static double total_of(struct choice *c, const int *owner, struct partition_cost cost)
{
    if (c->interference->slow && !WITHOUT(INTERFERENCE)) {
        partition_load(c->partition, owner);
        cost.makespan = interference_makespan(c->interference, c->estimate, c->partition->load);
    }
    return partition_total(c->partition, cost);
}

/* Searches; the best partition found goes to `owner`. Returns the predicted seconds of a step. */
static double search(struct choice *c, const int *present, int *owner)
{
    const long exchanges = c->partition->budget, moves = c->partition->moves;
    const struct partition_cost cost = partition_search(c->partition, present, owner);
    c->evaluations += exchanges - c->partition->budget;
    c->evaluations += PER_MOVE * (moves - c->partition->moves);
    return total_of(c, owner, cost);
}

/* The best partition on fewer units so far. */
struct fewer {
    double best; /* seconds of a step that it promises, or must; it is in c->other */
    int work[2]; /* CPU units: -1: there is none */
};

/* Tries so many units, which take `least` seconds if tasks can be divided at will. */
static void try_fewer(struct choice *c, const int work[2], double least, struct fewer *x)
{
    if (least > x->best)
        return;
    interference_set(c->interference, c->estimate, work);
    choice_refresh(c);
    const double total = search(c, NULL, c->rival);
    if (total > x->best)
        return;
    int *rival = c->rival;
    c->rival = c->other;
    c->other = rival;
    x->best = total;
    memcpy(x->work, work, sizeof x->work);
}

/* Where busy neighbours slow one another, fewer units may do more. True if a partition on fewer
 * units promises less than `best`: then it is in c->other and the choice of units is settled. Where
 * already the first CPU unit costs more than it does, many may do most, but only with enough tasks
 * to fill them: then none are tried, too. */
static bool leave_out(struct choice *c, double best)
{
    struct interference *f = c->interference;
    struct fewer x = {best * (1 - WORTH * fmin(c->incumbent->caution, MOST_CAUTION)), {-1, -1}};
    if (!f->learns || !f->slow || WITHOUT(INTERFERENCE))
        return false;
    for (int devices = f->units[CU_DEVICE]; devices >= 0; devices--) {
        double least;
        const int cpus = interference_best(f, devices, f->units[CU_CPU], &least);
        try_fewer(c, (const int[]){cpus, devices}, least, &x);
        if (cpus > 0 && devices > 0 && interference_best(f, devices, 1, &least) == 0)
            try_fewer(c, (const int[]){0, devices}, least, &x);
    }
    const bool found = x.work[CU_CPU] >= 0;
    if (found)
        interference_settle(f, c->estimate, x.work);
    else
        interference_apply(f, c->estimate);
    choice_refresh(c);
    return found;
}

bool choice_make(struct choice *c, bool present, bool chosen, int *owner)
{
    struct partition *d = c->partition;
    const struct partition_cost now = partition_predict(d, owner);
    const double was = fmin(total_of(c, owner, now), c->incumbent->took),
                 worth = chosen && !WITHOUT(WORTH)
                             ? c->incumbent->caution * (c->tolerance + doubt_of(c))
                             : 0,
                 least = worth * now.makespan;
    double best = INFINITY;
    partition_bound(d);
    if (!present || was - d->total > least)
        best = search(c, present ? owner : NULL, c->other);
    const bool fewer = leave_out(c, fmin(best, was));
    if (present && !fewer && !(was - best > least))
        return false;
    memcpy(owner, c->other, d->job->n * sizeof *owner);
    return true;
}
