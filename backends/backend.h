/* backends/backend.h – the interface of a device, whatever its vendor.
 *
 * A back end is one const struct of function pointers in one file of this folder and one line in
 * backend_list.h. Driver libraries are opened with dlopen() on first use, and only for the back
 * ends in use, so every back end is always compiled.
 *
 * Rules for all of them:
 *
 * A device belongs to one host thread at a time. That thread makes all calls of open, build, launch
 * and close, and all calls on queues BACKEND_COMPUTE and BACKEND_FEED (copies that overlap its
 * computation). Another thread may call alloc, free, write, read, copy, after and wait on queue
 * BACKEND_COPY while it holds a lock that the caller keeps per device.
 *
 * Work on one queue runs in order. Queues may overlap; record() and after() order them. write, read
 * and copy may return before the bytes have moved: the host memory must not change until wait() on
 * that queue returns.
 *
 * Buffers are handles; offsets are integer kernel arguments. Opening and listing do not change the
 * calling thread's affinity (see binding.h).
 *
 * All functions return EK_OK or have called status_fail(). EK_UNAVAILABLE: no device, library or
 * memory (the message says how much was requested and is free). EK_USAGE: the text does not compile
 * (the compiler's message with our file and line), a buffer of another device, a box that exceeds
 * its buffer, wrong arguments. EK_LOST: the device failed; its contents are gone and every later
 * call may fail, too. */
#ifndef BACKENDS_BACKEND_H
#define BACKENDS_BACKEND_H

#include "src/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { BACKEND_COMPUTE, BACKEND_COPY, BACKEND_FEED, BACKEND_QUEUES };
enum { BACKEND_EVENTS = 16 }; /* event slots of a device */

struct backend_info {
    char name[128], vendor[64], driver[128], arch[64]; /* arch: "sm_90", "gfx90a", "" for OpenCL */
    char pci[32];        /* "0000:3b:00.0", "" where the driver does not say */
    char uuid[48];       /* "GPU-5ba1…", "" where the driver does not say */
    size_t memory;       /* bytes */
    size_t max_alloc;    /* bytes in one buffer */
    size_t local_memory; /* bytes available to a work-group */
    int compute_units;   /* as the driver counts them */
    int max_group;       /* work-items in a work-group */
    bool fp64;
    bool is_cpu; /* shares the host's cores and memory: prefer direct kernels to tiled ones */
    /* A work-group may wait for what a group that started before it will write (PEEK and POKE of
     * src/kernel.h): both are on the device at once, and one sees what the other has written. */
    bool groups_wait;
};

/* A library that a back end opens at run time. */
struct backend_library {
    const char *what; /* "driver", "compiler" */
    char name[256];   /* the name that could be opened, else the first one tried */
    bool loaded;
    char version[128]; /* as reported by the library, or "" */
    char why[320];     /* why it is not loaded or finds no device, or "" */
};

struct backend;

/* A buffer on one device, owned by that device's user until free(). First member of a back end's
 * own struct. */
struct backend_mem {
    const struct backend *owner;
    size_t bytes;
};

/* A 3-D box of bytes: `slices` slices of `rows` rows of `width` bytes, with offset and pitches in
 * bytes on both sides. slices = rows = 1 is a linear copy and ignores the pitches; if any of the
 * three is 0, nothing is copied. Rows on one side must not overlap. */
struct backend_rect {
    size_t width, rows, slices;
    size_t dst_offset, dst_row, dst_slice;
    size_t src_offset, src_row, src_slice;
};

/* Direction of a transfer; BACKEND_WITHIN: between two buffers of the device. */
enum backend_way { BACKEND_WRITE, BACKEND_READ, BACKEND_WITHIN };

/* A transfer. `way` decides which are set: dst and from (write), to and src (read), dst and src
 * (within). */
