/* backends/gpu.c – an open GPU: memory, launches, queues, events. */
#include "backends/gpu.h"
#include "src/arena.h"

#include <stdlib.h>

/* ---- opening --------------------------------------------------------------------------------- */

void gpu_close(void *dev)
{
    struct gpu_state *d = dev;
    const struct gpu_driver *gpu = d->driver;
    d->vendor->use(d);
    gpu_drain(d);
    gpu_copy_close(d);
    for (int e = 0; e < BACKEND_EVENTS; e++)
        if (d->event[e])
            gpu->event_destroy(d->event[e]);
    for (int q = 0; q < BACKEND_QUEUES; q++)
        if (d->stream[q])
            gpu->stream_destroy(d->stream[q]);
    d->vendor->detach(d);
}

/* Queues that do not synchronize with the driver's default stream. */
static enum ek_status make_queues(struct gpu_state *d)
{
    enum { NON_BLOCKING = 1, NO_TIME = 2 };
    for (int q = 0; q < BACKEND_QUEUES; q++)
        TRY(gpu_check(d, d->driver->stream_create(&d->stream[q], NON_BLOCKING),
                      "creating a queue"));
    for (int e = 0; e < BACKEND_EVENTS; e++)
        TRY(gpu_check(d, d->driver->event_create(&d->event[e], NO_TIME), "creating an event"));
    return EK_OK;
}

static enum ek_status ask_grid(struct gpu_state *d)
{
    for (int i = 0; i < 3; i++) {
        int most = 0;
        TRY(gpu_check(
            d, d->driver->device_attribute(&most, d->vendor->attribute[GPU_GRID_X + i], d->device),
            "querying the device"));
        d->max_grid[i] = (size_t)most;
    }
    return EK_OK;
}

enum ek_status gpu_open(const struct gpu_vendor *v, void *dev, int index)
{
    struct gpu_state *d = dev;
    TRY(gpu_info(v, index, &d->info));
    d->vendor = v;
    d->driver = &v->found->driver;
    snprintf(d->label, sizeof d->label, "%s:%d", v->name, index);
    TRY(gpu_check(d, d->driver->device_get(&d->device, index), "selecting the device"));
    TRY(gpu_check(d, v->attach(d), "selecting the device"));
    enum ek_status st = gpu_use(d);
    THEN(st, ask_grid(d));
    THEN(st, make_queues(d));
    if (st)
        gpu_close(d);
    return st;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Free memory of the device, to which other processes may also allocate. */
static size_t room(const struct gpu_state *d)
{
    size_t left, total;
    return d->driver->memory_free(&left, &total) ? d->info.memory - d->used : left;
}

enum ek_status gpu_alloc(void *dev, size_t bytes, struct backend_mem **mem)
{
    struct gpu_state *d = dev;
    TRY(gpu_use(d));
    if (bytes > room(d))
        return backend_no_room(d->label, &d->info, bytes, room(d), d->used);
    NEW(struct gpu_memory, m, 1, "%s: out of host memory", d->label);
    void *address = NULL;
    int code = d->driver->alloc(&address, bytes ? bytes : 1);
    if (code) {
        free(m);
        return code == GPU_OUT_OF_MEMORY
                   ? backend_no_room(d->label, &d->info, bytes, room(d), d->used)
                   : gpu_check(d, code, "allocating device memory");
    }
    m->address = address;
    d->used += bytes;
    *mem = &m->is;
    return EK_OK;
}

void gpu_free(void *dev, struct backend_mem *mem)
{
    struct gpu_state *d = dev;
    d->vendor->use(d);
    gpu_drain(d);
    d->driver->free(gpu_address(mem));
    d->used -= mem->bytes;
    free(mem);
}

/* ---- launches -------------------------------------------------------------------------------- */

enum ek_status gpu_launch(void *dev, int queue, struct backend_program *program, int kernel,
                          const size_t groups[3], const struct backend_arg *args)
{
    const struct gpu_state *d = dev;
    const struct backend_signature *s = &program->kernel[kernel];
    void *value[BACKEND_ARGS], *address[BACKEND_ARGS];
    for (int i = 0; i < s->nargs; i++) {
        address[i] = args[i].type == BACKEND_MEM ? gpu_address(args[i].as.mem) : NULL;
        value[i] = args[i].type == BACKEND_MEM ? (void *)&address[i] : (void *)&args[i].as;
    }
    for (int i = 0; i < 3; i++)
        if (groups[i] > d->max_grid[i])
            FAIL(EK_UNAVAILABLE,
                 "%s: kernel '%s' is launched over %zu groups in direction %d, the device allows "
                 "%zu: use a smaller problem or more devices",
                 d->label, s->name, groups[i], i, d->max_grid[i]);
    TRY(gpu_use(d));
    return gpu_check(d,
                     d->driver->launch(((struct gpu_program *)program)->function[kernel],
                                       (unsigned)groups[0], (unsigned)groups[1],
                                       (unsigned)groups[2], (unsigned)s->group[0],
                                       (unsigned)s->group[1], (unsigned)s->group[2], 0,
                                       d->stream[queue], value, NULL),
                     s->name);
}

/* ---- queues and events ----------------------------------------------------------------------- */

enum ek_status gpu_record(void *dev, int queue, int event)
{
    struct gpu_state *d = dev;
    TRY(gpu_use(d));
    TRY(gpu_check(d, d->driver->event_record(d->event[event], d->stream[queue]),
                  "recording an event"));
    d->recorded[event] = true;
    return EK_OK;
}

enum ek_status gpu_after(void *dev, int queue, int event)
{
    const struct gpu_state *d = dev;
    if (!d->recorded[event])
        return EK_OK;
    TRY(gpu_use(d));
    return gpu_check(d, d->driver->stream_after(d->stream[queue], d->event[event], 0),
                     "waiting for an event");
}

enum ek_status gpu_reach(void *dev, int event)
{
    const struct gpu_state *d = dev;
    TRY(gpu_use(d));
    if (!d->recorded[event])
        FAIL(EK_USAGE, "%s: event %d was never recorded", d->label, event);
    return gpu_check(d, d->driver->event_wait(d->event[event]), "waiting for an event");
}

enum ek_status gpu_wait(void *dev, int queue)
{
    struct gpu_state *d = dev;
    TRY(gpu_use(d));
    TRY(gpu_check(d, d->driver->stream_wait(d->stream[queue]), "waiting for a queue"));
    gpu_copy_finish(d, queue);
    return EK_OK;
}
