/* tests/random_case.h – random cases for the simulator, to which nobody can tune a policy:
 * nineteen families, 2 to 100,000 tasks on 1 to 1,000 units, reproducible by family and seed;
 * compares evenkeel with the other policies, and with the optimum if there are few tasks. */
#pragma once

#include "cu/sim/sim.h"
#include "src/random.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM_UNITS = 1024, RANDOM_CHANGES = 8, RANDOM_OPTIMUM = 11 };

enum random_family {
    RANDOM_SPEEDS,    /* every unit has its own speed */
    RANDOM_TAILS,     /* lognormal 1.5, Pareto */
    RANDOM_TRANSFERS, /* tasks start on the host, devices are behind a link */
    RANDOM_LAUNCHES,  /* each range costs a launch */
    RANDOM_DRIFT,     /* speeds change repeatedly */
    RANDOM_TINY,      /* tasks of a few microseconds */
    RANDOM_GIANT,     /* one or two tasks are most of the work */
    RANDOM_SLOWDOWN,  /* a unit slows down during a step */
    RANDOM_ONE_MORE,  /* one task more than units */
    RANDOM_FIXED,     /* devices add a fixed time to each task */
    RANDOM_UNRELATED, /* each kind of unit has times of its own */
    RANDOM_CLASSES,   /* some tasks suit devices, others do not */
    RANDOM_COLD,      /* no speeds or times are known */
    RANDOM_FACES,     /* tasks have neighbours, devices are behind a link */
    RANDOM_CROWD,     /* busy neighbours slow units */
    RANDOM_DEATHS,    /* a unit dies */
    RANDOM_MIXED,     /* several of these at once, groups of units */
    RANDOM_GRID,      /* tasks in a grid, several devices, exchanges take long and nobody says so */
    RANDOM_SHARED,    /* other programs run on the same cores now and then */
    RANDOM_FAMILIES
};

static const char *const random_families[] = {
    "speeds",    "tails",     "transfers", "launches",  "drift",     "tiny", "giant",
    "slow-down", "n = m + 1", "fixed",     "unrelated", "two kinds", "cold", "faces",
    "crowd",     "deaths",    "mixed",     "grid",      "shared"};

struct random_case {
    struct sim_case sim;
    uint64_t state;
    enum random_family family;
    unsigned mix; /* a bit for each family in a mixed case */
    /* No policy can know what to do: cold runs with one or two steps or no more tasks than units;
     * units that change or die with few tasks. */
    bool apart;
    char text[128]; /* description for messages */
    double *cost, *bytes, *face, *seconds[4];
    size_t *first, *neighbour;
    struct sim_unit unit[RANDOM_UNITS];
    struct sim_change change[RANDOM_CHANGES];
    struct sched_link link;
    struct sim_exchange exchange;
    /* Slowdown of CPU units by a busy CPU unit, of devices by one, of any unit by a busy device. */
    double crowd[3][2];
};

/* ---- numbers ----------------------------------------------------------------------------------*/
static inline double random_between(struct random_case *c, double low, double high)
{
    return low + (high - low) * random_uniform(&c->state);
}

/* Evenly distributed logarithm. */
static inline double random_magnitude(struct random_case *c, double low, double high)
{
    return low * pow(high / low, random_uniform(&c->state));
}

static inline int random_whole(struct random_case *c, int least, int most)
{
    return least + (int)(random_uniform(&c->state) * (most - least + 1));
}

static inline double random_normal(struct random_case *c)
{
    double radius = sqrt(-2 * log(random_uniform(&c->state)));
    return radius * cos(6.283185307179586 * random_uniform(&c->state));
}

/* ---- families ---------------------------------------------------------------------------------*/
static inline bool random_is(const struct random_case *c, enum random_family f)
{
    return c->family == f || (c->mix >> f & 1);
}

/* Draws a third of the families that can be combined: units without known times have none of their
 * own, and drifting or slowing units do not die. */
static inline void random_mix(struct random_case *c)
{
    for (int f = 0; f < RANDOM_MIXED; f++)
        c->mix |= (unsigned)(random_uniform(&c->state) < 1. / 3) << f;
    if (random_is(c, RANDOM_COLD))
        c->mix &= ~(1u << RANDOM_UNRELATED | 1u << RANDOM_CLASSES);
    if (random_is(c, RANDOM_DRIFT) || random_is(c, RANDOM_SLOWDOWN))
        c->mix &= ~(1u << RANDOM_DEATHS);
}

