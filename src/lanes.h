/* src/lanes.h – kernel texts on the host's SIMD: `real` is a vector, one grid line or point a
 * lane. Include it before what a text shares (<program>/kernels/<thing>.h). A text that keeps its
 * device kernels in the same file leaves them out where KERNEL_LANES is defined. */
#ifndef SRC_LANES_H
#define SRC_LANES_H

#include <math.h>

#if defined __AVX512F__
#define LANES 8
#else
#define LANES 4
#endif

typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef double lanes_unaligned __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

#define KERNEL_LANES
#define real                        lanes
#define REAL(x)                     ((lanes){0} + (x))
#define LOAD(p, at)                 (*(const lanes_unaligned *)&(p)[at])
#define STORE(p, at, x)             (*(lanes_unaligned *)&(p)[at] = (x))
#define SQRT(x)                     lanes_sqrt(x)
#define STORE_SOME(p, at, x, count) lanes_store_some((p) + (at), x, count)
#include "src/kernel.h"
#undef FN /* structs of vectors stay in registers only where everything is inlined */
#define FN static inline __attribute__((always_inline))

/* n rounded up to whole vectors. */
static inline int lanes_ceil(int n)
{
    return (n + LANES - 1) / LANES * LANES;
}

/* A loop over a vector of constant length compiles to one instruction. */
FN lanes lanes_sqrt(lanes x)
{
    for (int l = 0; l < LANES; l++)
        x[l] = sqrt(x[l]);
    return x;
}

/* Stores the first `count` lanes. */
FN void lanes_store_some(double *to, lanes x, int count)
{
    if (count >= LANES)
        STORE(to, 0, x);
    else
        for (int l = 0; l < count; l++)
            to[l] = x[l];
}

/* The same pointer, but the compiler does not know: what is read through it is read where it stands
 * instead of being carried from one round of a loop to the next in variables, which it would spill.
 */
FN const double *lanes_hidden(const double *p)
{
    __asm__("" : "+r"(p));
    return p;
}

/* A row's vector moved against its neighbours: lane l takes what lies `n` (a constant) lanes before
 * it, or one or two after it. */
#if LANES == 4
#define lanes_back(before, here, n)                                                                \
    __builtin_shufflevector(before, here, 4 - (n), 5 - (n), 6 - (n), 7 - (n))
#define lanes_ahead1(here, after) __builtin_shufflevector(here, after, 1, 2, 3, 4)
#define lanes_ahead2(here, after) __builtin_shufflevector(here, after, 2, 3, 4, 5)
#else
#define lanes_back(before, here, n)                                                                \
    __builtin_shufflevector(before, here, 8 - (n), 9 - (n), 10 - (n), 11 - (n), 12 - (n),          \
                            13 - (n), 14 - (n), 15 - (n))
#define lanes_ahead1(here, after) __builtin_shufflevector(here, after, 1, 2, 3, 4, 5, 6, 7, 8)
#define lanes_ahead2(here, after) __builtin_shufflevector(here, after, 2, 3, 4, 5, 6, 7, 8, 9)
#endif
#define lanes_back1(before, here) lanes_back(before, here, 1)
#define lanes_back2(before, here) lanes_back(before, here, 2)

/* Rows to columns: after it, lane c of row r is what lane r of row c was. */
static inline void lanes_transpose(lanes row[LANES])
{
#if LANES == 4
    lanes a = __builtin_shufflevector(row[0], row[1], 0, 4, 2, 6);
    lanes b = __builtin_shufflevector(row[0], row[1], 1, 5, 3, 7);
    lanes c = __builtin_shufflevector(row[2], row[3], 0, 4, 2, 6);
    lanes d = __builtin_shufflevector(row[2], row[3], 1, 5, 3, 7);
    row[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    row[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    row[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    row[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
#else
    lanes t[LANES];
    for (int r = 0; r < LANES; r += 2) {
        t[r] = __builtin_shufflevector(row[r], row[r + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        t[r + 1] = __builtin_shufflevector(row[r], row[r + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int h = 0; h < LANES; h += 4)
        for (int r = h; r < h + 2; r++) {
            row[r] = __builtin_shufflevector(t[r], t[r + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            row[r + 2] = __builtin_shufflevector(t[r], t[r + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int r = 0; r < 4; r++) {
        lanes low = row[r], high = row[r + 4];
        row[r] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 8, 9, 10, 11);
        row[r + 4] = __builtin_shufflevector(low, high, 4, 5, 6, 7, 12, 13, 14, 15);
    }
#endif
}

#endif
