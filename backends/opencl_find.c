/* backends/opencl_find.c – opens libOpenCL and finds the devices of all platforms, once. */
#include "backends/opencl.h"

#include "backends/binding.h"
#include "src/cachedir.h"
#include "src/opt.h"
#include "src/owned.h"
#include "src/process.h"
#include <CL/cl_ext.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLATFORMS = 16, DEVICES = 64, THREADS = 4096 };

/* Of cl_nv_device_attribute_query; missing in CL/cl_ext.h. */
enum { PCI_BUS_NV = 0x4008, PCI_SLOT_NV = 0x4009, PCI_DOMAIN_NV = 0x400A };

struct opencl_functions opencl;

static struct {
    pthread_once_t once;
    int n;
    struct opencl_device device[DEVICES];
    char version[128]; /* of all platforms */
    char why[256];     /* why there is no device */
    char refused[128]; /* why PoCL was not asked, or "" */
    bool unknown;      /* some device's compiler is too old for the processor */
} found = {.once = PTHREAD_ONCE_INIT};

/* ---- the library ---- */

static bool none(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static bool none(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(found.why, sizeof found.why, fmt, ap);
    va_end(ap);
    return false;
}

static bool load(void)
{
    static const struct {
        const char *name;
        size_t offset;
    } table[] = {
#define X(name) {"cl" #name, offsetof(struct opencl_functions, name)},
        OPENCL_FUNCTIONS(X)
#undef X
    };
    /* Looked up globally, so that a preloaded tool (oclgrind) can interpose. */
    if (!dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_GLOBAL))
        return none("%s: install an OpenCL loader (ocl-icd-libopencl1)", dlerror());
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        void *function = dlsym(RTLD_DEFAULT, table[i].name);
        if (!function)
            return none("libOpenCL.so.1 is older than OpenCL 1.2: it lacks %s", table[i].name);
        memcpy((char *)&opencl + table[i].offset, &function, sizeof function);
    }
    return true;
}

/* ---- the devices ---- */

static void add(cl_device_id id, bool is_cpu, int share, int nworkers, const pid_t *workers)
{
    if (found.n < DEVICES)
        found.device[found.n++] = (struct opencl_device){id, is_cpu, share, nworkers, workers};
}

static int compute_units(cl_device_id id)
{
    cl_uint n = 0;
    opencl.GetDeviceInfo(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof n, &n, NULL);
    return (int)n;
}

static int split_count(void)
{
    const char *text = getenv("CU_OPENCL_SPLIT");
    long n = 0;
    if (text && !opt_integer(text, 1, DEVICES, &n))
        status_warn("CU_OPENCL_SPLIT=%s is not a number from 1 to %d: ignored", text, DEVICES);
    return (int)n;
}

/* Adds the first `want` compute units of a cpu device as separate devices. */
static void add_split(cl_device_id id, int want, int nworkers, const pid_t *workers)
{
    const cl_device_partition_property each[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_uint n = (cl_uint)compute_units(id);
    OWNED_MEMORY cl_device_id *part = calloc(n + 1, sizeof *part);
    if (!part || opencl.CreateSubDevices(id, each, n, part, &n)) {
        status_warn("CU_OPENCL_SPLIT: the driver cannot split its cpu device");
        add(id, true, 1, nworkers, workers);
    } else {
        int share = (int)n < want ? (int)n : want;
        for (int i = 0; i < share; i++)
            add(part[i], true, share, nworkers ? 1 : 0, workers + i);
        for (int i = share; i < (int)n; i++)
            opencl.ReleaseDevice(part[i]);
    }
}

/* A platform's devices in id[0 .. n-1], and the threads that its driver started for them. */
struct platform {
    int n, nthreads;
    cl_device_id id[DEVICES];
    pid_t *thread; /* [nthreads], lives as long as the process */
};

/* Removes the threads in before[] from now[0..n-1]; returns how many remain. */
static int only_new(pid_t *now, int n, const pid_t *before, int nbefore)
{
    int left = 0;
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (k < nbefore && before[k] != now[i])
            k++;
        if (k == nbefore)
            now[left++] = now[i];
    }
    return left;
}

