/* cu/sched/policy/memorizing_dynamic.c – `dynamic` for the first steps, then the mapping of the
 * fastest one is locked, so that no task migrates any more (Gonzalez & Morancho 2024, section 4.2,
 * after Bull 1998). */
#include "cu/sched/plan.h"
#include "cu/sched/take.h"
#include "src/opt.h"

#include <float.h>
#include <string.h>

struct options {
    int chunk, learn;
};

struct busy {
    _Alignas(64) double sec; /* of this step; written by the unit's own thread */
};

struct state {
    struct take take;  /* while learning */
    struct plan plan;  /* once locked */
    int left;          /* learning steps still to come; 0 = locked */
    int *owner, *best; /* [n] unit of each task: in this step, in the best one so far */
    double best_makespan;
    struct busy *busy; /* [ncu] */
};

static const struct opt options[] = {
    {"chunk", OPT_INT, offsetof(struct options, chunk), "N", "consecutive tasks at a time (1)",
     .min = 1, .max = 1e9},
    {"learn", OPT_INT, offsetof(struct options, learn), "N", "dynamic steps before locking (3)",
     .min = 1, .max = 1e9},
    OPT_END,
};

static void defaults(void *opts)
{
    *(struct options *)opts = (struct options){.chunk = 1, .learn = 3};
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    const struct options *o = job->options;
    take_chunks(&s->take, job, (size_t)o->chunk);
    s->left = o->learn;
    s->best_makespan = DBL_MAX;
    s->owner = ARENA_NEW(job->arena, job->n, int);
    s->best = ARENA_NEW(job->arena, job->n, int);
    s->busy = ARENA_NEW(job->arena, job->ncu, struct busy);
    return plan_open(&s->plan, job);
}

static struct ek_range next(void *st, int cu)
{
    struct state *s = st;
    return s->left ? take_next(st, cu) : plan_next(&s->plan, cu, s->plan.n);
}

static void done(void *st, int cu, struct ek_range r, double sec, const double *each)
{
    struct state *s = st;
    (void)each;
    s->busy[cu].sec += sec;
    for (size_t t = r.begin; t < r.end; t++)
        s->owner[t] = cu;
}

static double makespan(const struct state *s)
{
    double longest = 0;
    for (int c = 0; c < s->plan.ncu; c++)
        longest = s->busy[c].sec > longest ? s->busy[c].sec : longest;
    return longest;
}

static void step(void *st)
{
    struct state *s = st;
    if (s->left) {
        double span = makespan(s);
        if (span < s->best_makespan) {
            s->best_makespan = span;
            memcpy(s->best, s->owner, s->plan.n * sizeof *s->best);
        }
        if (--s->left == 0)
            plan_assign(&s->plan, s->best, NULL);
    } else {
        plan_rewind(&s->plan);
    }
    memset(s->busy, 0, (size_t)s->plan.ncu * sizeof *s->busy);
    take_step(st);
}

const struct sched_ops sched_memorizing_dynamic = {
    .name = "memorizing-dynamic",
    .summary = "dynamic at first, then the best mapping seen is kept",
    .state_size = sizeof(struct state),
    .opts = options,
    .opts_size = sizeof(struct options),
    .defaults = defaults,
    .begin = begin,
    .next = next,
    .done = done,
    .step = step,
};
