/* npb_mz/device.h – zones in the memory of one device.
 *
 * A zone that lives on the device has a place in its fields (places.h); kernels find it through the
 * table of zones. u, forcing and what the solver carries move with a zone; everything else is
 * scratch of a batch. Copies overlap the computation, on a queue of their own. */
#pragma once

#include "backends/backend.h"
#include "npb_mz/faces.h"
#include "npb_mz/places.h"

struct device;

/* Bytes that are copied when a zone moves to a device. */
size_t device_zone_bytes(const struct mz *mz, int zone);

/* Allocates fields and builds kernels on an open back end. A launch computes as many zones as the
 * scratch has room for (on a CPU device one zone, to stay in its caches). EK_UNAVAILABLE: too
 * little memory for the largest zone. On the device's thread. close accepts NULL. */
enum ek_status device_open(const struct mz *mz, struct backend *backend, struct device **device);
void device_close(struct device *device);

/* Does one step of zones begin .. end-1 and waits for it; those that live on the host are copied
 * here and back. seconds[i] += time of zone begin + i: its share, by declared cost, of the time
 * measured for its batch. */
enum ek_status device_step(struct device *device, int begin, int end, double *seconds);

/* Moves a zone between the host (NULL) and a device or between two devices; the host's copy is not
 * updated in the last case. If `to` has no room left, the zone moves to the host instead. Its place
 * in `from` is kept until device_settle(). *bytes += size. From the host to a device: on its
 * thread, whose pool helps; else also on that of whoever holds the locks of both devices. */
enum ek_status device_carry(struct device *to, struct device *from, int zone, size_t *bytes);
bool device_holds(const struct device *device, int zone);

/* From now on exactly the zones with home[zone] == memory live here; home[zone] becomes 0, the
 * host, for those that there is no room for. One thread, while nobody uses the device. */
enum ek_status device_settle(struct device *device, int memory, int *home);

/* Whether faces can be copied from one device to the other without going through the host. */
bool device_reaches(const struct device *to, const struct device *from);
/* Addresses of outgoing and incoming faces on the device, for MPI; NULL if unknown. */
void device_buffers(const struct device *device, double **out, double **in);

/* The exchange of this device, memory node `memory`. send: copies faces between its zones, packs
 * outgoing ones and reads those that go through the host into the out_buffer. receive, after all
 * have sent: copies what other devices have packed for it, writes the in_buffer, and unpacks both.
 * *bytes += what was copied, including zones that were staged since the last exchange. */
enum ek_status device_send_faces(struct device *device, const struct faces *faces, int memory,
                                 size_t *bytes);
enum ek_status device_receive_faces(struct device *device, const struct faces *faces, int memory,
                                    size_t *bytes);
