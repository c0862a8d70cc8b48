/* backends/backend.h – what a device can do, whatever its vendor.
 *
 * A back end is one const struct of function pointers in one file of this folder and one line in
 * backend_list.h. Driver libraries are opened with dlopen() on first use and only for the back end
 * asked for, so every back end is always compiled.
 *
 * Rules shared by all of them:
 *
 * A device belongs to one host thread at a time: open, build, launch, close and everything on
 * queues BACKEND_COMPUTE and BACKEND_FEED, for copies beside its computation, are called by that
 * thread. alloc, free, write, read, copy, after and wait on queue BACKEND_COPY may come from
 * another thread when the caller holds a lock that it keeps per device.
 *
 * Work on one queue runs in order. Queues may overlap; record() and after() order them. write,
 * read and copy may return before the bytes have moved: the host memory must stay as it is until
 * wait() on that queue.
 *
 * Buffers are handles; offsets are integer kernel arguments. Opening and listing leave the calling
 * thread's cpus as they were (binding.h says how).
 *
 * All functions return EK_OK or have called status_fail(). EK_UNAVAILABLE: no device, library or
 * memory (the line holds both numbers). EK_USAGE: the text does not build (the compiler's message
 * with our file and line), a foreign handle, a box that leaves its buffer, wrong arguments.
 * EK_LOST: the device failed; what it held is gone and every later call may fail likewise. */
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
    size_t local_memory; /* bytes a work-group may use */
    int compute_units;   /* as the driver counts them */
    int max_group;       /* work-items in a work-group */
    bool fp64;
    bool is_cpu; /* shares the host's cores and memory: choose direct kernels, not tiled ones */
};

/* A library that a back end opens at run time. */
struct backend_library {
    const char *what; /* "driver", "compiler" */
    char name[256];   /* the name that opened, else the first of those tried */
    bool loaded;
    char version[128]; /* as it says itself, "" where it does not */
    char why[320];     /* it is not loaded or finds no device; "" where all is well */
};

struct backend;

/* A buffer on one device, owned by that device's user until free(). A back end's own begins so. */
struct backend_mem {
    const struct backend *owner;
    size_t bytes;
};

/* A 3-D box of bytes: `rows` rows of `width` bytes in each of `slices` slices; offset and pitches
 * of the two sides in bytes. slices = rows = 1 is a linear copy and ignores the pitches; a 0 in any
 * of the three moves nothing. Rows of one side must not overlap. */
struct backend_rect {
    size_t width, rows, slices;
    size_t dst_offset, dst_row, dst_slice;
    size_t src_offset, src_row, src_slice;
};

/* Which way a transfer goes. */
enum backend_way { BACKEND_WRITE, BACKEND_READ, BACKEND_WITHIN };

/* Bytes on their way: of the host's side and the device's, those that `way` names are set. */
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

/* A kernel of a program and the work-group that its KERNEL() line states. */
struct backend_kernel {
    const char *name; /* borrowed while build() runs */
    int group[3];
};

enum { BACKEND_ARGS = 64 };

/* What the text says of a kernel: neither a C call nor a GPU driver tells wrong arguments from
 * right ones. */
struct backend_signature {
    char name[64];
    size_t group[3];
    int nargs;
    enum backend_type type[BACKEND_ARGS];
};

/* Built code on one device. A back end's own begins so. */
struct backend_program {
    int nkernels;
    struct backend_signature *kernel; /* [nkernels] */
};

/* Threads that help the device's own one: run() calls part(arg, t) for t = 0 .. width-1 and returns
 * when all are done. */
struct backend_pool {
    void (*run)(void *threads, int width, void (*part)(void *arg, int thread), void *arg);
    void *threads;
    int width;
};

struct backend_graph; /* a back end's own */

struct backend_ops {
    const char *name, *summary;
    bool explicit_only; /* "auto" never takes its devices */
    size_t dev_size;    /* bytes of the zeroed state that the core hands to open() */

    /* Number of devices, or EK_UNAVAILABLE and a reason when the library or the devices are
     * missing. The first call opens the driver library. GPUs come before cpu devices. Any
     * thread. */
    enum ek_status (*count)(int *n);
    enum ek_status (*info)(int index, struct backend_info *info);
    /* Its libraries, at most `max`, for a listing; returns their number. NULL: it has none. */
    int (*libraries)(struct backend_library *list, int max);

    enum ek_status (*open)(void *dev, int index);
    void (*close)(void *dev);

    /* alloc also keeps a budget: asking for more than the device has is refused with both
     * numbers. */
    enum ek_status (*alloc)(void *dev, size_t bytes, struct backend_mem **mem);
    void (*free)(void *dev, struct backend_mem *mem);
    /* The box is flat (backend_box()), within both sides and not empty. */
    enum ek_status (*transfer)(void *dev, int queue, const struct backend_transfer *);
    /* A copy from a buffer of another open device `from` of this back end, whose earlier work on
     * that buffer is done. Both devices' locks are held where others may call. NULL: no such
     * way. */
    enum ek_status (*peer)(void *dev, int queue, void *from, const struct backend_transfer *);

