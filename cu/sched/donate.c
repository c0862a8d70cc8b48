/* cu/sched/donate.c – device donation without locks.
 *
 * A worker's seat is what others see of it: the load that it published while it has no device, or
 * the device that somebody has put there for it, or neither. The seat changes by compare-and-swap
 * alone, so that of several donors one succeeds, and a load that is published anew never overwrites
 * a gift. */
#include "cu/sched/donate.h"
#include "src/arena.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A seat: a published load >= 0, SEAT_AWAY, or SEAT_GIFT - device. */
enum { SEAT_AWAY = -1, SEAT_GIFT = -2 };

struct worker {
    _Alignas(64) atomic_long seat;
    long published; /* what the worker itself last put there; its own thread alone */
    int device;     /* -1: none; its own thread alone */
};

struct device {
    _Alignas(64) atomic_int seats; /* how many more workers may share it */
    atomic_bool lost;
};

struct donate {
    struct arena arena; /* of workers and devices */
    struct donate_options options;
    struct worker *worker; /* [workers] */
    struct device *device; /* [devices] */
    _Alignas(64) atomic_long claims, donations;
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
    const enum ek_status st = arena_check(&d->arena, "the donation of devices");
    if (st) {
        donate_close(d);
        return st;
    }
    for (int w = 0; w < options->workers; w++) {
        atomic_init(&worker[w].seat, SEAT_AWAY);
        worker[w].published = SEAT_AWAY;
        worker[w].device = -1;
    }
    for (int i = 0; i < options->devices; i++) {
        atomic_init(&device[i].seats, options->share);
        atomic_init(&device[i].lost, false);
    }
    *out = d;
    return EK_OK;
}

void donate_close(struct donate *d)
{
    if (!d)
        return;
    arena_free(&d->arena);
    free(d);
}

/* ---- free devices -----------------------------------------------------------------------------*/

static bool is_lost(struct donate *d, int device)
{
    return atomic_load_explicit(&d->device[device].lost, memory_order_relaxed);
}

static void free_seat(struct donate *d, int device)
{
    atomic_fetch_add(&d->device[device].seats, 1);
}

/* A seat at the device with the most free ones, if these are at least `least`; -1: there is none,
 * or others were faster. */
static int claim(struct donate *d, int least)
{
    int best = -1, most = least - 1;
    for (int i = 0; i < d->options.devices; i++) {
        const int seats = is_lost(d, i) ? 0 : atomic_load(&d->device[i].seats);
        if (seats > most) {
            most = seats;
            best = i;
        }
    }
    if (best < 0 || !atomic_compare_exchange_strong(&d->device[best].seats, &most, most - 1))
        return -1;
    atomic_fetch_add_explicit(&d->claims, 1, memory_order_relaxed);
    return best;
}

/* From a device that others use, too, to one that fewer would. */
static void spread(struct donate *d, struct worker *w)
{
    const int free_here = atomic_load(&d->device[w->device].seats);
    const int emptier = claim(d, free_here + 2);
    if (emptier < 0)
        return;
    free_seat(d, w->device);
    w->device = emptier;
}

/* ---- gifts ------------------------------------------------------------------------------------*/

/* Puts the device on the seat of the worker of the largest published load above `least`. False:
 * there is none, or its seat has just changed; the next poll will see. */
static bool give(struct donate *d, int giver, double least)
{
    struct worker *from = &d->worker[giver], *to = NULL;
    long most = 0;
    for (int w = 0; w < d->options.workers; w++) {
        const long load = w == giver ? SEAT_AWAY : atomic_load(&d->worker[w].seat);
        if (load >= 0 && (double)load > least && (!to || load > most)) {
            most = load;
            to = &d->worker[w];
        }
    }
    if (!to || !atomic_compare_exchange_strong(&to->seat, &most, SEAT_GIFT - from->device))
        return false;
    from->device = -1;
    atomic_fetch_add_explicit(&d->donations, 1, memory_order_relaxed);
    return true;
}

/* The seat from what the worker put there to `value`. If somebody put a device there instead, the
 * worker takes it and is away. */
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

/* A worker that has no device: what it was given, else a free one. */
static void look_around(struct donate *d, struct worker *w, long load)
{
    change_seat(w, load);
    if (w->device >= 0)
        return;
    const int free_one = claim(d, 1);
    if (free_one < 0)
        return;
    change_seat(w, SEAT_AWAY); /* nobody is to give it another one */
    if (w->device >= 0)
        free_seat(d, free_one); /* somebody just did */
    else
        w->device = free_one;
}

int donate_poll(struct donate *d, int worker, long load)
{
    struct worker *w = &d->worker[worker];
    if (d->options.mode == DONATE_OFF || !d->options.devices)
        return -1;
    if (d->options.mode == DONATE_STATIC)
        return poll_static(d, worker);
    if (w->device >= 0 && is_lost(d, w->device))
        w->device = -1;
    if (w->device >= 0 && !give(d, worker, (double)load * (1 + d->options.tolerance))) {
        spread(d, w);
        return w->device;
    }
    look_around(d, w, load);
    if (w->device >= 0 && is_lost(d, w->device))
        w->device = -1;
    return w->device;
}

void donate_leave(struct donate *d, int worker)
{
    struct worker *w = &d->worker[worker];
    if (d->options.mode != DONATE_ON)
        return;
    if (w->device < 0)
        change_seat(w, SEAT_AWAY);
    if (w->device < 0 || give(d, worker, 0))
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
