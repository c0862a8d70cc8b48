/* kirchhoff/migrate_device.h – chunks on a device. Several make a batch; while the device sums one
 * batch, the host's threads that feed it compute tables for the next one, read and filter it. */
#pragma once

#include "backends/backend.h"
#include "kirchhoff/migrate.h"

struct migrate_device;

/* Plans tables and batches to fit the device's memory. EK_UNAVAILABLE: no double precision, or no
 * room for the image and one chunk (the message has the numbers). Call this and all that follows on
 * the device's managing thread; close accepts NULL. */
enum ek_status migrate_device_open(const struct migrate *m, struct backend *backend,
                                   struct migrate_device **d);
void migrate_device_close(struct migrate_device *d);

/* Sums chunks begin .. *end - 1, and brings the sums to the host; after `until` (clock_now()) it
 * begins no further batch: *end becomes the first chunk left out. The unit's threads, NULL: the
 * caller alone, share the host's part of the work. EK_LOST. */
enum ek_status migrate_device_run(struct migrate_device *d, const struct cu *cu, size_t begin,
                                  size_t *end, double until);
/* Adds these sums to the host's image: a device that is lost takes no more along than its range. */
void migrate_device_add(struct migrate_device *d);

/* tables_device.c: tables on a device, a fixed number of slots; the least recently used one is
 * replaced. */
struct tables_device {
    struct backend *backend;
    const struct traveltime_cache *travel;
    struct backend_mem *mem;
    size_t slots;
    struct table_slot {
        int node;           /* whose table it holds; -1: empty */
        unsigned long used; /* clock at its last use, 0: never */
    } * slot;               /* [slots] */
    int *at;                /* [nodes] slot of a node's table, -1: not on the device */
    unsigned long clock;
    struct arena arena;
};

/* EK_UNAVAILABLE. close accepts NULL. */
enum ek_status tables_device_open(struct backend *backend, const struct traveltime_cache *travel,
                                  size_t slots, struct tables_device **d);
void tables_device_close(struct tables_device *d);

/* Copies the tables of nodes node[n] to the device on BACKEND_FEED; the caller holds them on the
 * host until the copies are done. Kernels that read the tables being replaced have finished at
 * event `before`. EK_UNAVAILABLE: more tables than slots. */
enum ek_status tables_device_bring(struct tables_device *d, const int *node, int n, int before);