    /* These pack and unpack what write and read move on queues COMPUTE and FEED from now on, until
     * NULL. NULL: the host's bytes are not packed. */
    void (*pool)(void *dev, const struct backend_pool *pool);

    /* For libraries beside ours that work on a device's memory: makes it the calling thread's
     * device; where a buffer lies, as the driver's own calls take it. NULL: there is no such
     * place. */
    enum ek_status (*take)(const void *dev);
    void *(*address)(struct backend_mem *mem);

    /* Compiles text (from embed_join()) with `options` ("-DN=5 …", may be ""), with room for so
     * many kernels; compiled code is cached on disk by text + options + driver + device (cache.h).
     * CU_KERNEL_LOG=1 prints the whole of what the compiler says. */
    enum ek_status (*build)(void *dev, const char *text, const char *options, int nkernels,
                            struct backend_program **program);
    /* Looks up number k, whose signature is there. */
    enum ek_status (*kernel)(void *dev, struct backend_program *program, int k);
    /* Compiles text for those architectures of the list ("sm_80,compute_80,gfx90a") that are its
     * own, into $CU_KERNEL_CODE, without any device. NULL: it has no such code. */
    enum ek_status (*ready)(const char *text, const char *options, const char *list);
    /* May wait for the queues: launches of it may be under way. */
    void (*unbuild)(void *dev, struct backend_program *program);

    /* Starts a kernel over so many work-groups, at least one each way; arguments are of its
     * signature, buffers of this device. */
    enum ek_status (*launch)(void *dev, int queue, struct backend_program *program, int kernel,
                             const size_t groups[3], const struct backend_arg *args);

    /* Launches on BACKEND_COMPUTE between begin and end are gathered, not started; start() then
     * starts all of them at once, in that order. EK_UNAVAILABLE: the driver takes no such graph;
     * EK_LOST as ever. All NULL: the device gains nothing by it. */
    enum ek_status (*graph_begin)(void *dev);
    enum ek_status (*graph_end)(void *dev, struct backend_graph **graph);
    enum ek_status (*graph_start)(void *dev, struct backend_graph *graph);
    void (*graph_free)(void *dev, struct backend_graph *graph);

    /* Event slot 0 .. BACKEND_EVENTS-1 becomes the moment when all earlier work on the queue is
     * done; recording again forgets the former moment. */
    enum ek_status (*record)(void *dev, int queue, int event);
    /* Later work on the queue starts after the event; one never recorded is no hindrance. */
    enum ek_status (*after)(void *dev, int queue, int event);
    /* Waits until the event has come. EK_USAGE: never recorded. */
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
    double fed, fed_since; /* backend_fed(): until the last wait; since when there is work, or 0 */
};

/* Number of back ends, the i-th in order of preference (NULL past the end), by name (or NULL). */
int backend_count(void);
const struct backend_ops *backend_at(int i);
const struct backend_ops *backend_find(const char *name);

/* This is process `rank` of `ranks` on this node: "auto" then takes GPUs that its neighbours do
 * not, as far as there are enough. Before the first backend_parse(). */
void backend_share(int rank, int ranks);

/* "opencl:0,cuda:1", with a PCI address or UUID in place of a number, or "auto" to devices[0 ..
 * *n-1], room for `max`. EK_USAGE: malformed, unknown back end (the nearest is named), a device
 * twice, more than `max`; EK_UNAVAILABLE: a device that is not there (the line lists what is).
 * "auto" asks the back ends in their order, only until it has `want` devices, and takes GPUs first,
 * each physical one once; devices that share the host's cores only fill what is still missing, and
 * with want < 0 (as many as there are, none is fine) only where there is no GPU. EK_UNAVAILABLE:
 * fewer than `want`. A list of names ignores `want`. */
enum ek_status backend_parse(const char *list, int want, struct backend_device *devices, int max,
                             int *n);

/* The libraries of a back end, at most BACKEND_LIBRARIES of them, for a listing; their number. */
enum { BACKEND_LIBRARIES = 4 };
int backend_libraries(const struct backend_ops *, struct backend_library *list);

/* Libraries and devices of all back ends, one line each, and why a back end has none; for
 * --list-devices. */
void backend_print(FILE *out);

/* Opens one device for the calling thread; *b is owned by the caller, who calls backend_close(). */
enum ek_status backend_open(struct backend_device which, struct backend **b);
void backend_close(struct backend *b);

/* ---- what an open device does: backend_device.c ------------------------------------------------
 * Buffers of another device, boxes that leave theirs and arguments that a kernel does not take are
 * refused here; the members of struct backend_ops see sound ones only. */

enum ek_status backend_alloc(struct backend *b, size_t bytes, struct backend_mem **mem);
void backend_free(struct backend *b, struct backend_mem *mem);

/* Whoever helps with copies from and to the host from now on; borrowed until NULL. On the device's
 * thread. */
