/* backends/gpu.h – the common part of the CUDA and HIP back ends, which is nearly everything: the
 * two driver APIs are one API under two sets of names, with the same error numbers. A vendor is a
 * const struct of names, numbers and the few calls that differ, in cuda.c and hip.c. No vendor
 * header is needed.
 *
 *   gpu_library.c   opens a library and finds its functions
 *   gpu_find.c      the driver; lists and describes the devices
 *   gpu.c           an open device: memory, launches, queues, events
 *   gpu_call.c      errors, the current device
 *   gpu_graph.c     launches that are started together
 *   gpu_copy.c      copies, through pinned host memory where one side is the host
 *   gpu_build.c     kernel texts to modules, with a disk cache
 *   gpu_compiler.c  which run-time compiler serves a device, and a call of it
 *   gpu_process.c   runs the compiler in a process of its own
 *   gpu_precompiled.c  code made earlier, and how code is stored
 *
 * Only these files, cuda.c, hip.c and tests include this. */
#pragma once

#include "backends/backend.h"
#include "backends/cache.h"
#include <pthread.h>

/* ---- the driver ------------------------------------------------------------------------------ */

/* The functions that both drivers have under different names; all return an error number, 0 is
 * success. A device address is an integer in CUDA and a pointer in HIP; every 64-bit ABI passes
 * them alike, so pointers are used here. X(optional, member, CUDA's name (with the suffix that its
 * header adds), HIP's name, parameters). */
/* clang-format off */
#define GPU_DRIVER(X) \
    X(0, init, cuInit, hipInit, unsigned flags)                                                    \
    X(0, version, cuDriverGetVersion, hipDriverGetVersion, int *version)                           \
    X(0, device_count, cuDeviceGetCount, hipGetDeviceCount, int *n)                                \
    X(0, device_get, cuDeviceGet, hipDeviceGet, int *device, int index)                            \
    X(0, device_name, cuDeviceGetName, hipDeviceGetName, char *name, int room, int device)         \
    X(0, device_attribute, cuDeviceGetAttribute, hipDeviceGetAttribute, int *value,                \
      int attribute, int device)                                                                   \
    X(0, device_memory, cuDeviceTotalMem_v2, hipDeviceTotalMem, size_t *bytes, int device)         \
    X(0, device_pci, cuDeviceGetPCIBusId, hipDeviceGetPCIBusId, char *text, int room, int device)  \
    X(1, device_uuid, cuDeviceGetUuid_v2, hipDeviceGetUuid, unsigned char uuid[16], int device)    \
    X(0, device_reaches, cuDeviceCanAccessPeer, hipDeviceCanAccessPeer, int *yes, int device,      \
      int other)                                                                                   \
    X(0, memory_free, cuMemGetInfo_v2, hipMemGetInfo, size_t *free, size_t *total)                 \
    X(0, alloc, cuMemAlloc_v2, hipMalloc, void **address, size_t bytes)                            \
    X(0, free, cuMemFree_v2, hipFree, void *address)                                               \
    X(0, pinned_alloc, cuMemHostAlloc, hipHostMalloc, void **byte, size_t bytes, unsigned flags)   \
    X(0, pinned_free, cuMemFreeHost, hipHostFree, void *byte)                                      \
    X(0, write, cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync, void *dst, const void *src,              \
      size_t bytes, void *stream)                                                                  \
    X(0, read, cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync, void *dst, const void *src,               \
      size_t bytes, void *stream)                                                                  \
    X(0, copy, cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync, void *dst, const void *src,               \
      size_t bytes, void *stream)                                                                  \
    X(0, stream_create, cuStreamCreate, hipStreamCreateWithFlags, void **stream, unsigned flags)   \
    X(0, stream_destroy, cuStreamDestroy_v2, hipStreamDestroy, void *stream)                       \
    X(0, stream_wait, cuStreamSynchronize, hipStreamSynchronize, void *stream)                     \
    X(0, stream_after, cuStreamWaitEvent, hipStreamWaitEvent, void *stream, void *event,           \
      unsigned flags)                                                                              \
    X(0, event_create, cuEventCreate, hipEventCreateWithFlags, void **event, unsigned flags)       \
    X(0, event_destroy, cuEventDestroy_v2, hipEventDestroy, void *event)                           \
    X(0, event_record, cuEventRecord, hipEventRecord, void *event, void *stream)                   \
    X(0, event_wait, cuEventSynchronize, hipEventSynchronize, void *event)                         \
    X(0, module_load, cuModuleLoadDataEx, hipModuleLoadDataEx, void **module, const void *code,    \
      unsigned noptions, int *options, void **values)                                              \
    X(0, module_unload, cuModuleUnload, hipModuleUnload, void *module)                             \
    X(0, module_function, cuModuleGetFunction, hipModuleGetFunction, void **function,              \
      void *module, const char *name)                                                              \
    X(0, function_attribute, cuFuncGetAttribute, hipFuncGetAttribute, int *value, int attribute,   \
      void *function)                                                                              \
    X(1, capture_begin, cuStreamBeginCapture_v2, hipStreamBeginCapture, void *stream, int mode)    \
    X(1, capture_end, cuStreamEndCapture, hipStreamEndCapture, void *stream, void **graph)         \
    X(1, graph_instantiate, cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags, void **exec,\
      void *graph, unsigned long long flags)                                                       \
    X(1, graph_start, cuGraphLaunch, hipGraphLaunch, void *exec, void *stream)                     \
    X(1, graph_destroy, cuGraphDestroy, hipGraphDestroy, void *graph)                              \
    X(1, graph_exec_destroy, cuGraphExecDestroy, hipGraphExecDestroy, void *exec)                  \
    X(0, launch, cuLaunchKernel, hipModuleLaunchKernel, void *function, unsigned gx, unsigned gy,  \
      unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned local_bytes, void *stream,      \
      void **args, void **extra)
