/* tests/fakegpu/hip2cuda.c – a libamdhip64.so.6 that forwards the HIP back end's calls to CUDA's
 * driver and NVRTC, so that the back end runs on an NVIDIA card. Most calls differ only in name. It
 * contains HIPRTC's functions, as older versions of the real library do. */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID_VALUE = 1, INVALID_DEVICE = 101, NOT_FOUND = 500, INVALID_PROGRAM = 4 };
enum { DEVICES = 64 };

#define SHOWN(name, ...)                                                                           \
    __attribute__((visibility("default"))) int name(__VA_ARGS__);                                  \
    int name(__VA_ARGS__)

/* Declares a pointer to CUDA's function, looked up once; without it, the caller returns NOT_FOUND.
 */
#define CUDA(name, ...)                                                                            \
    static int (*name)(__VA_ARGS__);                                                               \
    if (!name)                                                                                     \
        *(void **)&name = cuda_function(#name);                                                    \
    if (!name)                                                                                     \
        return NOT_FOUND;

#define FORWARD(hip, cuda, parameters, arguments)                                                  \
    SHOWN(hip, UNPACK parameters)                                                                  \
    {                                                                                              \
        CUDA(cuda, UNPACK parameters)                                                              \
        return cuda arguments;                                                                     \
    }
#define UNPACK(...) __VA_ARGS__

/* ---- the libraries --------------------------------------------------------------------------- */

static int driver_major(void)
{
    void *handle = dlopen("libcuda.so.1", RTLD_NOW);
    int (*get)(int *) = NULL, version = 0;
    if (handle)
        *(void **)&get = dlsym(handle, "cuDriverGetVersion");
    return get && !get(&version) ? version / 1000 : 0;
}

/* The newest NVRTC that is not newer than the driver; if there is none, any. */
static void *open_nvrtc(void)
{
    static const struct {
        int major;
        const char *name;
    } table[] = {{13, "libnvrtc.so.13"}, {12, "libnvrtc.so.12"}, {11, "libnvrtc.so.11.2"}};
    const int major = driver_major();
    for (int newer = 0; newer <= 1; newer++)
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
            void *handle =
                (major && table[i].major > major) == newer ? dlopen(table[i].name, RTLD_NOW) : NULL;
            if (handle)
                return handle;
        }
    return NULL;
}

static void *cuda_function(const char *name)
{
    static void *driver, *compiler;
    void **handle = strncmp(name, "nvrtc", 5) ? &driver : &compiler;
    if (!*handle)
        *handle = handle == &driver ? dlopen("libcuda.so.1", RTLD_NOW) : open_nvrtc();
    return *handle ? dlsym(*handle, name) : NULL;
}

/* ---- calls that differ only in name ---------------------------------------------------------- */

FORWARD(hipInit, cuInit, (unsigned flags), (flags))
FORWARD(hipGetDeviceCount, cuDeviceGetCount, (int *n), (n))
FORWARD(hipDeviceGet, cuDeviceGet, (int *device, int index), (device, index))
FORWARD(hipDeviceGetName, cuDeviceGetName, (char *name, int room, int device), (name, room, device))
FORWARD(hipDeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, int device), (bytes, device))
FORWARD(hipDeviceGetPCIBusId, cuDeviceGetPCIBusId, (char *text, int room, int device),
        (text, room, device))
FORWARD(hipDeviceCanAccessPeer, cuDeviceCanAccessPeer, (int *yes, int device, int other),
        (yes, device, other))
FORWARD(hipMemGetInfo, cuMemGetInfo_v2, (size_t * left, size_t *total), (left, total))
FORWARD(hipMalloc, cuMemAlloc_v2, (void **address, size_t bytes), (address, bytes))
FORWARD(hipFree, cuMemFree_v2, (void *address), (address))
FORWARD(hipHostMalloc, cuMemHostAlloc, (void **byte, size_t bytes, unsigned flags),
        (byte, bytes, flags))
FORWARD(hipHostFree, cuMemFreeHost, (void *byte), (byte))
FORWARD(hipMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,
        (void *dst, const void *src, size_t bytes, void *stream), (dst, src, bytes, stream))
FORWARD(hipMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,
        (void *dst, const void *src, size_t bytes, void *stream), (dst, src, bytes, stream))
FORWARD(hipMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2,
        (void *dst, const void *src, size_t bytes, void *stream), (dst, src, bytes, stream))
