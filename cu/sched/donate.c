/* cu/sched/donate.c – device donation without locks.
 *
 * A worker's seat is what others see of it: the load it published while it has no device, or a
 * device that somebody has donated to it, or neither. The seat changes only by compare-and-swap, so
 * that of several donors one succeeds, and publishing a new load never overwrites a gift. */
#include "cu/sched/donate.h"
#include "src/arena.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A seat: a published load >= 0, SEAT_AWAY, or SEAT_GIFT - device. */
enum { SEAT_AWAY = -1, SEAT_GIFT = -2 };

struct worker {
    _Alignas(64) atomic_long seat;
    long published; /* what the worker itself last stored there; own thread only */
    int device;     /* -1: none; own thread only */
    bool busy;      /* has a task; own thread only */
    long peak;      /* largest load of its task so far; own thread only */
    int users;      /* users of its device at the last poll; own thread only */
    /* What others see of a working worker, perhaps slightly out of date: */
    atomic_long load; /* as of the last poll */
    atomic_int on;    /* its device then */
    /* [share + 1] by number of users of its device (0: no device): seconds, and the loads that took
     * them */
    _Atomic double *seconds, *loads;
};

struct device {
    _Alignas(64) atomic_int seats; /* free seats */
    atomic_bool lost;
};

struct donate {
    struct arena arena; /* of workers and devices */
    struct donate_options options;
    struct worker *worker;                             /* [workers] */
    struct device *device;                             /* [devices] */
    _Alignas(64) atomic_long claims, donations, begun; /* begun: tasks */
};

const char *const donate_modes[] = {"off", "static", "on", NULL};

enum ek_status donate_open(const struct donate_options *options, struct donate **out)
{
    struct donate *d = aligned_alloc(64, sizeof *d);
    if (!d)
        FAIL(EK_UNAVAILABLE, "out of memory for the donation of devices");
    *d = (struct donate){.options = *options};
    struct worker *worker = d->worker = ARENA_NEW(&d->arena, options->workers, struct worker);
    struct device *device = d->device = ARENA_NEW(&d->arena, options->devices, struct device);
    const size_t kinds = (size_t)options->share + 1;
    _Atomic double *costs =
        ARENA_NEW(&d->arena, 2 * kinds * (size_t)options->workers, _Atomic double);
    const enum ek_status st = arena_check(&d->arena, "the donation of devices");
    if (st) {
        donate_close(d);
        return st;
    }
    for (int w = 0; w < options->workers; w++) {
        atomic_init(&worker[w].seat, SEAT_AWAY);
        worker[w].published = SEAT_AWAY;
        worker[w].device = -1;
        atomic_init(&worker[w].on, -1);
        worker[w].seconds = costs + 2 * kinds * (size_t)w;
        worker[w].loads = worker[w].seconds + kinds;
    }
    for (int i = 0; i < options->devices; i++) {
        atomic_init(&device[i].seats, options->share);
        atomic_init(&device[i].lost, false);
    }
    *out = d;
    return EK_OK;
}

ARENA_CLOSE(donate_close, struct donate)

/* ---- free devices -----------------------------------------------------------------------------*/

static bool is_lost(struct donate *d, int device)
{
    return atomic_load_explicit(&d->device[device].lost, memory_order_relaxed);
}

static void free_seat(struct donate *d, int device)
{
    atomic_fetch_add(&d->device[device].seats, 1);
}

/* ---- what a gift is worth ---------------------------------------------------------------------*/

/* All tasks have been begun, as far as known. */
static bool all_begun(struct donate *d)
{
    return atomic_load(&d->begun) >= d->options.tasks;
}

void donate_took(struct donate *d, int worker, double seconds)
{
    struct worker *w = &d->worker[worker];
    if (w->users > d->options.share)
        return; /* counted while workers came and went */
    atomic_store(&w->seconds[w->users], atomic_load(&w->seconds[w->users]) + seconds);
    atomic_store(&w->loads[w->users],
                 atomic_load(&w->loads[w->users]) + (double)atomic_load(&w->load));
}

