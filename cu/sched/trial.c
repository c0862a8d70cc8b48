/* cu/sched/trial.c – whom to try again, and when that is worth it. */
#include "cu/sched/trial.h"

#include <math.h>

/* For at most this share of the time that passes. */
static const double TRIAL = 0.01;

/* When the two units end; the one that gives the task may have to begin a range more. */
static double end_of_trial(const struct partition *d, const int *owner, int cu, size_t task)
{
    const struct estimate *e = d->e;
    const int from = owner[task];
    double there = d->load[from] - estimate_seconds(e, from, task);
    if (d->launches)
        there -= estimate_launch(e, from) * partition_runs(d, owner, from, task);
    return fmax(there, estimate_seconds(e, cu, task) + estimate_launch(e, cu) +
                           2 * partition_transfer(d, d->memory[cu], task));
}

static bool try_again(struct trial *t, const struct steal *s, int cu, size_t task)
{
    const double share = TRIAL * s->planned;
    if (WITHOUT(TRIALS) || s->expected[cu] > 0 || s->d->e->factor[cu] < ESTIMATE_SLOW)
        return false;
    t->credit[cu] += share;
    if (t->credit[cu] < fmax(2 * share, end_of_trial(s->d, s->owner, cu, task) - s->planned))
        return false;
    t->credit[cu] = -8 * share;
    return true;
}

void trial_choose(struct trial *t, struct steal *s, int *owner)
{
    const size_t n = s->plan.n, task = n ? s->d->order[n - 1] : 0;
    const int before = t->unit;
    t->unit = -1;
    for (int c = 0; n && c < s->plan.ncu && t->unit < 0; c++)
        if (try_again(t, s, c, task))
            t->unit = c;
    if (t->unit < 0 && before < 0)
        return;
    const int from = n ? owner[task] : 0;
    if (t->unit >= 0)
        owner[task] = t->unit;
    steal_plan(s);
    if (n)
        owner[task] = from;
}
