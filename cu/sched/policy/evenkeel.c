/* cu/sched/policy/evenkeel.c – our own policy: knows, predicts, divides, and then leaves well
 * alone.
 *
 * Where speeds or profiles are given it divides the tasks at once. Where they are not, the first
 * step binds late (cu/sched/bootstrap.h). From then on every task's time on every kind of unit is
 * estimated (cu/sched/estimate.h: medians, lines, never a probing move) and the tasks are divided
 * for good (cu/sched/partition.h: contiguous, priced or free, whichever makespan, exchange and
 * migrations favour).
 *
 * A new division is searched only when what is now known of the present one differs from what was
 * expected of it, and taken only when it wins back the cost of moving; one that turns out slower
 * than the fastest one so far gives way to that (cu/sched/incumbent.h). A unit that slows down is
 * found by its busy time, and helped by those that have nothing left to do; one that dies makes the
 * policy begin anew with the others; one that gets nothing is tried again now and then. */
#include "cu/sched/bootstrap.h"
#include "cu/sched/estimate.h"
#include "cu/sched/incumbent.h"
#include "cu/sched/partition.h"
#include "cu/sched/plan.h"
#include "src/opt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct options {
    int horizon;
    double tolerance;
};

/* What a unit's own thread writes. */
struct worker {
    /* Seconds since the step began: when it took its tasks, when it should be through with them;
     * and how much longer than expected those before took. */
    _Alignas(64) _Atomic double start, until, slower;
    double carrying; /* of that, bringing the tasks */
    bool holds;      /* tasks of which it has not said that they are done */
};

