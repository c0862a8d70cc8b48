/* backends/opencl.c – OpenCL 1.2 devices: any vendor's GPU, and the host's cpus through PoCL.
 *
 * A cpu device uses as many compute units as the thread that opens it has cpus: if that thread is
 * bound to one core, the device gets one worker, which runs on that core. */
#include "backends/opencl.h"

#include "backends/binding.h"
#include "src/arena.h"
#include <stdlib.h>
#include <string.h>

struct memory {
    struct backend_mem is;
    cl_mem buffer;
};

/* ---- devices ---- */

static enum ek_status count(int *n)
{
    const struct opencl_device *list;
    return opencl_devices(&list, n);
}

static enum ek_status device_at(int index, const struct opencl_device **device)
{
    const struct opencl_device *list = NULL;
    int n = 0;
    TRY(opencl_devices(&list, &n));
    if (index < 0 || index >= n)
        FAIL(EK_UNAVAILABLE, "opencl:%d: there is no such device, OpenCL has %d", index, n);
    *device = &list[index];
    return EK_OK;
}

static enum ek_status info(int index, struct backend_info *out)
{
    const struct opencl_device *device = NULL;
    TRY(device_at(index, &device));
    return opencl_describe(device, out);
}

/* Restricts a cpu device to the opener's place: as many compute units as it has cpus, and all of
 * its workers there, including idle ones, which wake up with every command. A driver that cannot be
 * partitioned, or whose workers are unknown, stays as it is. */