struct backend_transfer {
    enum backend_way way;
    struct backend_mem *dst, *src;
    void *to;
    const void *from;
    struct backend_rect box;
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

/* A kernel of a program and the work-group size of its KERNEL() line. */
struct backend_kernel {
    const char *name; /* borrowed while build() runs */
    int group[3];
};

enum { BACKEND_ARGS = 64 };

/* A kernel's signature, read from its text: neither C nor a GPU driver detects wrong arguments. */
struct backend_signature {
    char name[64];
    size_t group[3];
    int nargs;
    enum backend_type type[BACKEND_ARGS];
};

/* A program built for one device. First member of a back end's own struct. */
struct backend_program {
    int nkernels;
    struct backend_signature *kernel; /* [nkernels] */
};

/* Threads that assist the device's thread: run() calls part(arg, t) for t = 0 .. width-1 and
 * returns when all are done. */
struct backend_pool {
    void (*run)(void *threads, int width, void (*part)(void *arg, int thread), void *arg);
    void *threads;
    int width;
};

struct backend_graph; /* a back end's own */

struct backend_ops {
    const char *name, *summary;
    bool explicit_only; /* "auto" never selects its devices */
    size_t dev_size;    /* bytes of the zeroed state passed to open() */

    /* Number of devices, or EK_UNAVAILABLE with the reason if the library or devices are missing.
     * The first call opens the driver library. GPUs come before cpu devices. Any thread. */
    enum ek_status (*count)(int *n);
    enum ek_status (*info)(int index, struct backend_info *info);
    /* Lists its libraries, at most `max`; returns their number. NULL: it has none. */
    int (*libraries)(struct backend_library *list, int max);

    enum ek_status (*open)(void *dev, int index);
    void (*close)(void *dev);

    /* alloc keeps account: more than the device has is refused, with both numbers. */
    enum ek_status (*alloc)(void *dev, size_t bytes, struct backend_mem **mem);
    void (*free)(void *dev, struct backend_mem *mem);
    /* The box is flattened (backend_box()), within both buffers and not empty. */
    enum ek_status (*transfer)(void *dev, int queue, const struct backend_transfer *);
    /* Copies from a buffer of another open device `from` of this back end, whose earlier work on
     * that buffer is done. If other threads may call, both devices' locks are held. NULL: not
     * supported. */
    enum ek_status (*peer)(void *dev, int queue, void *from, const struct backend_transfer *);

    /* From now on these threads pack and unpack the data of write and read on queues COMPUTE and
     * FEED; NULL ends it. NULL member: this back end does not pack host data. */
    void (*pool)(void *dev, const struct backend_pool *pool);

    /* For other libraries that work on a device's memory: makes it the calling thread's device;
     * gives a buffer's address as the driver knows it. NULL: not available. */
    enum ek_status (*take)(const void *dev);
    void *(*address)(struct backend_mem *mem);

    /* Compiles text (from embed_join()) with `options` ("-DN=5 …", may be "") to a program of
     * `nkernels` kernels; code is cached on disk by text, options, driver and device (cache.h).
     * CU_KERNEL_LOG=1 prints all messages of the compiler. */
    enum ek_status (*build)(void *dev, const char *text, const char *options, int nkernels,
                            struct backend_program **program);
    /* Looks up kernel k, whose signature is already set. */
    enum ek_status (*kernel)(void *dev, struct backend_program *program, int k);
    /* Compiles text for its own architectures among the list ("sm_80,compute_80,gfx90a") into
     * $CU_KERNEL_CODE, without a device. NULL: not supported. */
    enum ek_status (*precompile)(const char *text, const char *options, const char *list);
    /* May wait for the queues: launches may still be running. */
    void (*unbuild)(void *dev, struct backend_program *program);

    /* Starts a kernel over groups[3] work-groups, at least one in each dimension; arguments match
     * its signature, buffers are this device's. */
    enum ek_status (*launch)(void *dev, int queue, struct backend_program *program, int kernel,
                             const size_t groups[3], const struct backend_arg *args);

    /* Launches on BACKEND_COMPUTE between begin and end are captured, not started; start() then
     * starts all of them with one call, in that order. EK_UNAVAILABLE: the driver does not support
     * it. All NULL: the device would not gain from it. */
    enum ek_status (*graph_begin)(void *dev);
    enum ek_status (*graph_end)(void *dev, struct backend_graph **graph);
    enum ek_status (*graph_start)(void *dev, struct backend_graph *graph);
    void (*graph_free)(void *dev, struct backend_graph *graph);

