/* backends/opencl.h – internals of the OpenCL back end: the library's functions, the devices found
 * and an open device. Only opencl*.c and a test include it. CL/cl.h provides types; nothing links
 * libOpenCL. */
#pragma once

#include "backends/backend.h"
#include <CL/cl.h>
#undef bool /* on POWER, <altivec.h>, which it includes, redefines it */
#define bool _Bool
#include <sys/types.h>

/* Every function that the back end calls, without the prefix "cl". */
/* clang-format off */
#define OPENCL_FUNCTIONS(X) \
    X(GetPlatformIDs) X(GetPlatformInfo) X(GetDeviceIDs) X(GetDeviceInfo) X(CreateSubDevices) \
    X(ReleaseDevice) X(CreateContext) X(ReleaseContext) X(CreateCommandQueue) \
    X(ReleaseCommandQueue) X(CreateBuffer) X(ReleaseMemObject) X(EnqueueWriteBuffer) \
    X(EnqueueWriteBufferRect) X(EnqueueReadBuffer) X(EnqueueReadBufferRect) X(EnqueueCopyBuffer) \
    X(EnqueueCopyBufferRect) X(CreateProgramWithSource) X(CreateProgramWithBinary) \
    X(BuildProgram) X(GetProgramInfo) X(GetProgramBuildInfo) X(ReleaseProgram) X(CreateKernel) \
    X(GetKernelWorkGroupInfo) X(SetKernelArg) X(ReleaseKernel) X(EnqueueNDRangeKernel) \
    X(EnqueueMarkerWithWaitList) X(EnqueueBarrierWithWaitList) X(WaitForEvents) \
    X(ReleaseEvent) X(Flush) X(Finish)
/* clang-format on */

struct opencl_functions {
#define X(name) __typeof__(cl##name) *name;
    OPENCL_FUNCTIONS(X)
#undef X
};

/* Filled by opencl_devices(). */
extern struct opencl_functions opencl;

/* A device found; lives as long as the process. */
struct opencl_device {
    cl_device_id id;
    bool is_cpu;
    int share;            /* number of sub-devices its parent was split into, 1: not split */
    int nworkers;         /* driver threads that serve only this device, 0: unknown */
    const pid_t *workers; /* [nworkers], worker i serves compute unit i */
};

/* Opens the library and finds the devices, once; GPUs first. CU_OPENCL_SPLIT=N splits each cpu
 * device into N devices of one compute unit, to try several devices on a machine that has none.
 * EK_UNAVAILABLE: no library, no device. Any thread. */
enum ek_status opencl_devices(const struct opencl_device **list, int *n);

/* `libraries` of struct backend_ops. */
int opencl_libraries(struct backend_library *list, int max);

/* Describes a device. EK_LOST if the driver does not answer. */
enum ek_status opencl_describe(const struct opencl_device *d, struct backend_info *info);

/* An open device. */
struct opencl_state {
    char label[24];     /* "opencl:0" */
    cl_device_id id;    /* used for contexts and builds: the device, or `part` */
    cl_device_id part;  /* sub-device with as many compute units as the opener's place has cpus;
                         * NULL: whole device */
    cl_context context; /* one per device: devices share nothing */
    cl_command_queue queue[BACKEND_QUEUES];
    cl_event event[BACKEND_EVENTS]; /* NULL: not recorded */
    struct backend_info info;
    size_t used; /* bytes allocated */
    int number;  /* makes its builds differ from other devices'; 0: no need to */
};

/* EK_OK for CL_SUCCESS; else fails with the operation `doing` and the error's name: EK_UNAVAILABLE
 * if memory is short, EK_USAGE if only a caller's bug explains it, EK_LOST otherwise. */
enum ek_status opencl_check(const struct opencl_state *d, cl_int code, const char *doing);

/* A built program: the kernels in the order asked for. */
struct opencl_program {
    struct backend_program is;
    cl_program program;
    cl_kernel kernel[];
};

/* `build`, `kernel` and `unbuild` of struct backend_ops. */
enum ek_status opencl_build(void *dev, const char *text, const char *options, int nkernels,
                            struct backend_program **program);
enum ek_status opencl_kernel(void *dev, struct backend_program *program, int k);
void opencl_unbuild(void *dev, struct backend_program *program);