/* clang-format on */

struct gpu_driver {
#define X(optional, member, cuda, hip, ...) int (*member)(__VA_ARGS__);
    GPU_DRIVER(X)
#undef X
};

/* Error numbers that the two APIs share. */
enum {
    GPU_INVALID_VALUE = 1,      /* an error */
    GPU_OUT_OF_MEMORY = 2,      /* an error */
    GPU_NOT_FOUND = 500,        /* an error */
    GPU_PEER_OPEN_ALREADY = 704 /* an error */
};

/* A library's symbol and its offset in a struct of function pointers. */
struct gpu_symbol {
    size_t at;
    const char *name; /* NULL ends a table */
    bool optional;
};

enum { GPU_NAMES = 6, GPU_LIBRARY_NAME = 256, GPU_WHY = 320 };

/* Where to find a library. */
struct gpu_library {
    const char *names[GPU_NAMES]; /* newest first, ends with NULL */
    const char *folders[2];       /* tried after the loader's own path; or NULL */
    const char *home;             /* environment variable of a folder whose lib64 and lib are tried
                                   * before `folders`; or NULL */
};

/* ---- a vendor -------------------------------------------------------------------------------- */

/* Device attributes that describe a device. */
enum gpu_attribute {
    GPU_COMPUTE_UNITS,
    GPU_MAX_GROUP,
    GPU_LOCAL_MEMORY,
    GPU_GRID_X,
    GPU_GRID_Y,
    GPU_GRID_Z,
    GPU_ATTRIBUTES
};

struct gpu_state;

/* State of a vendor's driver, found once per process. */
struct gpu_found {
    pthread_mutex_t lock;
    bool done;
    struct gpu_driver driver;
    char library[GPU_LIBRARY_NAME]; /* the name that opened */
    int version;                    /* in the driver's own encoding, 0: unknown */
    int n;                          /* devices */
    char why[GPU_WHY];              /* there is none */
};

