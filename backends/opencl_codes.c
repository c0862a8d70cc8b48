/* backends/opencl_codes.c – OpenCL's error codes. */
#include "backends/opencl.h"

/* Error codes; any other code means that the device is lost. */
static const struct {
    cl_int code;
    enum ek_status st;
    const char *name;
} codes[] = {
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, EK_UNAVAILABLE, "out of device memory"},
    {CL_OUT_OF_HOST_MEMORY, EK_UNAVAILABLE, "out of host memory"},
    {CL_OUT_OF_RESOURCES, EK_LOST,
     "out of resources, or a kernel accessed memory outside its buffers"},
    {CL_INVALID_COMMAND_QUEUE, EK_LOST, "the queue failed earlier"},
    {CL_DEVICE_NOT_AVAILABLE, EK_LOST, "the device is not available"},
    {CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, EK_LOST, "earlier work failed"},
    {CL_MEM_COPY_OVERLAP, EK_USAGE, "source and destination overlap"},
    {CL_INVALID_KERNEL_NAME, EK_USAGE, "no such kernel"},
    {CL_INVALID_VALUE, EK_USAGE, "invalid value"},
    {CL_INVALID_MEM_OBJECT, EK_USAGE, "no such buffer"},
    {CL_INVALID_BUFFER_SIZE, EK_UNAVAILABLE, "buffer too large"},
    {CL_INVALID_ARG_INDEX, EK_USAGE, "too many arguments"},
    {CL_INVALID_ARG_VALUE, EK_USAGE, "argument of the wrong kind"},
    {CL_INVALID_ARG_SIZE, EK_USAGE, "argument of the wrong type"},
    {CL_INVALID_KERNEL_ARGS, EK_USAGE, "arguments are missing"},
    {CL_INVALID_WORK_GROUP_SIZE, EK_USAGE, "the work-group is not that of the KERNEL() line"},
    {CL_INVALID_WORK_ITEM_SIZE, EK_UNAVAILABLE, "work-group too large in one dimension"},
};

enum ek_status opencl_check(const struct opencl_state *d, cl_int code, const char *doing)
{
    if (code == CL_SUCCESS)
        return EK_OK;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code)
            FAIL(codes[i].st, "%s: %s: %s (OpenCL error %d)", d->label, doing, codes[i].name, code);
    FAIL(EK_LOST, "%s: %s: the driver failed (OpenCL error %d)", d->label, doing, code);
}