/* PoCL aborts the process if it cannot start its workers or, up to 3.1, if its hwloc finds no
 * memory. */
static bool would_abort(cl_platform_id id)
{
    static const char words[] = "PoCL ";
    const char *set = getenv("POCL_MAX_PTHREAD_COUNT");
    char text[512] = "";
    long n;
    opencl.GetPlatformInfo(id, CL_PLATFORM_VERSION, sizeof text - 1, text, NULL);
    const char *pocl = strcasestr(text, words);
    if (!pocl)
        return false;
    if (!set || !opt_integer(set, 1, THREADS, &n))
        n = sysconf(_SC_NPROCESSORS_ONLN);
    if (n > 0 && n <= THREADS && process_startable((int)n, 0) < n)
        snprintf(found.refused, sizeof found.refused,
                 "PoCL needs %ld threads, which cannot be started: see ulimit -u and ulimit -v", n);
    else if (atoi(pocl + strlen(words)) <= 3 && access("/sys/devices/system/cpu", F_OK))
        snprintf(found.refused, sizeof found.refused, "PoCL needs /sys, which is not mounted");
    return *found.refused;
}

static void ask_platform(cl_platform_id id, struct platform *p)
{
    if (would_abort(id))
        return;
    OWNED_MEMORY pid_t *before = calloc(THREADS, sizeof *before);
    p->thread = calloc(THREADS, sizeof *p->thread);
    int nbefore = before ? binding_threads(before, THREADS) : 0;
    cl_uint n = 0;
    if (opencl.GetDeviceIDs(id, CL_DEVICE_TYPE_ALL, DEVICES, p->id, &n))
        n = 0;
    p->n = n < DEVICES ? (int)n : DEVICES;
    if (before && p->thread)
        p->nthreads = only_new(p->thread, binding_threads(p->thread, THREADS), before, nbefore);
}

/* PoCL up to 6 with LLVM 18 or newer aborts on some kernels ("Instruction Combining did not reach a
 * fixpoint"; https://github.com/pocl/pocl/issues/1608) unless it forms work-groups by the other
 * method, which is as fast. The user's own setting wins. */
static void choose_work_groups(const char *version)
{
    const char *pocl = strstr(version, "PoCL "), *llvm = strstr(version, "LLVM ");
    if (pocl && llvm && atoi(pocl + 5) <= 6 && atoi(llvm + 5) >= 18)
        setenv("POCL_WORK_GROUP_METHOD", "cbs", 0);
}

static void note_version(cl_platform_id id)
{
    char text[512] = "";
    size_t used = strlen(found.version);
    opencl.GetPlatformInfo(id, CL_PLATFORM_VERSION, sizeof text - 1, text, NULL);
    choose_work_groups(text);
    snprintf(found.version + used, sizeof found.version - used, "%s%s", used ? "; " : "", text);
}

/* PoCL names the processor that it compiles for; 'generic' means that its LLVM is too old to know
 * it, and on x86 its compiler does not accept that name. */
static bool unknown_processor(cl_device_id id)
{
    char version[256] = "";
    opencl.GetDeviceInfo(id, CL_DEVICE_VERSION, sizeof version - 1, version, NULL);
    return strstr(version, "HSTR: ") && strstr(version, "-x86_64-") && strstr(version, "-generic");
}

static bool usable(cl_device_id id)
{
    cl_bool available = CL_FALSE, compiler = CL_FALSE;
    opencl.GetDeviceInfo(id, CL_DEVICE_AVAILABLE, sizeof available, &available, NULL);
    opencl.GetDeviceInfo(id, CL_DEVICE_COMPILER_AVAILABLE, sizeof compiler, &compiler, NULL);
    const bool unknown = unknown_processor(id);
    found.unknown |= unknown;
    return available && compiler && !unknown;
}

