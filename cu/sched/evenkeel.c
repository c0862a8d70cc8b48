/* cu/sched/evenkeel.c – our own policy: knows, predicts, divides, and then leaves well alone.
 *
 * Where speeds or profiles are given it divides the tasks at once. Where they are not, the first
 * step binds late: idle units take the task of the largest declared cost that is left, and what
 * would take a CPU unit half of the step or more is kept for the devices while smaller tasks last.
 * From then on every task's time on every kind of unit is estimated (cu/estimate.h: medians, lines,
 * never a probing move) and the tasks are divided for good (cu/divide.h: contiguous, affine or
 * free, whichever makespan, exchange and migrations favour).
 *
 * A new division is searched only when what is now known of the present one differs from what was
 * expected of it, and taken only when it wins back the cost of moving. A unit that slows down is
 * found by its busy time; one that dies makes the policy begin anew with the others. */
#include "cu/divide.h"
#include "cu/estimate.h"
#include "cu/late.h"
#include "cu/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct options {
    int horizon;
    double tolerance;
};

struct state {
    struct late late;
    struct plan plan;
    struct estimate estimate;
    struct divide divide;
    const struct sched_job *job;
    bool binds_late;           /* in this step */
    int *owner, *other;        /* [n] unit of each task as it is, as it might be */
    double *expected;          /* [ncu] busy times of the present division */
    double horizon, tolerance; /* options */
    double doubt;              /* error of the estimates, as a share */
    size_t *order;             /* [n] in which lists are executed */
};

static const struct opt options[] = {
    {"horizon", OPT_INT, offsetof(struct options, horizon), "N",
     "steps in which moving tasks must pay off (20)", .min = 1, .max = 1e9},
    {"tolerance", OPT_REAL, offsetof(struct options, tolerance), "X",
     "share of a step worth planning anew for (0.005)", .min = 0, .max = 1},
    OPT_END,
};

static void defaults(void *opts)
{
    *(struct options *)opts = (struct options){.horizon = 20, .tolerance = 0.005};
}

static void end(void *st)
{
    struct state *s = st;
    free(s->owner);
    free(s->other);
    free(s->expected);
    free(s->order);
    divide_close(&s->divide);
    estimate_close(&s->estimate);
    plan_close(&s->plan);
}

static enum ek_status open_state(struct state *s, const struct sched_job *job)
{
    size_t room = job->n ? job->n : 1;
    const struct options *o = job->options;
    s->job = job;
    s->horizon = o->horizon;
    s->tolerance = o->tolerance;
    s->owner = calloc(room, sizeof *s->owner);
    s->other = calloc(room, sizeof *s->other);
    s->expected = calloc((size_t)job->ncu, sizeof *s->expected);
    s->order = calloc(room, sizeof *s->order);
    if (!s->owner || !s->other || !s->expected || !s->order)
        FAIL(EK_LACK, "evenkeel: out of memory for %zu tasks", job->n);
    TRY(plan_open(&s->plan, job->n, job->ncu));
    TRY(estimate_open(&s->estimate, job));
    return divide_open(&s->divide, &s->estimate, job);
}

/* A unit alone in its space takes its tasks in natural order, in ranges. Where others may help at
 * the end, the longest task comes first and the shortest is left for them. */
static void write_lists(struct state *s)
{
    size_t n = s->job->n, at = 0;
    const struct divide *d = &s->divide;
    for (int shared = 0; shared <= 1; shared++)
        for (size_t i = 0; i < n; i++) {
            size_t t = shared ? d->order[i] : i;
            if ((d->units[d->space[s->owner[t]]] > 1) == shared)
                s->order[at++] = t;
        }
    for (size_t i = 0; i < n; i++)
        s->other[i] = s->owner[s->order[i]];
    plan_assign(&s->plan, s->other, s->order);
}

/* A busy time that differs by this share of the step, or by this share of itself, is worth a
 * search: a fast unit's may be short and yet say that it could do far more. */
static const double SURPRISE = 0.01, SURPRISE_OWN = 0.2;

/* Where estimates are worse than this, more exchange is still worth this share of a step. */
static const double MOST_DOUBT = 0.02;

/* Searches for a division of tasks that are where `from` says; takes it if it is worth it. */
static void divide_anew(struct state *s, const int *from)
{
    struct divide_cost now = divide_predict(&s->divide, s->owner, NULL);
    struct divide_cost best = divide_search(&s->divide, from, s->horizon, s->doubt, s->other);
    double gain =
        now.makespan + now.exchange - (best.makespan + best.exchange + best.moving / s->horizon);
    if (!from || gain > s->tolerance * now.makespan) {
        memcpy(s->owner, s->other, s->job->n * sizeof *s->owner);
        write_lists(s);
    }
    divide_predict(&s->divide, s->owner, NULL);
    memcpy(s->expected, s->divide.load, (size_t)s->job->ncu * sizeof *s->expected);
}

/* The present division is no longer what it was taken for: not for one unit. */
static bool surprised(struct state *s)
{
    double makespan = divide_predict(&s->divide, s->owner, NULL).makespan;
    for (int c = 0; c < s->job->ncu; c++) {
        double difference = fabs(s->divide.load[c] - s->expected[c]);
        if (difference > SURPRISE * makespan || difference > SURPRISE_OWN * s->expected[c])
            return true;
    }
    return false;
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    enum ek_status status = open_state(s, job);
    if (status)
        end(s);
    else if (s->estimate.known)
        divide_anew(s, NULL);
    s->binds_late = !status && !s->estimate.known;
    if (s->binds_late)
        late_begin(&s->late, job, s->estimate.order);
    return status;
}

/* A unit with nothing left to do takes the last task of the unit in its space that has most left,
 * unless it is the slower one: it begins that task at once, the other one would begin it later. */
static struct ek_range help(struct state *s, int cu)
{
    const struct divide *d = &s->divide;
    const struct estimate *e = &s->estimate;
    for (;;) {
        size_t most = 0;
        int victim = cu;
        for (int c = 0; c < s->job->ncu; c++) {
            bool near = d->space[c] == d->space[cu] && e->kind[c] == e->kind[cu];
            size_t left = near && e->factor[cu] <= e->factor[c] * 1.05 ? plan_left(&s->plan, c) : 0;
            if (left > most) {
                most = left;
                victim = c;
            }
        }
        struct ek_range r = plan_steal(&s->plan, victim);
        if (r.begin < r.end || most == 0)
            return r;
    }
}

static struct ek_range next(void *st, int cu)
{
    struct state *s = st;
    if (s->binds_late)
        return late_next(&s->late, cu);
    struct ek_range r = plan_next(&s->plan, cu, s->job->grain);
    return r.begin < r.end ? r : help(s, cu);
}

static void done(void *st, int cu, struct ek_range r, double sec)
{
    struct state *s = st;
    estimate_done(&s->estimate, cu, r, sec);
}

static void step(void *st)
{
    struct state *s = st;
    estimate_step(&s->estimate);
    s->doubt = fmin(s->estimate.error, MOST_DOUBT);
    if (s->binds_late) {
        s->binds_late = false;
        memcpy(s->owner, s->estimate.owner, s->job->n * sizeof *s->owner);
        write_lists(s);
        divide_anew(s, s->owner);
        return;
    }
    if (surprised(s))
        divide_anew(s, s->owner);
    plan_rewind(&s->plan);
}

const struct sched_ops sched_evenkeel = {
    .name = "evenkeel",
    .summary = "measures, predicts and divides by makespan, exchange and migrations",
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
