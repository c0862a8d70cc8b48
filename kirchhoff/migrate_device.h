/* kirchhoff/migrate_device.h – chunks on a device. Several make a batch; while the device works on
 * one batch, those of the host that feed it make tables for the next, read and filter it. */
#pragma once

#include "backends/backend.h"
#include "kirchhoff/migrate.h"

struct migrate_device;

/* As many tables and chunks in a batch as the device's memory has room for. EK_UNAVAILABLE: no
 * double precision, or not even room for the image and one chunk (the line has the numbers). On the
 * device's managing thread, as all that follows; close accepts NULL. */
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

/* tables_device.c: tables on a device, as many as there are slots for; the longest unused makes
 * room. */
struct tables_device;

/* EK_UNAVAILABLE. close accepts NULL. On the device's managing thread, as all that follows. */
enum ek_status tables_device_open(struct backend *backend, const struct traveltime_cache *travel,
                                  size_t slots, struct tables_device **d);
void tables_device_close(struct tables_device *d);

/* Brings the tables of nodes node[n] by copies on BACKEND_FEED; they are held on the host until
 * these are done. Who has read other tables is through at event `before`. EK_UNAVAILABLE:
 * more than there are slots. */
enum ek_status tables_device_bring(struct tables_device *d, const int *node, int n, int before);

int tables_device_slot(const struct tables_device *d, int node);
struct backend_mem *tables_device_mem(const struct tables_device *d);