/* ---- tasks ------------------------------------------------------------------------------------*/
static inline double random_size(struct random_case *c, int shape, size_t t)
{
    double x = (double)t / (double)c->sim.job.n;
    switch (shape) {
    case 0:
        return 1;
    case 1: /* as in BT-MZ: the last is twenty times the first */
        return pow(20, x);
    case 2:
        return exp(random_normal(c));
    case 3:
        return random_between(c, 0.3, 3);
    case 4:
        return random_uniform(&c->state) < 0.1 ? 10 : 1;
    case 5: /* as common midpoints: smooth */
        return 1.2 + 0.9 * sin(9 * x) * cos(31 * x);
    case 6:
        return exp(1.5 * random_normal(c));
    default:
        return pow(random_uniform(&c->state), -1 / 1.2);
    }
}

/* Neighbours: the next task on either side in a ring, and those one row before and after. */
static inline void random_faces(struct random_case *c, double face)
{
    size_t n = c->sim.job.n, row = (size_t)sqrt((double)n), e = 0;
    for (size_t t = 0; t < n; t++) {
        size_t other[] = {(t + 1) % n, (t + n - 1) % n, (t + row) % n, (t + n - row) % n};
        for (int i = 0; i < 4; i++, e++) {
            c->neighbour[e] = other[i];
            c->face[e] = face;
        }
        c->first[t + 1] = e;
    }
    c->sim.job.first = c->first;
    c->sim.job.neighbour = c->neighbour;
    c->sim.job.face_bytes = c->face;
}

/* Neighbours in a grid with an edge. A face that crosses takes longer than one that does not, up to
 * a third of a mean task on a unit of speed 1. */
static inline void random_grid(struct random_case *c, double mean)
{
    const size_t n = c->sim.job.n, row = (size_t)sqrt((double)n);
    const double face = random_magnitude(c, 1e4, 1e6);
    size_t e = 0;
    for (size_t t = 0; t < n; t++) {
        const size_t other[] = {t - 1, t + 1, t - row, t + row};
        const bool there[] = {t % row > 0, (t + 1) % row > 0 && t + 1 < n, t >= row, t + row < n};
        for (int i = 0; i < 4; i++)
            if (there[i]) {
                c->neighbour[e] = other[i];
                c->face[e++] = face;
            }
        c->first[t + 1] = e;
    }
    c->sim.job.first = c->first;
    c->sim.job.neighbour = c->neighbour;
    c->sim.job.face_bytes = c->face;
    const double inside = random_magnitude(c, 1e-3, 1e-2) * mean;
    c->exchange.seconds[SIM_FIXED] = inside;
    c->exchange.seconds[SIM_HOST] = c->exchange.seconds[SIM_DEVICE] = inside / face;
    c->exchange.seconds[SIM_CROSS] = random_magnitude(c, 1e-3, 0.1) * mean;
    c->exchange.seconds[SIM_LINK] = random_magnitude(c, 1e-2, 0.3) * mean / face;
    c->sim.exchange = &c->exchange;
}

static inline void random_tasks(struct random_case *c)
{
    bool tails = random_is(c, RANDOM_TAILS);
    int shape = tails ? random_whole(c, 6, 7) : random_whole(c, 0, 5);
    double mean =
        random_is(c, RANDOM_TINY) ? random_magnitude(c, 1e-6, 2e-5) : random_magnitude(c, 1e-4, 1);
    size_t n = c->sim.job.n;
    for (size_t t = 0; t < n; t++)
        c->cost[t] = mean * random_size(c, shape, t);
    for (int i = 0; random_is(c, RANDOM_GIANT) && i < random_whole(c, 1, 2); i++)
        c->cost[random_whole(c, 0, (int)n - 1)] = mean * random_magnitude(c, 0.1, 2) * (double)n;
    c->sim.job.cost = c->cost;
    if (c->family == RANDOM_GRID)
        random_grid(c, mean);
    if (!random_is(c, RANDOM_TRANSFERS) && !random_is(c, RANDOM_FACES))
        return;
    double volume = mean * random_magnitude(c, 1e7, 1e9); /* bytes of a task of average size */
    for (size_t t = 0; t < n; t++)
        c->bytes[t] = volume * c->cost[t] / mean;
    c->sim.job.bytes = c->bytes;
    c->link =
        (struct sched_link){random_magnitude(c, 1e-6, 1e-4), 1 / random_magnitude(c, 3e9, 6e10)};
    c->sim.job.link = &c->link;
    if (random_is(c, RANDOM_FACES))
        random_faces(c, volume / random_between(c, 20, 200));
}

/* ---- units ------------------------------------------------------------------------------------*/
static inline double random_mean(const struct random_case *c)
{
    double sum = 0;
    for (size_t t = 0; t < c->sim.job.n; t++)
        sum += c->cost[t];
    return sum / (double)c->sim.job.n;
}

