/* tests/fakegpu/driver.c – the fake driver library: devices, memory, modules. */
#include "tests/fakegpu/fake.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GUARD = 64 }; /* bytes of guard zone on both sides of a buffer */

static const unsigned char guard_byte = 0xb7;

static struct gpu gpus[DEVICES];
static int ngpus;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A CUDA thread has no current device until it sets one; a HIP thread starts with device 0. */
static _Thread_local int current = FAKE_HIP ? 0 : -1;

/* ---- devices --------------------------------------------------------------------------------- */

static bool complained;

void gpu_complain(const char *fmt, ...)
{
    va_list ap;
    complained = true;
    va_start(ap, fmt);
    fputs("fakegpu: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

void gpu_keep(struct gpu *g, enum kind what, int one)
{
    __atomic_add_fetch(&g->kept[what], one, __ATOMIC_RELAXED);
}

/* Reports what was not freed before the device was released. */
static void report_leaks(const struct gpu *g)
{
    static const char *const names[KINDS] = {"queues", "events", "modules", "pinned buffers",
                                             "graphs"};
    for (int k = 0; k < KINDS && !g->lost; k++)
        if (g->kept[k])
            gpu_complain("device %d: %d %s were never freed", g->index, g->kept[k], names[k]);
    if (g->buffers && !g->lost)
        gpu_complain("device %d: buffers of %zu bytes were never freed", g->index, g->used);
}

/* At exit: every open device must have been closed, with everything that belongs to it. */
__attribute__((destructor)) static void report_at_exit(void)
{
    for (int i = 0; i < ngpus; i++) {
        price_tell(&gpus[i]);
        if (gpus[i].retained && !gpus[i].lost)
            gpu_complain("device %d: its context was retained %d times more than released", i,
                         gpus[i].retained);
        report_leaks(&gpus[i]);
    }
    if (complained && setting("FAKEGPU_STRICT", 0))
        _exit(1);
}

/* "1024" MiB or "600k". */
static size_t memory(void)
{
    const char *text = getenv("FAKEGPU_MEMORY");
    char *end = NULL;
    const size_t n = text ? strtoul(text, &end, 10) : (size_t)price_number(PRICE_MEMORY, 1024);
    return end && *end == 'k' ? n << 10 : n << 20;
}

static const struct pocl *open_pocl(void)
{
    price_pocl(false);
    const struct pocl *cl = pocl_open();
    price_pocl(true);
    return cl;
}

static void make_devices(void)
{
    const struct pocl *cl = open_pocl();
    long n = setting("FAKEGPU_DEVICES", 2);
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    for (int i = 0; cl && i < n && i < DEVICES; i++) {
        struct gpu *g = &gpus[ngpus++];
        g->index = i;
        g->memory = memory();
        g->queue = cl->CreateCommandQueue(cl->context, cl->device, 0, NULL);
        pthread_mutex_init(&g->lock, &recursive);
    }
}

struct gpu *gpu_list(int *n)
{
    pthread_once(&once, make_devices);
    *n = ngpus;
    return ngpus ? gpus : NULL;
}

struct gpu *gpu_current(void)
{
    return current >= 0 && current < ngpus ? &gpus[current] : NULL;
}

/* The calling thread's device, unless it is lost. */
static int enter(struct gpu **g)
{
    *g = gpu_current();
    if (!*g)
        gpu_complain("a call without a current device");
    return !*g ? INVALID_CONTEXT : (*g)->lost ? LAUNCH_FAILED : OK;
}

static bool is_device(int device)
{
    return device >= 0 && device < ngpus;
}

bool gpu_fails(struct gpu *g, enum count what)
{
    static const char *const names[COUNTS] = {"alloc", "pinned", "launch",
                                              "load",  "graph",  "queue"};
    pthread_mutex_lock(&g->lock);
    long call = ++g->calls[what];
    pthread_mutex_unlock(&g->lock);
    return fault_due(names[what], g->index, call);
}

SHOWN(NAME(cuInit, hipInit), unsigned flags)
{
    int n;
    const int error = (int)setting("FAKEGPU_INIT", OK);
    return flags ? INVALID_VALUE : error ? error : gpu_list(&n) ? OK : NO_DEVICE;
}

SHOWN(NAME(cuDriverGetVersion, hipDriverGetVersion), int *version)
{
    const char *text = getenv("FAKEGPU_VERSION");
    int major = FAKE_HIP ? FAKE_HIP : 12, minor = FAKE_HIP ? 2 : 8;
    if (text)
        sscanf(text, "%d.%d", &major, &minor);
    *version = FAKE_HIP ? 10000000 * major + 100000 * minor : 1000 * major + 10 * minor;
    return OK;
}

SHOWN(NAME(cuDeviceGetCount, hipGetDeviceCount), int *n)
{
    return gpu_list(n) ? OK : NO_DEVICE;
}

SHOWN(NAME(cuDeviceGet, hipDeviceGet), int *device, int index)
{
    if (!is_device(index))
        return INVALID_DEVICE;
    *device = index;
    return OK;
}

SHOWN(NAME(cuDeviceGetName, hipDeviceGetName), char *name, int room, int device)
{
    if (!is_device(device))
        return INVALID_DEVICE;
    snprintf(name, (size_t)room, "Fake %s GPU %d", FAKE_HIP ? "HIP" : "CUDA", device);
    return OK;
}

SHOWN(NAME(cuDeviceTotalMem_v2, hipDeviceTotalMem), size_t *bytes, int device)
{
    if (!is_device(device))
        return INVALID_DEVICE;
    *bytes = gpus[device].memory;
    return OK;
}

SHOWN(NAME(cuDeviceGetPCIBusId, hipDeviceGetPCIBusId), char *text, int room, int device)
{
    if (!is_device(device))
        return INVALID_DEVICE;
    snprintf(text, (size_t)room, "%s:%02X:00.0", FAKE_HIP ? "0000" : "00000000",
             (FAKE_HIP ? 0xC0 : 0xA0) + (setting("FAKEGPU_PARTS", 0) ? 0 : device));
    return OK;
}

SHOWN(NAME(cuDeviceGetUuid_v2, hipDeviceGetUuid), unsigned char *uuid, int device)
{
    if (!is_device(device))
        return INVALID_DEVICE;
    for (int i = 0; i < 16; i++)
        uuid[i] = (unsigned char)(FAKE_HIP ? "0123456789abcdef"[(i + device) % 16]
                                           : 0x5b + 17 * i + 101 * device);
    return OK;
}

SHOWN(NAME(cuDeviceCanAccessPeer, hipDeviceCanAccessPeer), int *yes, int device, int other)
{
    *yes = device != other;
    return is_device(device) && is_device(other) ? OK : INVALID_DEVICE;
}

static const char *arch(void)
{
    const char *text = getenv("FAKEGPU_ARCH");
    return text ? text : FAKE_HIP ? "gfx90a" : "sm_80";
}

/* The attributes that the back ends query, by the two APIs' numbers. */
SHOWN(NAME(cuDeviceGetAttribute, hipDeviceGetAttribute), int *value, int attribute, int device)
{
    int capability = 80;
    sscanf(arch(), "sm_%d", &capability);
    const struct {
        int cuda, hip, value;
    } table[] = {
        {1, 56, 1024},
        {5, 29, INT32_MAX},
        {6, 30, 65535},
        {7, 31, 65535},
        {8, 74, 49152},
        {16, 63, (int)price_number(PRICE_MULTIPROCESSORS, 1)},
        {75, 23, capability / 10},
        {76, 61, capability % 10},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (attribute == (FAKE_HIP ? table[i].hip : table[i].cuda)) {
            *value = table[i].value;
            return is_device(device) ? OK : INVALID_DEVICE;
        }
    gpu_complain("unknown device attribute %d", attribute);
    return INVALID_VALUE;
}

static int peer_calls;

/* How often peer access was enabled: for tests. */
SHOWN(fakegpu_peer_calls, void)
{
    return peer_calls;
}

/* Lets the calling thread's device access the other's memory. */
static int enable_peer(const struct gpu *other)
{
    struct gpu *g;
    int code = enter(&g);
    if (code)
        return code;
    if (g == other)
        gpu_complain("device %d is asked to enable peer access to itself", g->index);
    pthread_mutex_lock(&g->lock);
    const bool before = g->peers >> other->index & 1;
    g->peers |= 1u << other->index;
    peer_calls++;
    pthread_mutex_unlock(&g->lock);
    return before ? PEER_OPEN_ALREADY : OK;
}

#if FAKE_HIP
SHOWN(hipSetDevice, int device)
{
    current = is_device(device) ? device : current;
    return is_device(device) ? OK : INVALID_DEVICE;
}

#if FAKE_HIP == 5
SHOWN(hipGetDeviceProperties, char *properties, int device)
{
    enum { SIZE = 792, NAME_AT = 396 };
#else
SHOWN(hipGetDevicePropertiesR0600, char *properties, int device)
{
    enum { SIZE = 1472, NAME_AT = 1160 };
#endif
    memset(properties, 0x5a, SIZE);
    snprintf(properties + NAME_AT, 256, "%s", arch());
    return is_device(device) ? OK : INVALID_DEVICE;
}

SHOWN(hipDeviceEnablePeerAccess, int device, unsigned flags)
{
    return flags ? INVALID_VALUE : is_device(device) ? enable_peer(&gpus[device]) : INVALID_DEVICE;
}
#else
SHOWN(cuDevicePrimaryCtxRetain, void **context, int device)
{
    if (!is_device(device))
        return INVALID_DEVICE;
    pthread_mutex_lock(&gpus[device].lock);
    gpus[device].retained++;
    pthread_mutex_unlock(&gpus[device].lock);
    *context = &gpus[device];
    return OK;
}

SHOWN(cuDevicePrimaryCtxRelease_v2, int device)
{
    if (!is_device(device) || !gpus[device].retained)
        return INVALID_CONTEXT;
    pthread_mutex_lock(&gpus[device].lock);
    if (!--gpus[device].retained)
        report_leaks(&gpus[device]);
    pthread_mutex_unlock(&gpus[device].lock);
    return OK;
}

SHOWN(cuCtxSetCurrent, void *context)
{
    const struct gpu *g = context;
    if (g && !g->retained)
        return INVALID_CONTEXT;
    current = g ? g->index : -1;
    return OK;
}

SHOWN(cuCtxEnablePeerAccess, void *context, unsigned flags)
{
    return flags || !context ? INVALID_VALUE : enable_peer(context);
}
#endif

/* For mpi.c: whether an address is in a device's memory; whether the calling thread has a device.
 */
SHOWN(fakegpu_has, const void *at)
{
    for (int i = 0; i < ngpus; i++)
        if (gpu_owns(&gpus[i], at, 1))
            return 1;
    return 0;
}

SHOWN(fakegpu_current, void)
{
    return gpu_current() != NULL;
}

/* ---- memory ---------------------------------------------------------------------------------- */

SHOWN(NAME(cuMemGetInfo_v2, hipMemGetInfo), size_t *left, size_t *total)
{
    struct gpu *g;
    int code = enter(&g);
    if (code)
        return code;
    pthread_mutex_lock(&g->lock);
    *left = g->memory - g->used;
    *total = g->memory;
    pthread_mutex_unlock(&g->lock);
    return OK;
}

/* Host memory, which PoCL's cpus can access; untouched pages cost nothing, so a card can have its
 * full size. */
static struct buffer *new_buffer(size_t bytes)
{
    enum { MAX_PATTERN = 1 << 20 }; /* bytes that begin as NaN */
    struct buffer *b = calloc(1, sizeof *b);
    unsigned char *all = mmap(NULL, bytes + 2 * GUARD, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!b || all == MAP_FAILED) {
        free(b);
        return NULL;
    }
    *b = (struct buffer){.byte = all + GUARD, .bytes = bytes};
    memset(all, guard_byte, GUARD);
    memset(b->byte + bytes, guard_byte, GUARD);
    if (setting("FAKEGPU_SAMPLE", 1) == 1) /* else kernels read what no work-group has written */
        memset(b->byte, 0xff, bytes < MAX_PATTERN ? bytes : MAX_PATTERN);
    return b;
}

static void free_buffer(const struct gpu *g, struct buffer *b)
{
    for (int i = 0; i < GUARD; i++)
        if (b->byte[i - GUARD] != guard_byte || b->byte[b->bytes + (size_t)i] != guard_byte) {
            gpu_complain("device %d: something wrote outside a buffer of %zu bytes", g->index,
                         b->bytes);
            break;
        }
    munmap(b->byte - GUARD, b->bytes + 2 * GUARD);
    free(b);
}

SHOWN(NAME(cuMemAlloc_v2, hipMalloc), void **address, size_t bytes)
{
    struct gpu *g;
    int code = enter(&g);
    if (code || !bytes || queue_captures("memory is allocated"))
        return code ? code : !bytes ? INVALID_VALUE : NOT_WHILE_CAPTURING;
    if (gpu_fails(g, ALLOCS) || bytes > g->memory - g->used)
        return OUT_OF_MEMORY;
    struct buffer *b = new_buffer(bytes);
    if (!b)
        return OUT_OF_MEMORY;
    pthread_mutex_lock(&g->lock);
    b->next = g->buffers;
    g->buffers = b;
    g->used += bytes;
    pthread_mutex_unlock(&g->lock);
    *address = b->byte;
    return OK;
}

SHOWN(NAME(cuMemFree_v2, hipFree), void *address)
{
    struct gpu *g = gpu_current();
    if (!g || queue_captures("memory is freed"))
        return g ? NOT_WHILE_CAPTURING : INVALID_CONTEXT;
    pthread_mutex_lock(&g->lock);
    struct buffer **at = &g->buffers, *found;
    while (*at && (*at)->byte != address)
        at = &(*at)->next;
    found = *at;
    if (found) {
        *at = found->next;
        g->used -= found->bytes;
        free_buffer(g, found);
    } else {
        gpu_complain("device %d is asked to free memory that it never allocated", g->index);
    }
    pthread_mutex_unlock(&g->lock);
    return found ? OK : INVALID_VALUE;
}

bool gpu_owns(struct gpu *g, const void *at, size_t bytes)
{
    const unsigned char *p = at;
    pthread_mutex_lock(&g->lock);
    const struct buffer *b = g->buffers;
    while (b && !(p >= b->byte && p + bytes <= b->byte + b->bytes))
        b = b->next;
    pthread_mutex_unlock(&g->lock);
    return b;
}

SHOWN(NAME(cuMemHostAlloc, hipHostMalloc), void **byte, size_t bytes, unsigned flags)
{
    struct gpu *g;
    int code = enter(&g);
    if (code)
        return code;
    if (flags &
        ~1u) /* portable; write-combined memory would be read, mapped memory is not asked for */
        gpu_complain("device %d: pinned memory with flags %u", g->index, flags);
    struct gpu **owner = gpu_fails(g, PINS) ? NULL : malloc(GUARD + bytes);
    if (!owner)
        return OUT_OF_MEMORY;
    *owner = g;
    *byte = (unsigned char *)owner + GUARD;
    gpu_keep(g, PINNED, 1);
    return OK;
}

SHOWN(NAME(cuMemFreeHost, hipHostFree), void *byte)
{
    struct gpu **owner = (struct gpu **)((unsigned char *)byte - GUARD);
    gpu_keep(*owner, PINNED, -1);
    free(owner);
    return OK;
}

/* ---- modules --------------------------------------------------------------------------------- */

struct module {
    struct gpu *gpu;
    cl_program program;
    const char *image;          /* HIP's driver reads it while the module lives */
    char *was;                  /* a copy, to detect changes */
    struct function *functions; /* a list */
};

/* Whether a device can run code for `target`: its own architecture; CUDA: an older one of its
 * generation, or portable code for any older one; HIP: one without settings. */
static bool runs(const char *target)
{
    int wanted, have = 0;
    sscanf(arch(), "sm_%d", &have);
    if (sscanf(target, "compute_%d", &wanted) == 1)
        return wanted <= have;
    if (sscanf(target, "sm_%d", &wanted) == 1)
        return wanted <= have && wanted / 10 == have / 10;
    const size_t n = strlen(target);
    return !strncmp(target, arch(), n) && (!arch()[n] || arch()[n] == ':');
}

/* Reads "magic, target, options, text". */
static int read_code(const char *code, char target[80], char options[1024], const char **text)
{
    int length = 0;
    if (strncmp(code, CODE_MAGIC, strlen(CODE_MAGIC)))
        return INVALID_IMAGE;
    code += strlen(CODE_MAGIC);
    options[0] = '\0';
    if (sscanf(code, "%79[^\n]%n", target, &length) != 1)
        return INVALID_IMAGE;
    code += length + 1;
    snprintf(options, 1024, "%.*s", (int)strcspn(code, "\n"), code);
    *text = code + strcspn(code, "\n") + 1;
    return runs(target) ? OK : NO_BINARY;
}

SHOWN(NAME(cuModuleLoadDataEx, hipModuleLoadDataEx), void **module, const void *code,
      unsigned noptions, const int *options, void **values)
{
    char target[80], words[1024 + 24], *log = NULL;
    const char *text;
    struct gpu *g;
    int bad = enter(&g);
    if (!bad)
        bad = gpu_fails(g, LOADS) ? INVALID_IMAGE : read_code(code, target, words, &text);
    if (bad) {
        if (noptions && options[0] == 5)
            snprintf(values[0], 32, "the fake driver rejects it");
        return bad;
    }
    if (pocl_open()->version == 5) /* see backends/opencl.c */
        snprintf(words + strlen(words), 24, " -DFAKE_GPU=%d", 10 * g->index + FAKE_HIP);
    struct module *m = calloc(1, sizeof *m);
    m->gpu = g;
    m->program = pocl_build(text, words, &log);
    free(log);
    if (!m->program) {
        free(m);
        return INVALID_IMAGE;
    }
    m->image = code;
    m->was = strdup(code);
    gpu_keep(g, MODULES, 1);
    *module = m;
    return OK;
}

SHOWN(NAME(cuModuleUnload, hipModuleUnload), void *module)
{
    struct module *m = module;
    const struct pocl *cl = pocl_open();
    if (!FAKE_HIP && gpu_current() != m->gpu)
        gpu_complain("device %d: a module is unloaded while another device is current",
                     m->gpu->index);
    if (FAKE_HIP && strcmp(m->image, m->was))
        gpu_complain("device %d: a module's code was freed before the module", m->gpu->index);
    free(m->was);
    for (struct function *f = m->functions, *next; f; f = next) {
        next = f->next;
        if (f->queued && !m->gpu->lost) {
            gpu_complain("device %d: the module of kernel %s is unloaded while it is queued",
                         m->gpu->index, f->name);
            m->gpu->lost = true; /* nothing of its queues runs any more */
        }
        if (f->in_graphs)
            gpu_complain("device %d: the module of kernel %s is unloaded before a graph with it",
                         m->gpu->index, f->name);
        cl->ReleaseKernel(f->kernel);
        free(f);
    }
    gpu_keep(m->gpu, MODULES, -1);
    cl->ReleaseProgram(m->program);
    free(m);
    return OK;
}

/* Finds which of a kernel's arguments are addresses, and the sizes of the others. */
static void read_arguments(const struct pocl *cl, struct function *f)
{
    cl_uint n = 0;
    cl->GetKernelInfo(f->kernel, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL);
    f->nargs = n < ARGS ? (int)n : ARGS;
    for (int i = 0; i < f->nargs; i++) {
        char type[64] = "";
        cl->GetKernelArgInfo(f->kernel, (cl_uint)i, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type,
                             NULL);
        f->size[i] = strchr(type, '*') ? 0 : !strcmp(type, "int") ? 4 : 8;
    }
}

SHOWN(NAME(cuModuleGetFunction, hipModuleGetFunction), void **function, void *module,
      const char *name)
{
    struct module *m = module;
    const struct pocl *cl = pocl_open();
    cl_int code;
    cl_kernel k = cl->CreateKernel(m->program, name, &code);
    struct function *f = code ? NULL : calloc(1, sizeof *f);
    if (!f)
        return NOT_FOUND;
    f->gpu = m->gpu;
    f->kernel = k;
    f->next = m->functions;
    m->functions = f;
    snprintf(f->name, sizeof f->name, "%s", name);
    cl->GetKernelWorkGroupInfo(k, cl->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof f->group,
                               f->group, NULL);
    read_arguments(cl, f);
    *function = f;
    return OK;
}

SHOWN(NAME(cuFuncGetAttribute, hipFuncGetAttribute), int *value, int attribute, void *function)
{
    (void)function;
    *value = (int)setting("FAKEGPU_GROUP", 1024);
    return attribute ? INVALID_VALUE : OK;
}

SHOWN(NAME(cuLaunchKernel, hipModuleLaunchKernel), void *function, unsigned gx, unsigned gy,
      unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned local_bytes, void *stream,
      void **args, void **extra)
{
    const unsigned grid[3] = {gx, gy, gz}, group[3] = {bx, by, bz};
    struct gpu *g;
    int code = enter(&g);
    if (code)
        return code;
    if (!gx || !gy || !gz || gy > 65535 || gz > 65535 || bx * by * bz > 1024 || local_bytes ||
        extra)
        return INVALID_VALUE;
    if (bx * by * bz > (unsigned)setting("FAKEGPU_GROUP", 1024)) {
        gpu_complain("device %d: too few registers for a work-group of %u", g->index, bx * by * bz);
        return OUT_OF_RESOURCES;
    }
    return gpu_fails(g, LAUNCHES) ? OUT_OF_RESOURCES
                                  : queue_launch(stream, function, grid, group, args);
}
