/* kirchhoff/ray_device.h – the rays of a front on a device. */
#pragma once

#include "backends/backend.h"
#include "kirchhoff/front.h"
#include "kirchhoff/ray.h"

struct ray_device; /* one thread's handle: kernels, the medium, room for a front */

/* Opens the device for the calling thread, which alone may use *d. EK_UNAVAILABLE: no device, no
 * memory on it. close accepts NULL. */
enum ek_status ray_device_open(struct backend_device which, const struct ray_field *field,
                               struct ray_device **d);
void ray_device_close(struct ray_device *d);

/* What ray_advance_front() does to rays first .. first+count-1 of a front, in one launch: begun by
 * start(), in the front after finish(). The front's rays stay as they are in between.
 * EK_UNAVAILABLE: no memory there; EK_LOST: the device failed; in either case the front is as it
 * was. */
enum ek_status ray_device_start(struct ray_device *d, const struct front *f, size_t first,
                                size_t count, const struct ray_layer *layer, size_t layers);
enum ek_status ray_device_finish(struct ray_device *d, struct front *f);
