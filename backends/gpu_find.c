/* backends/gpu_find.c – opens a vendor's driver library once; lists and describes its devices. */
#include "backends/binding.h"
#include "backends/gpu.h"
#include "src/owned.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- the driver ------------------------------------------------------------------------------ */

/* Error numbers of a driver that does not start or finds no devices. */
static const struct {
    int code;
    const char *why;
} refusals[] = {
    {34, "this library is the SDK's stub, not a driver"},
    {35, "the kernel driver is older than its library: update it"},
    {46, "another process has exclusive use of the device (nvidia-smi -q -d COMPUTE)"},
    {100, "the driver finds no device"},
    {101, "the driver finds no device: does CUDA_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES hide it?"},
    {802, "the links between the devices are not up yet: is nvidia-fabricmanager running?"},
    {803, "library and kernel module have different versions: reboot after the update"},
    {804, "this library does not support this device"},
    {999, "the driver does not start: is its kernel module loaded, and may this user open its "
          "device files?"},
};

static void refused(struct gpu_found *f, const struct gpu_vendor *v, int code)
{
    const char *why = "the driver does not start";
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].code == code)
            why = refusals[i].why;
    snprintf(f->why, sizeof f->why, "%s, %s error %d", why, v->api, code);
}

static void start(struct gpu_found *f, const struct gpu_vendor *v)
{
    void *handle;
    if (!gpu_library_open(&v->library, &handle, f->library, f->why)) {
        f->library[0] = '\0';
        return;
    }
    const char *missing = gpu_symbols_find(handle, "", v->symbols, &f->driver);
    if (!missing)
        missing = gpu_symbols_find(handle, "", v->own_symbols, v->own);
    if (missing) {
        snprintf(f->why, sizeof f->why, "%s is too old: it lacks %s; update the driver", f->library,
                 missing);
        return;
    }
    int code = f->driver.init(0);
    if (f->driver.version(&f->version))
        f->version = 0;
    if (!code)
        code = f->driver.device_count(&f->n);
    if (code || !f->n) {
        f->n = 0;
        refused(f, v, code ? code : 100);
    }
}

/* The driver's threads inherit this thread's affinity, which must cover all places, not just ours.
 */
static void find(const struct gpu_vendor *v)
{
    struct gpu_found *f = v->found;
    LOCKED(&f->lock);
    if (!f->done) {
        struct binding saved;
        bool widened = binding_widen(&saved);
        start(f, v);
        if (widened)
            binding_set(0, &saved);
        f->done = true;
    }
}

enum ek_status gpu_count(const struct gpu_vendor *v, int *n)
{
    find(v);
    if (!v->found->n)
        FAIL(EK_UNAVAILABLE, "%s: no device (%s)%s%s", v->name, v->found->why,
             v->found->library[0] ? "" : ": ", v->found->library[0] ? "" : v->advice);
    *n = v->found->n;
    return EK_OK;
}

/* ---- what a device is ------------------------------------------------------------------------ */

static int attribute(const struct gpu_vendor *v, enum gpu_attribute a, int device)
{
    int value = 0;
    return v->found->driver.device_attribute(&value, v->attribute[a], device) ? 0 : value;
}

/* Converts "00000000:3B:00.0" to the form of the other back ends, "0000:3b:00.0". */
static void plain_pci(char *text)
{
    const char *bus = strchr(text, ':');
    if (bus && bus - text > 4)
        memmove(text, bus - 4, strlen(bus - 4) + 1);
    for (char *c = text; *c; c++)
        *c = (char)tolower((unsigned char)*c);
}

/* In the form of the vendors' tools: HIP's 16 bytes are already letters, CUDA's are binary. */
static void write_uuid(const unsigned char id[16], char text[48])
{
    int letters = 0;
    for (int i = 0; i < 16; i++)
        letters += isxdigit(id[i]) != 0;
    if (letters == 16) {
        snprintf(text, 48, "GPU-%.16s", (const char *)id);
        return;
    }
    size_t at = (size_t)snprintf(text, 48, "GPU-");
    for (int i = 0; i < 16; i++)
        at += (size_t)snprintf(text + at, 48 - at, "%s%02x",
                               i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
}

enum ek_status gpu_info(const struct gpu_vendor *v, int index, struct backend_info *out)
{
    const struct gpu_driver *gpu = &v->found->driver;
    int n = 0, device, version = v->found->version;
    TRY(gpu_count(v, &n));
    if (index < 0 || index >= n)
        FAIL(EK_UNAVAILABLE, "%s:%d: there is no such device, %s has %d", v->name, index, v->api,
             n);
    struct backend_info info = {.fp64 = true};
    int code = gpu->device_get(&device, index);
    if (!code)
        code = gpu->device_memory(&info.memory, device);
    if (!code)
        code = gpu->device_name(info.name, sizeof info.name, device);
    if (!code)
        code = v->arch(gpu, device, info.arch, sizeof info.arch);
    if (code)
        FAIL(EK_LOST, "%s:%d: the device does not answer (%s error %d)", v->name, index, v->api,
             code);
    info.max_alloc = info.memory;
    info.local_memory = (size_t)attribute(v, GPU_LOCAL_MEMORY, device);
    info.compute_units = attribute(v, GPU_COMPUTE_UNITS, device);
    info.max_group = attribute(v, GPU_MAX_GROUP, device);
    info.groups_wait = true;
    snprintf(info.vendor, sizeof info.vendor, "%s", v->maker);
    snprintf(info.driver, sizeof info.driver, "%s %d.%d", v->api, version / v->major,
             version % v->major / v->minor);
    if (gpu->device_pci(info.pci, sizeof info.pci, device))
        info.pci[0] = '\0';
    plain_pci(info.pci);
    unsigned char id[16];
    if (gpu->device_uuid && !gpu->device_uuid(id, device))
        write_uuid(id, info.uuid);
    *out = info;
    return EK_OK;
}

/* ---- for a listing --------------------------------------------------------------------------- */

int gpu_libraries(const struct gpu_vendor *v, struct backend_library *list, int max)
{
    const struct gpu_found *f = v->found;
    struct gpu_compiler c;
    struct backend_library driver = {.what = "driver"}, compiler = {.what = "compiler"};
    find(v);
    driver.loaded = f->library[0];
    snprintf(driver.name, sizeof driver.name, "%s",
             driver.loaded ? f->library : v->library.names[0]);
    snprintf(driver.why, sizeof driver.why, "%s", f->n ? "" : f->why);
    if (f->version)
        snprintf(driver.version, sizeof driver.version, "%s %d.%d", v->api, f->version / v->major,
                 f->version % v->major / v->minor);
    compiler.loaded =
        !MUTED(gpu_compiler_choose(v, v->name, "any device", f->version / v->major, &c));
    snprintf(compiler.why, sizeof compiler.why, "%s", compiler.loaded ? "" : status_message());
    snprintf(compiler.name, sizeof compiler.name, "%s",
             compiler.loaded ? c.library : v->compiler.names[0]);
    if (compiler.loaded)
        snprintf(compiler.version, sizeof compiler.version, "%d.%d", c.major, c.minor);
    const struct backend_library both[] = {driver, compiler};
    for (int i = 0; i < 2 && i < max; i++)
        list[i] = both[i];
    return max < 2 ? max : 2;
}
