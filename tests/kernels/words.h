/* tests/kernels/words.h – for clang without any vendor's headers: the words of CUDA and HIP that
 * src/kernel.h and kernel texts use, so that tests/kernels.sh can compile both dialects. */
#ifndef TESTS_KERNELS_WORDS_H
#define TESTS_KERNELS_WORDS_H

#define __forceinline__ inline __attribute__((always_inline))

#ifdef __HIP__
#include <__clang_hip_runtime_wrapper.h> /* clang's own: attributes and mathematics */
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
#define WORDS_INDEX(what)                                                                          \
    (words_index{__builtin_amdgcn_##what##_x(), __builtin_amdgcn_##what##_y(),                     \
                 __builtin_amdgcn_##what##_z()})
#define blockIdx  WORDS_INDEX(workgroup_id)
#define threadIdx WORDS_INDEX(workitem_id)
#define blockDim  WORDS_INDEX(workgroup_size)

static __device__ inline void __syncthreads()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

#else /* CUDA: the mathematics is only declared, so PTX is as far as this goes */
#define __host__             __attribute__((host))
#define __device__           __attribute__((device))
#define __global__           __attribute__((global))
#define __shared__           __attribute__((shared))
#define __constant__         __attribute__((constant))
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))
#define WORDS_INDEX(what)                                                                          \
    (words_index{(unsigned)__nvvm_read_ptx_sreg_##what##_x(),                                      \
                 (unsigned)__nvvm_read_ptx_sreg_##what##_y(),                                      \
                 (unsigned)__nvvm_read_ptx_sreg_##what##_z()})
#define blockIdx        WORDS_INDEX(ctaid)
#define threadIdx       WORDS_INDEX(tid)
#define blockDim        WORDS_INDEX(ntid)
#define __syncthreads() __nvvm_bar_sync(0)
#define WORDS_ONE(f)    extern "C" __device__ double f(double)
#define WORDS_TWO(f)    extern "C" __device__ double f(double, double)

WORDS_ONE(sqrt);
WORDS_ONE(fabs);
WORDS_ONE(exp);
WORDS_ONE(expm1);
WORDS_ONE(log);
WORDS_ONE(log1p);
WORDS_ONE(sin);
WORDS_ONE(cos);
WORDS_ONE(tan);
WORDS_ONE(asin);
WORDS_ONE(acos);
WORDS_ONE(atan);
WORDS_ONE(sinh);
WORDS_ONE(cosh);
WORDS_ONE(tanh);
WORDS_ONE(asinh);
WORDS_ONE(cbrt);
WORDS_ONE(erf);
WORDS_ONE(rint);
WORDS_ONE(floor);
WORDS_ONE(ceil);
WORDS_ONE(trunc);
WORDS_TWO(atan2);
WORDS_TWO(pow);
WORDS_TWO(hypot);
WORDS_TWO(fmod);
WORDS_TWO(fmin);
WORDS_TWO(fmax);
extern "C" __device__ double fma(double, double, double);
#endif

static __device__ inline int atomicAdd(int *at, int n)
{
    return __atomic_fetch_add(at, n, __ATOMIC_RELAXED);
}

struct words_index {
    unsigned x, y, z;
};

#endif
