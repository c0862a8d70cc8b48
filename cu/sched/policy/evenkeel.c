/* cu/sched/policy/evenkeel.c – the default policy: measures, predicts, partitions, and re-plans
 * only when that pays.
 *
 * Where speeds or profiles are given, the tasks are partitioned before the first step. Otherwise
 * the first step binds late, largest task first (cu/sched/bootstrap.h). From then on the time of
 * every task on every kind of unit is estimated (cu/sched/estimate.h: medians and lines, no probing
 * moves), and a search minimises makespan + exchange + migrations (cu/sched/partition.h).
 *
 * A new partition is sought only when the present one behaves differently than predicted, and taken
 * only if it wins back the cost of moving tasks (cu/sched/choice.h). A partition that proves slower
 * than the fastest so far gives way to that one (cu/sched/incumbent.h). Units that slow their
 * neighbours by more than they contribute are left out (cu/sched/interference.h). Within a step,
 * units that have finished help those that are late (cu/sched/steal.h). When a unit dies, the
 * policy begins anew with the others; a unit that was too slow to get tasks is tried again from
 * time to time (cu/sched/trial.h). */
#include "cu/sched/bootstrap.h"
#include "cu/sched/choice.h"
#include "cu/sched/exchange.h"
#include "cu/sched/steal.h"
#include "cu/sched/trial.h"
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
    struct choice choice;
    struct trial trial;
    const struct sched_job *job;
    bool binds_late; /* this step uses bootstrap */
    int *owner;      /* [n] unit of each task */
    double horizon;  /* option, steps; 0: those that are left */
    double steps;    /* left to run, as far as known */
    bool wanted;     /* a search, as soon as there is time: perhaps more tasks should move */
    double patience; /* multiplies the surprise threshold; grows with fruitless searches, */
    double weary;    /* as does this, which multiplies what searches cost */
    double searching, analysing; /* seconds that searches and analyses may still take */
    struct exchange_cost faces;  /* cost of faces at the last search */
};

static const struct opt options[] = {
    {"horizon", OPT_INT, offsetof(struct options, horizon), "N",
     "steps within which moving tasks must pay off (all that are left; 20 if unknown)", .min = 1,
     .max = 1e9},
    {"tolerance", OPT_REAL, offsetof(struct options, tolerance), "X",
     "least gain worth a new plan, as a share of a step, besides noise (0.0005)", .min = 0,
     .max = 1},
    OPT_END,
};

static void defaults(void *opts)
{
    *(struct options *)opts = (struct options){.tolerance = 0.0005};
}

/* ---- planning ---------------------------------------------------------------------------------*/
/* A busy time that is off by this share of the step is worth a search. */
static const double SURPRISE = 0.005;

/* Searches and analyses of steps may each take a share PLANNING of the steps' time, a share LATE of
 * what steps exceed their plan by (less after fruitless searches), and AT_FIRST seconds; searches
 * no more than the share PLANNING of the whole run at first. Each exchange tried costs
 * PER_EVALUATION seconds, and twice as much after a search that found nothing, up to WEARY times,
 * until one does. An analysis costs PER_STEP seconds and PER_TASK for each task, more with more
 * than FEW_KINDS. */
static const double PLANNING = 0.005, LATE = 0.25, AT_FIRST = 1e-3, PER_STEP = 3e-6,
                    PER_TASK = 1.5e-7, FEW_KINDS = 4, PER_EVALUATION = 3e-9, WEARY = 4;

/* Takes in the present estimates, homes and link. */
static void refresh(struct state *s)
{
    s->choice.horizon = s->horizon ? s->horizon : fmax(1, s->steps);
    choice_refresh(&s->choice);
}

/* present: owner holds a partition already. */
static void partition_anew(struct state *s, bool present)
{
    const long before = s->choice.evaluations;
    s->faces = s->partition.faces;
    s->patience = fmin((WITHOUT(PATIENCE) ? 1 : 2) * s->patience,
                       fmax(1, estimate_noise(&s->estimate) / SURPRISE));
    /* The result of late binding was nobody's choice, so it gets no bonus. */
    const bool found = choice_make(&s->choice, present, !s->binds_late, s->owner);
    s->wanted = found && s->partition.continues;
    if (found)
        s->patience = fmax(1, s->patience / 2); /* not 1: noise finds better plans, too */
    if (found || s->binds_late)
        steal_plan(&s->steal);
    s->searching -= s->weary * PER_EVALUATION * (double)(s->choice.evaluations - before);
    s->weary = found ? 1 : fmin(2 * s->weary, WEARY);
    steal_expect(&s->steal);
}

