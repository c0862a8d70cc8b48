/* src/lanes.h – kernel texts on the host's SIMD: `real` is a vector with one grid line or point per
 * lane. Include it before the shared part of a text (<program>/kernels/<thing>.h). A text with
 * device kernels in the same file omits them if KERNEL_LANES is defined. */
#pragma once

#if defined __x86_64__
#include <immintrin.h>
#endif

/* Lanes per vector: 1, 4 or 8. Vectors may be wider than the processor's: the compiler splits them.
 */
#ifndef LANES
#if defined __AVX512F__
#define LANES 8
#else
#define LANES 4
#endif
#endif

typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef double lanes_unaligned __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
typedef long long lanes_mask __attribute__((vector_size(8 * LANES))); /* -1: true, 0: false */

/* Selects elements of two vectors by constant indices that count through both. `numbers` is the
 * matching vector type of integers. */
#if defined __has_builtin && __has_builtin(__builtin_shufflevector)
#define SHUFFLE(numbers, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(numbers, a, b, ...) __builtin_shuffle(a, b, (numbers){__VA_ARGS__})
#endif
#define lanes_shuffle(a, b, ...) SHUFFLE(lanes_mask, a, b, __VA_ARGS__)

#define KERNEL_LANES
#define real                        lanes
#define REAL(x)                     ((lanes){0} + (x))
#define LOAD(p, at)                 (*(const lanes_unaligned *)&(p)[at])
#define STORE(p, at, x)             (*(lanes_unaligned *)&(p)[at] = (x))
#define SQRT(x)                     lanes_sqrt(x)
#define DIVIDE(a, b)                lanes_quotient(a, b)
#define STORE_SOME(p, at, x, count) lanes_store_some((p) + (at), x, count)
#include "src/kernel.h"
#include "src/base.h"
#undef FN /* structs of vectors stay in registers only where everything is inlined */
#define FN static inline __attribute__((always_inline))

/* n rounded up to whole vectors. */
static inline int lanes_ceil(int n)
{
    return (n + LANES - 1) / LANES * LANES;
}

/* ---- operations that the compiler does not turn into one instruction --------------------------*/

/* Each has a portable form, lane by lane, and an intrinsic where vectors are as wide as the
 * processor's. Both give the same bits. */

FN lanes lanes_sqrt_each(lanes x)
{
    for (int l = 0; l < LANES; l++)
        x[l] = sqrt(x[l]);
    return x;
}

/* a * b + c, rounded once. */
FN lanes lanes_fma_each(lanes a, lanes b, lanes c)
{
    for (int l = 0; l < LANES; l++)
        c[l] = __builtin_fma(a[l], b[l], c[l]);
    return c;
}

/* The same, not inlined: without an FMA instruction each lane is a library call. */
__attribute__((noinline, unused)) static lanes lanes_fma_called(lanes a, lanes b, lanes c)
{
    return lanes_fma_each(a, b, c);
}

/* a where a < b, else b. */
FN lanes lanes_min_each(lanes a, lanes b)
{
    for (int l = 0; l < LANES; l++)
        a[l] = a[l] < b[l] ? a[l] : b[l];
    return a;
}

/* a where test is true, else b. */
FN lanes lanes_select(lanes_mask test, lanes a, lanes b)
{
    return (lanes)((test & (lanes_mask)a) | (~test & (lanes_mask)b));
}

/* Bit l is set where lane l is true. */
FN unsigned lanes_bits_of_each(lanes_mask test)
{
    unsigned bits = 0;
    for (int l = 0; l < LANES; l++)
        bits |= test[l] ? 1u << l : 0;
    return bits;
}

#if LANES == 8 && defined __AVX512F__
#define lanes_quotient(a, b) lanes_quotient_from((lanes)_mm512_rcp14_pd((__m512d)(b)), a, b)
#define lanes_sqrt(x)        ((lanes)_mm512_sqrt_pd((__m512d)(x)))
#define lanes_fma(a, b, c)   ((lanes)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define lanes_min(a, b)      ((lanes)_mm512_min_pd((__m512d)(a), (__m512d)(b)))
#define lanes_bits_of(test)  ((unsigned)_mm512_cmplt_epi64_mask((__m512i)(test), (__m512i){0}))
#elif LANES == 4 && defined __FMA__
#define lanes_sqrt(x)       ((lanes)_mm256_sqrt_pd((__m256d)(x)))
#define lanes_fma(a, b, c)  ((lanes)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define lanes_min(a, b)     ((lanes)_mm256_min_pd((__m256d)(a), (__m256d)(b)))
#define lanes_bits_of(test) ((unsigned)_mm256_movemask_pd((__m256d)(test)))
#else
#define lanes_sqrt(x) lanes_sqrt_each(x)
#ifdef __FP_FAST_FMA
#define lanes_fma(a, b, c) lanes_fma_each(a, b, c)
#else
#define lanes_fma(a, b, c) lanes_fma_called(a, b, c)
#endif
#define lanes_min(a, b)     lanes_min_each(a, b)
#define lanes_bits_of(test) lanes_bits_of_each(test)
#endif
#if !(LANES == 8 && defined __AVX512F__)
#define lanes_quotient(a, b) ((a) / (b))
#endif