struct gpu_vendor {
    const char *name;   /* "cuda" */
    const char *api;    /* "CUDA" */
    const char *maker;  /* "NVIDIA" */
    const char *advice; /* what to do if there is no driver */
    struct gpu_library library;
    const struct gpu_symbol *symbols;     /* into struct gpu_driver */
    const struct gpu_symbol *own_symbols; /* into *own: functions that only this vendor has */
    void *own;
    struct gpu_found *found;
    int attribute[GPU_ATTRIBUTES]; /* the vendor's attribute numbers */
    int major, minor;              /* factors of the two parts of a version number */

    struct gpu_library compiler;
    const char *compiler_prefix; /* prefix of its functions: "nvrtc" */
    const char *compiler_advice; /* what to do if there is no compiler */
    const char *targets[2];      /* prefixes of its architectures: "sm_" */
    const char *arch_option;     /* "--gpu-architecture=" */
    const char *no_fma_option;   /* option to add for -DKERNEL_NO_FMA */

    /* A device's architecture in the compiler's terms: "sm_90", "gfx90a:xnack-". */
    int (*arch)(const struct gpu_driver *, int device, char *text, size_t room);
    /* Acquires and releases the device; makes it the calling thread's current one. */
    int (*attach)(struct gpu_state *);
    void (*detach)(struct gpu_state *);
    int (*use)(const struct gpu_state *);
    /* Copies a box; its slice pitches are multiples of its row pitches. */
    int (*box)(enum backend_way, void *dst, const void *src, const struct backend_rect *,
               void *stream);
    /* Copies bytes from another device of this vendor; enables the current device's direct access
     * to it. */
    int (*peer)(const struct gpu_state *to, void *dst, const struct gpu_state *from,
                const void *src, size_t bytes, void *stream);
    int (*enable_peer_access)(const struct gpu_state *from);
};

/* Members with the same name in each vendor's file. */
#define GPU_VENDOR_PARTS                                                                           \
    .symbols = symbols, .own_symbols = own_symbols, .own = &own, .found = &found, .arch = arch,    \
    .attach = attach, .detach = detach, .use = use, .box = box, .peer = peer,                      \
    .enable_peer_access = enable_peer_access

/* ---- an open device -------------------------------------------------------------------------- */

enum { GPU_CHUNKS = 4 };

/* A piece of pinned memory, a stage between a device and the host's memory. */
struct gpu_chunk {
    unsigned char *byte; /* NULL until first used */
    size_t size;
    bool pinned; /* false: ordinary memory, because the driver had no pinned memory left */
    void *event; /* end of its transfer to or from the device */
    bool busy;
    unsigned char *to;              /* for a read: where its bytes will be unpacked, else NULL */
    struct backend_rect unpack_box; /* the box to unpack, from the chunk to `to` */
};

struct gpu_state {
    const struct gpu_vendor *vendor;
    const struct gpu_driver *driver;
    char label[24]; /* "cuda:0" */
    int device;
    void *context; /* CUDA's, shared by the whole process; HIP has none */
    void *stream[BACKEND_QUEUES];
    void *event[BACKEND_EVENTS];
    bool recorded[BACKEND_EVENTS];
    struct gpu_chunk chunk[BACKEND_QUEUES][GPU_CHUNKS];
    int next_chunk[BACKEND_QUEUES];  /* the oldest */
    const struct backend_pool *pool; /* or NULL */
    struct backend_info info;
    size_t max_grid[3];
    size_t used;                    /* bytes allocated */
    bool refuses_graphs;            /* the driver does not support them */
    unsigned long long peers_tried; /* a bit for each device to which direct access was tried */
};

struct gpu_memory {
    struct backend_mem is;
    unsigned char *address;
};

/* A built program: the kernels in the order asked for. */
struct gpu_program {
    struct backend_program is;
    void *module;
    unsigned char *image; /* the code it was loaded from: HIP reads it while the module lives */
    void *function[];
};

/* EK_OK for 0; else fails with the operation `doing` and the meaning of the number: EK_UNAVAILABLE
 * if memory or registers are short, EK_USAGE if only a caller's bug explains it, EK_LOST otherwise.
 */