FORWARD(hipStreamCreateWithFlags, cuStreamCreate, (void **stream, unsigned flags), (stream, flags))
FORWARD(hipStreamDestroy, cuStreamDestroy_v2, (void *stream), (stream))
FORWARD(hipStreamSynchronize, cuStreamSynchronize, (void *stream), (stream))
FORWARD(hipStreamWaitEvent, cuStreamWaitEvent, (void *stream, void *event, unsigned flags),
        (stream, event, flags))
FORWARD(hipEventCreateWithFlags, cuEventCreate, (void **event, unsigned flags), (event, flags))
FORWARD(hipEventDestroy, cuEventDestroy_v2, (void *event), (event))
FORWARD(hipEventRecord, cuEventRecord, (void *event, void *stream), (event, stream))
FORWARD(hipEventSynchronize, cuEventSynchronize, (void *event), (event))
FORWARD(hipEventElapsedTime, cuEventElapsedTime, (float *ms, void *from, void *to), (ms, from, to))
FORWARD(hipModuleLoadDataEx, cuModuleLoadDataEx,
        (void **module, const void *code, unsigned n, int *options, void **values),
        (module, code, n, options, values))
FORWARD(hipModuleUnload, cuModuleUnload, (void *module), (module))
FORWARD(hipModuleGetFunction, cuModuleGetFunction,
        (void **function, void *module, const char *name), (function, module, name))
FORWARD(hipFuncGetAttribute, cuFuncGetAttribute, (int *value, int attribute, void *function),
        (value, attribute, function))
FORWARD(hipStreamBeginCapture, cuStreamBeginCapture_v2, (void *stream, int mode), (stream, mode))
FORWARD(hipStreamEndCapture, cuStreamEndCapture, (void *stream, void **graph), (stream, graph))
FORWARD(hipGraphInstantiateWithFlags, cuGraphInstantiateWithFlags,
        (void **exec, void *graph, unsigned long long flags), (exec, graph, flags))
FORWARD(hipGraphLaunch, cuGraphLaunch, (void *exec, void *stream), (exec, stream))
FORWARD(hipGraphDestroy, cuGraphDestroy, (void *graph), (graph))
FORWARD(hipGraphExecDestroy, cuGraphExecDestroy, (void *exec), (exec))
FORWARD(hipModuleLaunchKernel, cuLaunchKernel,
        (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
         unsigned bz, unsigned local_bytes, void *stream, void **args, void **extra),
        (function, gx, gy, gz, bx, by, bz, local_bytes, stream, args, extra))

/* ---- what differs ---------------------------------------------------------------------------- */

SHOWN(hipDriverGetVersion, int *version)
{
    *version = 60200000;
    return OK;
}

SHOWN(hipDeviceGetAttribute, int *value, int attribute, int device)
{
    static const struct {
        int hip, cuda;
    } table[] = {{56, 1}, {29, 5}, {30, 6}, {31, 7}, {74, 8}, {63, 16}, {23, 75}, {61, 76}};
    CUDA(cuDeviceGetAttribute, int *, int, int)
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].hip == attribute)
            return cuDeviceGetAttribute(value, table[i].cuda, device);
    return INVALID_VALUE;
}

SHOWN(hipGetDevicePropertiesR0600, char *properties, int device)
{
    enum { SIZE = 1472, NAME_AT = 1160, MAJOR = 75, MINOR = 76 };
    int major = 0, minor = 0;
    CUDA(cuDeviceGetAttribute, int *, int, int)
    int code = cuDeviceGetAttribute(&major, MAJOR, device);
    if (!code)
        code = cuDeviceGetAttribute(&minor, MINOR, device);
    memset(properties, 0, SIZE);
    snprintf(properties + NAME_AT, 256, "sm_%d%d", major, minor);
    return code;
}

static void *retained[DEVICES];

static int release_contexts(void)
{
    CUDA(cuDevicePrimaryCtxRelease_v2, int)
    for (int i = 0; i < DEVICES; i++)
        if (retained[i])
            cuDevicePrimaryCtxRelease_v2(i);
    return OK;
}

static void at_exit(void)
{
    release_contexts();
}

static void register_exit(void)
{
    atexit(at_exit);
}

