/* cu/sched/policy/hrdls.c – one level of Hierarchical Real-time Dynamic Loop Scheduling
 * (Kyriakopoulos et al.). Unit i's next batch has b n score_i / (sum of scores) tasks, score_i
 * being the tasks per second of its last batch; at most c 2^k_i, k_i being the batches it has had,
 * while k_i <= s or a score is missing. The same rule serves nodes in the coordinator and units
 * inside a node. */
#include "cu/sched/take.h"
#include "src/arena.h"
#include "src/opt.h"

#include <math.h>
#include <stdbool.h>

struct options {
    double b, t_min;
    int c, s;
    bool average;
};

/* Measured speed of one unit. Written on its own thread, read by all. */
struct shown {
    _Alignas(64) _Atomic double score; /* tasks per second, 0 = unknown */
    _Atomic int batches;               /* k_i */
    double tasks, seconds;             /* of all batches */
};

struct state {
    struct take take;
    struct options options;
    int ncu;
    double part, first; /* b and c in tasks */
    struct shown *unit; /* [ncu] */
};

#define AT(member) offsetof(struct options, member)
static const struct opt options[] = {
    {"b", OPT_REAL, AT(b), "SHARE", "share of all tasks handed out per round (0.01)", .min = 1e-9,
     .max = 1},
    {"c", OPT_INT, AT(c), "N",
     "tasks of the first batch, then doubling (0: a 256th of a unit's equal share)", .min = 0,
     .max = 1e9},
    {"s", OPT_INT, AT(s), "N", "number of batches that c limits (3)", .min = 0, .max = 60},
    {"t_min", OPT_REAL, AT(t_min), "S", "shorter batches do not count as measurements, in s (0.01)",
     .min = 0, .max = 1e6},
    {"average", OPT_FLAG, AT(average), NULL, "speed over all batches instead of the last one",
     .env = NULL},
    OPT_END,
};

static void defaults(void *opts)
{
    *(struct options *)opts = (struct options){.b = 0.01, .t_min = 0.01, .s = 3};
}

/* Share PF_i = score_i / sum of scores, over the units that have had a batch; an equal share while
 * a score is missing. Units that never ask are not counted, or their scores would be missing for
 * ever. */
static double share_of(const struct state *s, int cu, bool *known)
{
    double sum = 0, own = 0;
    int working = 0;
    *known = true;
    for (int c = 0; c < s->ncu; c++) {
        const struct shown *u = &s->unit[c];
        const double score = atomic_load_explicit(&u->score, memory_order_relaxed);
        if (c != cu && !(score > 0) && !atomic_load_explicit(&u->batches, memory_order_relaxed))
            continue;
        working++;
        *known &= score > 0;
        sum += score;
        own = c == cu ? score : own;
    }
    return *known ? own / sum : 1. / working;
}

/* b n PF_i, capped by c 2^k_i at first. */
static size_t size(const void *st, int cu, size_t taken)
{
    const struct state *s = st;
    bool known;
    (void)taken;
    double batch = s->part * share_of(s, cu, &known);
    int k = atomic_load_explicit(&s->unit[cu].batches, memory_order_relaxed);
    if (!known || k <= s->options.s)
        batch = fmin(batch, s->first * exp2(k < 60 ? k : 60));
    return (size_t)ceil(batch);
}

static double mean_cost(const struct sched_job *job)
{
    double sum = 0;
    for (size_t t = 0; job->cost && t < job->n; t++)
        sum += job->cost[t];
    return sum > 0 ? sum / (double)job->n : 1;
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    s->options = *(const struct options *)job->options;
    s->ncu = job->ncu;
    s->part = s->options.b * (double)job->n;
    s->first = s->options.c ? s->options.c : ceil((double)job->n / (256. * job->ncu));
    take_begin(&s->take, job, size);
    s->unit = ARENA_NEW(job->arena, job->ncu, struct shown);
    TRY(arena_check(job->arena, "%d units", job->ncu));
    const double mean = mean_cost(job);
    for (int c = 0; c < job->ncu; c++) {
        const bool known = job->unit[c].speed > 0; /* no small first batches needed */
        s->unit[c] = (struct shown){.score = known ? job->unit[c].speed / mean : 0,
                                    .batches = known ? s->options.s + 1 : 0};
    }
    return EK_OK;
}

static struct ek_range next(void *st, int cu)
{
    struct state *s = st;
    struct ek_range r = take_next(s, cu);
    if (r.end > r.begin)
        atomic_fetch_add_explicit(&s->unit[cu].batches, 1, memory_order_relaxed);
    return r;
}

static void done(void *st, int cu, struct ek_range r, double sec, const double *each)
{
    struct state *s = st;
    (void)each;
    struct shown *u = &s->unit[cu];
    double tasks = (double)(r.end - r.begin);
    u->tasks += tasks;
    u->seconds += sec;
    if (s->options.average ? u->seconds >= s->options.t_min : sec >= s->options.t_min && sec > 0)
        atomic_store_explicit(&u->score, s->options.average ? u->tasks / u->seconds : tasks / sec,
                              memory_order_relaxed);
}

const struct sched_ops sched_hrdls = {
    .name = "hrdls",
    .summary = "batches in proportion to the speed of the last one, small at first",
    .state_size = sizeof(struct state),
    .opts = options,
    .opts_size = sizeof(struct options),
    .defaults = defaults,
    .begin = begin,
    .next = next,
    .done = done,
    .step = take_step,
};
