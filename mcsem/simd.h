/* mcsem/simd.h – the definitions with which this folder's kernel texts compile for the host's
 * vectors, one wavenumber per lane, with the bits of every other processor (kernels/complex.h).
 * Include it first. */
#pragma once

#include "src/lanes.h"

/* AddressSanitizer instruments each of the thousands of vector structs that inlining brings into
 * one function: with forced inlining gcc would take two minutes and a gigabyte. */
#if defined __SANITIZE_ADDRESS__
#undef FN
#define FN static inline
#endif

#define MAD(a, b, c)  lanes_fma(a, b, c)
#define ROOT(a)       lanes_sqrt(a)
#define LESSER(a, b)  lanes_min(a, b)
#define POWER_OF_2(n) ((lanes)((simd_bits)((n) + 4503599627371519.0) << 52))

typedef uint64_t simd_bits __attribute__((vector_size(8 * LANES)));
