/* cu/sched/bootstrap.c – late binding: idle units take what suits them. */
#include "cu/sched/bootstrap.h"
#include "cu/sched/estimate.h"
#include "src/arena.h"

#include <math.h>

/* Tasks up to this share of the largest one are small enough to try a unit with. */
static const double SMALL = 0.125;

/* Tasks up to this share of its work may be done by a CPU unit, before and after the devices'
 * speeds are known. */
static const double FITS[] = {0.25, 0.8};

/* Share of a range that its launch may take. */
static const double LAUNCH = 0.02;

/* Units that are faster by this factor may outrun another one; it looks at so many tasks. */
static const double FASTER = 1.5;
enum { LOOKS = 1000 };

/* A range this many times as long as the first tells hidden launches. */
static const double LONGER = 1.5;

/* A device's first range was hardly a launch if it took longer than this (seconds): no second one
 * beyond its share is needed to tell. */
static const double HARDLY = 1e-2;

static double cost_of(const struct sched_job *job, size_t task)
{
    return job->cost ? job->cost[task] : 1;
}

/* Cost per second, launches excluded; 0: unknown. */
static double speed_of(const struct bootstrap_unit *u)
{
    return u->tasks > 0 ? u->cost / u->tasks : 0;
}

/* The same, with launches and transfers. */
static double pace_of(const struct bootstrap_unit *u)
{
    return u->seconds > 0 ? u->cost / u->seconds : 0;
}

/* Seconds of a task of this cost, including transfer and launch. */
static double seconds_of(const struct bootstrap_unit *u, double cost)
{
    return u->carrying + u->launch + cost / speed_of(u);
}

/* Its own speed, or that of a unit like it that has finished something; 0: unknown. */
static double speed_like(const struct bootstrap *l, int cu)
{
    const struct sched_unit *unit = l->job->unit;
    double speed = speed_of(&l->unit[cu]);
    for (int c = 0; !(speed > 0) && c < l->job->ncu; c++)
        if (unit[c].kind == unit[cu].kind && unit[c].width == unit[cu].width)
            speed = speed_of(&l->unit[c]);
    return speed;
}

/* CPU units, and devices that have proved to be no faster. */
static bool is_slow(const struct bootstrap *l, int cu)
{
    if (l->job->unit[cu].kind == CU_CPU)
        return true;
    const double speed = speed_like(l, cu);
    return speed > 0 && speed < l->cpu_speed;
}

/* Splits the order into large and small tasks by what is known of the devices. */
static void divide_large(struct bootstrap *l)
{
    double cpus = l->job->ncu - l->devices, devices = 0;
    l->fast = 0;
    for (int c = 0; c < l->job->ncu; c++) {
        if (l->job->unit[c].kind == CU_CPU)
            continue;
        const double speed = speed_like(l, c);
        l->fast += !is_slow(l, c);
        devices += speed > 0 && l->cpu_speed > 0 ? speed / l->cpu_speed : ESTIMATE_DEVICE;
    }
    double share = l->cost / (cpus + devices), room = cpus > 0 ? devices * share : 0;
    l->first = l->end = 0;
    for (; l->end < l->job->n; l->end++) {
        double cost = cost_of(l->job, l->order[l->end]);
        room -= cost;
        if (WITHOUT(LARGE) || cost <= FITS[!l->unknown] * share || (room < 0 && l->end))
            break;
    }
    l->small = l->end;
}

/* Would all units together have done everything else before a slow one has done the largest task?
 * Then whoever asks first must not take it, if there are small tasks for all. */
static bool has_giant(const struct bootstrap *l)
{
    const int units = l->job->ncu - l->devices + ESTIMATE_DEVICE * l->devices;
    return !WITHOUT(SPEEDS_FIRST) && l->trial + (size_t)l->job->ncu <= l->job->n &&
           cost_of(l->job, *l->order) * units > l->cost;
}

enum ek_status bootstrap_open(struct bootstrap *l, const struct sched_job *job, const size_t *order)
{
    *l = (struct bootstrap){.job = job, .order = order, .tasks = job->n};
    l->unit = ARENA_NEW(job->arena, job->ncu, struct bootstrap_unit);
    l->taken = ARENA_NEW(job->arena, job->n, bool);
    TRY(arena_check(job->arena, "%zu tasks on %d units", job->n, job->ncu));
    pthread_mutex_init(&l->lock, NULL);
    for (int c = 0; c < job->ncu; c++)
        l->devices += job->unit[c].kind == CU_DEVICE;
    l->absent = l->unknown = l->devices;
    for (size_t t = 0; t < job->n; t++)
        l->cost += cost_of(job, t);
    l->rest = l->cost;
    divide_large(l);
    l->reserve = (l->end + 1) / 2;
    while (l->trial < job->n && cost_of(job, order[l->trial]) > SMALL * cost_of(job, *order))
        l->trial++;
    l->giant = has_giant(l);
    return EK_OK;
}

