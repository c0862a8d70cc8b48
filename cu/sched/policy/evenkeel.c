/* cu/sched/policy/evenkeel.c – our own policy: knows, predicts, divides, and then leaves well
 * alone.
 *
 * Where speeds or profiles are given it divides the tasks at once. Where they are not, the first
 * step binds late (cu/sched/bootstrap.h). From then on every task's time on every kind of unit is
 * estimated (cu/sched/estimate.h: medians, lines, never a probing move) and the tasks are
 * partitioned for good (cu/sched/partition.h: contiguous, priced or free, whichever makespan,
 * exchange and migrations favour).
 *
 * A new partition is searched only when what is now known of the present one differs from what was
 * expected of it, and taken only when it wins back the cost of moving; one that then turns out
 * slower than the fastest so far gives way to that (cu/sched/incumbent.h). Where busy neighbours
 * slow one another, units that cost more than they do are left out (cu/sched/interference.h). A
 * unit that slows down is found by its busy time, and helped by those that have nothing left to do
 * (cu/sched/steal.h); one that dies makes the policy begin anew with the others; one that gets
 * nothing is tried again now and then. */
#include "cu/sched/bootstrap.h"
#include "cu/sched/incumbent.h"
#include "cu/sched/interference.h"
#include "cu/sched/steal.h"
#include "src/opt.h"

#include <math.h>
#include <string.h>

struct options {
    int horizon;
    double tolerance;
};

struct state {
    struct bootstrap bootstrap;
    struct estimate estimate;
    struct partition partition;
    struct steal steal;
    struct incumbent incumbent;
    struct interference interference;
    const struct sched_job *job;
    bool binds_late;            /* in this step */
    bool partitioned;           /* there is a partition */
    int *owner, *other, *rival; /* [n] unit of each task as it is, as it might be */
    double tolerance, horizon;  /* options; horizon 0: as many steps as are left */
    double steps;               /* left, as far as is known */
    double *credit;             /* [ncu] seconds that trying an idle unit again may cost */
    int tried;                  /* unit that is tried again in this step; -1: none */
    double patience;            /* searches in vain raise what counts as a surprise so many times */
    double leisure;             /* seconds that planning may still take */
};

static const struct opt options[] = {
    {"horizon", OPT_INT, offsetof(struct options, horizon), "N",
     "steps in which moving tasks must pay off (all that are left, 20 if not known)", .min = 1,
     .max = 1e9},
    {"tolerance", OPT_REAL, offsetof(struct options, tolerance), "X",
     "share of a step worth planning anew for (0.0005, and what the times scatter)", .min = 0,
     .max = 1},
    OPT_END,
};

static void defaults(void *opts)
{
    *(struct options *)opts = (struct options){.tolerance = 0.0005};
}

/* ---- planning ---------------------------------------------------------------------------------*/
/* A busy time that differs by this share of the step, or by this share of itself, is worth a
 * search: a fast unit's may be short and yet say that it could do far more. */
static const double SURPRISE = 0.005, SURPRISE_OWN = 0.2;

/* Where estimates are worse than this, more exchange is still worth this share of a step. */
static const double MOST_DOUBT = 0.02;

/* Planning may take this share of the steps and that of what they take longer than planned, and at
 * first so many seconds; looking at what a task took takes so many, and trying an exchange. What it
 * may not look at, a step does not tell. */
static const double PLANNING = 0.02, LATE = 0.25, AT_FIRST = 5e-4, PER_TASK = 1.5e-7,
                    PER_LOOK = 3e-9;

static double doubt_of(const struct state *s)
{
    return fmin(estimate_noise(&s->estimate), MOST_DOUBT);
}

/* Estimates, homes and link are those of now. */
static void look(struct state *s)
{
    partition_begin(&s->partition, s->horizon ? s->horizon : fmax(1, s->steps));
}

/* What the present partition should take, by what is known now. */
static void load(struct state *s)
{
    partition_load(&s->partition, s->owner);
    s->steal.planned = 0;
    for (int c = 0; c < s->job->ncu; c++)
        s->steal.planned = fmax(s->steal.planned, s->partition.full[c]);
}

static void expect(struct state *s)
{
    load(s);
    memcpy(s->steal.expected, s->partition.load, (size_t)s->job->ncu * sizeof *s->steal.expected);
}

/* To leave out units, about which less is known than about tasks, must promise this share, and so
 * many times as much after failures: they teach more about it than anything else. */
static const double WORTH = 0.02, MOST_CAUTION = 3;

/* What a step of a partition takes, where neighbours are as busy as they are with it. */
static double total_of(struct state *s, const int *owner, struct partition_cost cost)
{
    if (s->interference.slow && !WITHOUT(INTERFERENCE)) {
        partition_load(&s->partition, owner);
        cost.makespan = interference_makespan(&s->interference, &s->estimate, s->partition.load);
    }
    return partition_total(&s->partition, cost);
}

