/* backends/cuda.c – NVIDIA's GPUs through the CUDA driver and NVRTC: names, numbers and the few
 * calls that differ from HIP. The rest is in gpu*.c. */
#include "backends/gpu.h"

/* ---- specific to CUDA ---------------------------------------------------------------------- */

/* CUDA_MEMCPY3D of cuda.h. */
struct side {
    size_t x, y, z, lod;
    int type;
    const void *host;
    const void *device;
    void *array, *reserved;
    size_t pitch, height;
};
struct memcpy3d {
    struct side src, dst;
    size_t width, height, depth;
};

static struct {
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*set_current)(void *context);
    int (*memcpy3d)(const struct memcpy3d *, void *stream);
    int (*memcpy_peer)(void *dst, void *to, const void *src, void *from, size_t bytes,
                       void *stream);
    int (*enable_peer)(void *context, unsigned flags);
} own;

#define OWN(member) offsetof(__typeof__(own), member)
static const struct gpu_symbol own_symbols[] = {
    {OWN(retain), "cuDevicePrimaryCtxRetain", false},
    {OWN(release), "cuDevicePrimaryCtxRelease_v2", false},
    {OWN(set_current), "cuCtxSetCurrent", false},
    {OWN(memcpy3d), "cuMemcpy3DAsync_v2", false},
    {OWN(memcpy_peer), "cuMemcpyPeerAsync", false},
    {OWN(enable_peer), "cuCtxEnablePeerAccess", false},
    {0},
};

/* The primary context, shared by the whole process: its interface never changed between versions.
 */
static int attach(struct gpu_state *d)
{
    return own.retain(&d->context, d->device);
}

static void detach(struct gpu_state *d)
{
    if (d->context)
        own.release(d->device);
}

static int use(const struct gpu_state *d)
{
    return own.set_current(d->context);
}

static struct side side_of(const void *at, bool on_device, size_t row, size_t slice)
{
    enum { HOST = 1, DEVICE = 2 };
    return (struct side){.type = on_device ? DEVICE : HOST,
                         .host = on_device ? NULL : at,
                         .device = on_device ? at : NULL,
                         .pitch = row,
                         .height = slice / row};
}

static int box(enum backend_way way, void *dst, const void *src, const struct backend_rect *r,
               void *stream)
{
    const struct memcpy3d job = {side_of(src, way != BACKEND_WRITE, r->src_row, r->src_slice),
                                 side_of(dst, way != BACKEND_READ, r->dst_row, r->dst_slice),
                                 r->width, r->rows, r->slices};
    return own.memcpy3d(&job, stream);
}

static int peer(const struct gpu_state *to, void *dst, const struct gpu_state *from,
                const void *src, size_t bytes, void *stream)
{
    return own.memcpy_peer(dst, to->context, src, from->context, bytes, stream);
}

static int enable_peer_access(const struct gpu_state *from)
{
    return own.enable_peer(from->context, 0);
}

static int arch(const struct gpu_driver *gpu, int device, char *text, size_t room)
{
    enum { MAJOR = 75, MINOR = 76 };
    int major, minor, code = gpu->device_attribute(&major, MAJOR, device);
    if (!code)
        code = gpu->device_attribute(&minor, MINOR, device);
    if (!code)
        snprintf(text, room, "sm_%d%d", major, minor);
    return code;
}

/* ---- the names ------------------------------------------------------------------------------- */

static const struct gpu_symbol symbols[] = {
#define X(optional, member, cuda, hip, ...) {offsetof(struct gpu_driver, member), #cuda, optional},
    GPU_DRIVER(X)
#undef X
        {0},
};

static struct gpu_found found = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct gpu_vendor cuda = {
    .name = "cuda",
    .api = "CUDA",
    .maker = "NVIDIA",
    .advice = "install NVIDIA's driver",
    .library = {{"libcuda.so.1"}, {"/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"}, NULL},
    .attribute = {[GPU_MAX_GROUP] = 1,
                  [GPU_GRID_X] = 5,
                  [GPU_GRID_Y] = 6,
                  [GPU_GRID_Z] = 7,
                  [GPU_LOCAL_MEMORY] = 8,
                  [GPU_COMPUTE_UNITS] = 16},
    .major = 1000,
    .minor = 10,
    .compiler = {{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"},
                 {"/usr/local/cuda/lib64"},
                 "CUDA_HOME"},
    .compiler_prefix = "nvrtc",
    .compiler_advice = "install CUDA's NVRTC, or put its folder on LD_LIBRARY_PATH",
    .targets = {"sm_", "compute_"},
    .arch_option = "--gpu-architecture=",
    .no_fma_option = "--fmad=false",
    GPU_VENDOR_PARTS,
};

GPU_BACKEND(cuda, "CUDA: NVIDIA's GPUs, kernels compiled by NVRTC");
