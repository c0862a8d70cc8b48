/* mcsem/simd.h – the kernel texts of this folder on the host's vectors, one wavenumber a lane, with
 * the bits of every other processor (kernels/complex.h). Include it before a text. */
#pragma once

#include "src/lanes.h"
#include <stdint.h>

/* Under AddressSanitizer each of the thousands of structs of vectors that inlining brings into one
 * function is an object to watch: gcc takes two minutes and a gigabyte where it must inline. */
#if defined __SANITIZE_ADDRESS__
#undef FN
#define FN static inline
#endif

#define MAD(a, b, c)  lanes_fma(a, b, c)
#define ROOT(a)       lanes_sqrt(a)
#define LESSER(a, b)  lanes_min(a, b)
#define POWER_OF_2(n) ((lanes)((simd_bits)((n) + 4503599627371519.0) << 52))

typedef uint64_t simd_bits __attribute__((vector_size(8 * LANES)));