static void give_time(struct state *s)
{
    const double step = s->steal.planned + fmax(0, s->partition.faces.rest.seconds),
                 late = s->binds_late ? 0 : fmax(0, steal_end(&s->steal) - s->steal.planned);
    const double more = PLANNING * step + LATE / s->patience * late;
    s->searching += more;
    s->analysing += more;
}

static bool may_analyse(struct state *s)
{
    if (s->analysing < 0 && !s->binds_late && !s->trial.loans)
        return false;
    s->analysing -=
        PER_STEP + PER_TASK * (double)s->job->n * fmax(1, s->estimate.nkinds / FEW_KINDS);
    return true;
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    const struct options *o = job->options;
    *s = (struct state){.job = job,
                        .horizon = o->horizon,
                        .patience = 1,
                        .weary = 1,
                        .searching = AT_FIRST,
                        .analysing = AT_FIRST};
    s->choice = (struct choice){.estimate = &s->estimate,
                                .partition = &s->partition,
                                .interference = &s->interference,
                                .incumbent = &s->incumbent,
                                .tolerance = o->tolerance,
                                .other = ARENA_NEW(job->arena, job->n, int),
                                .rival = ARENA_NEW(job->arena, job->n, int)};
    trial_open(&s->trial, job);
    s->steps = job->steps ? (double)job->steps : 20;
    s->owner = ARENA_NEW(job->arena, job->n, int);
    incumbent_open(&s->incumbent, job);
    TRY(estimate_open(&s->estimate, job));
    interference_open(&s->interference, job, &s->estimate);
    TRY(partition_open(&s->partition, &s->estimate, job));
    TRY(steal_open(&s->steal, &s->partition, s->owner));
    s->binds_late = !s->estimate.known && !WITHOUT(BOOTSTRAP);
    if (s->binds_late)
        TRY(bootstrap_open(&s->bootstrap, job, s->estimate.order));
    refresh(s);
    if (!s->binds_late)
        partition_anew(s, false);
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
    give_time(s);
    if (!may_analyse(s)) {
        estimate_pass(&s->estimate);
        if (s->steal.brings)
            partition_find_homes(&s->partition);
        steal_rewind(&s->steal);
        return;
    }
    interference_learn(&s->interference, &s->estimate);
    estimate_step(&s->estimate);
    interference_apply(&s->interference, &s->estimate);
    refresh(s);
    if (s->binds_late)
        memcpy(s->owner, s->estimate.owner, s->job->n * sizeof *s->owner);
    const double caution = s->incumbent.caution,
                 doubt = SURPRISE + estimate_noise(&s->estimate) / 2;
    /* Nobody chose a step with such a trial; after it, predictions are others than those that
     * failed. */
    const bool fails =
        !s->trial.deviates && incumbent_judge(&s->incumbent, &s->partition, doubt, s->owner);
    if (s->trial.deviates)
        s->incumbent.caution = 1;
    if (fails) {
        interference_follow(&s->interference, &s->estimate, s->owner);
        refresh(s);
        steal_plan(&s->steal);
        steal_expect(&s->steal);
    }
    const bool recovered = trial_succeeds(&s->trial, &s->estimate);
    s->wanted |= fails || s->incumbent.caution < caution || recovered;
    if (s->binds_late || (s->searching >= 0 &&
                          (s->wanted || exchange_differs(s->job, &s->partition.faces, &s->faces) ||
                           steal_differs(&s->steal, s->patience * SURPRISE))))
        partition_anew(s, true);
    if (s->binds_late)
        s->searching = fmin(s->searching, PLANNING * s->steps * s->steal.planned);
    s->binds_late = false;
    trial_choose(&s->trial, &s->steal, s->owner);
    steal_rewind(&s->steal);
    for (int c = 0; c < s->job->ncu; c++) {
        const int kind = (int)s->job->unit[c].kind;
        steal_allow(&s->steal, c, interference_most(&s->interference, kind),
                    interference_fades(&s->interference, kind));
    }
}

/* In steps shorter than this (seconds) helping gains less than it costs to wake one more unit for
 * the barriers, some 0.1 ms: 15 idle cores made steps of 1.6 ms on a GPU a seventh longer. */
static const double SHORT = 1e-2;

static bool rests(void *st, int cu)
{
    const struct state *s = st;
    return !WITHOUT(RESTING) && !s->binds_late && !s->trial.lent[cu] && s->steal.planned < SHORT &&
           plan_left(&s->steal.plan, cu) == 0;
}

static void end(void *st)
{
    bootstrap_close(&((struct state *)st)->bootstrap);
}

const struct sched_ops sched_evenkeel = {
    .name = "evenkeel",
    .summary = "measures, predicts, and minimises makespan + exchange + migrations",
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
