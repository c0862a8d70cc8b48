/* tests/donation.h – simulates shots of uneven length on units that donate devices: the clock is
 * virtual, but cu/sched/donate.c is the real one. For tests and benchmarks. */
#pragma once

#include "cu/sched/donate.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct donation_case {
    int workers, devices, share, shots, poll; /* poll: steps between two polls */
    double ratio;    /* of the speeds at which a device and a core move rays */
    double host;     /* share of a core's step that stays on the core with a device: filling */
    double overhead; /* of a step on a device, in units of a ray's step on a core */
    double skew;     /* standard deviation of the logarithm of a shot's size */
    uint64_t seed;
    /* Called after each worker's few steps, which were on a device or not; or NULL. */
    void (*on_steps)(void *arg, int worker, int shot, bool device, double start, double end);
    void *arg;
};

struct donation_result {
    double seconds, busy; /* time at which the last worker ended; working time of all workers */
    double on_device;     /* share of the rays' steps moved on a device */
    long donations;
};

enum { DONATION_WORKERS = 64, DONATION_SHOTS = 256 };

struct donation_shot {
    int steps;
    double peak; /* rays */
};

static inline double donation_uniform(uint64_t *x)
{
    uint64_t z = *x += 0x9e3779b97f4a7c15; /* Steele, Lea & Flood's SplitMix64 (2014) */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double donation_normal(uint64_t *x)
{
    const double r = sqrt(-2 * log(donation_uniform(x)));
    return r * cos(2 * M_PI * donation_uniform(x));
}

/* Rays of a front at a step: it grows like a sphere, then leaves the box. */
static inline double donation_length(const struct donation_shot *s, int step)
{
    const double x = (step + 0.5) / s->steps;
    return 1000 + s->peak * (x < 0.7 ? x * x / 0.49 : (1 - x) / 0.3);
}

struct donation_worker {
    double clock, busy;
    int shot, step, device; /* shot -1: none */
};

/* Duration of a step (of one ray on a core: 1); users: workers of the device, 0: no device. */
static inline double donation_step(const struct donation_case *c, double length, int users)
{
    if (!users)
        return length;
    return c->host * length + c->overhead + users * (1 - c->host) * length / c->ratio;
}

static inline int donation_users(const struct donation_case *c, const struct donation_worker *w,
                                 int device)
{
    int users = 0;
    for (int i = 0; i < c->workers; i++)
        users += w[i].shot >= 0 && w[i].device == device;
    return users;
}

static inline struct donation_worker *donation_earliest(const struct donation_case *c,
                                                        struct donation_worker *w)
{
    struct donation_worker *first = NULL;
    for (int i = 0; i < c->workers; i++)
        if (w[i].shot >= 0 && (!first || w[i].clock < first->clock))
            first = &w[i];
    return first;
}

static inline void donation_shots(const struct donation_case *c, struct donation_shot *shot)
{
    uint64_t x = c->seed;
    for (int s = 0; s < c->shots; s++) {
        shot[s].steps = (int)(200 + 400 * donation_uniform(&x));
        shot[s].peak = fmin(20000 * exp(c->skew * donation_normal(&x)), 200000);
    }
}

/* Lets the worker whose clock is earliest do its next steps, until no shot is left. */
static inline struct donation_result donation_run(const struct donation_case *c,
                                                  enum donate_mode mode)
{
    const struct donate_options o = {mode, c->workers, c->devices, c->share, 0.5, c->shots};
    struct donation_shot shot[DONATION_SHOTS];
    struct donation_worker worker[DONATION_WORKERS] = {{0}}, *w;
    struct donation_result r = {0};
    struct donate *d;
    double all = 0, there = 0;
    int next = 0;
    if (donate_open(&o, &d))
        abort();
    donation_shots(c, shot);
    for (int i = 0; i < c->workers; i++)
        worker[i] = (struct donation_worker){.shot = next < c->shots ? next++ : -1, .device = -1};
    while ((w = donation_earliest(c, worker))) {
        const struct donation_shot *s = &shot[w->shot];
        const int number = (int)(w - worker);
        w->device = donate_poll(d, number, (long)donation_length(s, w->step));
        const int users = w->device < 0 ? 0 : donation_users(c, worker, w->device);
        const double start = w->clock;
        for (int i = 0; i < c->poll && w->step < s->steps; i++, w->step++) {
            const double length = donation_length(s, w->step);
            const double seconds = donation_step(c, length, users);
            w->clock += seconds;
            w->busy += seconds;
            all += length;
            there += users ? length : 0;
        }
        donate_took(d, number, w->clock - start);
        if (c->on_steps)
            c->on_steps(c->arg, number, w->shot, users > 0, start, w->clock);
        if (w->step < s->steps)
            continue;
        donate_leave(d, number);
        w->shot = next < c->shots ? next++ : -1;
        w->step = 0;
        w->device = -1;
    }
    for (int i = 0; i < c->workers; i++) {
        r.seconds = fmax(r.seconds, worker[i].clock);
        r.busy += worker[i].busy;
    }
    r.on_device = there / all;
    r.donations = donate_counts(d).donations;
    donate_close(d);
    return r;
}