void backend_use_pool(struct backend *b, const struct backend_pool *pool);

enum ek_status backend_write(struct backend *b, int queue, struct backend_mem *dst, const void *src,
                             const struct backend_rect *box);
enum ek_status backend_read(struct backend *b, int queue, void *dst, struct backend_mem *src,
                            const struct backend_rect *box);
/* Makes it the calling thread's device, and where a buffer lies (NULL: nobody else can say), for
 * libraries beside ours. Any thread. */
enum ek_status backend_take(const struct backend *b);
void *backend_address(const struct backend *b, struct backend_mem *mem);
/* All `bytes` from the start of the buffer on; none are no copy. */
enum ek_status backend_send(struct backend *b, int queue, struct backend_mem *dst, const void *src,
                            size_t bytes);
enum ek_status backend_fetch(struct backend *b, int queue, void *dst, struct backend_mem *src,
                             size_t bytes);
enum ek_status backend_within(struct backend *b, int queue, struct backend_mem *dst,
                              struct backend_mem *src, const struct backend_rect *box);

/* Compiles a text and looks up all kernels. Also makes finished code for what $CU_KERNEL_CODE_FOR
 * lists, whatever device is built for. */
enum ek_status backend_build(struct backend *b, const char *text, const char *options,
                             const struct backend_kernel *kernels, int nkernels,
                             struct backend_program **program);
/* The same of embedded texts (src/embed.h). */
enum ek_status backend_build_texts(struct backend *b, const char *const *paths, int npaths,
                                   const char *options, const struct backend_kernel *kernels,
                                   int nkernels, struct backend_program **program);
void backend_unbuild(struct backend *b, struct backend_program *program);

/* Starts kernel number `kernel` (of the array given to build()) over at least global[] work-items:
 * the grid is rounded up to whole groups, so the kernel text checks its bounds. EK_UNAVAILABLE:
 * more than the text's GID(), an int, can count. */
enum ek_status backend_launch(struct backend *b, int queue, struct backend_program *program,
                              int kernel, const long global[3], int nargs,
                              const struct backend_arg *args);
/* Over so many work-items in one direction, on BACKEND_COMPUTE. */
#define backend_launch_items(b, program, kernel, items, nargs, args)                               \
    backend_launch((b), BACKEND_COMPUTE, (program), (kernel), (const long[]){(long)(items), 1, 1}, \
                   (nargs), (args))

/* Launches on BACKEND_COMPUTE that come again and again, started by one call of the host: what
 * launches(arg) starts, and it asks nothing else of the device, becomes the graph. Their program
 * and buffers outlive it; arguments stay as they were. *graph = NULL: the device or its driver
 * takes none, or a launch failed; start them one by one then. */
void backend_gather(struct backend *b, enum ek_status (*launches)(void *arg), void *arg,
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

/* Seconds so far in which BACKEND_COMPUTE had something to do, as far as the host knows: from the
 * first call that gives it work until the wait() behind it is over. In the rest of its user's time
 * the device starves. On the thread of its computation. */
double backend_fed(const struct backend *b);

/* Whether bytes go from one open device to the other by themselves: both are of one back end that
 * can. */
bool backend_reaches(const struct backend *to, const struct backend *from);
/* Queues such a copy of a box on `to`, where there is that way; earlier work on the source is done,
 * and it stays as it is until this is. */
enum ek_status backend_pull(struct backend *to, int queue, struct backend_mem *dst,
                            struct backend *from, struct backend_mem *src,
                            const struct backend_rect *);
/* Copies a box from a buffer of one open device to one of another, done on return: directly where
 * backend_reaches() says so, else through host memory. On queue BACKEND_COPY of both, by whoever
 * may use these; earlier work on the source is done. */
enum ek_status backend_copy(struct backend *to, struct backend_mem *dst, struct backend *from,
                            struct backend_mem *src, const struct backend_rect *);

struct backend_rect backend_linear(size_t dst_offset, size_t src_offset, size_t bytes);
/* For back ends: *flat = the same box with as few slices and rows as can be (rows that touch on
 * both sides become one; width 0 if it is empty). EK_USAGE: rows overlap, or the box ends beyond
 * the bytes of a side (SIZE_MAX: host memory, whose size nobody knows). */
enum ek_status backend_box(const char *label, const struct backend_rect *box, size_t dst_bytes,
                           size_t src_bytes, struct backend_rect *flat);
/* Copies a box within host memory. */
void backend_move(void *dst, const void *src, const struct backend_rect *box);

/* For back ends: refuses an allocation with EK_UNAVAILABLE and all numbers. `most` bytes are free,
 * which may be enough and yet refused by the driver; `used` are allocated already. */
enum ek_status backend_no_room(const char *label, const struct backend_info *info, size_t bytes,
                               size_t most, size_t used);

struct backend_arg backend_arg_mem(struct backend_mem *mem);
struct backend_arg backend_arg_int(int i);
struct backend_arg backend_arg_long(long l);
struct backend_arg backend_arg_double(double d);

#endif
