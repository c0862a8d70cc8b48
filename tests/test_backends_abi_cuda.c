/* tests/test_backends_abi_cuda.c – what backends/cuda.c states without cuda.h, checked against it
 * where a CUDA SDK is installed. */
#if __has_include(<cuda.h>)
#include <cuda.h>

#include "backends/cuda.c"
#include "tests/backends.h"

#define SAME(a, b) _Static_assert((long)(a) == (long)(b), #a " is not " #b)
#define SIDE(ours, theirs)                                                                         \
    SAME(offsetof(struct memcpy3d, src.ours), offsetof(CUDA_MEMCPY3D, src##theirs));               \
    SAME(offsetof(struct memcpy3d, dst.ours), offsetof(CUDA_MEMCPY3D, dst##theirs))

SAME(sizeof(struct memcpy3d), sizeof(CUDA_MEMCPY3D));
SIDE(x, XInBytes);
SIDE(y, Y);
SIDE(z, Z);
SIDE(lod, LOD);
SIDE(type, MemoryType);
SIDE(host, Host);
SIDE(device, Device);
SIDE(array, Array);
SIDE(pitch, Pitch);
SIDE(height, Height);
SAME(offsetof(struct memcpy3d, width), offsetof(CUDA_MEMCPY3D, WidthInBytes));
SAME(offsetof(struct memcpy3d, height), offsetof(CUDA_MEMCPY3D, Height));
SAME(offsetof(struct memcpy3d, depth), offsetof(CUDA_MEMCPY3D, Depth));
SAME(1, CU_MEMORYTYPE_HOST);
SAME(2, CU_MEMORYTYPE_DEVICE);
SAME(1, CU_STREAM_NON_BLOCKING);
SAME(2, CU_EVENT_DISABLE_TIMING);
SAME(5, CU_JIT_ERROR_LOG_BUFFER);
SAME(6, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(0, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(76, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(1, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME(GPU_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
SAME(GPU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
SAME(GPU_NOT_FOUND, CUDA_ERROR_NOT_FOUND);
SAME(34, CUDA_ERROR_STUB_LIBRARY);
SAME(100, CUDA_ERROR_NO_DEVICE);
SAME(222, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME(700, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(701, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME(719, CUDA_ERROR_LAUNCH_FAILED);
SAME(803, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME(sizeof(CUdeviceptr), sizeof(void *));

static void attributes_have_their_numbers(void **state)
{
    static const int numbers[GPU_ATTRIBUTES] = {
        [GPU_COMPUTE_UNITS] = CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        [GPU_MAX_GROUP] = CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        [GPU_LOCAL_MEMORY] = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
        [GPU_GRID_X] = CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
        [GPU_GRID_Y] = CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
        [GPU_GRID_Z] = CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
    };
    assert_memory_equal(cuda.attribute, numbers, sizeof numbers);
}

/* The header's plain names are macros for the versions that its prototypes describe. */
static void names_are_those_of_the_header(void **state)
{
#define WORDS(name) #name
#define NAME(name)  WORDS(name)
    static const char *const current[] = {
        NAME(cuDeviceTotalMem),   NAME(cuMemGetInfo),        NAME(cuMemAlloc),
        NAME(cuMemFree),          NAME(cuMemHostAlloc),      NAME(cuMemcpyHtoDAsync),
        NAME(cuMemcpyDtoHAsync),  NAME(cuMemcpyDtoDAsync),   NAME(cuMemcpy3DAsync),
        NAME(cuMemcpyPeerAsync),  NAME(cuStreamCreate),      NAME(cuStreamDestroy),
        NAME(cuStreamWaitEvent),  NAME(cuEventDestroy),      NAME(cuDevicePrimaryCtxRelease),
        NAME(cuModuleLoadDataEx), NAME(cuStreamBeginCapture)};
    for (int i = 0; i < LENGTH(current); i++) {
        bool called = false;
        for (const struct gpu_symbol *s = symbols; s->name; s++)
            called |= !strcmp(s->name, current[i]);
        for (const struct gpu_symbol *s = own_symbols; s->name; s++)
            called |= !strcmp(s->name, current[i]);
        if (!called)
            fail_msg("%s is not called", current[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_have_their_numbers),
        cmocka_unit_test(names_are_those_of_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
#include <stdio.h>

int main(void)
{
    puts("no cuda.h here");
    return 77;
}
#endif
