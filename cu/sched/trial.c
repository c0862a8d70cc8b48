/* cu/sched/trial.c – which unit to try again, and when that is worth it. */
#include "cu/sched/trial.h"

#include <math.h>

/* Share of the run time that trials may take. */
static const double TRIAL = 0.01;

/* When the later of the two units would end; losing the task may split a range of the giver. */
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

/* The unit is not needed: a fast one like it is idle, too, or the step is as short as its longest
 * task, which the unit would not shorten. */
static bool is_spare(const struct steal *s, int cu)
{
    const struct partition *d = s->d;
    const struct estimate *e = d->e;
    const size_t longest = d->order[0];
    const double there = e->of[e->kind[cu]].seconds[longest],
                 here = estimate_seconds(e, s->owner[longest], longest);
    if (fmin(there, here) >= s->planned * (1 - 1e-6))
        return true;
    for (int c = 0; c < s->plan.ncu; c++)
        if (s->expected[c] == 0 && e->factor[c] < ESTIMATE_SLOW && e->kind[c] == e->kind[cu] &&
            d->memory[c] == d->memory[cu])
            return true;
    return false;
}

static bool try_again(struct trial *t, const struct steal *s, int cu, size_t task)
{
    const double share = TRIAL * s->planned;
    if (WITHOUT(TRIALS) || s->expected[cu] > 0 || s->d->e->factor[cu] < ESTIMATE_SLOW)
        return false;
    t->credit[cu] += share;
    if (is_spare(s, cu) ||
        t->credit[cu] < fmax(2 * share, end_of_trial(s->d, s->owner, cu, task) - s->planned))
        return false;
    t->credit[cu] = -8 * share;
    return true;
}

/* An idle unit in another memory node than the first task's; -1: none. */
static int find_beyond(const struct steal *s, const int *owner)
{
    const struct partition *d = s->d;
    for (int c = 0; c < s->plan.ncu; c++)
        if (d->memory[c] != d->memory[owner[0]] && s->expected[c] == 0 &&
            d->e->factor[c] < ESTIMATE_SLOW)
            return c;
    return -1;
}

/* Some face has crossed already, or crossing is free. */
static bool knows_faces(struct partition *d)
{
    return !d->job->face || d->nmemories == 1 || !(d->face.latency > 0 || d->face.per_byte > 0) ||
           partition_exchange(d, d->e->owner) > 0;
}

/* Chooses a task to try there for one step and bring back: the cost must be a small share of the
 * remaining steps, and less than what there is to gain. */
static void try_faces(struct trial *t, struct steal *s, const int *owner, size_t *task)
{
    struct partition *d = s->d;
    const double gain = s->planned - partition_bound(d);
    const int cu = find_beyond(s, owner);
    double least = d->horizon * fmin(TRIAL * s->planned, gain);
    for (size_t i = 0; cu >= 0 && i < s->plan.n; i++) {
        const int memory = d->memory[cu];
        const double there = estimate_seconds(d->e, cu, i) + estimate_launch(d->e, cu),
                     cost = fmax(0, there - s->planned) + 2 * partition_transfer(d, memory, i) +
                            partition_crossing(d, owner, i, memory);
        if (cost >= least || d->memory[owner[i]] == memory)
            continue;
        least = cost;
        *task = i;
        t->unit = cu;
    }
}

void trial_choose(struct trial *t, struct steal *s, int *owner)
{
    const size_t n = s->plan.n;
    size_t task = n ? s->d->order[n - 1] : 0;
    const int before = t->unit;
    t->unit = -1;
    if (n && s->d->job->first && !t->crossed && !knows_faces(s->d))
        try_faces(t, s, owner, &task);
    t->crossed = true;
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
