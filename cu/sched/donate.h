/* cu/sched/donate.h – device donation: long tasks whose parallelism changes while they run pass
 * devices on to one another, in a push model made for the travel times of a production Kirchhoff
 * migration.
 *
 * Each worker runs one task at a time and calls donate_poll() every few of its steps with its load,
 * one number that says how much it has to do in a step. A worker without a device publishes its
 * load; one that has a device compares its own with the largest published one and, if that is
 * larger by more than the tolerance, donates the device to that worker and goes on without.
 * Workers without a device take what was donated to them, and claim devices that nobody has.
 * Nobody waits: every call is a bounded number of atomic operations, whatever others do.
 *
 * Once workers say how long their steps took, a device changes hands only where all who have to do
 * with it are then done sooner by more than the tolerance, by what a load has cost so far without a
 * device and with one of so many users, loads being what is left to do. A load that still grows may
 * become anything and keeps its device. As long as there are tasks that nobody has begun, any
 * worker's device helps as much as another's, and whoever begins one takes what is free.
 *
 * A device may be shared by `share` workers, who spread out when others become free; a worker uses
 * one device at most. What a device is, and how a task's state gets there and back, is the
 * caller's. */
#pragma once

#include "src/status.h"

enum donate_mode {
    DONATE_OFF,    /* no worker ever has a device */
    DONATE_STATIC, /* worker w has device w mod devices, if w < devices * share, for good */
    DONATE_ON,
};

struct donate_options {
    enum donate_mode mode;
    int workers, devices;
    int share;        /* workers of a device at once, at least 1 */
    double tolerance; /* a load, or a gain, must be larger by this share: no ping-pong */
    long tasks;       /* of all workers; 0: not known */
};

struct donate;

/* Names of the modes, for options of type OPT_NAME. */
extern const char *const donate_modes[];

/* EK_UNAVAILABLE: memory. The caller owns *d; close accepts NULL. */
enum ek_status donate_open(const struct donate_options *options, struct donate **d);
void donate_close(struct donate *d);

/* Says the worker's load, at least 0; returns the device that it has from now on, -1: none. Each
 * worker from one thread at a time; different workers at once. */
int donate_poll(struct donate *d, int worker, long load);

/* How long what came after the worker's last poll took, in s. Not needed. By the worker. */
void donate_took(struct donate *d, int worker, double seconds);

/* The worker has nothing to do: its device goes to the worker of the largest published load, or is
 * free. The worker may poll again later. */
void donate_leave(struct donate *d, int worker);

/* The device failed: who has it loses it with the next poll, nobody gets it again. Any thread. */
void donate_lose(struct donate *d, int device);

/* How often a worker got a free device, and how often one was given away. Any thread. */
struct donate_counts {
    long claims, donations;
};
struct donate_counts donate_counts(const struct donate *d);