/* The best partition found, in `owner`, and what a step of it takes. */
static double search(struct state *s, const int *present, int *owner)
{
    struct partition *d = &s->partition;
    const long looks = d->looks;
    const struct partition_cost cost = partition_search(d, present, doubt_of(s) / 4, owner);
    s->leisure -= PER_LOOK * (double)(looks - d->looks);
    return total_of(s, owner, cost);
}

/* Where busy neighbours slow one another fewer units may do more. True if there is a partition that
 * promises to take less than `best`: it is in s->other, and who works in it is settled. */
static bool leave_out(struct state *s, double best)
{
    struct interference *f = &s->interference;
    const double promise = 1 - WORTH * fmin(s->incumbent.caution, MOST_CAUTION);
    int work[2], chosen[2] = {-1, -1};
    if (!f->learns || !f->slow || WITHOUT(INTERFERENCE))
        return false;
    best *= promise;
    for (work[CU_DEVICE] = f->units[CU_DEVICE]; work[CU_DEVICE] >= 0; work[CU_DEVICE]--) {
        double least, total;
        work[CU_CPU] = interference_best(f, work[CU_DEVICE], &least);
        if (least > best)
            continue;
        interference_set(f, &s->estimate, work);
        look(s);
        total = search(s, NULL, s->rival);
        if (total > best)
            continue;
        int *rival = s->rival;
        s->rival = s->other;
        s->other = rival;
        best = total;
        memcpy(chosen, work, sizeof chosen);
    }
    const bool found = chosen[CU_CPU] >= 0;
    if (found)
        interference_settle(f, &s->estimate, chosen);
    else
        interference_apply(f, &s->estimate);
    look(s);
    return found;
}

/* Searches for a partition, unless none can be worth it, and takes it if it is: better than the
 * present one is predicted, and better than that one was when it last ran. */
static void partition_anew(struct state *s)
{
    struct partition *d = &s->partition;
    const int *present = s->partitioned ? s->owner : NULL;
    struct partition_cost now = partition_predict(d, s->owner);
    double was = fmin(total_of(s, s->owner, now), s->incumbent.took);
    /* What late binding has made was nobody's choice. */
    double worth = s->binds_late ? 0 : s->incumbent.caution * (s->tolerance + doubt_of(s));
    double least = worth * now.makespan, best = INFINITY;
    if (!s->partitioned || was - partition_bound(d) > least)
        best = search(s, present, s->other);
    const bool fewer = leave_out(s, fmin(best, was));
    s->patience = fmin(2 * s->patience, fmax(1, estimate_noise(&s->estimate) / SURPRISE));
    if (!s->partitioned || fewer || was - best > least) {
        s->patience = 1;
        memcpy(s->owner, s->other, s->job->n * sizeof *s->owner);
        steal_plan(&s->steal);
        s->partitioned = true;
    }
    expect(s);
}

/* The present partition is no longer what it was taken for: not for one unit. */
static bool surprised(struct state *s)
{
    double makespan = 0;
    load(s);
    for (int c = 0; c < s->job->ncu; c++)
        makespan = fmax(makespan, s->partition.load[c]);
    for (int c = 0; c < s->job->ncu; c++) {
        double difference = fabs(s->partition.load[c] - s->steal.expected[c]);
        if (difference > s->patience * SURPRISE * makespan ||
            difference > SURPRISE_OWN * s->steal.expected[c])
            return true;
    }
    return false;
}

/* Once judged so slow that it got no task, a unit may have recovered. It is tried again with the
 * shortest task, for at most this share of the time that passes. */
static const double TRIAL = 0.01, SLOW = 1.1;

/* When the two units end; the one that gives the task may have to begin a range more. */
static double end_of_trial(const struct state *s, int cu, size_t task)
{
    const struct partition *d = &s->partition;
    const struct estimate *e = &s->estimate;
    const int owner = s->owner[task];
    double there = d->load[owner] - estimate_seconds(e, owner, task);
    if (d->launches)
        there -= estimate_launch(e, owner) * partition_runs(d, s->owner, owner, task);
    return fmax(there, estimate_seconds(e, cu, task) + estimate_launch(e, cu) +
                           2 * partition_transfer(d, d->memory[cu], task));
}

static bool try_again(struct state *s, int cu, size_t task)
{
    if (WITHOUT(TRIALS) || s->steal.expected[cu] > 0 || s->estimate.factor[cu] < SLOW)
        return false;
    s->credit[cu] += TRIAL * s->steal.planned;
    if (s->credit[cu] <
        fmax(2 * TRIAL * s->steal.planned, end_of_trial(s, cu, task) - s->steal.planned))
        return false;
    s->credit[cu] = -8 * TRIAL * s->steal.planned;
    return true;
}