struct state {
    struct bootstrap bootstrap;
    struct plan plan;
    struct estimate estimate;
    struct partition partition;
    struct incumbent incumbent;
    const struct sched_job *job;
    bool binds_late;           /* in this step */
    bool divided;              /* there is a division */
    int *owner, *other;        /* [n] unit of each task as it is, as it might be */
    size_t *order;             /* [n] in which lists are executed */
    double *expected;          /* [ncu] busy times of the present division */
    double *tail;              /* [n + 1] seconds planned from an entry of the plan to the last */
    double tolerance, horizon; /* options; horizon 0: as many steps as are left */
    double steps;              /* left, as far as is known */
    double *credit;            /* [ncu] seconds that trying an idle unit again may cost */
    int tried;                 /* unit that is tried again in this step; -1: none */
    double planned;            /* when the next step should end */
    double patience;           /* searches in vain raise what counts as a surprise so many times */
    double took;               /* a step with this division, seconds; INFINITY: none yet */
    struct worker *worker;     /* [ncu] */
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

static void end(void *st)
{
    struct state *s = st;
    free(s->owner);
    free(s->other);
    free(s->expected);
    free(s->credit);
    free(s->order);
    free(s->tail);
    free(s->worker);
    incumbent_close(&s->incumbent);
    bootstrap_close(&s->bootstrap);
    partition_close(&s->partition);
    estimate_close(&s->estimate);
    plan_close(&s->plan);
}

static enum ek_status open_state(struct state *s, const struct sched_job *job)
{
    size_t room = job->n ? job->n : 1, ncu = (size_t)job->ncu;
    const struct options *o = job->options;
    s->job = job;
    s->horizon = o->horizon;
    s->tolerance = o->tolerance;
    s->took = INFINITY;
    s->patience = 1;
    s->steps = job->steps ? (double)job->steps : 20;
    s->owner = calloc(room, sizeof *s->owner);
    s->other = calloc(room, sizeof *s->other);
    s->expected = calloc(ncu, sizeof *s->expected);
    s->credit = calloc(ncu, sizeof *s->credit);
    s->tried = -1;
    s->order = calloc(room, sizeof *s->order);
    s->tail = calloc(room + 1, sizeof *s->tail);
    s->worker = aligned_alloc(_Alignof(struct worker), ncu * sizeof *s->worker);
    if (!s->owner || !s->other || !s->expected || !s->credit || !s->order || !s->tail || !s->worker)
        FAIL(EK_UNAVAILABLE, "evenkeel: out of memory for %zu tasks", job->n);
    TRY(incumbent_open(&s->incumbent, job->n));
    TRY(plan_open(&s->plan, job->n, job->ncu));
    TRY(estimate_open(&s->estimate, job));
    return partition_open(&s->partition, &s->estimate, job);
}

static double get(const _Atomic double *x)
{
    return atomic_load_explicit(x, memory_order_relaxed);
}

static void set(_Atomic double *x, double value)
{
    atomic_store_explicit(x, value, memory_order_relaxed);
}

static void wake_all(struct state *s)
{
    for (int c = 0; c < s->job->ncu; c++) {
        s->worker[c].holds = false;
        set(&s->worker[c].start, 0);
        set(&s->worker[c].until, 0);
        set(&s->worker[c].slower, 1);
    }
}

/* ---- planning ---------------------------------------------------------------------------------*/
/* A unit alone in its memory node takes its tasks in natural order, in ranges. Where others may
 * help at the end, the longest task comes first and the shortest is left for them. */
static void write_lists(struct state *s)
{
    size_t n = s->job->n, at = 0;
    const struct partition *d = &s->partition;
    for (int shared = 0; shared <= 1; shared++)
        for (size_t i = 0; i < n; i++) {
            size_t t = shared ? d->order[i] : i;
            if ((d->units[d->memory[s->owner[t]]] > 1 && !d->launches) == shared)
                s->order[at++] = t;
        }
    for (size_t i = 0; i < n; i++)
        s->other[i] = s->owner[s->order[i]];
    plan_assign(&s->plan, s->other, s->order);
    for (size_t i = n; i-- > 0;) {
        size_t t = s->plan.task[i];
        s->tail[i] = s->tail[i + 1] + estimate_seconds(&s->estimate, s->owner[t], t);
    }
}

/* A busy time that differs by this share of the step, or by this share of itself, is worth a
 * search: a fast unit's may be short and yet say that it could do far more. */
static const double SURPRISE = 0.005, SURPRISE_OWN = 0.2;

/* Where estimates are worse than this, more exchange is still worth this share of a step. */
static const double MOST_DOUBT = 0.02;

static double doubt_of(const struct state *s)
{
    return fmin(estimate_noise(&s->estimate), MOST_DOUBT);
}

/* Estimates, homes and link are those of now. */
static void look(struct state *s)
{
    partition_begin(&s->partition, s->horizon ? s->horizon : fmax(1, s->steps));
}

/* What the present division should take, by what is known now. */
static void load(struct state *s)
{
    partition_load(&s->partition, s->owner);
    s->planned = 0;
    for (int c = 0; c < s->job->ncu; c++)
        s->planned = fmax(s->planned, s->partition.full[c]);
}

static void expect(struct state *s)
{
    load(s);
    memcpy(s->expected, s->partition.load, (size_t)s->job->ncu * sizeof *s->expected);
}

/* Searches for a division and takes it if it is worth it: better than the present one is predicted,
 * and better than that one was when it last ran. */
static void partition_anew(struct state *s)
{
    struct partition *d = &s->partition;
    double doubt = doubt_of(s);
    const int *present = s->divided ? s->owner : NULL;
    struct partition_cost now = partition_predict(d, s->owner);
    struct partition_cost best = partition_search(d, present, doubt / 4, s->other);
    double was = fmin(partition_total(d, now), s->took);
    double least = s->incumbent.caution * (s->tolerance + doubt) * now.makespan;
    s->patience = fmin(2 * s->patience, fmax(1, estimate_noise(&s->estimate) / SURPRISE));
    if (!s->divided || was - partition_total(d, best) > least) {
        s->patience = 1;
        memcpy(s->owner, s->other, s->job->n * sizeof *s->owner);
        write_lists(s);
        s->divided = true;
    }
    expect(s);
}

/* Was the step's division a failure, in computing and exchanging? Then the fastest one so far is
 * back, as far as that would still be fast. */
static bool failed(struct state *s)
{
    const struct estimate *e = &s->estimate;
    struct incumbent *best = &s->incumbent;
    double longest = 0, doubt = SURPRISE + estimate_noise(e);
    for (int c = 0; c < s->job->ncu; c++)
        longest = fmax(longest, e->busy[c]);
    struct partition_cost ran = partition_predict(&s->partition, e->owner);
    struct partition_cost kept = partition_predict(&s->partition, best->owner);
    s->took = e->changed ? ran.makespan + ran.exchange : longest + ran.exchange;
    if (e->changed)
        incumbent_renew(best, kept.makespan + kept.exchange);
    if (!incumbent_judge(best, s->took, ran.makespan + ran.exchange, doubt, e->owner) ||
        WITHOUT(INCUMBENT)) {
        if (memcmp(s->owner, e->owner, s->job->n * sizeof *s->owner))
            s->took = INFINITY; /* others have helped: it says nothing of the division */
        return false;
    }
    s->took = best->seconds;
    memcpy(s->owner, best->owner, s->job->n * sizeof *s->owner);
    write_lists(s);
    expect(s);
    return true;
}

/* The present division is no longer what it was taken for: not for one unit. */
static bool surprised(struct state *s)
{
    double makespan = 0;
    load(s);
    for (int c = 0; c < s->job->ncu; c++)
        makespan = fmax(makespan, s->partition.load[c]);
    for (int c = 0; c < s->job->ncu; c++) {
        double difference = fabs(s->partition.load[c] - s->expected[c]);
        if (difference > s->patience * SURPRISE * makespan ||
            difference > SURPRISE_OWN * s->expected[c])
            return true;
    }
    return false;
}

/* Once judged so slow that it got no task, a unit may have recovered. It is tried again with the
 * shortest task, for at most this share of the time that passes. */
static const double TRIAL = 0.01, SLOW = 1.1;

static bool try_again(struct state *s, int cu, size_t task)
{
    const struct partition *d = &s->partition;
    double sec = estimate_seconds(&s->estimate, cu, task) + estimate_launch(&s->estimate, cu) +
                 2 * partition_transfer(d, d->memory[cu], task);
    if (WITHOUT(TRIALS) || s->expected[cu] > 0 || s->estimate.factor[cu] < SLOW)
        return false;
    s->credit[cu] += TRIAL * s->planned;
    if (s->credit[cu] < fmax(2 * TRIAL * s->planned, sec - s->planned))
        return false;
    s->credit[cu] = -8 * TRIAL * s->planned;
    return true;
}

static void choose_trial(struct state *s)
{
    size_t n = s->job->n, task = n ? s->partition.order[n - 1] : 0;
    int before = s->tried;
    s->tried = -1;
    for (int c = 0; n && s->divided && c < s->job->ncu && s->tried < 0; c++)
        if (try_again(s, c, task))
            s->tried = c;
    if (s->tried < 0 && before < 0)
        return;
    int owner = n ? s->owner[task] : 0;
    if (s->tried >= 0)
        s->owner[task] = s->tried;
    write_lists(s);
    s->owner[task] = owner;
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    enum ek_status status = open_state(s, job);
    s->binds_late = !status && !s->estimate.known && !WITHOUT(BOOTSTRAP);
    if (s->binds_late)
        status = bootstrap_open(&s->bootstrap, job, s->estimate.order);
    if (status) {
        end(s);
        return status;
    }
    look(s);
    if (!s->binds_late)
        partition_anew(s);
    wake_all(s);
    return EK_OK;
}

/* ---- a step -----------------------------------------------------------------------------------*/
/* Seconds that unit cu still has to work for what it has not begun. */
static double left_seconds(const struct state *s, int cu)
{
    struct ek_range r = plan_entries(&s->plan, cu);
    return s->tail[r.begin] - s->tail[r.end];
}

/* When unit cu will be through with all that it has, as far as is known `now`: one that should have
 * ended its present tasks by now is slower than was thought, for the rest, too. */
static double end_of(const struct state *s, int cu, double now)
{
    const struct worker *w = &s->worker[cu];
    double start = get(&w->start), until = get(&w->until), slower = get(&w->slower);
    if (now > until && until > start)
        slower = fmax(slower, (now - start) / (until - start));
    return fmax(now, start + slower * (until - start)) + slower * left_seconds(s, cu);
}

/* Across memory nodes others help only in a step that is so much behind its plan, or where they are
 * so much ahead of it. */
static const double BEHIND = 1.01;

/* A task that is done elsewhere than planned is carried there and back, and its faces cross between
 * memory nodes for a step: not worth it for tasks that take less than twice that. */
static bool pays(const struct state *s, int cu, int victim, size_t task, double left)
{
    const struct partition *d = &s->partition;
    double here = estimate_seconds(&s->estimate, cu, task) + estimate_launch(&s->estimate, cu);
    double there = estimate_seconds(&s->estimate, victim, task);
    here *= get(&s->worker[cu].slower);
    if (d->memory[cu] == d->memory[victim])
        return here < left * (1 - 1e-9);
    double now = get(&s->worker[cu].until);
    if (now + left < BEHIND * s->planned && BEHIND * now >= s->expected[cu])
        return false;
    double carried = partition_transfer(d, d->memory[cu], task);
    double crossing = 2 * carried + partition_crossing(d, s->owner, task, d->memory[cu]);
    return here + carried < left && there > 2 * crossing;
}

/* A unit with nothing left to do takes the last task of the unit that will end last, if it can end
 * it before that one would: it begins at once, the other one would begin later. */
static struct ek_range help(struct state *s, int cu)
{
    const double now = get(&s->worker[cu].until);
    for (;;) {
        double last = now;
        int victim = -1;
        for (int c = 0; c < s->job->ncu; c++)
            if (plan_left(&s->plan, c) > 0 && end_of(s, c, now) > last) {
                last = end_of(s, c, now);
                victim = c;
            }
        struct ek_range left = {0, 0}, r;
        if (victim >= 0)
            left = plan_entries(&s->plan, victim);
        if (left.begin == left.end || !pays(s, cu, victim, s->plan.task[left.end - 1], last - now))
            return (struct ek_range){0, 0};
        r = plan_steal(&s->plan, victim);
        if (r.begin < r.end)
            return r;
    }
}

/* Ranges are worth so many of their launches: less than half a percent is lost to them. */
static const double LAUNCHES = 250;

/* Consecutive tasks at a time: a unit alone in its memory node takes half of what it has left, so
 * that few launches do and others may still help; where tasks have yet to be measured, one by one.
 */
static size_t batch(const struct state *s, int cu)
{
    double launch = estimate_launch(&s->estimate, cu), work = left_seconds(s, cu);
    size_t all = plan_left(&s->plan, cu);
    if (launch > 0)
        return work > LAUNCHES * launch ? (size_t)(LAUNCHES * launch / work * (double)all) + 1
                                        : all;
    size_t grain = s->job->grain, left = plan_left(&s->plan, cu) / 2;
    bool alone = s->partition.units[s->partition.memory[cu]] == 1;
    return alone && s->estimate.steps > 2 && left > grain ? left : grain;
}

/* A unit that is slower than was thought by more than this, beside the others, takes the shortest
 * task that is left: the long ones wait for others. */
static const double SLOWER = 2;

static bool falls_behind(const struct state *s, int cu)
{
    double own = get(&s->worker[cu].slower), all = 0;
    for (int c = 0; own > SLOWER && c < s->job->ncu; c++)
        all += get(&s->worker[c].slower);
    return own > SLOWER && own * s->job->ncu > SLOWER * all;
}

static void note_range(struct state *s, int cu, struct ek_range r)
{
    struct worker *w = &s->worker[cu];
    double sec = estimate_launch(&s->estimate, cu), start = get(&w->until);
    w->carrying = 0;
    for (size_t t = r.begin; t < r.end; t++) {
        sec += estimate_seconds(&s->estimate, cu, t);
        w->carrying += partition_transfer(&s->partition, s->partition.memory[cu], t);
    }
    w->holds = true;
    set(&w->start, start + w->carrying);
    set(&w->until, start + w->carrying + sec);
}

static struct ek_range next(void *st, int cu)
{
    struct state *s = st;
    struct ek_range r;
    if (s->binds_late) {
        r = bootstrap_next(&s->bootstrap, cu);
    } else {
        r = falls_behind(s, cu) ? plan_steal(&s->plan, cu) : plan_next(&s->plan, cu, batch(s, cu));
        if (r.begin == r.end && !s->worker[cu].holds && !WITHOUT(HELP))
            r = help(s, cu); /* one that asks for more and more is being retired */
    }
    if (r.begin < r.end && !s->binds_late)
        note_range(s, cu, r);
    return r;
}

static void done(void *st, int cu, struct ek_range r, double sec, const double *each)
{
    struct state *s = st;
    struct worker *w = &s->worker[cu];
    double start = w->holds ? get(&w->start) : get(&w->until); /* not: tasks of a lost unit */
    double expected = w->holds ? get(&w->until) - start : 0;
    w->holds = false;
    if (!s->binds_late && expected > 0)
        set(&w->slower, fmax(1, sec / expected));
    set(&w->until, start + sec);
    if (s->binds_late)
        bootstrap_done(&s->bootstrap, cu, r, sec, each);
    estimate_done(&s->estimate, cu, r, sec, each);
}

static void step(void *st)
{
    struct state *s = st;
    estimate_step(&s->estimate);
    if (s->job->steps)
        s->steps--;
    if (s->binds_late)
        memcpy(s->owner, s->estimate.owner, s->job->n * sizeof *s->owner);
    look(s);
    double caution = s->incumbent.caution;
    bool fails = failed(s), anew = s->incumbent.caution < caution;
    bool recovered = s->tried >= 0 && s->estimate.factor[s->tried] < SLOW;
    if (fails || anew || s->binds_late || recovered || surprised(s))
        partition_anew(s);
    s->binds_late = false;
    choose_trial(s);
    plan_rewind(&s->plan);
    wake_all(s);
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
