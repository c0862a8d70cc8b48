/* kirchhoff/device_tables.h – travel-time tables on a device: as many as there are slots for; the
 * longest unused makes room. */
#ifndef KIRCHHOFF_DEVICE_TABLES_H
#define KIRCHHOFF_DEVICE_TABLES_H

#include "backends/backend.h"
#include "kirchhoff/traveltime_cache.h"

struct device_tables;

/* EK_UNAVAILABLE. close accepts NULL. On the device's managing thread, as all that follows. */
enum ek_status device_tables_open(struct backend *backend, const struct traveltime_cache *travel,
                                  size_t slots, struct device_tables **d);
void device_tables_close(struct device_tables *d);

/* Brings the tables of nodes node[n], which are held on the host until the copies, which this
 * starts on the compute queue, are done: waits for them. EK_UNAVAILABLE: more than there are slots.
 */
enum ek_status device_tables_bring(struct device_tables *d, const int *node, int n);

int device_tables_slot(const struct device_tables *d, int node);
struct backend_mem *device_tables_mem(const struct device_tables *d);

#endif
