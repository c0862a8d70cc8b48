/* backends/opencl.h – inside the OpenCL back end: the library's functions, the devices found and
 * one open device. Only opencl*.c include it. CL/cl.h is used for its types; nothing links
 * libOpenCL. */
#pragma once

#include "backends/backend.h"
#include <CL/cl.h>
#undef bool /* POWER's <altivec.h>, which comes with it, makes a vector of it */
#define bool _Bool
#include <sys/types.h>

/* Every function that the back end calls, without its "cl". */
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

/* A device that was found, for the life of the process. */
struct opencl_device {
    cl_device_id id;
    bool is_cpu;
    int share;            /* sub-devices that its parent was split into, 1: it is whole */
    int nworkers;         /* threads of the driver that serve this device alone, 0: not known */
    const pid_t *workers; /* [nworkers], worker i serves compute unit i */
};

/* Opens the library and finds the devices, once: GPUs first. CU_OPENCL_SPLIT=N makes N devices of
 * each cpu device, one compute unit each, to try several devices on a machine that has none.
 * EK_UNAVAILABLE: no library, no device. Any thread. */
enum ek_status opencl_devices(const struct opencl_device **list, int *n);

/* libraries of struct backend_ops. */
int opencl_libraries(struct backend_library *list, int max);

/* What the driver says of a device. EK_LOST when it does not answer. */
enum ek_status opencl_describe(const struct opencl_device *d, struct backend_info *info);

/* The state that the core hands to open(). */
struct opencl_state {
    char label[24];     /* "opencl:0" */
    cl_device_id id;    /* what contexts and builds use: the device, or `part` */
    cl_device_id part;  /* as many compute units as the opener's place has cpus; NULL: all */
    cl_context context; /* one each: devices share nothing */
    cl_command_queue queue[BACKEND_QUEUES];
    cl_event event[BACKEND_EVENTS]; /* NULL: not recorded */
    struct backend_info info;
    size_t used; /* bytes allocated */
    int number;  /* that tells its builds from other devices'; 0: no need to */
};

/* EK_OK for CL_SUCCESS; else fails with what was being done and the error's name: EK_UNAVAILABLE
 * where memory is short, EK_USAGE for what only a caller's bug explains, EK_LOST for the rest. */
enum ek_status opencl_check(const struct opencl_state *d, cl_int code, const char *doing);

/* A built program: the kernels in the order asked for. */
struct opencl_program {
    struct backend_program is;
    cl_program program;
    cl_kernel kernel[];
};

/* build, kernel and unbuild of struct backend_ops. */
enum ek_status opencl_build(void *dev, const char *text, const char *options, int nkernels,
                            struct backend_program **program);
enum ek_status opencl_kernel(void *dev, struct backend_program *program, int k);
void opencl_unbuild(void *dev, struct backend_program *program);