/* Measured seconds of a load of 1 with this many users of a device; 0: not known. */
static double seen_cost(struct donate *d, int users)
{
    double seconds = 0, loads = 0;
    for (int w = 0; w < d->options.workers; w++) {
        seconds += atomic_load(&d->worker[w].seconds[users]);
        loads += atomic_load(&d->worker[w].loads[users]);
    }
    return loads > 0 ? seconds / loads : 0;
}

/* The same; if unknown, extrapolated from another number of users as if they took turns. */
static double cost(struct donate *d, int users)
{
    double c = seen_cost(d, users);
    for (int k = 1; k <= d->options.share && !(c > 0); k++)
        c = seen_cost(d, k) * users / k;
    return c;
}

/* Predicted seconds until all users of a device are done if a task of this load takes the place of
 * `whose`. The others' remaining work is a guess and may be larger by the tolerance. */
static double finish(struct donate *d, int device, const struct worker *whose, double load)
{
    for (double seconds = 0, done = 0, next;; done = next) {
        int users = load > done;
        next = users ? load : INFINITY;
        for (int i = 0; i < d->options.workers; i++) {
            struct worker *w = &d->worker[i];
            const double left = (double)atomic_load(&w->load) * (1 + d->options.tolerance);
            if (w == whose || atomic_load(&w->on) != device || left <= done)
                continue;
            users++;
            next = fmin(next, left);
        }
        if (!users)
            return seconds;
        seconds += (next - done) * cost(d, users < d->options.share ? users : d->options.share);
    }
}

/* Whether a seat at the device should pass from `from`, who has `own` left to do, to a worker
 * without one with this load. */
static bool pays(struct donate *d, int device, const struct worker *from, double own, double load)
{
    const double without = seen_cost(d, 0), margin = 1 + d->options.tolerance;
    if (!(without > 0 && cost(d, 1) > 0))
        return load > own * margin;
    if (own > 0 && (!all_begun(d) || own > 0.9 * (double)from->peak))
        return false;
    const double before = fmax(finish(d, device, from, own), load * without);
    const double after = fmax(finish(d, device, from, load), own * without);
    return after * margin < before;
}

/* ---- claims -----------------------------------------------------------------------------------*/

/* Claims a seat for a worker of this load at the device with the most free seats, at least `least`;
 * -1: there is none, it does not pay, or others were faster. LONG_MAX: it always pays. */
static int claim(struct donate *d, struct worker *w, int least, long load)
{
    int best = -1, most = least - 1;
    for (int i = 0; i < d->options.devices; i++) {
        const int seats = is_lost(d, i) ? 0 : atomic_load(&d->device[i].seats);
        if (seats > most && (load == LONG_MAX || pays(d, i, w, 0, (double)load))) {
            most = seats;
            best = i;
        }
    }
    if (best < 0 || !atomic_compare_exchange_strong(&d->device[best].seats, &most, most - 1))
        return -1;
    atomic_fetch_add_explicit(&d->claims, 1, memory_order_relaxed);
    return best;
}

/* Moves from a shared device to one with fewer users. */
static void spread(struct donate *d, struct worker *w)
{
    const int free_here = atomic_load(&d->device[w->device].seats);
    const int emptier = claim(d, w, free_here + 2, LONG_MAX);
    if (emptier < 0)
        return;
    free_seat(d, w->device);
    w->device = emptier;
}

/* ---- gifts ------------------------------------------------------------------------------------*/

/* Donates the giver's device to the worker with the largest published load if that pays, the giver
 * having `own` left to do. False: it does not, or that worker's seat has just changed; the next
 * poll will see. */