enum ek_status gpu_check(const struct gpu_state *, int code, const char *doing);
/* Waits for all queues and ignores errors, before something that they use is freed. */
void gpu_drain(const struct gpu_state *);

/* ---- the members of struct backend_ops ------------------------------------------------------- */

enum ek_status gpu_count(const struct gpu_vendor *, int *n);
enum ek_status gpu_info(const struct gpu_vendor *, int index, struct backend_info *);
int gpu_libraries(const struct gpu_vendor *, struct backend_library *list, int max);
enum ek_status gpu_open(const struct gpu_vendor *, void *dev, int index);

/* The others are the same for every vendor. */
void gpu_close(void *dev);
enum ek_status gpu_alloc(void *dev, size_t bytes, struct backend_mem **mem);
void gpu_free(void *dev, struct backend_mem *mem);
enum ek_status gpu_transfer(void *dev, int queue, const struct backend_transfer *);
void gpu_use_pool(void *dev, const struct backend_pool *pool);
enum ek_status gpu_peer(void *dev, int queue, void *from, const struct backend_transfer *);
enum ek_status gpu_use(const void *dev);
void *gpu_address(struct backend_mem *mem);
enum ek_status gpu_build(void *dev, const char *text, const char *options, int nkernels,
                         struct backend_program **program);
enum ek_status gpu_kernel(void *dev, struct backend_program *program, int k);
void gpu_unbuild(void *dev, struct backend_program *program);
enum ek_status gpu_launch(void *dev, int queue, struct backend_program *program, int kernel,
                          const size_t groups[3], const struct backend_arg *args);
enum ek_status gpu_graph_begin(void *dev);
enum ek_status gpu_graph_end(void *dev, struct backend_graph **graph);
enum ek_status gpu_graph_start(void *dev, struct backend_graph *graph);
void gpu_graph_free(void *dev, struct backend_graph *graph);
enum ek_status gpu_record(void *dev, int queue, int event);
enum ek_status gpu_after(void *dev, int queue, int event);
enum ek_status gpu_reach(void *dev, int event);
enum ek_status gpu_wait(void *dev, int queue);

/* The back end backend_<vendor> of a const struct gpu_vendor of that name. */
#define GPU_BACKEND(vendor, about)                                                                 \
    static enum ek_status count(int *n)                                                            \
    {                                                                                              \
        return gpu_count(&vendor, n);                                                              \
    }                                                                                              \
    static enum ek_status info(int index, struct backend_info *out)                                \
    {                                                                                              \
        return gpu_info(&vendor, index, out);                                                      \
    }                                                                                              \
    static int libraries(struct backend_library *list, int max)                                    \
    {                                                                                              \
        return gpu_libraries(&vendor, list, max);                                                  \
    }                                                                                              \
    static enum ek_status open(void *dev, int index)                                               \
    {                                                                                              \
        return gpu_open(&vendor, dev, index);                                                      \
    }                                                                                              \
    static enum ek_status precompile(const char *text, const char *options, const char *list)      \
    {                                                                                              \
        return gpu_precompile(&vendor, text, options, list);                                       \
    }                                                                                              \
    const struct backend_ops backend_##vendor = {                                                  \
        .name = #vendor,                                                                           \
        .summary = about,                                                                          \
        .dev_size = sizeof(struct gpu_state),                                                      \
        .count = count,                                                                            \
        .info = info,                                                                              \
        .libraries = libraries,                                                                    \
        .open = open,                                                                              \
        .close = gpu_close,                                                                        \
        .alloc = gpu_alloc,                                                                        \
        .free = gpu_free,                                                                          \
        .transfer = gpu_transfer,                                                                  \
        .pool = gpu_use_pool,                                                                      \
        .peer = gpu_peer,                                                                          \
        .take = gpu_use,                                                                           \
        .address = gpu_address,                                                                    \
        .precompile = precompile,                                                                  \
        .build = gpu_build,                                                                        \
        .kernel = gpu_kernel,                                                                      \
        .unbuild = gpu_unbuild,                                                                    \
        .launch = gpu_launch,                                                                      \
        .graph_begin = gpu_graph_begin,                                                            \
        .graph_end = gpu_graph_end,                                                                \
        .graph_start = gpu_graph_start,                                                            \
        .graph_free = gpu_graph_free,                                                              \
        .record = gpu_record,                                                                      \
        .after = gpu_after,                                                                        \
        .reach = gpu_reach,                                                                        \
        .wait = gpu_wait,                                                                          \
    }

