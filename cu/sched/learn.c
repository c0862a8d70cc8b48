/* cu/sched/learn.c – plans from estimates, and plans again while these improve. */
#include "cu/sched/learn.h"

#include <math.h>

/* A busy time that is off by this share of the step is worth a new plan. */
static const double SURPRISE = 0.01;

const struct opt learn_options[] = {
    {"learn", OPT_INT, offsetof(struct learn_options, learn), "N",
     "steps after which it may plan anew (3)", .min = 0, .max = 1e9},
    OPT_END,
};

void learn_defaults(void *opts)
{
    ((struct learn_options *)opts)->learn = 3;
}

enum ek_status learn_begin(struct learn *l, const struct sched_job *job,
                           void (*assign)(void *policy))
{
    l->grain = job->grain;
    l->left = ((const struct learn_options *)job->options)->learn;
    l->assign = assign;
    l->load = ARENA_NEW(job->arena, job->ncu, double);
    l->owner = ARENA_NEW(job->arena, job->n, int);
    TRY(estimate_open(&l->estimate, job));
    TRY(plan_open(&l->plan, job));
    if (job->n)
        assign(l);
    return EK_OK;
}

void learn_assign(struct learn *l)
{
    const struct estimate *e = &l->estimate;
    for (int c = 0; c < e->ncu; c++)
        l->load[c] = 0;
    for (size_t i = 0; i < e->n; i++)
        l->load[l->owner[i]] += estimate_seconds(e, l->owner[i], e->order[i]);
    plan_assign(&l->plan, l->owner, e->order);
}

/* How far the last step was off a plan: the largest difference between a unit's busy time and its
 * planned load [ncu], as a share of the planned makespan. */
static double surprise(const struct estimate *e, const double *load)
{
    double difference = 0, makespan = 0;
    for (int c = 0; c < e->ncu; c++) {
        difference = fmax(difference, fabs(e->busy[c] - load[c]));
        makespan = fmax(makespan, load[c]);
    }
    return difference / makespan;
}

void learn_step(void *st)
{
    struct learn *l = st;
    plan_rewind(&l->plan);
    if (!l->left)
        return;
    l->left--;
    estimate_step(&l->estimate);
    bool guessed = l->estimate.steps == 1 && !l->estimate.known;
    if (guessed || surprise(&l->estimate, l->load) > SURPRISE)
        l->assign(l);
}

/* While it learns, ranges hold at most `grain` tasks, so that single tasks are timed. */
struct ek_range learn_next(void *st, int cu)
{
    struct learn *l = st;
    return plan_next(&l->plan, cu, l->left ? l->grain : l->plan.n);
}

void learn_done(void *st, int cu, struct ek_range r, double sec, const double *each)
{
    struct learn *l = st;
    if (l->left)
        estimate_done(&l->estimate, cu, r, sec, each);
}
