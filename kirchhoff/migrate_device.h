/* kirchhoff/migrate_device.h – chunks on a device. Several make a batch; while the device works on
 * one batch, its managing thread reads, filters and sends the next. */
#ifndef KIRCHHOFF_MIGRATE_DEVICE_H
#define KIRCHHOFF_MIGRATE_DEVICE_H

#include "backends/backend.h"
#include "kirchhoff/migrate.h"

struct migrate_device;

/* As many tables and chunks in a batch as the device's memory has room for. EK_UNAVAILABLE: no
 * double precision, or not even room for the image and one chunk (the line has the numbers). On the
 * device's managing thread, as all that follows; close accepts NULL. */
enum ek_status migrate_device_open(const struct migrate *m, struct backend *backend,
                                   struct migrate_device **d);
void migrate_device_close(struct migrate_device *d);

/* Adds chunks begin .. end-1 to the host's image; on return they are there, so that a device which
 * is lost takes nothing along but what it was at. EK_LOST. */
enum ek_status migrate_device_run(struct migrate_device *d, size_t begin, size_t end);

#endif