/* a / b, correctly rounded unless a, b or the quotient is near the ends of the number range, from
 * an approximation y of 1 / b with 14 bits. Hardware divisions are not pipelined and half as fast
 * in vectors of eight; this takes three Newton steps and Markstein's final ones (1990). Those need
 * 1 / b itself correctly rounded, which Newton's steps achieve unless all bits of b's mantissa are
 * set: then it is the next number above a power of two. */
FN lanes lanes_quotient_from(lanes y, lanes a, lanes b)
{
    const lanes_mask mantissa = (lanes_mask){0} + 0xfffffffffffff;
    for (int step = 0; step < 3; step++)
        y = lanes_fma(y, lanes_fma(-b, y, REAL(1.0)), y);
    y = (lanes)((lanes_mask)y | ((((lanes_mask)b & mantissa) == mantissa) & 1));
    lanes q = a * y;
    for (int step = 0; step < 2; step++)
        q = lanes_fma(lanes_fma(-b, q, a), y, q);
    return q;
}

/* Stores the first `count` lanes. */
FN void lanes_store_some(double *to, lanes x, int count)
{
    if (count >= LANES)
        STORE(to, 0, x);
#if LANES == 8 && defined __AVX512F__
    else
        _mm512_mask_storeu_pd(to, (__mmask8)((1u << count) - 1), (__m512d)x);
#else
    else
        for (int l = 0; l < count; l++)
            to[l] = x[l];
#endif
}

/* The same pointer, opaque to the compiler: values read through it are reloaded instead of being
 * kept in variables across loop iterations, which would be spilled. */
FN const double *lanes_hidden(const double *p)
{
    __asm__("" : "+r"(p));
    return p;
}

/* Shifts a row's vector against its neighbours: lane l becomes the element `n` (a constant below
 * LANES) before it, or after it. lanes_transpose() turns rows into columns: lane c of row r becomes
 * lane r of row c. */
#if LANES == 1
#define lanes_back1(before, here) ((void)(here), (before))
#define lanes_ahead1(here, after) ((void)(here), (after))
static inline void lanes_transpose(lanes row[LANES])
{
    (void)row;
}
#elif LANES == 4
#define lanes_back(before, here, n) lanes_shuffle(before, here, 4 - (n), 5 - (n), 6 - (n), 7 - (n))
#define lanes_ahead(here, after, n) lanes_shuffle(here, after, n, 1 + (n), 2 + (n), 3 + (n))
static inline void lanes_transpose(lanes row[LANES])
{
    lanes a = lanes_shuffle(row[0], row[1], 0, 4, 2, 6),
          b = lanes_shuffle(row[0], row[1], 1, 5, 3, 7);
    lanes c = lanes_shuffle(row[2], row[3], 0, 4, 2, 6),
          d = lanes_shuffle(row[2], row[3], 1, 5, 3, 7);
    row[0] = lanes_shuffle(a, c, 0, 1, 4, 5);
    row[1] = lanes_shuffle(b, d, 0, 1, 4, 5);
    row[2] = lanes_shuffle(a, c, 2, 3, 6, 7);
    row[3] = lanes_shuffle(b, d, 2, 3, 6, 7);
}
#else
#define lanes_back(before, here, n)                                                                \
    lanes_shuffle(before, here, 8 - (n), 9 - (n), 10 - (n), 11 - (n), 12 - (n), 13 - (n),          \
                  14 - (n), 15 - (n))
#define lanes_ahead(here, after, n)                                                                \
    lanes_shuffle(here, after, n, 1 + (n), 2 + (n), 3 + (n), 4 + (n), 5 + (n), 6 + (n), 7 + (n))
static inline void lanes_transpose(lanes row[LANES])
{
    lanes t[LANES];
    for (int r = 0; r < LANES; r += 2) {
        t[r] = lanes_shuffle(row[r], row[r + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        t[r + 1] = lanes_shuffle(row[r], row[r + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int h = 0; h < LANES; h += 4)
        for (int r = h; r < h + 2; r++) {
            row[r] = lanes_shuffle(t[r], t[r + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            row[r + 2] = lanes_shuffle(t[r], t[r + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int r = 0; r < 4; r++) {
        lanes low = row[r], high = row[r + 4];
        row[r] = lanes_shuffle(low, high, 0, 1, 2, 3, 8, 9, 10, 11);
        row[r + 4] = lanes_shuffle(low, high, 4, 5, 6, 7, 12, 13, 14, 15);
    }
}
#endif
#if LANES > 1
#define lanes_back1(before, here) lanes_back(before, here, 1)
#define lanes_ahead1(here, after) lanes_ahead(here, after, 1)
#endif