static bool is_cpu(cl_device_id id)
{
    cl_device_type type = 0;
    opencl.GetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    return (type & CL_DEVICE_TYPE_CPU) && !(type & CL_DEVICE_TYPE_GPU);
}

/* Adds a platform's cpu devices, or all the others. New threads are assumed to be a device's
 * workers only if there is one for each compute unit, as PoCL starts them. */
static void add_devices(const struct platform *p, bool cpus, int split)
{
    for (int i = 0; i < p->n; i++) {
        if (!usable(p->id[i]) || is_cpu(p->id[i]) != cpus)
            continue;
        int nworkers = cpus && p->nthreads == compute_units(p->id[i]) ? p->nthreads : 0;
        if (cpus && split)
            add_split(p->id[i], split, nworkers, p->thread);
        else
            add(p->id[i], cpus, 1, nworkers, p->thread);
    }
}

static bool find(int split)
{
    cl_platform_id id[PLATFORMS];
    cl_uint n = 0;
    if (opencl.GetPlatformIDs(PLATFORMS, id, &n) || !n)
        return none("no OpenCL platform: install a driver (pocl-opencl-icd serves the cpu)");
    n = n < PLATFORMS ? n : PLATFORMS;
    static struct platform platform[PLATFORMS];
    for (cl_uint i = 0; i < n; i++) {
        ask_platform(id[i], &platform[i]);
        note_version(id[i]);
    }
    for (int cpus = 0; cpus <= 1; cpus++)
        for (cl_uint i = 0; i < n; i++)
            add_devices(&platform[i], cpus, split);
    const char *cache = getenv("POCL_CACHE_DIR");
    if (!found.n && *found.refused)
        return none("%s", found.refused);
    return found.n || none("%u OpenCL platform%s without a usable device%s", n, n == 1 ? "" : "s",
                           found.unknown ? "; this PoCL's LLVM is older than the processor and "
                                           "does not know it: install a newer PoCL"
                           : cache && !access(cache, W_OK)
                               ? ""
                               : "; PoCL wants a folder to write in: set POCL_CACHE_DIR");
}

/* POCL_MAX_PTHREAD_COUNT sets how many workers PoCL starts, all of which wake up with every
 * command: as many as devices are split off, or as the largest place can hold. The user's own
 * setting wins. */
static void limit_workers(int split)
{
    char text[16];
    int workers = split ? split : binding_widest_place();
    snprintf(text, sizeof text, "%d", workers);
    if (workers)
        setenv("POCL_MAX_PTHREAD_COUNT", text, 0);
}

/* PoCL's usual cache folder, or a writable substitute: without one its devices are unusable. */
static void find_cache(void)
{
    static const char name[] = "POCL_CACHE_DIR";
    const char *given = getenv(name);
    char path[PATH_MAX];
    if (given && !*given)
        unsetenv(name); /* PoCL would abort */
    if (cachedir_find_code("pocl/kcache", path, sizeof path))
        setenv(name, path, 0);
}

/* The driver's threads inherit this thread's affinity, which must cover all places, not just ours.
 */
static void find_once(void)
{
    struct binding saved;
    int split = split_count();
    bool widened = binding_widen(&saved);
    limit_workers(split);
    find_cache();
    if (load())
        find(split);
    if (widened)
        binding_set(0, &saved);
}

enum ek_status opencl_devices(const struct opencl_device **list, int *n)
{
    pthread_once(&found.once, find_once);
    if (!found.n)
        FAIL(EK_UNAVAILABLE, "opencl: %s", found.why);
    *list = found.device;
    *n = found.n;
    return EK_OK;
}

int opencl_libraries(struct backend_library *list, int max)
{
    struct backend_library l = {.what = "loader", .name = "libOpenCL.so.1"};
    pthread_once(&found.once, find_once);
    l.loaded = opencl.GetPlatformIDs;
    snprintf(l.version, sizeof l.version, "%s", found.version);
    snprintf(l.why, sizeof l.why, "%s", found.why);
    if (max > 0)
        list[0] = l;
    return max > 0;
}

