/* backends/gpu_call.c – what every call of a GPU's driver needs: the meaning of its error, the
 * current device, the end of earlier work. */
#include "backends/gpu.h"

/* Error numbers of both APIs; any other number means that the device is lost. */
static const struct {
    int code;
    enum ek_status st;
    const char *name;
} codes[] = {
    {GPU_INVALID_VALUE, EK_USAGE, "invalid value"},
    {GPU_OUT_OF_MEMORY, EK_UNAVAILABLE, "out of device memory"},
    {9, EK_UNAVAILABLE, "the device does not support this work-group or grid size"},
    {46, EK_UNAVAILABLE,
     "another process has exclusive use of the device (nvidia-smi -q -d COMPUTE)"},
    {98, EK_USAGE, "no such kernel on this device"},
    {101, EK_UNAVAILABLE, "there is no such device; is it hidden by CUDA_VISIBLE_DEVICES?"},
    {200, EK_UNAVAILABLE, "the driver rejects the code"},
    {209, EK_UNAVAILABLE, "the code is for another architecture"},
    {214, EK_LOST, "uncorrectable memory error"},
    {218, EK_UNAVAILABLE, "the driver rejects the code"},
    {220, EK_LOST, "the link to the device failed"},
    {221, EK_UNAVAILABLE, "the driver's own compiler, libnvidia-ptxjitcompiler.so.1, is missing"},
    {222, EK_UNAVAILABLE, "the driver is older than the compiler"},
    {223, EK_UNAVAILABLE, "CUDA_DISABLE_PTX_JIT forbids the driver to compile PTX"},
    {300, EK_UNAVAILABLE, "the driver rejects the code"},
    {GPU_NOT_FOUND, EK_USAGE, "no such symbol"},
    {700, EK_LOST, "a kernel accessed memory outside its buffers"},
    {701, EK_UNAVAILABLE, "the kernel needs more registers or local memory than the device has"},
    {702, EK_LOST,
     "a kernel ran longer than the driver allows where a display is attached: use a "
     "device without one, or smaller tasks"},
    {710, EK_LOST, "an assertion in a kernel failed"},
    {714, EK_LOST, "a kernel met a hardware fault"},
    {716, EK_LOST, "a kernel used a misaligned address"},
    {719, EK_LOST, "a kernel failed"},
    {802, EK_UNAVAILABLE, "the links between devices are not up: start nvidia-fabricmanager"},
};

enum ek_status gpu_check(const struct gpu_state *d, int code, const char *doing)
{
    const char *api = d->vendor->api;
    if (!code)
        return EK_OK;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code)
            FAIL(codes[i].st, "%s: %s: %s (%s error %d)", d->label, doing, codes[i].name, api,
                 code);
    FAIL(EK_LOST, "%s: %s: the driver failed (%s error %d)", d->label, doing, api, code);
}

enum ek_status gpu_use(const void *dev)
{
    const struct gpu_state *d = dev;
    return gpu_check(d, d->vendor->use(d), "selecting the device");
}

void gpu_drain(const struct gpu_state *d)
{
    for (int q = 0; q < BACKEND_QUEUES; q++)
        if (d->stream[q])
            d->driver->stream_wait(d->stream[q]);
}

void *gpu_address(struct backend_mem *mem)
{
    return mem ? ((struct gpu_memory *)mem)->address : NULL;
}
