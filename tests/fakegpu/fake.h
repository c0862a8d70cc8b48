/* tests/fakegpu/fake.h – fake driver and compiler libraries of the GPU vendors, so that the CUDA
 * and HIP back ends run without a GPU.
 *
 * A fake device's memory is host memory; its kernels are the same texts, compiled by PoCL. It is as
 * unhelpful as the interface allows: nothing on a queue happens until someone waits for it, fresh
 * memory is NaN, buffers have guard zones, and whatever a driver may refuse is refused: memory of
 * another device, a call without a current device, too large a grid, a work-group other than the
 * kernel's. Bugs of the caller are reported on stderr as "fakegpu: …", also what a device that is
 * not lost still holds at exit.
 *
 *   FAKEGPU_DEVICES=2     number of devices
 *   FAKEGPU_MEMORY=1024   memory of each, MiB; 600k: KiB
 *   FAKEGPU_ARCH=sm_80    or gfx90a; the fake HIPRTC aborts on one that it does not know
 *   FAKEGPU_VERSION=12.8  of the driver
 *   FAKEGPU_PARTS=1       they are parts of one GPU, at one address
 *   FAKEGPU_GROUP=1024    largest work-group for which kernels have registers
 *   FAKEGPU_PITCH=1000    largest row pitch of a copy, bytes
 *   FAKEGPU_EAGER=1       all queues of a device but the first work at once, not only when somebody
 *                         waits; 2: only the first one does
 *   FAKEGPU_STRICT=1      exit 1 if a bug was reported
 *   FAKEGPU_INIT=802      result of the driver's first call
 *   FAKEGPU_PRICE=h100    or h200 a100 mi250x display: that card's properties, and events report
 *                         the cost of work there (price.c)
 *   FAKEGPU_FILL=1        with a price: print at exit how full launches made the card, and their
 *                         seconds
 *   FAKEGPU_BUSY=1        with a price: the clock includes the host's computing (of several threads
 *                         that feed a device, the longest), kernels cost PoCL's cpu time divided by
 *                         the card's speed, and the share of time that the card was busy is printed
 *                         at exit: a measurement, which varies; 60: from the sixtieth launch on,
 *                         when caches are warm
 *   FAKEGPU_SAMPLE=64     runs only the first 1/64 of a launch's work-groups, at the price of all:
 *                         for measurements at full size of programs whose work does not depend
 *                         on results, which are wrong
 *   FAKEGPU_SCALE=40      prices launches as if they had 40 times as many work-groups
 *   FAKEGPU_FAULT=WHAT:N[@DEVICE],…   at its N-th call, the device
 *        alloc    has no memory left        pinned   has no pinned memory left
 *        launch   refuses to launch         lost     fails at that launch, and from then on
 *        load     refuses the code          build    (compiler) finds an error in the text
 *        graph    refuses a graph           queue    cannot create a queue
 *
 * The same sources make libcuda.so.1 and libnvrtc.so.12, with -DFAKE_HIP=6 libamdhip64.so.6 and
 * libhiprtc.so.6, and with -DFAKE_HIP=5 the older libamdhip64.so.5, which contains the compiler. */
#pragma once

#include <CL/cl.h>
#undef bool /* POWER's <altivec.h>, which comes with it, makes a vector of it */
#define bool _Bool
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef FAKE_HIP
#define NAME(cuda, hip) hip
#else
#define FAKE_HIP        0
#define NAME(cuda, hip) cuda
#endif

/* An exported function: declared, then defined. */
#define SHOWN(name, ...)                                                                           \
    __attribute__((visibility("default"))) int name(__VA_ARGS__);                                  \
    int name(__VA_ARGS__)

/* Error numbers of both APIs. */
enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    NO_BINARY = 209,
    INVALID_HANDLE = 400,
    NOT_WHILE_CAPTURING = 900,
    NOT_FOUND = 500,
    OUT_OF_RESOURCES = 701,
    PEER_OPEN_ALREADY = 704,
    LAUNCH_FAILED = 719
};

/* ---- PoCL ------------------------------------------------------------------------------------ */

/* The OpenCL functions used, besides OpenCL 2's shared memory, which OpenCL 1.2 headers lack. */
#define POCL_FUNCTIONS(X)                                                                          \
    X(GetPlatformIDs)                                                                              \
    X(GetDeviceIDs)                                                                                \
    X(GetDeviceInfo)                                                                               \
    X(CreateContext)                                                                               \
    X(CreateCommandQueue)                                                                          \
    X(CreateProgramWithSource)                                                                     \
    X(BuildProgram)                                                                                \
    X(GetProgramBuildInfo)                                                                         \
    X(ReleaseProgram)                                                                              \
    X(CreateKernel)                                                                                \
    X(GetKernelInfo)                                                                               \
    X(GetKernelWorkGroupInfo)                                                                      \
    X(GetKernelArgInfo)                                                                            \
    X(SetKernelArg)                                                                                \
    X(ReleaseKernel)                                                                               \
    X(EnqueueNDRangeKernel)                                                                        \
    X(Finish)

struct pocl {
#define X(name) __typeof__(cl##name) *name;
    POCL_FUNCTIONS(X)
#undef X
    cl_int (*SetKernelArgSVMPointer)(cl_kernel, cl_uint, const void *);
    cl_device_id device; /* the host's cpus */
    cl_context context;
    int version;
};

/* Opens PoCL on first use; NULL if there is none. */
const struct pocl *pocl_open(void);

