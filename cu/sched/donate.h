/* cu/sched/donate.h – device donation: long tasks whose parallelism changes while they run pass
 * devices to one another. A push model, developed for the travel times of a production Kirchhoff
 * migration.
 *
 * Each worker runs one task at a time and calls donate_poll() every few steps with its load, one
 * number that says how much work its step has. A worker without a device publishes its load. A
 * worker with a device compares its own load with the largest published one and, if that is larger
 * by more than the tolerance, donates the device to that worker and goes on without. Workers
 * without a device take what was donated to them, and claim devices that nobody has. Nobody waits:
 * every call is a bounded number of atomic operations.
 *
 * Once workers report how long their steps took, a device changes hands only if all workers
 * involved are predicted to end sooner by more than the tolerance, by the measured cost of a load
 * without a device and with one of so many users, loads being the work left. A load that still
 * grows keeps its device, as it may become anything. While there are tasks that nobody has begun,
 * any worker's device is as good as another's, and a worker that begins a task takes a free device.
 *
 * A device may be shared by `share` workers, who spread out when others become free; a worker uses
 * at most one device. What a device is, and how a task's state gets there and back, is up to the
 * caller. */
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
    double tolerance; /* a load, or a gain, must be larger by this share (avoids ping-pong) */
    long tasks;       /* total number of tasks; 0: not known */
};

struct donate;

/* Names of the modes, for options of type OPT_NAME. */
extern const char *const donate_modes[];

/* EK_UNAVAILABLE: memory. The caller owns *d; close accepts NULL. */
enum ek_status donate_open(const struct donate_options *options, struct donate **d);
void donate_close(struct donate *d);

/* Reports the worker's load, at least 0; returns its device from now on, -1: none. Each worker from
 * one thread at a time; different workers concurrently. */
int donate_poll(struct donate *d, int worker, long load);

/* Optional: reports how long the work after the worker's last poll took, in s. By the worker. */
void donate_took(struct donate *d, int worker, double seconds);

/* The worker has ended its task: its device goes to the worker with the largest published load, or
 * becomes free. The worker may poll again later. */
void donate_leave(struct donate *d, int worker);

/* The device failed: its users lose it at their next poll, nobody gets it again. Any thread. */
void donate_lose(struct donate *d, int device);

/* How often a free device was claimed, and how often one was donated. Any thread. */
struct donate_counts {
    long claims, donations;
};
struct donate_counts donate_counts(const struct donate *d);
