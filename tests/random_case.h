/* tests/random_case.h – cases for the simulator, drawn at random but the same for the same number:
 * 1 to 64 units of one to four kinds, 8 to 1,024 tasks of several distributions of size, some with
 * neighbours, some behind a link, some noisy, cold, crowded, with launches, or with a unit that
 * slows down or dies; and how evenkeel does on them beside the other policies. */
#ifndef TESTS_RANDOM_CASE_H
#define TESTS_RANDOM_CASE_H

#include "cu/sim/sim.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { RANDOM_TASKS = 1024, RANDOM_UNITS = 64 };

/* What a case may have beside units and tasks. */
enum {
    RANDOM_COLD = 1,
    RANDOM_NOISE = 2,
    RANDOM_LINK = 4,
    RANDOM_FACES = 8,
    RANDOM_LAUNCH = 16,
    RANDOM_CROWD = 32,
    RANDOM_CHANGE = 64,
    RANDOM_ALL = 127
};

struct random_case {
    struct sim_case sim; /* points into what follows: not to be copied */
    uint64_t state;
    int traits;
    char text[160]; /* what it is, for people */
    double cost[RANDOM_TASKS], bytes[RANDOM_TASKS], face[4 * RANDOM_TASKS];
    size_t first[RANDOM_TASKS + 1], neighbour[4 * RANDOM_TASKS];
    struct sim_unit unit[RANDOM_UNITS];
    struct sim_change change;
    struct sched_link link;
    double crowd[3][2]; /* by which share CPU units slow one another, and devices; devices anyone */
};

