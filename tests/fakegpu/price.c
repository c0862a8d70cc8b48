/* tests/fakegpu/price.c – the cost of work on a card named by FAKEGPU_PRICE: events of a fake
 * device then report times of a virtual clock.
 *
 * A launch costs the host a call and the device a start; a wait costs the host its return. A
 * launch's groups run in waves over the multiprocessors; no wave is shorter than a group's latency,
 * and all together are no faster than memory delivers the data (one 32-byte sector per work-item
 * and address argument). A copy costs a start, and its bytes over the bus, the link between cards
 * or memory, on one of the engines. Groups that wait for one another cost as if they did not: LU's
 * sweeps by blocks took 70 to 410 us each on an H200 (npb_mz/README.md), here a few.
 *
 * h200 was measured (2026-11, driver 580.159, CUDA 13.0, tests/bench/devices.c): 3.0 us a launch in
 * a row, 8.3 us a launch with its wait, 2 to 3 us a launch within a graph, 4.2 TB/s read and
 * written by a copy, 54 GB/s a way between it and pinned memory (packing plain memory is the host's
 * work: 10 GB/s a thread there). h100, with the same multiprocessors, has its times and the memory
 * of its data sheet. The others are from data sheets and usual measurements; correct them once
 * measured.
 *
 * FAKEGPU_BUSY adds measured times: the host's computing between calls (of the unit's threads, the
 * one that computes longest, as if each had its own cpu), and a kernel's arithmetic (cpu seconds of
 * PoCL's threads divided by the card's `cores`). */
#include "tests/fakegpu/fake.h"
#include "src/clock.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RESIDENT = 16, SECTOR = 32 }; /* groups of 64 on a multiprocessor; bytes */
static const double LINKED = 0.4;    /* share of `start` for a kernel that follows another of its
                                      * graph */

static const struct price {
    const char *name;
    int multiprocessors;
    long memory;                 /* MiB */
    double call, start, group;   /* seconds: host's call, device's start, least time of a wave */
    double wait;                 /* seconds: return of a host's wait */
    double bandwidth, bus, link; /* bytes/s: memory, to the host, to another card */
    double cores;                /* number of cpu cores (running PoCL) with the same speed */
} prices[] = {
    {"h200", 132, 143000, 2e-6, 1e-6, 2e-6, 3.3e-6, 4.2e12, 54e9, 400e9, 3000},
    {"h100", 132, 80000, 2e-6, 1e-6, 2e-6, 3.3e-6, 3.35e12, 54e9, 400e9, 3000},
    {"a100", 108, 40000, 2e-6, 4e-6, 5e-6, 4e-6, 1.55e12, 25e9, 250e9, 900},
    {"mi250x", 110, 64000, 4e-6, 6e-6, 6e-6, 5e-6, 1.6e12, 28e9, 50e9, 2000},
    {"display", 14, 4000, 3e-6, 5e-6, 8e-6, 5e-6, 0.13e12, 12e9, 6e9, 40},
};

static const struct price *chosen(void)
{
    const char *name = getenv("FAKEGPU_PRICE");
    for (size_t i = 0; name && i < sizeof prices / sizeof *prices; i++)
        if (!strcmp(prices[i].name, name))
            return &prices[i];
    return NULL;
}

bool price_wanted(void)
{
    return chosen();
}

long price_number(enum price_number what, long otherwise)
{
    const struct price *p = chosen();
    return !p ? otherwise : what == PRICE_MEMORY ? p->memory : p->multiprocessors;
}

struct moment *price_moment(struct gpu *g)
{
    struct moment *m = chosen() ? calloc(1, sizeof *m) : NULL;
    if (m) {
        m->next = g->moments;
        g->moments = m;
    }
    return m;
}

/* ---- the host --------------------------------------------------------------------------------*/

static long measures(void)
{
    return setting("FAKEGPU_BUSY", 0);
}

/* PoCL's threads, and the feeders: other threads on the calling thread's cpus, with their clocks
 * when it last left its device; `left`: its own. */
enum { THREADS = 256, FEEDERS = 16 };
static int pocl_thread[THREADS], npocl_threads;
static _Thread_local struct {
    int thread;
    double clock;
} feeder[FEEDERS];
static _Thread_local int feeders;
static _Thread_local double left;