static inline void random_unit(struct random_case *c, int u, bool device, double speed)
{
    struct sim_unit *x = &c->unit[u];
    *x = (struct sim_unit){.kind = device, .width = 1, .speed = speed};
    if (random_is(c, RANDOM_SPEEDS))
        x->speed *= random_magnitude(c, 0.5, 2);
    if (random_is(c, RANDOM_CROWD)) {
        x->slowed[CU_CPU] = (struct sim_curve){1, &c->crowd[device]};
        x->slowed[CU_DEVICE] = (struct sim_curve){1, &c->crowd[2]};
    }
}

/* Gives up to four kinds of units their own times. */
static inline void random_times(struct random_case *c)
{
    for (int k = 0; k < 4; k++)
        for (size_t t = 0; t < c->sim.job.n; t++) {
            double factor = random_is(c, RANDOM_UNRELATED) ? random_magnitude(c, 0.2, 5)
                            : k < 2                        ? 1
                            : (t * 7 + (size_t)k) % 10 < 4 ? 2
                                                           : 0.1;
            c->seconds[k][t] = c->cost[t] * factor;
        }
    for (int u = 0; u < c->sim.ncu; u++)
        c->unit[u].seconds = c->seconds[2 * (int)c->unit[u].kind + u % 2];
}

static inline void random_units(struct random_case *c)
{
    int ncu = c->sim.ncu, devices = random_whole(c, 0, ncu < 8 ? ncu / 2 : 4), host = 0;
    double speed = random_magnitude(c, 0.3, 50), mean = random_mean(c);
    double fixed = random_is(c, RANDOM_FIXED) ? random_between(c, 0.02, 1) * mean / speed : 0;
    double launch = random_between(c, 20e-6, 100e-6);
    for (int i = 0; i < 3; i++) {
        c->crowd[i][0] = 1;
        c->crowd[i][1] = random_magnitude(c, 0.001, i == 0 ? 0.03 : 0.1);
    }
    for (int u = 0; u < ncu; u++) {
        bool device = u >= ncu - devices;
        random_unit(c, u, device, device ? speed : 1);
        c->unit[u].memory = device ? u - (ncu - devices) + 1 : host;
        c->unit[u].fixed = device ? fixed : 0;
        if (random_is(c, RANDOM_LAUNCHES) && (device || launch < 60e-6))
            c->unit[u].launch = launch;
    }
    for (size_t t = 0; random_is(c, RANDOM_LAUNCHES) && t < c->sim.job.n; t++)
        c->cost[t] *= 1e-4 / mean;
    c->sim.unit = c->unit;
    if (random_is(c, RANDOM_UNRELATED) || random_is(c, RANDOM_CLASSES))
        random_times(c);
}

/* Groups of like units, each group with its own speed and launch time. */
static inline void random_groups(struct random_case *c)
{
    double speed = 1, launch = 0, mean = random_mean(c);
    for (int u = 0; u < c->sim.ncu; u++) {
        if (u == 0 || random_uniform(&c->state) < 4. / c->sim.ncu) {
            speed = random_magnitude(c, 0.3, 3);
            launch = random_is(c, RANDOM_LAUNCHES) ? mean * random_magnitude(c, 0.01, 1) : 0;
        }
        c->unit[u].speed *= speed;
        c->unit[u].launch = launch / c->unit[u].speed;
    }
}

static inline void random_changes(struct random_case *c)
{
    double span = sim_bound(&c->sim, NULL);
    int n = random_is(c, RANDOM_DRIFT) ? random_whole(c, 2, RANDOM_CHANGES) : 1;
    for (int i = 0, step = random_whole(c, 0, 2); i < n && step < c->sim.steps; i++) {
        c->change[i] = (struct sim_change){.unit = random_whole(c, 0, c->sim.ncu - 1),
                                           .step = step,
                                           .after = random_uniform(&c->state) * span,
                                           .factor = random_between(c, 0.3, 1)};
        if (random_is(c, RANDOM_DEATHS))
            c->change[i].factor = 0;
        if (random_is(c, RANDOM_SLOWDOWN))
            c->change[i].factor = random_whole(c, 0, 1) ? 0.3 : random_between(c, 0.2, 0.9);
        step += random_whole(c, 1, 4);
        c->sim.nchanges++;
    }
    c->sim.change = c->change;
}

/* Other programs get time slices on all units or on every other one, in steps of 2 to 100 ms. Half
 * of the cases have transfers, half are cold. */