/* ---- describing a device ---- */

static void text_of(cl_device_id id, cl_device_info what, char *text, size_t room)
{
    char all[8192] = "";
    opencl.GetDeviceInfo(id, what, sizeof all - 1, all, NULL);
    const char *start = all + strspn(all, " ");
    snprintf(text, room, "%s", start);
    for (size_t end = strlen(text); end && text[end - 1] == ' ';)
        text[--end] = '\0';
}

static size_t size_of(cl_device_id id, cl_device_info what)
{
    union {
        cl_ulong u64;
        cl_uint u32;
    } value = {0};
    size_t size = 0;
    if (opencl.GetDeviceInfo(id, what, sizeof value, &value, &size))
        return 0;
    return size == sizeof value.u32 ? value.u32 : value.u64;
}

static bool has(cl_device_id id, const char *extension)
{
    char all[8192];
    text_of(id, CL_DEVICE_EXTENSIONS, all, sizeof all);
    return strstr(all, extension);
}

/* The PCI address, by whichever of three extensions the driver has. */
static void pci_of(cl_device_id id, char *text, size_t room)
{
    text[0] = '\0';
    if (has(id, "cl_khr_pci_bus_info")) {
        cl_device_pci_bus_info_khr at = {0};
        opencl.GetDeviceInfo(id, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof at, &at, NULL);
        snprintf(text, room, "%04x:%02x:%02x.%x", at.pci_domain, at.pci_bus, at.pci_device,
                 at.pci_function);
    } else if (has(id, "cl_nv_device_attribute_query")) {
        unsigned slot = (unsigned)size_of(id, PCI_SLOT_NV);
        snprintf(text, room, "%04x:%02x:%02x.%x", (unsigned)size_of(id, PCI_DOMAIN_NV),
                 (unsigned)size_of(id, PCI_BUS_NV), slot >> 3, slot & 7);
    } else if (has(id, "cl_amd_device_attribute_query")) {
        cl_device_topology_amd at = {0};
        opencl.GetDeviceInfo(id, CL_DEVICE_TOPOLOGY_AMD, sizeof at, &at, NULL);
        if (at.raw.type == CL_DEVICE_TOPOLOGY_TYPE_PCIE_AMD)
            snprintf(text, room, "0000:%02x:%02x.%x", (unsigned char)at.pcie.bus,
                     (unsigned char)at.pcie.device, (unsigned char)at.pcie.function);
    }
}

enum ek_status opencl_describe(const struct opencl_device *d, struct backend_info *info)
{
    size_t memory = size_of(d->id, CL_DEVICE_GLOBAL_MEM_SIZE) / (size_t)d->share;
    size_t single = size_of(d->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    if (!memory)
        FAIL(EK_LOST, "opencl: a device does not report its memory size: check its driver");
    *info = (struct backend_info){
        .memory = memory,
        .max_alloc = single < memory ? single : memory,
        .local_memory = size_of(d->id, CL_DEVICE_LOCAL_MEM_SIZE),
        .compute_units = compute_units(d->id),
        .max_group = (int)size_of(d->id, CL_DEVICE_MAX_WORK_GROUP_SIZE),
        .fp64 = size_of(d->id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0,
        .is_cpu = d->is_cpu,
    };
    text_of(d->id, CL_DEVICE_NAME, info->name, sizeof info->name);
    text_of(d->id, CL_DEVICE_VENDOR, info->vendor, sizeof info->vendor);
    char version[64], driver[63];
    text_of(d->id, CL_DEVICE_VERSION, version, sizeof version);
    text_of(d->id, CL_DRIVER_VERSION, driver, sizeof driver);
    snprintf(info->driver, sizeof info->driver, "%s, %s", version, driver);
    pci_of(d->id, info->pci, sizeof info->pci);
    return EK_OK;
}
