/* kirchhoff/ray_device.h – advances the rays of a front on a device. */
#pragma once

#include "backends/backend.h"
#include "kirchhoff/front.h"
#include "kirchhoff/ray.h"

struct ray_device; /* kernels, the medium and room for a front; for one thread */

/* Opens the device for the calling thread, which alone may use *d. EK_UNAVAILABLE: no device, or no
 * memory on it. close accepts NULL. */
enum ek_status ray_device_open(struct backend_device which, const struct ray_field *field,
                               struct ray_device **d);
void ray_device_close(struct ray_device *d);

/* Does in one launch what ray_advance_front() does to rays first .. first+count-1 of a front:
 * start() queues it, finish() waits and stores the result in the front; neither front nor layers
 * may change in between. EK_UNAVAILABLE: memory; EK_LOST: the device failed; either leaves the
 * front unchanged.
 */
enum ek_status ray_device_start(struct ray_device *d, const struct front *f, size_t first,
                                size_t count, const struct ray_layer *layer, size_t layers);
enum ek_status ray_device_finish(struct ray_device *d, struct front *f);
