/* mcsem/simd.h – the kernel texts of this folder on the host's vectors, one wavenumber a lane, with
 * the bits of every other processor (kernels/complex.h). Include it before a text. */
#ifndef MCSEM_SIMD_H
#define MCSEM_SIMD_H

#include "src/lanes.h"
#include <stdint.h>

/* Under AddressSanitizer each of the thousands of structs of vectors that inlining brings into one
 * function is an object to watch: gcc takes two minutes and a gigabyte where it must inline. */
#if defined __SANITIZE_ADDRESS__
#undef FN
#define FN static inline
#endif

#define MAD(a, b, c)  simd_mad(a, b, c)
#define ROOT(a)       simd_root(a)
#define LESSER(a, b)  simd_lesser(a, b)
#define POWER_OF_2(n) ((lanes)((simd_bits)((n) + 4503599627371519.0) << 52))

typedef uint64_t simd_bits __attribute__((vector_size(8 * LANES)));

/* The compiler makes one instruction of each loop. */
FN lanes simd_mad(lanes a, lanes b, lanes c)
{
    lanes r;
    for (int k = 0; k < LANES; k++)
        r[k] = __builtin_fma(a[k], b[k], c[k]);
    return r;
}

FN lanes simd_root(lanes a)
{
    lanes r;
    for (int k = 0; k < LANES; k++)
        r[k] = __builtin_sqrt(a[k]);
    return r;
}

FN lanes simd_lesser(lanes a, lanes b)
{
    lanes r;
    for (int k = 0; k < LANES; k++)
        r[k] = a[k] < b[k] ? a[k] : b[k];
    return r;
}

#endif
