/* npb_mz/device.h – zones that live in the memory of one device.
 *
 * Every zone has a fixed place in the device's fields, the same as on the host, so that moving one
 * is a copy of its part and kernels find it by its row in the table of zones. Only u, forcing and
 * what the solver carries travel with a zone; everything else is scratch of a step. */
#ifndef NPB_MZ_DEVICE_H
#define NPB_MZ_DEVICE_H

#include "backends/backend.h"
#include "npb_mz/faces.h"
#include "npb_mz/mz.h"

struct device;

/* Bytes that the fields of all zones take on a device. */
size_t device_bytes(const struct mz *mz);

/* Bytes that a zone's move to a device carries. */
size_t device_zone_bytes(const struct mz *mz, int zone);

/* Fields and kernels on an open back end; `batch` zones are computed by one launch where their
 * scratch fits (a CPU device takes them one by one, which its caches like better). EK_UNAVAILABLE:
 * too little memory, with both numbers. On the device's thread. close accepts NULL. */
enum ek_status device_open(const struct mz *mz, struct backend *backend, struct device **device);
void device_close(struct device *device);

/* One step of zones begin .. end-1, which live here; done on return. seconds[i] += time of zone
 * begin + i: measured, or its share of a batch by declared cost. */
enum ek_status device_step(struct device *device, int begin, int end, double *seconds);

/* Moves a zone here (u, forcing, carried) or to the host (forcing never changes); *bytes += size.
 * Any thread that holds the device's lock. */
enum ek_status device_put(struct device *device, int zone, size_t *bytes);
enum ek_status device_get(struct device *device, int zone, size_t *bytes);

/* Moves a zone from one device to another; the host's copy stays as it was. Whoever holds the locks
 * of both. */
enum ek_status device_take(struct device *to, struct device *from, int zone, size_t *bytes);

/* The exchange of this device's memory node: copies faces between its zones and reads outgoing ones
 * into the memory node's out_buffer; then, after all have done so, writes and unpacks its
 * in_buffer. */
enum ek_status device_send_faces(struct device *device, const struct faces *faces, int memory,
                                 size_t *bytes);
enum ek_status device_receive_faces(struct device *device, const struct faces *faces, int memory,
                                    size_t *bytes);

#endif