/* A device's primary context, retained from its first use to the end of the process. */
static int context_of(int device, void **context)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    CUDA(cuDevicePrimaryCtxRetain, void **, int)
    if (device < 0 || device >= DEVICES)
        return INVALID_DEVICE;
    pthread_once(&once, register_exit);
    int code = retained[device] ? OK : cuDevicePrimaryCtxRetain(&retained[device], device);
    *context = retained[device];
    return code;
}

SHOWN(hipSetDevice, int device)
{
    void *context;
    CUDA(cuCtxSetCurrent, void *)
    int code = context_of(device, &context);
    return code ? code : cuCtxSetCurrent(context);
}

SHOWN(hipDeviceEnablePeerAccess, int device, unsigned flags)
{
    void *context;
    CUDA(cuCtxEnablePeerAccess, void *, unsigned)
    int code = context_of(device, &context);
    return code ? code : cuCtxEnablePeerAccess(context, flags);
}

SHOWN(hipMemcpyPeerAsync, void *dst, int to, const void *src, int from, size_t bytes, void *stream)
{
    void *there, *here;
    CUDA(cuMemcpyPeerAsync, void *, void *, const void *, void *, size_t, void *)
    int code = context_of(to, &there);
    if (!code)
        code = context_of(from, &here);
    return code ? code : cuMemcpyPeerAsync(dst, there, src, here, bytes, stream);
}

/* hipMemcpy3DParms and CUDA_MEMCPY3D */
struct hip_side {
    void *array;
    size_t x, y, z;
    const void *at;
    size_t pitch, width, height;
};
struct hip_job {
    struct hip_side src, dst;
    size_t size[3];
    int kind;
};
struct cuda_side {
    size_t x, y, z, lod;
    int type;
    const void *host, *device;
    void *array, *reserved;
    size_t pitch, height;
};
struct cuda_job {
    struct cuda_side src, dst;
    size_t size[3];
};

static struct cuda_side side_of(const struct hip_side *s, int on_device)
{
    return (struct cuda_side){.type = 1 + on_device,
                              .host = on_device ? NULL : s->at,
                              .device = on_device ? s->at : NULL,
                              .pitch = s->pitch,
                              .height = s->height};
}

SHOWN(hipMemcpy3DAsync, const struct hip_job *j, void *stream)
{
    enum { TO_DEVICE = 1, TO_HOST = 2 };
    CUDA(cuMemcpy3DAsync_v2, const struct cuda_job *, void *)
    const struct cuda_job job = {side_of(&j->src, j->kind != TO_DEVICE),
                                 side_of(&j->dst, j->kind != TO_HOST),
                                 {j->size[0], j->size[1], j->size[2]}};
    return cuMemcpy3DAsync_v2(&job, stream);
}

/* ---- HIPRTC ---------------------------------------------------------------------------------- */

FORWARD(hiprtcVersion, nvrtcVersion, (int *major, int *minor), (major, minor))
FORWARD(hiprtcCreateProgram, nvrtcCreateProgram,
        (void **program, const char *text, const char *name, int n, const char *const *headers,
         const char *const *names),
        (program, text, name, n, headers, names))
FORWARD(hiprtcDestroyProgram, nvrtcDestroyProgram, (void **program), (program))
FORWARD(hiprtcGetProgramLogSize, nvrtcGetProgramLogSize, (void *program, size_t *size),
        (program, size))
FORWARD(hiprtcGetProgramLog, nvrtcGetProgramLog, (void *program, char *log), (program, log))
FORWARD(hiprtcGetCodeSize, nvrtcGetCUBINSize, (void *program, size_t *size), (program, size))
FORWARD(hiprtcGetCode, nvrtcGetCUBIN, (void *program, char *code), (program, code))

/* Translates clang's options to NVRTC's. */
SHOWN(hiprtcCompileProgram, void *program, int n, const char *const *options)
{
    enum { OPTIONS = 128 };
    static const char arch[] = "--offload-arch=";
    const char *word[OPTIONS];
    char target[128];
    CUDA(nvrtcCompileProgram, void *, int, const char *const *)
    if (n > OPTIONS)
        return INVALID_PROGRAM;
    for (int i = 0; i < n; i++) {
        word[i] = strcmp(options[i], "-ffp-contract=off") ? options[i] : "--fmad=false";
        if (!strncmp(options[i], arch, strlen(arch))) {
            snprintf(target, sizeof target, "--gpu-architecture=%s", options[i] + strlen(arch));
            word[i] = target;
        }
    }
    return nvrtcCompileProgram(program, n, word);
}