static bool give(struct donate *d, int giver, double own)
{
    struct worker *from = &d->worker[giver], *to = NULL;
    long most = 0;
    for (int w = 0; w < d->options.workers; w++) {
        const long load = w == giver ? SEAT_AWAY : atomic_load(&d->worker[w].seat);
        if (load >= 0 && (!to || load > most)) {
            most = load;
            to = &d->worker[w];
        }
    }
    if (!to || !pays(d, from->device, from, own, (double)most) ||
        !atomic_compare_exchange_strong(&to->seat, &most, SEAT_GIFT - from->device))
        return false;
    from->device = -1;
    atomic_fetch_add_explicit(&d->donations, 1, memory_order_relaxed);
    return true;
}

/* Changes the seat from what the worker stored there to `value`. If somebody donated a device
 * meanwhile, the worker takes it and is away. */
static void change_seat(struct worker *w, long value)
{
    long seen = w->published;
    if (atomic_compare_exchange_strong(&w->seat, &seen, value)) {
        w->published = value;
        return;
    }
    w->device = (int)(SEAT_GIFT - seen);
    w->published = SEAT_AWAY;
    atomic_store(&w->seat, SEAT_AWAY);
}

/* ---- what workers call ------------------------------------------------------------------------*/

static int poll_static(struct donate *d, int worker)
{
    const int devices = d->options.devices;
    if (worker >= devices * d->options.share)
        return -1;
    return is_lost(d, worker % devices) ? -1 : worker % devices;
}

/* A worker without a device takes what it was given, else a free device. */
static void look_around(struct donate *d, struct worker *w, long load, bool begins)
{
    change_seat(w, load);
    if (w->device >= 0 || !(begins || all_begun(d)))
        return;
    const int free_one = claim(d, w, 1, begins ? LONG_MAX : load);
    if (free_one < 0)
        return;
    change_seat(w, SEAT_AWAY); /* nobody may donate another one */
    if (w->device >= 0)
        free_seat(d, free_one); /* somebody just did */
    else
        w->device = free_one;
}

/* Publishes which device the worker uses, and counts its users. */
static void show(struct donate *d, struct worker *w)
{
    atomic_store(&w->on, w->device);
    w->users = 0;
    for (int i = 0; w->device >= 0 && i < d->options.workers; i++)
        w->users += atomic_load(&d->worker[i].on) == w->device;
}

int donate_poll(struct donate *d, int worker, long load)
{
    struct worker *w = &d->worker[worker];
    if (d->options.mode == DONATE_OFF || !d->options.devices)
        return -1;
    if (d->options.mode == DONATE_STATIC)
        return poll_static(d, worker);
    const bool begins = !w->busy;
    atomic_fetch_add(&d->begun, begins);
    w->busy = true;
    w->peak = begins || load > w->peak ? load : w->peak;
    atomic_store(&w->load, load);
    if (w->device >= 0 && is_lost(d, w->device))
        w->device = -1;
    if (w->device >= 0 && !give(d, worker, (double)load))
        spread(d, w);
    else
        look_around(d, w, load, begins);
    if (w->device >= 0 && is_lost(d, w->device))
        w->device = -1;
    show(d, w);
    return w->device;
}

void donate_leave(struct donate *d, int worker)
{
    struct worker *w = &d->worker[worker];
    if (d->options.mode != DONATE_ON)
        return;
    w->busy = false;
    atomic_store(&w->on, -1);
    if (w->device < 0)
        change_seat(w, SEAT_AWAY);
    if (w->device < 0 || (all_begun(d) && give(d, worker, 0)))
        return;
    free_seat(d, w->device);
    w->device = -1;
}

void donate_lose(struct donate *d, int device)
{
    atomic_store(&d->device[device].lost, true);
}

struct donate_counts donate_counts(const struct donate *d)
{
    struct donate *all = (struct donate *)d; /* reading an atomic wants no const */
    return (struct donate_counts){atomic_load(&all->claims), atomic_load(&all->donations)};
}
