/* cu/sched/heft.c – tasks in order of descending cost, each to the unit on which it ends first, by
 * the seconds that are known or predicted for it there (earliest finish time; Topcuoglu, Hariri &
 * Wu 2002 without precedence; the thesis, section 2.2.4).
 *
 * Without profile or speeds it begins as if all units were equal, and plans again while it learns.
 */
#include "cu/estimate.h"
#include "cu/plan.h"

#include <math.h>
#include <stdlib.h>

struct options {
    int learn;
};

struct state {
    struct plan plan;
    struct estimate estimate;
    size_t grain;
    int learn;    /* steps in which it may still plan anew */
    double *load; /* [ncu] seconds planned */
    int *owner;   /* [n] of the tasks in order */
};

static const struct opt options[] = {
    {"learn", OPT_INT, offsetof(struct options, learn), "N",
     "steps after which it may plan anew (3)", .min = 0, .max = 1e9},
    OPT_END,
};

static void defaults(void *opts)
{
    ((struct options *)opts)->learn = 3;
}

static void plan(struct state *s)
{
    const struct estimate *e = &s->estimate;
    for (int c = 0; c < e->ncu; c++)
        s->load[c] = 0;
    for (size_t i = 0; i < e->n; i++) {
        int best = 0;
        double first = INFINITY;
        for (int c = 0; c < e->ncu; c++) {
            double finish = s->load[c] + estimate_seconds(e, c, e->order[i]);
            if (finish < first) {
                first = finish;
                best = c;
            }
        }
        s->load[best] = first;
        s->owner[i] = best;
    }
    plan_assign(&s->plan, s->owner, e->order);
}

static void end(void *st)
{
    struct state *s = st;
    free(s->load);
    free(s->owner);
    estimate_close(&s->estimate);
    plan_close(&s->plan);
}

static enum ek_status open_state(struct state *s, const struct sched_job *job)
{
    s->load = calloc((size_t)job->ncu, sizeof *s->load);
    s->owner = calloc(job->n ? job->n : 1, sizeof *s->owner);
    if (!s->load || !s->owner)
        FAIL(EK_LACK, "heft: out of memory for %zu tasks", job->n);
    TRY(plan_open(&s->plan, job->n, job->ncu));
    return estimate_open(&s->estimate, job);
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    enum ek_status status = open_state(s, job);
    if (status) {
        end(s);
        return status;
    }
    s->grain = job->grain;
    s->learn = ((const struct options *)job->options)->learn;
    plan(s);
    return EK_OK;
}

static struct ek_range next(void *st, int cu)
{
    struct state *s = st;
    return plan_next(&s->plan, cu, s->learn ? s->grain : s->plan.n);
}

static void done(void *st, int cu, struct ek_range r, double sec)
{
    struct state *s = st;
    if (s->learn)
        estimate_done(&s->estimate, cu, r, sec);
}

/* A plan that came true is kept, so that no task migrates for nothing. */
static void step(void *st)
{
    struct state *s = st;
    if (s->learn) {
        s->learn--;
        estimate_step(&s->estimate);
        bool guessed = s->estimate.steps == 1 && !s->estimate.known;
        if (guessed || estimate_surprise(&s->estimate, s->load) > 0.01)
            plan(s);
    }
    plan_rewind(&s->plan);
}

const struct sched_ops sched_heft = {
    .name = "heft",
    .summary = "by descending cost, each task where it ends first by known or measured times",
    .state_size = sizeof(struct state),
    .opts = options,
    .opts_size = sizeof(struct options),
    .defaults = defaults,
    .begin = begin,
    .next = next,
    .done = done,
    .step = step,
    .end = end,
};
