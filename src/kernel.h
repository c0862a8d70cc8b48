/* src/kernel.h – the kernel dialect: one text for OpenCL C, NVRTC, HIPRTC and the host's C
 * compiler.
 *
 * A kernel text is <program>/kernels/<thing>.c. This header precedes it at run time (embed_join())
 * and at compile time on the host. What a text may contain (breaking any of these rules has broken
 * some compiler):
 *
 *   KERNEL(name, x, y, z)(GLOBAL real *a, int n) { … }
 *       at the start of a line; x*y*z is the work-group: launch bounds are not optional (without
 *       them HIP spills hundreds of registers)
 *   FN                  a helper function; its pointer arguments carry GLOBAL or LOCAL_AT
 *   GID(d) LID(d) GROUP(d)
 *       global, local and group index in dimension d, a literal 0, 1 or 2. The grid is rounded up
 *       to whole groups: check GID against the bounds
 *   LOCAL real t[N]; BARRIER;
 *       fixed size, at kernel scope; texts with a barrier are not compiled for the host. A pointer
 *       to it is LOCAL_AT real *p
 *   CONSTANT real c[] = {…};
 *       a table at file scope
 *   int ATOMIC_ADD(p, n)
 *       adds n to the GLOBAL int at p and returns its old value; the order of items is arbitrary
 *   double PEEK(p) POKE(p, x)
 *       reads and writes a GLOBAL double that another work-group writes or reads meanwhile, whole
 *       and never from a cache of its own; says nothing about other memory. In texts with a barrier
 *   UNROLL              before a loop whose private arrays should become registers
 *   ROLLED              before a loop that would only waste registers if unrolled
 *   real LOAD(p, at) STORE(p, at, x) REAL(x)
 *       double, p[at], p[at] = x, a constant x; on the host, with src/lanes.h, a vector of doubles
 *       with one system in each lane
 *
 *   #include "<program>/kernels/<thing>.h"
 *       code shared by texts, by repository path; embed_join() inserts it once. Nothing else may
 *       be included. Kernels are in .c texts only, and every text compiles on its own
 *
 * No designated initialisers or compound literals, no sqrt(int), no M_PI, no pointers into buffers
 * as arguments (offsets are integers); scalars are int, long or double; no identifier called half,
 * local, global, kernel, private, new, class, template.
 *
 * The option -DKERNEL_NO_FMA turns off the contraction of a*b+c: code that uses only + - * / sqrt
 * fabs then gives the host's bits on every device. (CUDA and HIP map it to compiler options.) */
#if defined(__OPENCL_VERSION__)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#ifdef KERNEL_NO_FMA
#pragma OPENCL FP_CONTRACT OFF
#endif
#define KERNEL(name, x, y, z) __kernel __attribute__((reqd_work_group_size(x, y, z))) void name
#define FN                    static inline __attribute__((always_inline))
#define GLOBAL                __global
#define LOCAL                 __local
#define LOCAL_AT              __local
#define CONSTANT              __constant
#define BARRIER               barrier(CLK_LOCAL_MEM_FENCE)
#define ATOMIC_ADD(p, n)      atomic_add((volatile __global int *)(p), n)
#define PEEK(p)               (*(volatile __global double *)(p))
#define POKE(p, x)            (*(volatile __global double *)(p) = (x))
#define UNROLL                _Pragma("unroll")
#define ROLLED                _Pragma("unroll 1")
#define GID(d)                ((int)get_global_id(d))
#define LID(d)                ((int)get_local_id(d))
#define GROUP(d)              ((int)get_group_id(d))
#elif defined(__CUDACC_RTC__) || defined(__HIPCC_RTC__) || defined(__CUDA_ARCH__) ||               \
    defined(__HIP__)
#define KERNEL(name, x, y, z) extern "C" __global__ void __launch_bounds__((x) * (y) * (z)) name
#define FN                    static __device__ __forceinline__
#define GLOBAL
#define LOCAL __shared__
#define LOCAL_AT
#define CONSTANT     __constant__
#define BARRIER      __syncthreads()
#define ATOMIC_ADD   atomicAdd
#define UNROLL       _Pragma("unroll")
#define ROLLED       _Pragma("unroll 1")
#define KERNEL_X0(v) ((int)(v).x)
#define KERNEL_X1(v) ((int)(v).y)
#define KERNEL_X2(v) ((int)(v).z)
#define GID(d)       (KERNEL_X##d(blockIdx) * KERNEL_X##d(blockDim) + KERNEL_X##d(threadIdx))
#define LID(d)       KERNEL_X##d(threadIdx)
#define GROUP(d)     KERNEL_X##d(blockIdx)
#define restrict __restrict__
#if defined(__HIPCC_RTC__) || defined(__HIP__) /* a volatile access would wait for the one before  \
                                                */
#define PEEK(p)    __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define POKE(p, x) __hip_atomic_store(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#else
#define PEEK(p)    (*(volatile double *)(p))
#define POKE(p, x) (*(volatile double *)(p) = (x))
#endif
#else /* the host's compiler: the caller of a kernel sets the work-item's indices */
#include <math.h>
#ifdef __cplusplus
#define restrict __restrict__
#define KERNEL(name, x, y, z) void name
#else /* Kernels are found by name: no header declares them. */
#define KERNEL(name, x, y, z) _Pragma("GCC diagnostic ignored \"-Wmissing-prototypes\"") void name
#endif
#define FN static inline
#define GLOBAL
#define CONSTANT static const
#define UNROLL
#define ROLLED
#define ATOMIC_ADD(p, n) __atomic_fetch_add(p, n, __ATOMIC_RELAXED)
#define GID(d)           kernel_gid[d]
#define LID(d)           kernel_lid[d]
#define GROUP(d)         kernel_group[d]
extern __thread int kernel_gid[3], kernel_lid[3], kernel_group[3]; /* C++ lacks C11's word */
#endif

#ifndef real
#define real            double
#define LOAD(p, at)     ((p)[at])
#define STORE(p, at, x) ((p)[at] = (x))
#define REAL(x)         (x)
#endif