    /* Sets event slot 0 .. BACKEND_EVENTS-1 to the completion of all earlier work on the queue;
     * recording again replaces the former meaning. */
    enum ek_status (*record)(void *dev, int queue, int event);
    /* Later work on the queue starts after the event; an event never recorded is ignored. */
    enum ek_status (*after)(void *dev, int queue, int event);
    /* Waits for the event. EK_USAGE: never recorded. */
    enum ek_status (*reach)(void *dev, int event);
    enum ek_status (*wait)(void *dev, int queue); /* until the queue is empty */
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
    char label[24]; /* "opencl:0" */
    struct backend_info info;
    double fed, fed_since; /* for backend_fed(): sum up to the last wait; start of the current work,
                            * or 0 */
};

/* Number of back ends, the i-th in order of preference (NULL past the end), by name (or NULL). */
int backend_count(void);
const struct backend_ops *backend_at(int i);
const struct backend_ops *backend_find(const char *name);

/* Declares this process to be `rank` of `ranks` on this node, so that "auto" selects different GPUs
 * in each, as far as there are enough; all of them together, the first ones one each if there are
 * fewer GPUs than processes. Before the first backend_parse(). */
void backend_share(int rank, int ranks);

/* Parses "opencl:0,cuda:1", with numbers, PCI addresses or UUIDs, or "auto" to devices[0 .. *n-1],
 * room for `max`. EK_USAGE: malformed, unknown back end (the nearest is named), a device twice,
 * more than `max`; EK_UNAVAILABLE: a device that does not exist (the message lists those that do).
 * "auto" asks the back ends in order until it has `want` devices, GPUs first and each physical one
 * once; devices that share the host's cores are used only for what is still missing, and with want
 * < 0 (as many as there are, possibly none) only if there is no GPU. EK_UNAVAILABLE: fewer than
 * `want`. `want` does not affect a list of names. */
enum ek_status backend_parse(const char *list, int want, struct backend_device *devices, int max,
                             int *n);

/* Lists the libraries of a back end, at most BACKEND_LIBRARIES; returns their number. */
enum { BACKEND_LIBRARIES = 4 };
int backend_libraries(const struct backend_ops *, struct backend_library *list);

/* Prints libraries and devices of all back ends, one line each, and why a back end has none
 * (--list-devices). */
void backend_print(FILE *out);

/* Opens one device for the calling thread; *b is owned by the caller, who calls backend_close(). */
enum ek_status backend_open(struct backend_device which, struct backend **b);
void backend_close(struct backend *b);

/* ---- what an open device does: backend_device.c ------------------------------------------------
 * Buffers of another device, boxes that leave theirs and arguments that a kernel does not take are
 * refused here; the members of struct backend_ops see sound ones only. */

enum ek_status backend_alloc(struct backend *b, size_t bytes, struct backend_mem **mem);
void backend_free(struct backend *b, struct backend_mem *mem);

/* Sets the threads that help with copies between host and device; borrowed until it is set to NULL.
 * On the device's thread. */
void backend_use_pool(struct backend *b, const struct backend_pool *pool);

enum ek_status backend_write(struct backend *b, int queue, struct backend_mem *dst, const void *src,
                             const struct backend_rect *box);
enum ek_status backend_read(struct backend *b, int queue, void *dst, struct backend_mem *src,
                            const struct backend_rect *box);
/* For other libraries: makes it the calling thread's device; address of a buffer (NULL: not
 * available). Any thread. */
enum ek_status backend_take(const struct backend *b);
void *backend_address(const struct backend *b, struct backend_mem *mem);
/* Copies `bytes` from or to the start of the buffer; 0 does nothing. */
enum ek_status backend_send(struct backend *b, int queue, struct backend_mem *dst, const void *src,
                            size_t bytes);
enum ek_status backend_fetch(struct backend *b, int queue, void *dst, struct backend_mem *src,
                             size_t bytes);
enum ek_status backend_within(struct backend *b, int queue, struct backend_mem *dst,
                              struct backend_mem *src, const struct backend_rect *box);

/* Compiles a text and looks up all kernels. Also precompiles it for the architectures in
 * $CU_KERNEL_CODE_FOR, whatever the device. */
enum ek_status backend_build(struct backend *b, const char *text, const char *options,
                             const struct backend_kernel *kernels, int nkernels,
                             struct backend_program **program);
/* The same for embedded texts (src/embed.h). */
enum ek_status backend_build_texts(struct backend *b, const char *const *paths, int npaths,
                                   const char *options, const struct backend_kernel *kernels,
                                   int nkernels, struct backend_program **program);
void backend_unbuild(struct backend *b, struct backend_program *program);

/* Starts kernel number `kernel` (of the array given to build()) over at least global[] work-items:
 * the grid is rounded up to whole groups, so the kernel must check its bounds. EK_UNAVAILABLE: more
 * than GID(), an int, can count. */
enum ek_status backend_launch(struct backend *b, int queue, struct backend_program *program,
                              int kernel, const long global[3], int nargs,
                              const struct backend_arg *args);
/* The same in one dimension, on BACKEND_COMPUTE. */
#define backend_launch_items(b, program, kernel, items, nargs, args)                               \
    backend_launch((b), BACKEND_COMPUTE, (program), (kernel), (const long[]){(long)(items), 1, 1}, \
                   (nargs), (args))

/* Captures launches on BACKEND_COMPUTE that recur with the same arguments, to be started by one
 * call: launches(arg) makes them, and does nothing else with the device. Their program and buffers
 * must outlive the graph. *graph = NULL: not supported, or a launch failed; start them one by one
 * then. */
void backend_capture(struct backend *b, enum ek_status (*launches)(void *arg), void *arg,
                     struct backend_graph **graph);
enum ek_status backend_graph_start(struct backend *b, struct backend_graph *graph);
void backend_graph_free(struct backend *b, struct backend_graph *graph);

static inline enum ek_status backend_record(struct backend *b, int queue, int event)
{
    return b->ops->record(b->dev, queue, event);
}

static inline enum ek_status backend_after(struct backend *b, int queue, int event)
{
    return b->ops->after(b->dev, queue, event);
}

static inline enum ek_status backend_reach(struct backend *b, int event)
{
    return b->ops->reach(b->dev, event);
}

enum ek_status backend_wait(struct backend *b, int queue);

/* Seconds so far in which BACKEND_COMPUTE had work, as far as the host knows: from the first call
 * that gives it work to the end of the next wait(). The rest of the time the device starves. On the
 * thread that computes. */
double backend_fed(const struct backend *b);

/* Whether one open device can copy directly from the other: both belong to one back end that can.
 */
bool backend_reaches(const struct backend *to, const struct backend *from);
/* Queues a direct copy of a box on `to`, if backend_reaches(). Earlier work on the source is done,
 * and it does not change until this copy is. */
enum ek_status backend_pull(struct backend *to, int queue, struct backend_mem *dst,
                            struct backend *from, struct backend_mem *src,
                            const struct backend_rect *);
/* Copies a box between buffers of two open devices and waits for it: directly if backend_reaches(),
 * else through host memory. Uses queue BACKEND_COPY of both, which the caller must be allowed to
 * use; earlier work on the source is done. */
enum ek_status backend_copy(struct backend *to, struct backend_mem *dst, struct backend *from,
                            struct backend_mem *src, const struct backend_rect *);

struct backend_rect backend_linear(size_t dst_offset, size_t src_offset, size_t bytes);
/* For back ends: *flat = the same box with as few slices and rows as possible (contiguous rows
 * become one; width 0 if it is empty). EK_USAGE: rows overlap, or the box exceeds the bytes of a
 * side (SIZE_MAX: host memory of unknown size). */
enum ek_status backend_box(const char *label, const struct backend_rect *box, size_t dst_bytes,
                           size_t src_bytes, struct backend_rect *flat);
/* Copies a box within host memory. */
void backend_move(void *dst, const void *src, const struct backend_rect *box);

/* For back ends: refuses an allocation with EK_UNAVAILABLE and all numbers. `most` bytes are free
 * (if that would be enough, the driver refused); `used` are allocated already. */
enum ek_status backend_no_room(const char *label, const struct backend_info *info, size_t bytes,
                               size_t most, size_t used);

struct backend_arg backend_arg_mem(struct backend_mem *mem);
struct backend_arg backend_arg_int(int i);
struct backend_arg backend_arg_long(long l);
struct backend_arg backend_arg_double(double d);

#endif