/* The thread's CPU time; 0 if it has ended. */
static double clock_of(int thread)
{
    struct timespec t;
    const clockid_t id = (clockid_t)(~(unsigned)thread << 3 | 6); /* the kernel's encoding */
    return clock_gettime(id, &t) ? 0 : (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Calls for each thread of the process. */
static void each_thread(void (*call)(int thread))
{
    DIR *all = opendir("/proc/self/task");
    for (struct dirent *e; all && (e = readdir(all));)
        if (atoi(e->d_name) > 0)
            call(atoi(e->d_name));
    if (all)
        closedir(all);
}

static bool is_pocls(int thread)
{
    for (int i = 0; i < npocl_threads; i++)
        if (pocl_thread[i] == thread)
            return true;
    return false;
}

static void note_pocls(int thread)
{
    if (npocl_threads < THREADS && !is_pocls(thread))
        pocl_thread[npocl_threads++] = thread;
}

double price_kernel_clock(void)
{
    double sum = clock_cpu();
    for (int i = 0; i < npocl_threads; i++)
        sum += clock_of(pocl_thread[i]);
    return sum;
}

static void forget_pocls(int thread)
{
    for (int i = 0; i < npocl_threads; i++)
        if (pocl_thread[i] == thread)
            pocl_thread[i--] = pocl_thread[--npocl_threads];
}

void price_pocl(bool open)
{
    static int before[THREADS], n;
    npocl_threads = 0;
    each_thread(note_pocls);
    if (!open) {
        n = npocl_threads;
        memcpy(before, pocl_thread, sizeof before);
    }
    for (int i = 0; i < n && open; i++)
        forget_pocls(before[i]);
}

static void note_feeder(int thread)
{
    cpu_set_t own, its;
    if (feeders == FEEDERS || thread == gettid() || is_pocls(thread) ||
        sched_getaffinity(0, sizeof own, &own) || sched_getaffinity(thread, sizeof its, &its) ||
        !CPU_EQUAL(&own, &its))
        return;
    feeder[feeders].thread = thread;
    feeder[feeders++].clock = clock_of(thread);
}

static void leave(void)
{
    feeders = 0;
    if (measures())
        each_thread(note_feeder);
    left = clock_cpu();
}

static void enter(struct gpu *g)
{
    double longest = clock_cpu() - left;
    for (int i = 0; i < feeders; i++) {
        const double its = clock_of(feeder[i].thread) - feeder[i].clock;
        longest = its > longest ? its : longest;
    }
    if (measures() && left > 0)
        g->host += longest;
    leave();
}

double price_call(struct gpu *g)
{
    const struct price *p = chosen();
    enter(g);
    return g->host += p ? p->call : 0;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

void price_wait(struct gpu *g)
{
    enter(g);
}

void price_waited(struct gpu *g, double clock)
{
    const struct price *p = chosen();
    leave();
    g->host = later(g->host, clock) + (p ? p->wait : 0);
    if (clock > g->awaited) {
        g->awaited = clock;
        g->ended = g->host;
    }
}

/* ---- its device ------------------------------------------------------------------------------*/

/* Occupies an engine for `seconds`, not before `from`; returns the end. */
static double take(struct gpu *g, enum engine e, double from, double seconds)
{
    g->worked[e] += seconds;
    return g->engine[e] = later(from, g->engine[e]) + seconds;
}

static void note_fill(struct gpu *g, const char *kernel, size_t groups, size_t room, double seconds)
{
    for (int i = 0; i < FILLS; i++) {
        struct fill *f = &g->fill[i];
        if (f->launches && strcmp(f->kernel, kernel))
            continue;
        snprintf(f->kernel, sizeof f->kernel, "%s", kernel);
        f->launches++;
        f->groups += groups;
        f->room += room;
        f->seconds += seconds;
        return;
    }
}

static void tell_busy(const struct gpu *g)
{
    const double all = g->ended - g->began, *w = g->worked;
    if (chosen() && measures() && all > 0)
        fprintf(
            stderr,
            "device %d: busy %.1f %% of %.6f s, %.1f %% until its last launch ended; seconds of "
            "work %.6f, copies in %.6f, out %.6f, across %.6f\n",
            g->index, 100 * w[ENGINE_WORK] / all, all,
            100 * w[ENGINE_WORK] / (g->launched - g->began), w[ENGINE_WORK], w[ENGINE_IN],
            w[ENGINE_OUT], w[ENGINE_PEER]);
}

void price_tell(const struct gpu *g)
{
    tell_busy(g);
    for (int i = 0; i < FILLS && setting("FAKEGPU_FILL", 0); i++) {
        const struct fill *f = &g->fill[i];
        if (f->launches)
            fprintf(stderr, "%s: %zu launches of %zu groups, %.1f %% of the card, %.6f s\n",
                    f->kernel, f->launches, f->groups / f->launches,
                    100.0 * (double)f->groups / (double)f->room, f->seconds);
    }
}

double price_launch(struct gpu *g, double from, const char *kernel, size_t groups, size_t items,
                    int addresses, double cpu, bool linked)
{
    const struct price *p = chosen();
    const size_t wave = (size_t)p->multiprocessors * RESIDENT, waves = (groups + wave - 1) / wave;
    const double bytes = (double)(groups * items) * SECTOR * addresses;
    const double arithmetic = measures() ? cpu / p->cores : 0;
    const double seconds = later((double)waves * p->group, later(arithmetic, bytes / p->bandwidth));
    note_fill(g, kernel, groups, waves * wave, seconds);
    if (++g->launches <= (measures() ? measures() : 1)) { /* earlier work does not count */
        g->began = from;
        memset(g->worked, 0, sizeof g->worked);
    }
    return g->launched = take(g, ENGINE_WORK, from + p->start * (linked ? LINKED : 1), seconds);
}

double price_copy(struct gpu *g, double from, enum engine e, size_t bytes)
{
    const struct price *p = chosen();
    const double rate[] = {[ENGINE_WORK] = p->bandwidth / 2,
                           [ENGINE_IN] = p->bus,
                           [ENGINE_OUT] = p->bus,
                           [ENGINE_PEER] = p->link};
    return take(g, e, from + p->start, (double)bytes / rate[e]);
}
