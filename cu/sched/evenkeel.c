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
#include "cu/plan.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct options {
    int horizon;
    double tolerance;
};

/* Late binding. Places in the estimate's order of descending cost: [0, reserved) from the front for
 * devices and from the back for CPU units that find nothing else, [reserved, n) for all. */
struct late {
    _Alignas(64) atomic_size_t small;    /* next place of the common part */
    _Alignas(64) _Atomic uint64_t large; /* the reserved part that is left: begin << 32 | end */
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

/* ---- late binding -----------------------------------------------------------------------------*/
/* How many CPU units a device is taken to be worth before anything is known. */
static const double DEVICE_GUESS = 8;

static size_t large_tasks(const struct estimate *e, const struct sched_job *job)
{
    double cost = 0, units = 0;
    int devices = 0;
    size_t large = 0;
    for (size_t t = 0; t < job->n; t++)
        cost += estimate_cost(e, t);
    for (int c = 0; c < job->ncu; c++) {
        bool device = job->unit[c].kind == CU_DEVICE;
        devices += device;
        units += device ? DEVICE_GUESS : 1;
    }
    if (devices == 0 || devices == job->ncu || job->n > UINT32_MAX)
        return 0;
    while (large < job->n && estimate_cost(e, e->order[large]) > cost / units / 2)
        large++;
    return large;
}

static void begin_late(struct state *s)
{
    size_t reserved = large_tasks(&s->estimate, s->job);
    s->binds_late = true;
    atomic_store(&s->late.small, reserved);
    atomic_store(&s->late.large, reserved);
}

static bool take_large(struct late *l, bool from_front, size_t *place)
{
    uint64_t left = atomic_load_explicit(&l->large, memory_order_relaxed), less;
    do {
        uint64_t first = left >> 32, end = left & UINT32_MAX;
        if (first >= end)
            return false;
        *place = from_front ? first : end - 1;
        less = from_front ? (first + 1) << 32 | end : first << 32 | (end - 1);
    } while (!atomic_compare_exchange_weak_explicit(&l->large, &left, less, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

static bool take_small(struct late *l, size_t n, size_t *place)
{
    if (atomic_load_explicit(&l->small, memory_order_relaxed) >= n)
        return false;
    *place = atomic_fetch_add_explicit(&l->small, 1, memory_order_relaxed);
    return *place < n;
}

static struct ek_range next_late(struct state *s, int cu)
{
    size_t place, n = s->job->n;
    bool device = s->job->unit[cu].kind == CU_DEVICE;
    bool found = device ? take_large(&s->late, true, &place) || take_small(&s->late, n, &place)
                        : take_small(&s->late, n, &place) || take_large(&s->late, false, &place);
    if (!found)
        return (struct ek_range){0, 0};
    size_t task = s->estimate.order[place];
    return (struct ek_range){task, task + 1};
}

/* ---- the policy -------------------------------------------------------------------------------*/
static void end(void *st)
{
    struct state *s = st;
    free(s->owner);
    free(s->other);
    free(s->expected);
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
    if (!s->owner || !s->other || !s->expected)
        FAIL(EK_LACK, "evenkeel: out of memory for %zu tasks", job->n);
    TRY(plan_open(&s->plan, job->n, job->ncu));
    TRY(estimate_open(&s->estimate, job));
    return divide_open(&s->divide, &s->estimate, job);
}

/* A busy time that differs by this share of the step, or by this share of itself, is worth a
 * search: a fast unit's may be short and yet say that it could do far more. */
static const double SURPRISE = 0.01, SURPRISE_OWN = 0.2;

/* Searches for a division of tasks that are where `from` says; takes it if it is worth it. */
static void divide_anew(struct state *s, const int *from)
{
    struct divide_cost now = divide_predict(&s->divide, s->owner, NULL);
    struct divide_cost best = divide_search(&s->divide, from, s->horizon, s->other);
    double gain =
        now.makespan + now.exchange - (best.makespan + best.exchange + best.moving / s->horizon);
    if (!from || gain > s->tolerance * now.makespan) {
        memcpy(s->owner, s->other, s->job->n * sizeof *s->owner);
        plan_assign(&s->plan, s->owner, NULL);
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
    else
        begin_late(s);
    return status;
}

static struct ek_range next(void *st, int cu)
{
    struct state *s = st;
    return s->binds_late ? next_late(s, cu) : plan_next(&s->plan, cu, s->job->grain);
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
    if (s->binds_late) {
        s->binds_late = false;
        memcpy(s->owner, s->estimate.owner, s->job->n * sizeof *s->owner);
        plan_assign(&s->plan, s->owner, NULL);
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