/* Splitmix64, in (0, 1). */
static inline double random_uniform(struct random_case *c)
{
    uint64_t z = (c->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / (double)(1ull << 53);
}

static inline double random_between(struct random_case *c, double low, double high)
{
    return low + (high - low) * random_uniform(c);
}

/* Evenly spread over the magnitudes. */
static inline double random_magnitude(struct random_case *c, double low, double high)
{
    return low * pow(high / low, random_uniform(c));
}

static inline int random_whole(struct random_case *c, int least, int most)
{
    return least + (int)(random_uniform(c) * (most - least + 1));
}

static inline double random_normal(struct random_case *c)
{
    double radius = sqrt(-2 * log(random_uniform(c)));
    return radius * cos(6.283185307179586 * random_uniform(c));
}

/* ---- tasks ------------------------------------------------------------------------------------*/
/* On a grid of nx by ny tasks, t = y * nx + x. */
static const char *const random_sizes[] = {"equal",  "growing", "lognormal",
                                           "uneven", "two",     "hills"};

static inline double random_size(struct random_case *c, int shape, size_t t, size_t nx, size_t n)
{
    double x = (double)(t % nx) / (double)nx, y = (double)(t / nx) / ((double)n / (double)nx);
    switch (shape) {
    case 0:
        return 1;
    case 1: /* as BT-MZ: geometric in both directions, 20 times from corner to corner */
        return pow(20, (x + y) / 2);
    case 2:
        return exp(random_normal(c));
    case 3:
        return random_between(c, 0.3, 3);
    case 4:
        return random_uniform(c) < 0.1 ? 10 : 1;
    default: /* as common midpoints: smooth, a third to one */
        return 1.2 + sin(9 * x + 5 * y) * cos(4 * y) * 0.9;
    }
}

static inline void random_faces(struct random_case *c, size_t nx, size_t ny, double face)
{
    size_t e = 0;
    for (size_t t = 0; t < c->sim.job.n; t++) {
        size_t x = t % nx, y = t / nx;
        size_t other[] = {y * nx + (x + 1) % nx, y * nx + (x + nx - 1) % nx, (y + 1) % ny * nx + x,
                          (y + ny - 1) % ny * nx + x};
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

static inline void random_tasks(struct random_case *c, size_t *nx, int *shape)
{
    size_t ny = (size_t)random_magnitude(c, 2, 33), n;
    *nx = (size_t)random_magnitude(c, 4, 33);
    n = *nx * ny;
    *shape = random_whole(c, 0, 5);
    double scale = random_magnitude(c, 1e-4, 1);
    c->sim.job.n = n;
    c->sim.job.grain = 1;
    c->sim.job.cost = c->cost;
    for (size_t t = 0; t < n; t++)
        c->cost[t] = scale * random_size(c, *shape, t, *nx, n);
    if (!(c->traits & RANDOM_LINK))
        return;
    double volume = random_magnitude(c, 1e4, 1e8); /* bytes of a task of mean size */
    for (size_t t = 0; t < n; t++)
        c->bytes[t] = volume * c->cost[t] / scale;
    c->sim.job.bytes = c->bytes;
    c->link =
        (struct sched_link){random_magnitude(c, 1e-6, 1e-4), 1 / random_magnitude(c, 3e9, 6e10)};
    c->sim.job.link = &c->link;
    if (c->traits & RANDOM_FACES)
        random_faces(c, *nx, ny, volume / random_between(c, 20, 200));
}

/* ---- units ------------------------------------------------------------------------------------*/
static inline void random_units(struct random_case *c)
{
    int ncu = (int)random_magnitude(c, 1, 65), devices = random_whole(c, 0, 4);
    int kinds = random_whole(c, 1, 3);
    double speed[3], fixed = 0;
    devices = devices > ncu ? ncu : devices;
    for (int k = 0; k < 3; k++)
        speed[k] = random_whole(c, 0, 1) ? 1 : random_between(c, 0.5, 2);
    double device = random_magnitude(c, 2, 50);
    bool alike = random_whole(c, 0, 1);
    if (c->traits & RANDOM_LAUNCH)
        fixed = random_between(c, 0.02, 1) * c->cost[c->sim.job.n / 2] / device;
    for (int u = 0; u < ncu; u++) {
        bool is_device = u >= ncu - devices;
        c->unit[u] = (struct sim_unit){.kind = is_device ? CU_DEVICE : CU_CPU,
                                       .width = 1,
                                       .space = is_device ? u - (ncu - devices) + 1 : 0,
                                       .speed = is_device ? device : speed[u * kinds / ncu],
                                       .fixed = is_device ? fixed : 0};
        if (is_device && !alike)
            device = random_magnitude(c, 2, 50);
        c->unit[u].node = 0;
        if (c->traits & RANDOM_CROWD) {
            c->unit[u].slowed[CU_CPU] = (struct sim_curve){1, &c->crowd[is_device]};
            c->unit[u].slowed[CU_DEVICE] = (struct sim_curve){1, &c->crowd[2]};
        }
    }
    for (int i = 0; i < 3; i++) {
        c->crowd[i][0] = 1;
        c->crowd[i][1] = random_magnitude(c, 0.001, i == 0 ? 0.03 : 0.1);
    }
    c->sim.unit = c->unit;
    c->sim.ncu = ncu;
}

static inline void random_change(struct random_case *c, double makespan)
{
    bool dies = c->sim.ncu > 1 && random_whole(c, 0, 1);
    c->change = (struct sim_change){.unit = random_whole(c, 0, c->sim.ncu - 1),
                                    .step = random_whole(c, 1, c->sim.steps / 2),
                                    .after = random_uniform(c) * makespan,
                                    .factor = dies ? 0 : random_between(c, 0.2, 0.9)};
    c->sim.change = &c->change;
    c->sim.nchanges = 1;
}

/* Case number `seed`; of the traits allowed, each is there or not. */
static inline void random_case(struct random_case *c, unsigned seed, int allowed)
{
    static const int steps[] = {12, 30, 100};
    size_t nx;
    int shape;
    memset(c, 0, sizeof *c);
    c->state = seed * 0x2545f4914f6cdd1du;
    for (int trait = 1; trait < RANDOM_ALL; trait *= 2)
        if (random_whole(c, 0, trait == RANDOM_FACES ? 3 : 2) == 0)
            c->traits ^= trait;
    c->traits ^= RANDOM_FACES; /* most cases behind a link have neighbours */
    c->traits &= allowed;
    random_tasks(c, &nx, &shape);
    random_units(c);
    c->sim.steps = steps[random_whole(c, 0, 2)];
    c->sim.seed = seed;
    c->sim.cold = c->traits & RANDOM_COLD;
    if (c->traits & RANDOM_NOISE)
        c->sim.noise = random_magnitude(c, 0.01, 0.1);
    if (c->traits & RANDOM_CHANGE)
        random_change(c, sim_bound(&c->sim, NULL));
    snprintf(c->text, sizeof c->text, "%u: %zu %s tasks on %d units, %d steps%s%s%s%s%s%s%s", seed,
             c->sim.job.n, random_sizes[shape], c->sim.ncu, c->sim.steps,
             c->sim.cold ? ", cold" : "", c->sim.noise > 0 ? ", noisy" : "",
             c->sim.job.link ? ", link" : "", c->sim.job.first ? ", faces" : "",
             c->traits & RANDOM_LAUNCH ? ", launches" : "",
             c->traits & RANDOM_CROWD ? ", crowded" : "",
             !(c->traits & RANDOM_CHANGE) ? ""
             : c->change.factor > 0       ? ", a unit slows down"
                                          : ", a unit dies");
}

/* ---- evenkeel against all others --------------------------------------------------------------*/
struct random_match {
    struct sim_result own, best, guided; /* evenkeel; the best other one; clustered-guided */
    const char *rival;                   /* the best other one's name */
    bool fine; /* the largest task is below a twentieth of a step, and nothing there that changes */
};

static inline bool random_is_fine(const struct random_case *c, double bound)
{
    double largest = 0, slowest = INFINITY;
    for (size_t t = 0; t < c->sim.job.n; t++)
        largest = fmax(largest, c->cost[t]);
    for (int u = 0; u < c->sim.ncu; u++)
        slowest = fmin(slowest, c->sim.unit[u].speed);
    return !(c->traits & (RANDOM_CHANGE | RANDOM_NOISE | RANDOM_CROWD)) &&
           largest / slowest < 0.05 * bound;
}

static inline enum ek_status random_match(const struct random_case *c, struct random_match *m)
{
    *m = (struct random_match){.best.total = INFINITY, .rival = ""};
    for (int p = 0; p < sched_count(); p++) {
        const char *name = sched_at(p)->name;
        struct sim_result r;
        TRY(sim_run(&c->sim, name, NULL, &r));
        if (!strcmp(name, "evenkeel")) {
            m->own = r;
            continue;
        }
        if (r.total < m->best.total) {
            m->best = r;
            m->rival = name;
        }
        if (!strcmp(name, "clustered-guided"))
            m->guided = r;
    }
    m->fine = random_is_fine(c, m->own.lower_bound);
    return EK_OK;
}

#endif
