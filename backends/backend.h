/* backends/backend.h – what a device can do, whatever its vendor.
 *
 * A back end is one const struct of function pointers in one file of this folder and one line in
 * backend_list.h. Driver libraries are opened with dlopen() on first use and only for the back end
 * asked for, so every back end is always compiled.
 *
 * Rules shared by all of them:
 * - A device belongs to one host thread at a time: open, build, launch, close and everything on
 *   queue BACKEND_COMPUTE are called by that thread. alloc, free, write, read, copy and wait on queue
 *   BACKEND_COPY may come from another thread when the caller holds a lock that it keeps per device.
 * - Work on one queue runs in order. Two queues may overlap; record()/after() order them.
 * - write, read and copy may return before the bytes have moved: the host memory must stay as it is
 *   until wait() on that queue.
 * - Buffers are handles; offsets are integer kernel arguments. A foreign handle is a caller's bug.
 * - All functions return EK_OK or have called status_fail(): EK_LACK (no device, library or memory;
 *   the line holds both numbers), EK_USAGE (text does not build: the compiler's message with our
 *   file and line), EK_LOST (device failed). */
#ifndef BACKENDS_BACKEND_H
#define BACKENDS_BACKEND_H

#include "src/status.h"
#include <stdbool.h>
#include <stddef.h>

enum { BACKEND_COMPUTE = 0, BACKEND_COPY = 1, BACKEND_QUEUES = 2 };
enum { BACKEND_EVENTS = 16 }; /* event slots of a device */

struct backend_info {
    char name[128], vendor[64], driver[128], arch[64]; /* arch: "sm_90", "gfx90a", "" for OpenCL */
    size_t memory;       /* bytes */
    size_t max_alloc;    /* bytes in one buffer */
    size_t local_memory; /* bytes a work-group may use */
    int compute_units;   /* as the driver counts them */
    int max_group;       /* work-items in a work-group */
    bool fp64;
    bool is_cpu; /* shares the host's cores and memory: choose direct kernels, not tiled ones */
};

struct backend_mem; /* a buffer on one device, owned by that device's user until free() */

/* A 3-D box of bytes: `rows` rows of `width` bytes in each of `slices` slices; offset and pitches of
 * the two sides in bytes. slices = rows = 1 is a linear copy and ignores the pitches. */
struct backend_rect {
    size_t width, rows, slices;
    size_t dst_offset, dst_row, dst_slice;
    size_t src_offset, src_row, src_slice;
};

enum backend_type { BACKEND_MEM, BACKEND_INT, BACKEND_LONG, BACKEND_DOUBLE };

/* One kernel argument; make them with backend_arg_mem() etc. */
struct backend_arg {
    enum backend_type type;
    union {
        struct backend_mem *mem;
        int i;
        long l;
        double d;
    } as;
};

/* A kernel of a program and the work-group that its KERNEL() line states. */
struct backend_kernel {
    const char *name;
    int group[3];
};

struct backend_program; /* built code on one device */

struct backend_ops {
    const char *name, *summary;
    size_t dev_size; /* bytes of the zeroed state that the core hands to open() */

    /* Number of devices, 0 with EK_LACK and a reason when the library or the devices are missing.
     * Must not change the calling thread's affinity. Any thread. */
    enum ek_status (*count)(int *n);
    enum ek_status (*info)(int index, struct backend_info *info);

    enum ek_status (*open)(void *dev, int index);
    void (*close)(void *dev);

    /* alloc also keeps a budget: asking for more than the device has is refused with both numbers. */
    enum ek_status (*alloc)(void *dev, size_t bytes, struct backend_mem **mem);
    void (*free)(void *dev, struct backend_mem *mem);
    enum ek_status (*write)(void *dev, int queue, struct backend_mem *dst, const void *src,
                            const struct backend_rect *);
    enum ek_status (*read)(void *dev, int queue, void *dst, struct backend_mem *src,
                           const struct backend_rect *);
    enum ek_status (*copy)(void *dev, int queue, struct backend_mem *dst, struct backend_mem *src,
                           const struct backend_rect *);

    /* Compiles text (from embed_join()) with `options` ("-DN=5 …", may be "") and looks up all
     * kernels; compiled code is cached on disk by text + options + driver + device. */
    enum ek_status (*build)(void *dev, const char *text, const char *options,
                            const struct backend_kernel *kernels, int nkernels,
                            struct backend_program **program);
    void (*unbuild)(void *dev, struct backend_program *program);

    /* Starts kernel number `kernel` over at least global[] work-items: the grid is rounded up to
     * whole groups, so the kernel text checks its bounds. */
    enum ek_status (*launch)(void *dev, int queue, struct backend_program *program, int kernel,
                             const int global[3], int nargs, const struct backend_arg *args);

    enum ek_status (*record)(void *dev, int queue, int event); /* event < BACKEND_EVENTS */
    enum ek_status (*after)(void *dev, int queue, int event);  /* queue goes on after the event */
    enum ek_status (*elapsed)(void *dev, int from, int to, double *seconds); /* both completed */
    enum ek_status (*wait)(void *dev, int queue);              /* until the queue is empty */
};

/* A device chosen by the user, "opencl:0". */
struct backend_device {
    const struct backend_ops *ops;
    int index;
};

/* An open device: the handle that programs use. */
struct backend {
    const struct backend_ops *ops;
    void *dev;
    int index;
    struct backend_info info;
};

/* Number of back ends, the i-th in order of preference (NULL past the end), by name (or NULL). */
int backend_count(void);
const struct backend_ops *backend_at(int i);
const struct backend_ops *backend_find(const char *name);

/* "opencl:0,cuda:1" or "auto" (every device of the preferred order up to `want`; want < 0: all,
 * none is fine) to devices[0..*n-1], room for `max`. EK_USAGE: malformed or unknown back end (the
 * nearest is named); EK_LACK: a device that is not there (the line lists what is). */
enum ek_status backend_parse(const char *list, int want, struct backend_device *devices, int max,
                             int *n);

/* Opens one device for the calling thread; *b is owned by the caller, who calls backend_close(). */
enum ek_status backend_open(struct backend_device which, struct backend **b);
void backend_close(struct backend *b);

struct backend_rect backend_linear(size_t dst_offset, size_t src_offset, size_t bytes);
struct backend_arg backend_arg_mem(struct backend_mem *mem);
struct backend_arg backend_arg_int(int i);
struct backend_arg backend_arg_long(long l);
struct backend_arg backend_arg_double(double d);

#endif
