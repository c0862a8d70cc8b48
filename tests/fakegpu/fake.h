/* tests/fakegpu/fake.h – stand-ins for the vendors' driver and compiler libraries, so that the CUDA
 * and HIP back ends run where there is no GPU.
 *
 * A fake device's memory is the host's, as PoCL's cpus reach it; its kernels are the same texts,
 * compiled by PoCL. It is the most unhelpful device that the interface allows: nothing on a queue
 * happens until someone waits for it, fresh memory is NaN, every buffer has walls, and whatever a
 * driver may refuse is refused: memory of another device, a call without a current device, too
 * large a grid, another work-group than the kernel's. What only a bug of the caller explains is
 * said on stderr behind "fakegpu:", also what a device that lives is left with when the process
 * ends.
 *
 *   FAKEGPU_DEVICES=2     how many there are
 *   FAKEGPU_MEMORY=1024   of each, MiB; 600k: KiB
 *   FAKEGPU_ARCH=sm_80    or gfx90a; HIPRTC's stand-in aborts over one that it does not know
 *   FAKEGPU_VERSION=12.8  of the driver
 *   FAKEGPU_PARTS=1       they are parts of one GPU, at one address
 *   FAKEGPU_GROUP=1024    work-items of a group that kernels have registers for
 *   FAKEGPU_PITCH=1000    most bytes from row to row that a copy takes
 *   FAKEGPU_EAGER=1       all of a device's queues but the first work as soon as they may, not only
 *                         when somebody waits
 *   FAKEGPU_STRICT=1      a process that something is said of ends with 1
 *   FAKEGPU_INIT=802      what the driver's first call answers
 *   FAKEGPU_PRICE=h100    or a100 mi250x display: what that card has, and events tell what work
 *                         would cost there (price.c)
 *   FAKEGPU_FILL=1        with a price: stderr in the end has how full launches made that card,
 *                         and their seconds
 *   FAKEGPU_BUSY=1        with a price: the clock runs on while the host computes (of several
 *                         threads that feed a device the one that takes longest), kernels cost
 *                         what PoCL's cpus need over the card's speed, and stderr in the end
 *                         has how busy the card was: a measurement, never twice the same; 60:
 *                         from its sixtieth launch on, when the host's memory is warm
 *   FAKEGPU_FAULT=WHAT:N[@DEVICE],…   the N-th time it
 *        alloc    has no memory left        pinned   has no pinned memory left
 *        launch   refuses to launch         lost     dies at that launch, and stays dead
 *        load     refuses the code          build    (compiler) finds an error in the text
 *        graph    refuses a graph of launches
 *        queue    makes no queue
 *
 * The same sources make libcuda.so.1 and libnvrtc.so.12, and with -DFAKE_HIP=6 libamdhip64.so.6 and
 * libhiprtc.so.6; with -DFAKE_HIP=5 the older libamdhip64.so.5, which has the compiler inside. */
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

/* A function that the library shows: declared, then to be defined. */
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
    NOT_WHILE_GATHERING = 900,
    NOT_FOUND = 500,
    OUT_OF_RESOURCES = 701,
    PEER_OPEN_ALREADY = 704,
    LAUNCH_FAILED = 719
};

/* ---- PoCL ------------------------------------------------------------------------------------ */

/* OpenCL's functions that the stand-ins call; with OpenCL 2's shared memory, which a header for
 * OpenCL 1.2 does not name. */
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

/* Opens it on first use; NULL where there is none. */
const struct pocl *pocl_open(void);

/* Builds a kernel text; the -D, -cl- and -w among the words of `options` count. NULL, and the log,
 * which the caller frees, if it does not build. */
cl_program pocl_build(const char *text, const char *options, char **log);

/* ---- settings -------------------------------------------------------------------------------- */

/* A number from the environment. */
long setting(const char *name, long otherwise);

/* Whether FAKEGPU_FAULT names this as the call-th `what` of a device; call counts from 1. */
bool fault_due(const char *what, int device, long call);

/* What the stand-in compilers make: this line, architecture, options, then the text itself. */
#define CODE_MAGIC "fakegpu code\n"

