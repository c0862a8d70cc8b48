/* tests/fakegpu/price.c – what work would cost on a card: FAKEGPU_PRICE names it, and the events of
 * a fake device then tell a virtual clock's time instead of PoCL's.
 *
 * A launch costs the host its call and the device a start; its groups go in waves over the
 * multiprocessors, none shorter than a group's own latency, all together no faster than memory
 * delivers what the work-items touch (a sector of 32 bytes for each address that they are given). A
 * copy costs a start and its bytes over the bus, the link between cards or memory, on one of the
 * engines. Numbers from the makers' data sheets and the usual measurements of starts; a card that
 * is measured may correct them here.
 *
 * FAKEGPU_BUSY adds what only a measurement has: what the host computes between its calls, by the
 * clock of that one of the unit's threads which computes longest, as if each had a cpu of its own;
 * and a kernel's arithmetic, by the cpus' seconds over the card's `cores`. */
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
static const double LINKED = 0.4;    /* of a start: behind another kernel of the same graph */

static const struct price {
    const char *name;
    int multiprocessors;
    long memory;                 /* MiB */
    double call, start, group;   /* seconds: of the host, of the device, of a wave at least */
    double bandwidth, bus, link; /* bytes/s: of memory, to the host, to another card */
    double cores;                /* of a host, as PoCL uses them, that compute as much */
} prices[] = {
    {"h100", 132, 80000, 2e-6, 3e-6, 4e-6, 3.35e12, 55e9, 400e9, 3000},
    {"a100", 108, 40000, 2e-6, 4e-6, 5e-6, 1.55e12, 25e9, 250e9, 900},
    {"mi250x", 110, 64000, 4e-6, 6e-6, 6e-6, 1.6e12, 28e9, 50e9, 2000},
    {"display", 14, 4000, 3e-6, 5e-6, 8e-6, 0.13e12, 12e9, 6e9, 40},
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

/* Threads that are PoCL's, and the others beside the calling one that run on its cpus: they feed
 * the device with it. Their clocks when it left its device, and its own. */
enum { THREADS = 256, FEEDERS = 16 };
static int pocl_thread[THREADS], npocl_threads;
static _Thread_local struct {
    int thread;
    double clock;
} feeder[FEEDERS];
static _Thread_local int feeders;
static _Thread_local double left;

/* The thread's clock; 0: it is over. */
static double clock_of(int thread)
{
    struct timespec t;
    const clockid_t id = (clockid_t)(~(unsigned)thread << 3 | 6); /* as the kernel numbers them */
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
    leave();
    g->host = later(g->host, clock);
    g->ended = clock > 0 ? g->host : g->ended;
}

/* ---- its device ------------------------------------------------------------------------------*/

/* Work that begins at `from` takes an engine for `seconds`; when it is done. */
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
            "device %d: busy %.1f %% of %.6f s; seconds of work %.6f, copies in %.6f, out %.6f, "
            "across %.6f\n",
            g->index, 100 * w[ENGINE_WORK] / all, all, w[ENGINE_WORK], w[ENGINE_IN], w[ENGINE_OUT],
            w[ENGINE_PEER]);
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
    if (++g->launches <= (measures() ? measures() : 1)) { /* what was before does not count */
        g->began = from;
        memset(g->worked, 0, sizeof g->worked);
    }
    return take(g, ENGINE_WORK, from + p->start * (linked ? LINKED : 1), seconds);
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
