/* npb_mz/device.h – zones that live in the memory of one device.
 *
 * A zone has a place in the device's fields while it lives there (places.h), where kernels find it
 * by its row in the table of zones. Only u, forcing and what the solver carries travel with a zone;
 * everything else is scratch of a batch. Copies run beside the computation, on a queue of their
 * own. */
#pragma once

#include "backends/backend.h"
#include "npb_mz/faces.h"
#include "npb_mz/places.h"

struct device;

/* Bytes that a zone's move to a device carries. */
size_t device_zone_bytes(const struct mz *mz, int zone);

/* Fields and kernels on an open back end; one launch computes as many zones as scratch is there for
 * (a CPU device takes them one by one, which its caches like better). EK_UNAVAILABLE: too little
 * memory for any zone, with both numbers. On the device's thread. close accepts NULL. */
enum ek_status device_open(const struct mz *mz, struct backend *backend, struct device **device);
void device_close(struct device *device);

/* One step of zones begin .. end-1; those that do not live here come from the host for it and go
 * back. Done on return. seconds[i] += time of zone begin + i: measured, or its share of a batch by
 * declared cost. */
enum ek_status device_step(struct device *device, int begin, int end, double *seconds);

/* Moves a zone (u, what it carries, and to devices forcing, but one that all zones share) to a
 * device, from one, or from one to another; NULL is the host, whose copy stays as it was in the
 * last case. Where `to` has no room left, the zone goes to the host and lives there; its place in
 * `from` is kept until device_settle(). *bytes += size. On the thread of `to`; whoever holds the
 * devices' locks. */
enum ek_status device_carry(struct device *to, struct device *from, int zone, size_t *bytes);
bool device_holds(const struct device *device, int zone);

/* Only zones with home[zone] == memory live here from now on; those that find no room yet get home
 * 0, the host's. One thread while nobody uses the device. */
enum ek_status device_settle(struct device *device, int memory, int *home);

/* Whether faces go from one device to the other without the host. */
bool device_reaches(const struct device *to, const struct device *from);
/* Where outgoing and incoming faces lie on the device, for MPI; NULL: nobody can say. */
void device_buffers(const struct device *device, double **out, double **in);

/* The exchange of this device's memory node: copies faces between its zones, packs outgoing ones
 * and reads what goes through the host into the memory node's out_buffer; then, after all have done
 * so, takes what others have packed for it, writes its in_buffer, and unpacks both. *bytes += what
 * crossed; zones that came and left for a step since the last exchange count, too. */
enum ek_status device_send_faces(struct device *device, const struct faces *faces, int memory,
                                 size_t *bytes);
enum ek_status device_receive_faces(struct device *device, const struct faces *faces, int memory,
                                    size_t *bytes);