/* ---- devices and queues ---------------------------------------------------------------------- */

enum { DEVICES = 16, ARGS = 64 };

/* Calls that a fault can hit. */
enum count { ALLOCS, PINS, LAUNCHES, LOADS, GRAPHS, QUEUES, COUNTS };

/* What a device must be rid of in the end. */
enum kind { STREAMS, EVENTS, MODULES, PINNED, KEPT_GRAPHS, KINDS };

/* What works by itself on a device: its multiprocessors (copies within its memory, too), the copies
 * each way. */
enum engine { ENGINE_WORK, ENGINE_IN, ENGINE_OUT, ENGINE_PEER, ENGINES };

struct buffer {
    struct buffer *next;
    unsigned char *byte;
    size_t bytes;
};

/* What a kernel's launches came to. */
struct fill {
    char kernel[64];
    size_t launches, groups, room; /* of its work-groups; where so many could have been */
    double seconds;
};
enum { FILLS = 32 };

struct gpu {
    int index;
    struct fill fill[FILLS];
    pthread_mutex_t lock; /* recursive: of everything here and of its queues' work */
    int retained;
    size_t memory, used;
    struct buffer *buffers;
    cl_command_queue queue;
    long calls[COUNTS];
    bool lost;
    unsigned peers;  /* devices whose memory it was told to reach, a bit each */
    int kept[KINDS]; /* made and not yet given back */
    struct moment *moments;
    double host, engine[ENGINES]; /* virtual clocks: of who calls, when each engine is free */
    double began, ended, worked[ENGINES]; /* first launch, last wait; seconds of work till then */
    long launches;
};

/* The devices, NULL where there is no PoCL. */
struct gpu *gpu_list(int *n);
/* The calling thread's device; NULL: none is set. */
struct gpu *gpu_current(void);
/* Whether `bytes` at `at` lie in one of the device's buffers. */
bool gpu_owns(struct gpu *g, const void *at, size_t bytes);
/* Counts one made, or with -1 given back. */
void gpu_keep(struct gpu *g, enum kind what, int one);
/* Counts a call; whether it is the one that fails. */
bool gpu_fails(struct gpu *g, enum count what);
/* Whether the calling thread gathers launches; then it is told of a call that must not be. */
bool queue_gathers(const char *what);
/* Says what is wrong on stderr. */
void gpu_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- what work would cost: price.c ------------------------------------------------------------*/

bool price_wanted(void);
/* Before PoCL is opened, and after: threads that have come meanwhile are its own. One thread. */
void price_pocl(bool open);
/* What the card has; `otherwise` if none is named. */
enum price_number { PRICE_MEMORY, PRICE_MULTIPROCESSORS };
long price_number(enum price_number what, long otherwise);
/* A moment on a queue, known when it has come; the device keeps it. */
struct moment {
    struct moment *next;
    double time;
};
struct moment *price_moment(struct gpu *g);
/* The caller's clock after a call. */
double price_call(struct gpu *g);
/* The calling thread waits for its device: what it did since its last call is the host's time. Then
 * it has waited, and the work is done at `clock`; 0: there was none. */
void price_wait(struct gpu *g);
void price_waited(struct gpu *g, double clock);
/* When work is done that may begin at `from`: `groups` work-groups of `items` with so many
 * addresses, which took the host's cpus so many seconds, alone or behind another of its graph; a
 * copy. */
double price_launch(struct gpu *g, double from, const char *kernel, size_t groups, size_t items,
                    int addresses, double cpu, bool linked);
/* Says of each kernel: launches, work-groups of one, how much of the card they filled; and how busy
 * the card was. */
void price_tell(const struct gpu *g);
double price_copy(struct gpu *g, double from, enum engine e, size_t bytes);

struct function {
    struct function *next; /* of its module */
    struct gpu *gpu;
    char name[64];
    cl_kernel kernel;
    size_t group[3]; /* that its text states, 0: none */
    long queued;     /* launches not yet done */
    long gathered;   /* in graphs */
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
