/* kirchhoff/tables_device.h – travel-time tables on a device: as many as there are slots for; the
 * longest unused makes room. */
#ifndef KIRCHHOFF_TABLES_DEVICE_H
#define KIRCHHOFF_TABLES_DEVICE_H

#include "backends/backend.h"
#include "kirchhoff/traveltime_cache.h"

struct tables_device;

/* EK_UNAVAILABLE. close accepts NULL. On the device's managing thread, as all that follows. */
enum ek_status tables_device_open(struct backend *backend, const struct traveltime_cache *travel,
                                  size_t slots, struct tables_device **d);
void tables_device_close(struct tables_device *d);

/* Brings the tables of nodes node[n], which are held on the host until the copies, which this
 * starts on the compute queue, are done: waits for them. EK_UNAVAILABLE: more than there are slots.
 */
enum ek_status tables_device_bring(struct tables_device *d, const int *node, int n);

int tables_device_slot(const struct tables_device *d, int node);
struct backend_mem *tables_device_mem(const struct tables_device *d);

#endif