void bootstrap_close(struct bootstrap *l)
{
    if (l->unit)
        pthread_mutex_destroy(&l->lock);
}

/* ---- what to take -----------------------------------------------------------------------------*/
static void take_one(struct bootstrap *l, size_t task)
{
    l->rest -= cost_of(l->job, task);
    l->taken[task] = true;
    l->tasks--;
}

static bool is_left(const struct bootstrap *l, size_t task)
{
    return task < l->job->n && !l->taken[task];
}

/* Takes consecutive tasks from `task` on, then before it, at most `most`, until their cost reaches
 * `worth`; at least one, if this one is left. */
static struct ek_range take(struct bootstrap *l, size_t task, size_t most, double worth)
{
    struct ek_range r = {task, task};
    const double before = l->rest;
    if (is_left(l, task))
        take_one(l, r.end++);
    while (r.begin < r.end && r.end - r.begin < most && before - l->rest < worth) {
        if (is_left(l, r.end))
            take_one(l, r.end++);
        else if (is_left(l, r.begin - 1)) /* SIZE_MAX is not */
            take_one(l, --r.begin);
        else
            break;
    }
    return r;
}

/* Half of this unit's share of what is left, by what all did so far. */
static double half_share(const struct bootstrap *l, int cu)
{
    double own = pace_of(&l->unit[cu]), all = 0;
    for (int c = 0; c < l->job->ncu; c++) {
        double pace = pace_of(&l->unit[c]);
        all += pace > 0 ? pace : own;
    }
    return l->rest * own / (2 * all);
}

/* Where launches matter: the cost of a range long enough, but at most half of this unit's share of
 * what is left (all of it if that half would take less than its launch); else 0. */
static double wanted_of(const struct bootstrap *l, int cu)
{
    double wanted = l->unit[cu].wanted;
    if (WITHOUT(LONG_RANGES) || wanted * (double)l->tasks <= l->rest)
        return 0;
    const double half = half_share(l, cu), least = LAUNCH * wanted; /* as long as its launch */
    return fmin(half < least ? fmax(2 * half, least) : half, wanted);
}

/* Place of the small task to try this unit with; n: none, as its speed is known or does not matter,
 * or too few tasks are left for the devices that must show theirs. */
static size_t trial_place(const struct bootstrap *l, int cu)
{
    const bool shows = l->giant && !l->unit[cu].known;
    const bool devices = l->first < l->end && l->unknown && !WITHOUT(SMALL_FIRST);
    size_t place = shows || devices ? l->trial : l->job->n;
    while (place < l->job->n && l->taken[l->order[place]])
        place++;
    return shows || place + (size_t)l->absent < l->job->n ? place : l->job->n;
}

/* Place of the next task by size; n: none. */
static size_t next_place(struct bootstrap *l, int cu)
{
    while (l->first < l->end && l->taken[l->order[l->first]])
        l->first++;
    while (l->first < l->end && l->taken[l->order[l->end - 1]])
        l->end--;
    while (l->small < l->job->n && l->taken[l->order[l->small]])
        l->small++;
    const size_t large = l->end - l->first, trial = trial_place(l, cu);
    if (trial < l->job->n)
        return trial;
    if (!large)
        return l->small;
    if (!is_slow(l, cu) || !l->fast)
        return l->first;
    if (l->small < l->job->n || (l->absent && large <= l->reserve))
        return l->small;
    return l->end - 1;
}

/* From `place` on, the first task that this unit would end before faster ones have ended all that
 * is larger, and then the task itself; n: there is none. */
static size_t not_outrun(const struct bootstrap *l, int cu, size_t place)
{
    const struct bootstrap_unit *u = &l->unit[cu];
    const double mean = l->rest / (double)l->tasks;
    double pace = 0, begun = 0, larger = 0;
    for (int c = 0; c < l->job->ncu && speed_of(u) > 0; c++) {
        const struct bootstrap_unit *v = &l->unit[c];
        if (v->left || !(speed_of(v) > FASTER * speed_of(u)) || isinf(v->until) ||
            (!l->job->cost && l->job->unit[c].kind == l->job->unit[cu].kind))
            continue; /* its tasks may have been shorter */
        const double there = mean / (mean / speed_of(v) + v->carrying);
        pace += there;
        begun += there * (fmax(v->until, l->now) + v->launch);
    }
    if (!(pace > 0) || WITHOUT(OUTRUN))
        return place;
    size_t p = l->first < l->end ? l->first : l->small;
    for (size_t looks = 0; p < l->job->n && looks < LOOKS; p = p + 1 == l->end ? l->small : p + 1) {
        const double cost = cost_of(l->job, l->order[p]);
        if (l->taken[l->order[p]])
            continue;
        larger += cost;
        if (p < place)
            continue;
        if ((u->seconds + seconds_of(u, cost)) * pace - begun < larger)
            return p;
        place = p;
        looks++;
    }
    return p < l->job->n ? place : p;
}

