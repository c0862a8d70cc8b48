/* cu/sched/policy/clustered_guided.c – tasks before a pivot belong to the CPU units, the others to
 * the devices; a bisection moves the pivot, and the walk of `guided` balances the load inside each
 * cluster (Gonzalez & Morancho 2024, section 4.5).
 *
 *    INIT -> PROBE -> [MOVE -> PROBE -> BALANCE -> PROBE] … -> STEADY
 *
 * Each state lasts one step of the program and changes the plan before that step begins. Corner
 * cases: a cluster may be empty; the walk leaves a cluster with fewer tasks than units alone
 * (static gave one task to each); with one kind of units there is only BALANCE. */
#include "cu/sched/plan.h"

#include <math.h>

enum phase { PROBE_INIT, MOVE, PROBE_MOVE, BALANCE, PROBE_BALANCE, BALANCE_ALONE, STEADY };

struct busy {
    _Alignas(64) double sec; /* of this step; written by the unit's own thread */
};

struct cluster {
    int *unit, m;
};

struct state {
    struct plan plan;
    struct cluster cpu, device;
    enum phase phase;
    size_t pivot, move; /* first task of the devices; how far it moves next */
    int direction;      /* of the last move: -1 left, +1 right, 0 none yet */
    int steps_left;     /* the search ends after 4 log2 n steps */
    size_t grain;       /* most tasks in a range, so that single tasks are timed */
    const double *cost; /* the job's */
    double *seconds;    /* [n] of each task in this step */
    struct busy *busy;  /* [ncu] */
};

static void split(struct state *s)
{
    plan_set_static(&s->plan, s->cpu.unit, s->cpu.m, (struct ek_range){0, s->pivot});
    plan_set_static(&s->plan, s->device.unit, s->device.m, (struct ek_range){s->pivot, s->plan.n});
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    s->cpu.unit = ARENA_NEW(job->arena, job->ncu, int);
    s->device.unit = ARENA_NEW(job->arena, job->ncu, int);
    s->seconds = ARENA_NEW(job->arena, job->n, double);
    s->busy = ARENA_NEW(job->arena, job->ncu, struct busy);
    TRY(plan_open(&s->plan, job));
    s->cost = job->cost;
    s->grain = job->grain;
    s->cpu.m = plan_units(job, CU_CPU, s->cpu.unit);
    s->device.m = plan_units(job, CU_DEVICE, s->device.unit);
    s->pivot = (size_t)s->cpu.m < job->n && s->device.m ? (size_t)s->cpu.m : job->n;
    if (!s->cpu.m)
        s->pivot = 0;
    s->phase = s->cpu.m && s->device.m ? PROBE_INIT : BALANCE_ALONE;
    s->move = job->n / 2 > 0 ? job->n / 2 : 1;
    s->steps_left = job->n > 1 ? (int)ceil(4 * log2((double)job->n)) : 1;
    split(s);
    return EK_OK;
}

static struct ek_range next(void *st, int cu)
{
    struct state *s = st;
    return plan_next(&s->plan, cu, s->phase == STEADY ? s->plan.n : s->grain);
}

static void done(void *st, int cu, struct ek_range r, double sec, const double *each)
{
    struct state *s = st;
    s->busy[cu].sec += sec;
    plan_divide(s->cost, r, sec, each, s->seconds);
}

static double slowest(const struct state *s, const struct cluster *k)
{
    double sec = 0;
    for (int c = 0; c < k->m; c++)
        sec = fmax(sec, s->busy[k->unit[c]].sec);
    return sec;
}

/* The slower cluster gives tasks. When the direction flips at the smallest step size, the pivot is
 * found: it stays, and with it the balance inside the clusters. */
static void move_pivot(struct state *s)
{
    double cpu = slowest(s, &s->cpu), device = slowest(s, &s->device);
    int direction = cpu > device ? -1 : 1;
    bool found = s->move == 1 && s->direction && direction != s->direction;
    if (found || cpu == device) {
        s->phase = STEADY;
        return;
    }
    size_t room = direction < 0 ? s->pivot : s->plan.n - s->pivot;
    size_t by = s->move < room ? s->move : room;
    s->pivot = direction < 0 ? s->pivot - by : s->pivot + by;
    s->direction = direction;
    s->move = s->move > 1 ? s->move / 2 : 1;
    split(s);
}

static void balance(struct state *s)
{
    plan_walk(&s->plan, s->cpu.unit, s->cpu.m, s->seconds);
    plan_walk(&s->plan, s->device.unit, s->device.m, s->seconds);
}

static void advance(struct state *s)
{
    static const enum phase following[] = {
        [PROBE_INIT] = MOVE,       [MOVE] = PROBE_MOVE,    [PROBE_MOVE] = BALANCE,
        [BALANCE] = PROBE_BALANCE, [PROBE_BALANCE] = MOVE, [BALANCE_ALONE] = BALANCE_ALONE,
        [STEADY] = STEADY,
    };
    s->phase = following[s->phase];
    if (s->phase == MOVE)
        move_pivot(s);
    else if (s->phase == BALANCE || s->phase == BALANCE_ALONE)
        balance(s);
}

static void step(void *st)
{
    struct state *s = st;
    /* Steps run out: end the search balanced, never between MOVE and BALANCE. */
    if (--s->steps_left <= 0 && (s->phase == PROBE_BALANCE || s->phase == BALANCE_ALONE))
        s->phase = STEADY;
    advance(s);
    plan_rewind(&s->plan);
    for (int c = 0; c < s->plan.ncu; c++)
        s->busy[c].sec = 0;
}

const struct sched_ops sched_clustered_guided = {
    .name = "clustered-guided",
    .summary = "a pivot between CPU units and devices, found by bisection, guided inside each",
    .state_size = sizeof(struct state),
    .begin = begin,
    .next = next,
    .done = done,
    .step = step,
};