/* Builds a kernel text with the -D, -cl- and -w options among `options`. NULL, and the log, which
 * the caller frees, if that fails. */
cl_program pocl_build(const char *text, const char *options, char **log);

/* ---- settings -------------------------------------------------------------------------------- */

/* A number from the environment. */
long setting(const char *name, long otherwise);

/* Whether FAKEGPU_FAULT names this as the call-th `what` of a device; call counts from 1. */
bool fault_due(const char *what, int device, long call);

/* Output of the fake compilers: this line, architecture, options, then the text itself. */
#define CODE_MAGIC "fakegpu code\n"

/* ---- devices and queues ---------------------------------------------------------------------- */

enum { DEVICES = 16, ARGS = 64 };

/* Calls that FAKEGPU_FAULT can make fail. */
enum count { ALLOCS, PINS, LAUNCHES, LOADS, GRAPHS, QUEUES, COUNTS };

/* What must be freed before a device is released. */
enum kind { STREAMS, EVENTS, MODULES, PINNED, KEPT_GRAPHS, KINDS };

/* Engines that work independently: the multiprocessors (copies within memory, too), and the copy
 * engines. */
enum engine { ENGINE_WORK, ENGINE_IN, ENGINE_OUT, ENGINE_PEER, ENGINES };

struct buffer {
    struct buffer *next;
    unsigned char *byte;
    size_t bytes;
};

/* Totals of a kernel's launches. */
struct fill {
    char kernel[64];
    size_t launches, groups, room; /* work-groups; and how many the waves had room for */
    double seconds;
};
enum { FILLS = 32 };

struct gpu {
    int index;
    struct fill fill[FILLS];
    pthread_mutex_t lock; /* recursive; protects everything here and its queues */
    int retained;
    size_t memory, used;
    struct buffer *buffers;
    cl_command_queue queue;
    long calls[COUNTS];
    bool lost;
    unsigned peers;  /* devices with peer access, a bit each */
    int kept[KINDS]; /* created and not yet freed */
    struct moment *moments;
    double host, engine[ENGINES];  /* virtual clocks: of the caller; when each engine is free */
    double awaited;                /* end of the latest work that was waited for */
    double began, launched, ended; /* first launch, end of the last one, last wait */
    double worked[ENGINES];        /* seconds since the first launch */
    long launches;
};

/* The devices, NULL if there is no PoCL. */
struct gpu *gpu_list(int *n);
/* The calling thread's device; NULL: none is set. */
struct gpu *gpu_current(void);
/* Whether `bytes` at `at` lie in one of the device's buffers. */
bool gpu_owns(struct gpu *g, const void *at, size_t bytes);
/* Counts one created (1) or freed (-1). */
void gpu_keep(struct gpu *g, enum kind what, int one);
/* Counts a call; true if FAKEGPU_FAULT makes it fail. */
bool gpu_fails(struct gpu *g, enum count what);
/* Whether the calling thread captures launches; if so, reports a call that is not allowed then. */
bool queue_captures(const char *what);
/* Reports a bug of the caller on stderr. */
void gpu_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- cost of work: price.c ------------------------------------------------------------*/

bool price_wanted(void);
/* Called before PoCL is opened and after: threads started in between are PoCL's. One thread. */
void price_pocl(bool open);
/* A property of the card; `otherwise` if no card is named. */
enum price_number { PRICE_MEMORY, PRICE_MULTIPROCESSORS };
long price_number(enum price_number what, long otherwise);
/* A time on a queue, known once it is reached; owned by the device. */
struct moment {
    struct moment *next;
    double time;
};
struct moment *price_moment(struct gpu *g);
/* The caller's clock after a call. */
double price_call(struct gpu *g);
/* The calling thread begins to wait for its device, which ends the host's computing since its last
 * call; then it has waited for work that was done at `clock`. */
void price_wait(struct gpu *g);
void price_waited(struct gpu *g, double clock);
/* CPU seconds of PoCL's threads and the calling one, which run the kernels. */
double price_kernel_clock(void);
/* End of a launch that may begin at `from`: `groups` work-groups of `items` with `addresses`
 * address arguments, which took PoCL's cpus `cpu` seconds; linked: follows another of its graph. */
double price_launch(struct gpu *g, double from, const char *kernel, size_t groups, size_t items,
                    int addresses, double cpu, bool linked);
/* Prints for each kernel its launches, their work-groups, and how full the card was; and how busy
 * the card was. */
void price_tell(const struct gpu *g);
/* End of a copy. */
double price_copy(struct gpu *g, double from, enum engine e, size_t bytes);

struct function {
    struct function *next; /* of its module */
    struct gpu *gpu;
    char name[64];
    cl_kernel kernel;
    size_t group[3]; /* stated in its text, 0: none */
    long queued;     /* launches not yet done */
    long in_graphs;  /* launches of it in graphs */
    int nargs;
    size_t size[ARGS]; /* bytes of an argument, 0: an address */
};

/* A box to copy; pitches in bytes. */
struct box {
    unsigned char *dst;
    const unsigned char *src;
    size_t width, rows, slices, dst_row, dst_slice, src_row, src_slice;
    enum engine engine;
};

/* Puts a copy or a launch on a queue of the calling thread's device. */
int queue_copy(void *stream, const struct box *);
int queue_launch(void *stream, struct function *, const unsigned grid[3], const unsigned group[3],
                 void *const *args);
