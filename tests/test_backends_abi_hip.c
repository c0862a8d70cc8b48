/* tests/test_backends_abi_hip.c – what backends/hip.c states without HIP's headers, checked against
 * them where they are installed. */
#define __HIP_PLATFORM_AMD__ 1
#if __has_include(<hip/hip_runtime_api.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <hip/hip_runtime_api.h>
#pragma GCC diagnostic pop

#include "backends/hip.c"
#include "tests/backends.h"

#define SAME(a, b) _Static_assert((long)(a) == (long)(b), #a " is not " #b)
#define SIDE(ours, pos, ptr)                                                                       \
    SAME(offsetof(struct memcpy3d, src.ours), offsetof(hipMemcpy3DParms, src##pos ptr));           \
    SAME(offsetof(struct memcpy3d, dst.ours), offsetof(hipMemcpy3DParms, dst##pos ptr))

SAME(sizeof(struct memcpy3d), sizeof(hipMemcpy3DParms));
SIDE(array, Array, );
SIDE(x, Pos, .x);
SIDE(z, Pos, .z);
SIDE(at, Ptr, .ptr);
SIDE(pitch, Ptr, .pitch);
SIDE(width, Ptr, .xsize);
SIDE(height, Ptr, .ysize);
SAME(offsetof(struct memcpy3d, width), offsetof(hipMemcpy3DParms, extent.width));
SAME(offsetof(struct memcpy3d, depth), offsetof(hipMemcpy3DParms, extent.depth));
SAME(offsetof(struct memcpy3d, kind), offsetof(hipMemcpy3DParms, kind));
SAME(1, hipMemcpyHostToDevice);
SAME(2, hipMemcpyDeviceToHost);
SAME(3, hipMemcpyDeviceToDevice);
SAME(1, hipStreamNonBlocking);
SAME(2, hipEventDisableTiming);
SAME(0, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(1, hipStreamCaptureModeThreadLocal);
SAME(GPU_INVALID_VALUE, hipErrorInvalidValue);
SAME(GPU_OUT_OF_MEMORY, hipErrorOutOfMemory);
SAME(GPU_NOT_FOUND, hipErrorNotFound);
SAME(100, hipErrorNoDevice);
SAME(700, hipErrorIllegalAddress);
SAME(701, hipErrorLaunchOutOfResources);
SAME(719, hipErrorLaunchFailure);
#if HIP_VERSION_MAJOR < 6
SAME(396, offsetof(hipDeviceProp_t, gcnArchName));
#else
SAME(1160, offsetof(hipDeviceProp_t, gcnArchName));
#endif

static void attributes_have_their_numbers(void **state)
{
    static const int numbers[GPU_ATTRIBUTES] = {
        [GPU_COMPUTE_UNITS] = hipDeviceAttributeMultiprocessorCount,
        [GPU_MAX_GROUP] = hipDeviceAttributeMaxThreadsPerBlock,
        [GPU_LOCAL_MEMORY] = hipDeviceAttributeMaxSharedMemoryPerBlock,
        [GPU_GRID_X] = hipDeviceAttributeMaxGridDimX,
        [GPU_GRID_Y] = hipDeviceAttributeMaxGridDimY,
        [GPU_GRID_Z] = hipDeviceAttributeMaxGridDimZ,
    };
    assert_memory_equal(hip.attribute, numbers, sizeof numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(attributes_have_their_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
#include <stdio.h>

int main(void)
{
    puts("no HIP headers here");
    return 77;
}
#endif