static void restrict_to_place(struct opencl_state *d, const struct opencl_device *device)
{
    struct binding place;
    if (!device->is_cpu || !binding_get(0, &place))
        return;
    int cpus = binding_cpus(&place);
    const cl_device_partition_property some[] = {CL_DEVICE_PARTITION_BY_COUNTS, cpus,
                                                 CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    if (cpus < d->info.compute_units &&
        !opencl.CreateSubDevices(device->id, some, 1, &d->part, NULL)) {
        d->id = d->part;
        d->info.compute_units = cpus;
    }
    for (int i = 0; i < device->nworkers; i++)
        binding_set(device->workers[i], &place);
}

/* PoCL counts references to a kernel without a lock: in its driver 'basic', which computes in the
 * calling thread, and in versions 4 and 5 in all drivers. Two devices using one kernel would abort
 * the process, so each builds its own. */
static bool counts_users_badly(const struct backend_info *info)
{
    return strcasestr(info->driver, "pocl") &&
           (!strncmp(info->name, "basic", 5) || strstr(info->driver, ", 4.") ||
            strstr(info->driver, ", 5."));
}

static void close(void *dev)
{
    struct opencl_state *d = dev;
    for (int q = 0; q < BACKEND_QUEUES; q++)
        if (d->queue[q])
            opencl.Finish(d->queue[q]);
    for (int e = 0; e < BACKEND_EVENTS; e++)
        if (d->event[e])
            opencl.ReleaseEvent(d->event[e]);
    for (int q = 0; q < BACKEND_QUEUES; q++)
        if (d->queue[q])
            opencl.ReleaseCommandQueue(d->queue[q]);
    if (d->context)
        opencl.ReleaseContext(d->context);
    if (d->part)
        opencl.ReleaseDevice(d->part);
}

static enum ek_status make_queues(struct opencl_state *d)
{
    cl_int code;
    d->context = opencl.CreateContext(NULL, 1, &d->id, NULL, NULL, &code);
    TRY(opencl_check(d, code, "creating a context"));
    for (int q = 0; q < BACKEND_QUEUES; q++) {
        d->queue[q] = opencl.CreateCommandQueue(d->context, d->id, 0, &code);
        TRY(opencl_check(d, code, "creating a queue"));
    }
    return EK_OK;
}

static enum ek_status open(void *dev, int index)
{
    struct opencl_state *d = dev;
    const struct opencl_device *device = NULL;
    TRY(device_at(index, &device));
    TRY(opencl_describe(device, &d->info));
    snprintf(d->label, sizeof d->label, "opencl:%d", index);
    if (!d->info.fp64)
        FAIL(EK_UNAVAILABLE, "%s (%s) has no double precision: choose another device", d->label,
             d->info.name);
    d->number = counts_users_badly(&d->info) ? index : 0;
    d->id = device->id;
    restrict_to_place(d, device);
    enum ek_status st = make_queues(d);
    if (st)
        close(d);
    return st;
}

/* ---- memory ---- */

/* OpenCL cannot report free memory, and some drivers accept more than there is. */
static enum ek_status alloc(void *dev, size_t bytes, struct backend_mem **mem)
{
    struct opencl_state *d = dev;
    size_t left = d->info.memory - d->used;
    size_t most = left < d->info.max_alloc ? left : d->info.max_alloc;
    if (bytes > most)
        return backend_no_room(d->label, &d->info, bytes, most, d->used);
    NEW(struct memory, m, 1, "%s: out of host memory", d->label);
    cl_int code;
    m->buffer = opencl.CreateBuffer(d->context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &code);
    if (code) {
        free(m);
        return opencl_check(d, code, "allocating device memory");
    }
    d->used += bytes;
    *mem = &m->is;
    return EK_OK;
}

static cl_mem buffer_of(struct backend_mem *m)
{
    return m ? ((struct memory *)m)->buffer : NULL;
}

static void release(void *dev, struct backend_mem *mem)
{
    struct opencl_state *d = dev;
    opencl.ReleaseMemObject(buffer_of(mem));
    d->used -= mem->bytes;
    free(mem);
}

/* ---- copies ---- */

/* Copies a box that the driver accepts: linear, or with slices of whole rows. */
static cl_int send(cl_command_queue q, const struct backend_transfer *t,
                   const struct backend_rect *r)
{
    const cl_mem dst = buffer_of(t->dst), src = buffer_of(t->src);
    const size_t to[3] = {r->dst_offset}, from[3] = {r->src_offset},
                 box[3] = {r->width, r->rows, r->slices};
    const bool linear = r->rows * r->slices == 1;
    if (t->way == BACKEND_WRITE && linear)
        return opencl.EnqueueWriteBuffer(q, dst, CL_FALSE, *to, *box, (const char *)t->from + *from,
                                         0, NULL, NULL);
    if (t->way == BACKEND_READ && linear)
        return opencl.EnqueueReadBuffer(q, src, CL_FALSE, *from, *box, (char *)t->to + *to, 0, NULL,
                                        NULL);
    if (linear)
        return opencl.EnqueueCopyBuffer(q, src, dst, *from, *to, *box, 0, NULL, NULL);
    if (t->way == BACKEND_WRITE)
        return opencl.EnqueueWriteBufferRect(q, dst, CL_FALSE, to, from, box, r->dst_row,
                                             r->dst_slice, r->src_row, r->src_slice, t->from, 0,
                                             NULL, NULL);
    if (t->way == BACKEND_READ)
        return opencl.EnqueueReadBufferRect(q, src, CL_FALSE, from, to, box, r->src_row,
                                            r->src_slice, r->dst_row, r->dst_slice, t->to, 0, NULL,
                                            NULL);
    return opencl.EnqueueCopyBufferRect(q, src, dst, from, to, box, r->src_row, r->src_slice,
                                        r->dst_row, r->dst_slice, 0, NULL, NULL);
}

/* Whether OpenCL accepts the pitches: slices are whole numbers of rows and do not overlap. */
static bool slices_fit(size_t row, size_t slice, size_t rows)
{
    return row && slice % row == 0 && slice >= rows * row;
}

/* Cuts a box into parts that the driver accepts: the whole, its slices, or its rows (copies within
 * one buffer with different pitches on the two sides, which the standard forbids). */
static enum ek_status transfer(void *dev, int queue, const struct backend_transfer *t)
{
    const struct opencl_state *d = dev;
    const struct backend_rect *r = &t->box;
    bool within = t->dst == t->src;
    bool by_rows = within && r->dst_row != r->src_row;
    bool by_slices = by_rows || (within && r->dst_slice != r->src_slice) ||
                     !slices_fit(r->dst_row, r->dst_slice, r->rows) ||
                     !slices_fit(r->src_row, r->src_slice, r->rows);
    size_t slices = by_slices ? r->slices : 1, rows = by_rows ? r->rows : 1;
    for (size_t s = 0; s < slices; s++)
        for (size_t y = 0; y < rows; y++) {
            struct backend_rect part = *r;
            part.slices = r->slices / slices;
            part.rows = r->rows / rows;
            part.dst_offset += s * r->dst_slice + y * r->dst_row;
            part.src_offset += s * r->src_slice + y * r->src_row;
            if (part.slices == 1)
                part.dst_slice = part.src_slice = 0; /* 0: the driver uses rows * row */
            TRY(opencl_check(d, send(d->queue[queue], t, &part), "copying"));
        }
    return opencl_check(d, opencl.Flush(d->queue[queue]), "starting a copy");
}

/* ---- launches ---- */

static enum ek_status set_argument(const struct opencl_state *d, cl_kernel k, int i,
                                   const struct backend_arg *a)
{
    static const size_t size[] = {[BACKEND_MEM] = sizeof(cl_mem),
                                  [BACKEND_INT] = sizeof(cl_int),
                                  [BACKEND_LONG] = sizeof(cl_long),
                                  [BACKEND_DOUBLE] = sizeof(cl_double)};
    const void *value = &a->as;
    cl_mem buffer;
    if (a->type == BACKEND_MEM) {
        buffer = buffer_of(a->as.mem);
        value = &buffer;
    }
    return opencl_check(d, opencl.SetKernelArg(k, (cl_uint)i, size[a->type], value),
                        "setting a kernel argument");
}

static enum ek_status launch(void *dev, int queue, struct backend_program *program, int kernel,
                             const size_t groups[3], const struct backend_arg *args)
{
    const struct opencl_state *d = dev;
    const struct backend_signature *s = &program->kernel[kernel];
    const cl_kernel k = ((struct opencl_program *)program)->kernel[kernel];
    size_t grid[3];
    for (int i = 0; i < 3; i++)
        grid[i] = groups[i] * s->group[i];
    for (int i = 0; i < s->nargs; i++)
        TRY(set_argument(d, k, i, &args[i]));
    return opencl_check(
        d, opencl.EnqueueNDRangeKernel(d->queue[queue], k, 3, NULL, grid, s->group, 0, NULL, NULL),
        s->name);
}

/* ---- events ---- */

static enum ek_status record(void *dev, int queue, int event)
{
    struct opencl_state *d = dev;
    cl_event e;
    TRY(opencl_check(d, opencl.EnqueueMarkerWithWaitList(d->queue[queue], 0, NULL, &e),
                     "recording an event"));
    if (d->event[event])
        opencl.ReleaseEvent(d->event[event]);
    d->event[event] = e;
    /* Another queue may wait for the event, so it must be submitted. */
    return opencl_check(d, opencl.Flush(d->queue[queue]), "recording an event");
}

static enum ek_status after(void *dev, int queue, int event)
{
    const struct opencl_state *d = dev;
    if (!d->event[event])
        return EK_OK;
    return opencl_check(
        d, opencl.EnqueueBarrierWithWaitList(d->queue[queue], 1, &d->event[event], NULL),
        "waiting for an event");
}

static enum ek_status reach(void *dev, int event)
{
    const struct opencl_state *d = dev;
    if (!d->event[event])
        FAIL(EK_USAGE, "%s: event %d was never recorded", d->label, event);
    return opencl_check(d, opencl.WaitForEvents(1, &d->event[event]), "waiting for an event");
}

static enum ek_status wait(void *dev, int queue)
{
    const struct opencl_state *d = dev;
    return opencl_check(d, opencl.Finish(d->queue[queue]), "waiting for a queue");
}

const struct backend_ops backend_opencl = {
    .name = "opencl",
    .summary = "OpenCL 1.2: GPUs of any vendor, and the host's cpus through PoCL",
    .dev_size = sizeof(struct opencl_state),
    .count = count,
    .info = info,
    .libraries = opencl_libraries,
    .open = open,
    .close = close,
    .alloc = alloc,
    .free = release,
    .transfer = transfer,
    .build = opencl_build,
    .kernel = opencl_kernel,
    .unbuild = opencl_unbuild,
    .launch = launch,
    .record = record,
    .after = after,
    .reach = reach,
    .wait = wait,
};