static struct ek_range by_size(struct bootstrap *l, int cu)
{
    const size_t place = not_outrun(l, cu, next_place(l, cu));
    if (place >= l->job->n)
        return (struct ek_range){0, 0};
    const struct bootstrap_unit *u = &l->unit[cu];
    if (WITHOUT(DOUBLING) || l->job->unit[cu].kind == CU_CPU || (is_slow(l, cu) && u->ranges != 1))
        return take(l, l->order[place], 1, 0);
    const bool compares = l->cpu_speed > 0 || l->devices == l->job->ncu;
    return take(l, l->order[place], 2 * u->range,
                compares || u->first > HARDLY ? half_share(l, cu) : l->rest / l->devices);
}

static struct ek_range by_number(struct bootstrap *l, int cu)
{
    while (l->number < l->job->n && l->taken[l->number])
        l->number++;
    return take(l, l->number, l->tasks, wanted_of(l, cu));
}

static struct ek_range choose(struct bootstrap *l, int cu)
{
    if (l->job->ncu == 1) /* no other unit */
        return take(l, 0, l->job->n, INFINITY);
    return wanted_of(l, cu) * (double)l->tasks > l->rest ? by_number(l, cu) : by_size(l, cu);
}

/* ---- a step -----------------------------------------------------------------------------------*/
static double cost_of_all(const struct bootstrap *l, struct ek_range r)
{
    double cost = 0;
    for (size_t t = r.begin; t < r.end; t++)
        cost += cost_of(l->job, t);
    return cost;
}

/* A unit without transfers works without a pause: what another one lags behind it was spent waiting
 * for its tasks. */
static void tell_time(struct bootstrap *l, struct bootstrap_unit *u)
{
    if (u->range && !WITHOUT(CARRYING))
        u->carrying = fmax(0, l->now - u->seconds) / (double)u->range;
    l->now = u->seconds = fmax(u->seconds, l->now);
}

struct ek_range bootstrap_next(struct bootstrap *l, int cu)
{
    struct bootstrap_unit *u = &l->unit[cu];
    pthread_mutex_lock(&l->lock);
    tell_time(l, u);
    l->absent -= l->job->unit[cu].kind == CU_DEVICE && !u->asked;
    struct ek_range r = choose(l, cu);
    u->asked = true;
    u->range = r.end - r.begin;
    u->ranges++;
    u->left |= r.begin == r.end; /* it may never ask again */
    u->until = speed_of(u) > 0 ? u->seconds + seconds_of(u, cost_of_all(l, r)) +
                                     u->carrying * ((double)u->range - 1)
                               : INFINITY;
    pthread_mutex_unlock(&l->lock);
    return r;
}

/* Launch seconds hidden in the times of tasks, by a longer range than the first; 0: they take less
 * than half of that one, so chance may explain them. */
static double hidden_in(const struct bootstrap_unit *u, double cost, double sec)
{
    const double slope = fmax(0, (sec - u->first) / (cost - u->least)),
                 inside = u->first - slope * u->least;
    return cost > LONGER * u->least && inside > u->first / 2 ? inside : 0;
}

void bootstrap_done(struct bootstrap *l, int cu, struct ek_range r, double sec, const double *each)
{
    struct bootstrap_unit *u = &l->unit[cu];
    const double cost = cost_of_all(l, r);
    double tasks = each ? 0 : sec;
    for (size_t i = 0; each && i < r.end - r.begin; i++)
        tasks += each[i];
    pthread_mutex_lock(&l->lock);
    if (!u->known) {
        u->least = cost;
        u->first = tasks;
    }
    if (u->inside == 0 && r.end - r.begin > 1 && l->job->unit[cu].kind == CU_DEVICE) {
        u->inside = hidden_in(u, cost, tasks);
        u->tasks -= u->inside * (double)(u->ranges - 1);
    }
    u->seconds += sec;
    u->tasks += tasks - u->inside;
    u->launch = fmax(0, sec - tasks) + u->inside;
    u->cost += cost;
    if (u->tasks > 0)
        u->wanted = u->launch * speed_of(u) / LAUNCH;
    if (l->job->unit[cu].kind == CU_CPU)
        l->cpu_speed = speed_of(u);
    else
        l->unknown -= !u->known;
    if (!u->known)
        divide_large(l);
    u->known = true;
    pthread_mutex_unlock(&l->lock);
}
