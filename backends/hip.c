/* backends/hip.c – AMD's GPUs through the HIP run time and HIPRTC: names, numbers and the few calls
 * that differ from CUDA. The rest is in gpu*.c. */
#include "backends/gpu.h"

#include <string.h>

/* ---- specific to HIP ----------------------------------------------------------------------- */

/* hipMemcpy3DParms of driver_types.h. */
struct side {
    void *array;
    size_t x, y, z;
    const void *at;
    size_t pitch, width, height;
};
struct memcpy3d {
    struct side src, dst;
    size_t width, height, depth;
    int kind;
};

static struct {
    int (*set_device)(int device);
    int (*memcpy3d)(const struct memcpy3d *, void *stream);
    int (*memcpy_peer)(void *dst, int to, const void *src, int from, size_t bytes, void *stream);
    int (*enable_peer)(int device, unsigned flags);
    int (*properties_6)(void *properties, int device);
    int (*properties_5)(void *properties, int device);
} own;

#define OWN(member) offsetof(__typeof__(own), member)
static const struct gpu_symbol own_symbols[] = {
    {OWN(set_device), "hipSetDevice", false},
    {OWN(memcpy3d), "hipMemcpy3DAsync", false},
    {OWN(memcpy_peer), "hipMemcpyPeerAsync", false},
    {OWN(enable_peer), "hipDeviceEnablePeerAccess", false},
    {OWN(properties_6), "hipGetDevicePropertiesR0600", true},
    {OWN(properties_5), "hipGetDeviceProperties", true},
    {0},
};

static int attach(struct gpu_state *d)
{
    return own.set_device(d->device);
}

static void detach(struct gpu_state *d)
{
    (void)d;
}

static int use(const struct gpu_state *d)
{
    return own.set_device(d->device);
}

static struct side side_of(const void *at, size_t row, size_t slice)
{
    return (struct side){.at = at, .pitch = row, .width = row, .height = slice / row};
}

static int box(enum backend_way way, void *dst, const void *src, const struct backend_rect *r,
               void *stream)
{
    static const int kind[] = {[BACKEND_WRITE] = 1, [BACKEND_READ] = 2, [BACKEND_WITHIN] = 3};
    const struct memcpy3d job = {side_of(src, r->src_row, r->src_slice),
                                 side_of(dst, r->dst_row, r->dst_slice),
                                 r->width,
                                 r->rows,
                                 r->slices,
                                 kind[way]};
    return own.memcpy3d(&job, stream);
}

static int peer(const struct gpu_state *to, void *dst, const struct gpu_state *from,
                const void *src, size_t bytes, void *stream)
{
    return own.memcpy_peer(dst, to->device, src, from->device, bytes, stream);
}

static int enable_peer_access(const struct gpu_state *from)
{
    return own.enable_peer(from->device, 0);
}

/* hipDeviceProp_t changed from HIP 5 to 6, and the function's name with it. Only the architecture's
 * name is read from it, which no attribute gives. */
static int arch(const struct gpu_driver *gpu, int device, char *text, size_t room)
{
    enum { ROOM = 16384, NAME_5 = 396, NAME_6 = 1160, NAME_SIZE = 256, MISSING = 500 };
    static _Thread_local _Alignas(16) char properties[ROOM];
    (void)gpu;
    memset(properties, 0, sizeof properties);
    int code = own.properties_6   ? own.properties_6(properties, device)
               : own.properties_5 ? own.properties_5(properties, device)
                                  : MISSING;
    if (!code)
        snprintf(text, room, "%.*s", NAME_SIZE, properties + (own.properties_6 ? NAME_6 : NAME_5));
    return code;
}

/* ---- the names ------------------------------------------------------------------------------- */

static const struct gpu_symbol symbols[] = {
#define X(optional, member, cuda, hip, ...) {offsetof(struct gpu_driver, member), #hip, optional},
    GPU_DRIVER(X)
#undef X
        {0},
};

static struct gpu_found found = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct gpu_vendor hip = {
    .name = "hip",
    .api = "HIP",
    .maker = "AMD",
    .advice = "install AMD's ROCm run time",
    .library = {{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"},
                {"/opt/rocm/lib"},
                "ROCM_PATH"},
    .attribute = {[GPU_GRID_X] = 29,
                  [GPU_GRID_Y] = 30,
                  [GPU_GRID_Z] = 31,
                  [GPU_MAX_GROUP] = 56,
                  [GPU_COMPUTE_UNITS] = 63,
                  [GPU_LOCAL_MEMORY] = 74},
    .major = 10000000,
    .minor = 100000,
    /* Up to HIP 5, the run time contains the compiler. */
    .compiler = {{"libhiprtc.so.7", "libhiprtc.so.6", "libamdhip64.so.7", "libamdhip64.so.6",
                  "libamdhip64.so.5"},
                 {"/opt/rocm/lib"},
                 "ROCM_PATH"},
    .compiler_prefix = "hiprtc",
    .compiler_advice = "install ROCm's HIPRTC, or put its folder on LD_LIBRARY_PATH",
    .targets = {"gfx"},
    .arch_option = "--offload-arch=",
    .no_fma_option = "-ffp-contract=off",
    GPU_VENDOR_PARTS,
};

GPU_BACKEND(hip, "HIP: AMD's GPUs, kernels compiled by HIPRTC");
