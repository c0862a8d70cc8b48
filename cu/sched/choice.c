/* cu/sched/choice.c – what a partition promises, and whether that is enough to switch. */
#include "cu/sched/choice.h"

#include <math.h>
#include <string.h>

/* Doubt in the estimates counts up to this share of a step. */
static const double MOST_DOUBT = 0.02;

/* Leaving units out must promise at least a gain of WORTH (times at most MOST_CAUTION after failed
 * attempts), because less is known about units than about tasks; but trying it teaches the most. */
static const double WORTH = 0.02, MOST_CAUTION = 3;

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
    const long before = c->partition->budget;
    const struct partition_cost cost = partition_search(c->partition, present, owner);
    c->evaluations += before - c->partition->budget;
    return total_of(c, owner, cost);
}

/* Where busy neighbours slow one another, fewer units may do more. True if a partition on fewer
 * units promises less than `best`: then it is in c->other and the choice of units is settled. */
static bool leave_out(struct choice *c, double best)
{
    struct interference *f = c->interference;
    int work[2], chosen[2] = {-1, -1};
    if (!f->learns || !f->slow || WITHOUT(INTERFERENCE))
        return false;
    best *= 1 - WORTH * fmin(c->incumbent->caution, MOST_CAUTION);
    for (work[CU_DEVICE] = f->units[CU_DEVICE]; work[CU_DEVICE] >= 0; work[CU_DEVICE]--) {
        double least, total;
        work[CU_CPU] = interference_best(f, work[CU_DEVICE], &least);
        if (least > best)
            continue;
        interference_set(f, c->estimate, work);
        choice_refresh(c);
        total = search(c, NULL, c->rival);
        if (total > best)
            continue;
        int *rival = c->rival;
        c->rival = c->other;
        c->other = rival;
        best = total;
        memcpy(chosen, work, sizeof chosen);
    }
    const bool found = chosen[CU_CPU] >= 0;
    if (found)
        interference_settle(f, c->estimate, chosen);
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
    if (!present || was - partition_bound(d) > least)
        best = search(c, present ? owner : NULL, c->other);
    const bool fewer = leave_out(c, fmin(best, was));
    if (present && !fewer && !(was - best > least))
        return false;
    memcpy(owner, c->other, d->job->n * sizeof *owner);
    return true;
}