static void choose_trial(struct state *s)
{
    size_t n = s->job->n, task = n ? s->partition.order[n - 1] : 0;
    int before = s->tried;
    s->tried = -1;
    for (int c = 0; n && s->partitioned && c < s->job->ncu && s->tried < 0; c++)
        if (try_again(s, c, task))
            s->tried = c;
    if (s->tried < 0 && before < 0)
        return;
    int owner = n ? s->owner[task] : 0;
    if (s->tried >= 0)
        s->owner[task] = s->tried;
    steal_plan(&s->steal);
    s->owner[task] = owner;
}

static bool has_leisure(struct state *s)
{
    const double late = s->binds_late ? 0 : steal_end(&s->steal) - s->steal.planned;
    s->leisure += PLANNING * s->steal.planned + LATE * fmax(0, late);
    if (s->leisure < 0 && !s->binds_late && s->tried < 0)
        return false;
    s->leisure -= PER_TASK * (double)s->job->n;
    return true;
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    const struct options *o = job->options;
    *s = (struct state){.job = job, .horizon = o->horizon, .tolerance = o->tolerance, .tried = -1};
    s->patience = 1;
    s->leisure = AT_FIRST;
    s->steps = job->steps ? (double)job->steps : 20;
    s->owner = ARENA_NEW(job->arena, job->n, int);
    s->other = ARENA_NEW(job->arena, job->n, int);
    s->rival = ARENA_NEW(job->arena, job->n, int);
    s->credit = ARENA_NEW(job->arena, job->ncu, double);
    incumbent_open(&s->incumbent, job);
    TRY(estimate_open(&s->estimate, job));
    interference_open(&s->interference, job, &s->estimate);
    TRY(partition_open(&s->partition, &s->estimate, job));
    TRY(steal_open(&s->steal, &s->partition, s->owner));
    s->binds_late = !s->estimate.known && !WITHOUT(BOOTSTRAP);
    if (s->binds_late)
        TRY(bootstrap_open(&s->bootstrap, job, s->estimate.order));
    look(s);
    if (!s->binds_late)
        partition_anew(s);
    steal_rewind(&s->steal);
    return EK_OK;
}

static struct ek_range next(void *st, int cu)
{
    struct state *s = st;
    return s->binds_late ? bootstrap_next(&s->bootstrap, cu) : steal_next(&s->steal, cu);
}

static void done(void *st, int cu, struct ek_range r, double sec, const double *each)
{
    struct state *s = st;
    if (s->binds_late)
        bootstrap_done(&s->bootstrap, cu, r, sec, each);
    else
        steal_done(&s->steal, cu, sec);
    estimate_done(&s->estimate, cu, r, sec, each);
}

static void lost(void *st, int cu)
{
    steal_lose(&((struct state *)st)->steal, cu);
}

static size_t adopt(void *st, int cu, const struct ek_range *left, size_t count)
{
    struct state *s = st;
    return s->binds_late || WITHOUT(ADOPTION) ? 0 : steal_adopt(&s->steal, cu, left, count);
}

static void step(void *st)
{
    struct state *s = st;
    if (s->job->steps)
        s->steps--;
    if (!has_leisure(s)) {
        estimate_pass(&s->estimate);
        partition_find_homes(&s->partition);
        steal_rewind(&s->steal);
        return;
    }
    interference_learn(&s->interference, &s->estimate);
    estimate_step(&s->estimate);
    interference_apply(&s->interference, &s->estimate);
    if (s->binds_late) {
        memcpy(s->owner, s->estimate.owner, s->job->n * sizeof *s->owner);
        s->partitioned = true;
    }
    look(s);
    if (s->binds_late)
        steal_plan(&s->steal);
    const double caution = s->incumbent.caution,
                 doubt = SURPRISE + estimate_noise(&s->estimate) / 2;
    const bool fails = incumbent_judge(&s->incumbent, &s->partition, doubt, s->owner);
    if (fails) {
        interference_follow(&s->interference, &s->estimate, s->owner);
        look(s);
        steal_plan(&s->steal);
        expect(s);
    }
    bool recovered = s->tried >= 0 && s->estimate.factor[s->tried] < SLOW;
    if (fails || s->incumbent.caution < caution || s->binds_late || recovered || surprised(s))
        partition_anew(s);
    s->binds_late = false;
    choose_trial(s);
    steal_rewind(&s->steal);
    for (int c = 0; c < s->job->ncu; c++)
        steal_allow(&s->steal, c, interference_most(&s->interference, s->job->unit[c].kind));
}

/* In steps shorter than this nobody can help another in time, and to wait for one more unit costs
 * more than that. */
static const double SHORT = 1e-3;

static bool rests(void *st, int cu)
{
    const struct state *s = st;
    return !s->binds_late && cu != s->tried && s->steal.planned < SHORT &&
           plan_left(&s->steal.plan, cu) == 0;
}

static void end(void *st)
{
    bootstrap_close(&((struct state *)st)->bootstrap);
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
    .lost = lost,
    .adopt = adopt,
    .rests = rests,
};