/* ---- between the files ----------------------------------------------------------------------- */

/* Opens the first name of the library that exists; false, with the reason, if none does. */
bool gpu_library_open(const struct gpu_library *, void **handle, char name[GPU_LIBRARY_NAME],
                      char why[GPU_WHY]);
/* Fills the struct at `to` with the symbols named `prefix` + name. Returns the name of a required
 * symbol that is missing, or NULL. */
const char *gpu_symbols_find(void *handle, const char *prefix, const struct gpu_symbol *, void *to);

/* Frees the chunks; unpacks those that hold the results of finished reads. */
void gpu_copy_close(struct gpu_state *);
void gpu_copy_finish(struct gpu_state *, int queue);

/* A run-time compiler chosen for a device, and its target: "sm_90", "compute_80" or "gfx90a". */
struct gpu_compiler {
    char library[GPU_LIBRARY_NAME];
    int major, minor;
    char build[48]; /* distinguishes builds: HIPRTC always reports the same version */
    char target[80];
};

/* Chooses the newest compiler that knows the device's architecture and is not newer than the
 * driver, else one that is newer, else one for an older architecture, whose code the driver
 * translates. EK_UNAVAILABLE: there is none. driver_major 0: unknown. */
enum ek_status gpu_compiler_choose(const struct gpu_vendor *, const char *label, const char *arch,
                                   int driver_major, struct gpu_compiler *);

/* A compiler's output: code if it succeeded, and its messages; the caller frees both. */
struct gpu_code {
    unsigned char *code;
    size_t size;
    char *log;
};

/* Compiles in this process; `prefix` of the library's functions. EK_UNAVAILABLE: the library cannot
 * be opened or fails internally; for a text with errors, EK_OK without code. */
enum ek_status gpu_compiler_run(const char *library, const char *prefix, const char *text,
                                int noptions, const char *const *options, struct gpu_code *);
/* The same in a separate process, with the back end's `options` translated for the compiler.
 * EK_USAGE with the most telling line of the log if the text has errors. */
enum ek_status gpu_compile(const struct gpu_vendor *, const char *label,
                           const struct gpu_compiler *, const char *text, const char *options,
                           struct gpu_code *);

/* Finds precompiled code in $CU_KERNEL_CODE or share/evenkeel/code that an architecture can run:
 * candidate *i or a later one; *i is set to the next. false: no more. */
bool gpu_precompiled_find(const struct gpu_vendor *, const char *text, const char *options,
                          const char *arch, int *i, struct gpu_code *);
/* The cache key of compiled code. */
struct cache_key gpu_code_key(const struct gpu_vendor *, const char *text, const char *options,
                              const char *target);
/* Prepends the name of the compiler to the code, as stored in caches; where the code begins then.
 */
enum ek_status gpu_code_sign(const char *label, const char *maker, struct gpu_code *);
size_t gpu_code_begin(const unsigned char *code, size_t size);
/* Makes precompiled code for this vendor's architectures in the list "sm_80,gfx90a,…". */
enum ek_status gpu_precompile(const struct gpu_vendor *, const char *text, const char *options,
                              const char *list);

/* gpu_compiler_run() in a separate process: compilers of two vendors in one process may clash (they
 * bring different builds of LLVM), and one aborts on an architecture that it does not know. */
enum ek_status gpu_process_compile(const char *label, const struct gpu_compiler *,
                                   const char *prefix, const char *text, int noptions,
                                   const char *const *options, struct gpu_code *);