static inline void random_shared(struct random_case *c)
{
    const double span = random_magnitude(c, 2e-3, 0.1), all = sim_bound(&c->sim, NULL),
                 rate = random_magnitude(c, 10, 300), slice = random_magnitude(c, 5e-4, 15e-3);
    const int every = random_whole(c, 1, 2);
    for (size_t t = 0; t < c->sim.job.n; t++)
        c->cost[t] *= span / all;
    for (int u = 0; u < c->sim.ncu; u += every) {
        c->unit[u].interruptions = rate;
        c->unit[u].interruption = slice;
    }
}

static inline void random_close(struct random_case *c)
{
    void *all[] = {c->cost,       c->bytes,      c->face,       c->first,     c->neighbour,
                   c->seconds[0], c->seconds[1], c->seconds[2], c->seconds[3]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* Case number `seed` of a family, with 2 to `most` tasks. Free with random_close(). */
static inline void random_case(struct random_case *c, enum random_family family, unsigned seed,
                               size_t most)
{
    static const int steps[] = {1, 5, 12, 30};
    memset(c, 0, sizeof *c);
    c->family = family;
    c->state = (seed * 16ull + family) * 0x2545f4914f6cdd1du;
    double room = fmin(65, most <= RANDOM_OPTIMUM ? 6 : most > 1024 ? 1000 : 65);
    c->sim.ncu = (int)random_magnitude(c, 1, room);
    if (family == RANDOM_MIXED)
        random_mix(c);
    if (random_is(c, RANDOM_DEATHS) && c->sim.ncu < 2)
        c->sim.ncu = 2;
    size_t n = (size_t)random_magnitude(c, most > 1024 ? 1024 : 2, (double)most + 0.99);
    if (family == RANDOM_ONE_MORE)
        n = (size_t)c->sim.ncu + 1;
    c->sim.job.n = n;
    c->sim.job.grain = 1;
    c->cost = calloc(n, sizeof *c->cost);
    c->bytes = calloc(n, sizeof *c->bytes);
    c->face = calloc(4 * n, sizeof *c->face);
    c->first = calloc(n + 1, sizeof *c->first);
    c->neighbour = calloc(4 * n, sizeof *c->neighbour);
    for (int k = 0; k < 4; k++)
        c->seconds[k] = calloc(n, sizeof *c->seconds[k]);
    if (family == RANDOM_GRID && c->sim.ncu < 6)
        c->sim.ncu = 6; /* up to three devices */
    c->sim.steps = most > 1024 ? random_whole(c, 1, 4) : steps[random_whole(c, 0, 3)];
    if (family == RANDOM_SHARED)
        c->mix = (unsigned)(random_whole(c, 0, 1) << RANDOM_TRANSFERS | random_whole(c, 0, 1)
                                                                            << RANDOM_COLD);
    if (family == RANDOM_GRID || family == RANDOM_SHARED) /* what happens has to be found out */
        c->sim.steps = c->sim.steps < 12 ? 12 : c->sim.steps;
    c->sim.seed = seed;
    c->sim.cold = random_is(c, RANDOM_COLD) || (family == RANDOM_LAUNCHES && random_whole(c, 0, 1));
    if (random_whole(c, 0, 5) == 0)
        c->sim.noise = random_magnitude(c, 0.01, 0.1);
    random_tasks(c);
    random_units(c);
    if (family == RANDOM_MIXED)
        random_groups(c);
    if (random_is(c, RANDOM_DRIFT) || random_is(c, RANDOM_SLOWDOWN) || random_is(c, RANDOM_DEATHS))
        random_changes(c);
    if (family == RANDOM_SHARED)
        random_shared(c);
    c->apart = (c->sim.cold && (c->sim.steps < 3 || n <= (size_t)c->sim.ncu)) ||
               (c->sim.nchanges && n < 4 * (size_t)c->sim.ncu);
    snprintf(c->text, sizeof c->text, "%s %u: %zu tasks on %d units, %d steps%s%s",
             random_families[family], seed, n, c->sim.ncu, c->sim.steps,
             c->sim.cold ? ", cold" : "", c->sim.noise > 0 ? ", noisy" : "");
}

/* ---- the optimum ------------------------------------------------------------------------------*/
struct random_optimum {
    const struct sim_case *c;
    double load[RANDOM_UNITS], best;
    int owner[RANDOM_OPTIMUM];
};

/* Tries all assignments depth first, tasks in natural order so that each range's launch counts
 * once. */
static inline void random_descend(struct random_optimum *o, size_t t, double longest)
{
    if (longest >= o->best)
        return;
    if (t == o->c->job.n) {
        o->best = longest;
        return;
    }
    for (int u = 0; u < o->c->ncu; u++) {
        const struct sim_unit *x = &o->c->unit[u];
        double before = o->load[u];
        bool goes_on = t > 0 && o->owner[t - 1] == u;
        o->load[u] += sim_seconds(o->c, x, t) + (goes_on ? 0 : x->launch);
        o->owner[t] = u;
        random_descend(o, t + 1, fmax(longest, o->load[u]));
        o->load[u] = before;
    }
}

/* The shortest possible step without transfers and interference; for few tasks on few units. */
static inline double random_optimum(const struct sim_case *c)
{
    struct random_optimum o = {.c = c, .best = INFINITY};
    random_descend(&o, 0, 0);
    return o.best;
}

/* Few tasks with known, constant times on few units. */
static inline bool random_has_optimum(const struct random_case *c)
{
    return c->sim.job.n <= RANDOM_OPTIMUM && c->sim.ncu <= 6 && !c->sim.cold && c->sim.noise == 0 &&
           !c->sim.nchanges && c->family != RANDOM_SHARED && !c->sim.job.link && !c->sim.exchange &&
           !random_is(c, RANDOM_CROWD);
}

/* ---- evenkeel against all others --------------------------------------------------------------*/
struct random_match {
    struct sim_result own, best; /* of evenkeel; of the best other policy */
    const char *rival;           /* name of that policy */
    double ratio;                /* own total over best total */
};

/* Name of policy number p to compare with, which may be evenkeel itself; NULL: there are no more.
 */
static inline const char *random_rival(const struct random_case *c, int p)
{
    static const char *const many[] = {"heft", "sorted-greedy", "dynamic", "static", NULL};
    return c->sim.job.n > 1024 ? many[p] : p < sched_count() ? sched_at(p)->name : NULL;
}

/* ---- luck -------------------------------------------------------------------------------------*/
/* Draws anew what nobody can know: noise, the order of the units of a kind, and which unit changes
 * when within a step. Tasks, speeds, links, costs and steps stay. */
static inline void random_redraw(struct random_case *c)
{
    const double span = sim_bound(&c->sim, NULL);
    c->sim.seed = (unsigned)random_bits(&c->state);
    for (int u = 0, first = 0; u < c->sim.ncu; u++) {
        if (c->unit[u].kind != c->unit[first].kind)
            first = u;
        const int other = random_whole(c, first, u);
        const struct sim_unit unit = c->unit[u];
        c->unit[u] = c->unit[other];
        c->unit[other] = unit;
    }
    for (int i = 0; i < c->sim.nchanges; i++) {
        c->change[i].unit = random_whole(c, 0, c->sim.ncu - 1);
        c->change[i].after = random_uniform(&c->state) * span;
    }
}

/* Redraws the case so many times: m->ratio becomes evenkeel's mean seconds over those of the single
 * policy with the least, m->rival. The best of many policies in one draw, for random_match(), may
 * owe it to luck; this one does not. */
static inline enum ek_status random_steady(struct random_case *c, int redraws,
                                           struct random_match *m)
{
    enum { MOST = 64 };
    double own = 0, total[MOST] = {0}, best = INFINITY;
    const char *name;
    for (int i = 0; i < redraws; i++) {
        random_redraw(c);
        TRY(sim_run(&c->sim, "evenkeel", NULL, &m->own));
        own += m->own.total;
        for (int p = 0; p < MOST && (name = random_rival(c, p)); p++) {
            TRY(sim_run(&c->sim, name, NULL, &m->best));
            total[p] += m->best.total;
        }
    }
    for (int p = 0; p < MOST && (name = random_rival(c, p)); p++)
        if (strcmp(name, "evenkeel") != 0 && total[p] < best) {
            best = total[p];
            m->rival = name;
        }
    m->ratio = own / best;
    return EK_OK;
}

/* Where luck decides a single draw, as with other programs' time slices, in the mean of some. */
static inline enum ek_status random_match(struct random_case *c, struct random_match *m)
{
    enum { REDRAWS = 12 };
    if (c->family == RANDOM_SHARED)
        return random_steady(c, REDRAWS, m);
    *m = (struct random_match){.best.total = INFINITY, .rival = ""};
    TRY(sim_run(&c->sim, "evenkeel", NULL, &m->own));
    const char *name;
    for (int p = 0; (name = random_rival(c, p)); p++) {
        struct sim_result r;
        if (!strcmp(name, "evenkeel"))
            continue;
        TRY(sim_run(&c->sim, name, NULL, &r));
        if (r.total < m->best.total) {
            m->best = r;
            m->rival = name;
        }
    }
    m->ratio = m->own.total / m->best.total;
    return EK_OK;
}
