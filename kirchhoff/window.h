/* kirchhoff/window.h – vectors of eight depths for the hot loops, and loads of pairs of
 * neighbouring numbers at eight indices that are mostly close to one another. AVX2 has instructions
 * that the compiler does not find; without it the bits are the same. */
#pragma once

typedef float eights __attribute__((vector_size(32)));
typedef float eights_in __attribute__((vector_size(32), aligned(4), may_alias)); /* in memory */
typedef int eights_places __attribute__((vector_size(32)));
typedef double eights_wide __attribute__((vector_size(64)));
typedef double eights_sums __attribute__((vector_size(64), aligned(8), may_alias));

#define WINDOW static inline __attribute__((always_inline))

#ifdef __AVX2__
#include <immintrin.h>

/* a, b: numbers index[l] and index[l] + 1 of each lane. Loading pairs and shuffling them is faster
 * than two gather instructions. */
WINDOW void load_pairs(const float *sample, eights_places index, eights *a, eights *b)
{
    int at[8] __attribute__((aligned(32)));
    _mm256_store_si256((__m256i *)at, (__m256i)index);
#define PAIR(l) _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(sample + at[l])))
    const __m128 p01 = _mm_loadh_pi(PAIR(0), (const __m64 *)(sample + at[1]));
    const __m128 p23 = _mm_loadh_pi(PAIR(2), (const __m64 *)(sample + at[3]));
    const __m128 p45 = _mm_loadh_pi(PAIR(4), (const __m64 *)(sample + at[5]));
    const __m128 p67 = _mm_loadh_pi(PAIR(6), (const __m64 *)(sample + at[7]));
#undef PAIR
    const __m256 even = _mm256_insertf128_ps(_mm256_castps128_ps256(p01), p45, 1);
    const __m256 odd = _mm256_insertf128_ps(_mm256_castps128_ps256(p23), p67, 1);
    *a = _mm256_shuffle_ps(even, odd, 0x88);
    *b = _mm256_shuffle_ps(even, odd, 0xdd);
}

/* Lane l becomes number from_first[l] of a window of sixteen. */
WINDOW eights pick(const float *window, __m256i from_first)
{
    const __m256 low = _mm256_loadu_ps(window), high = _mm256_loadu_ps(window + 8);
#ifdef __AVX512VL__
    return _mm256_permutex2var_ps(low, from_first, high);
#else
    const __m256 far = _mm256_castsi256_ps(_mm256_slli_epi32(from_first, 28)); /* bit 3 as sign */
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(low, from_first),
                            _mm256_permutevar8x32_ps(high, from_first), far);
#endif
}

/* As load_pairs(), but from two windows if all indices are 0 to 15 above the first, which is usual
 * for close depths of a column; reads up to the 16th number after the first. */
WINDOW void load(const float *sample, eights_places index, eights *a, eights *b)
{
    const eights_places from_first = index - index[0];
    if (_mm256_testz_si256((__m256i)from_first, _mm256_set1_epi32(~15))) {
        *a = pick(sample + index[0], (__m256i)from_first);
        *b = pick(sample + index[0] + 1, (__m256i)from_first);
    } else
        load_pairs(sample, index, a, b);
}

/* Elements `from` (0 or 1) and from + 1 of a quadruple, in the lower and upper four lanes. */
WINDOW eights spread_pair(const float *quad, int from)
{
    const __m256i low = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    const __m256i high = _mm256_setr_epi32(1, 1, 1, 1, 2, 2, 2, 2);
    const __m256 both = _mm256_broadcast_ps((const __m128 *)quad);
    return _mm256_permutevar_ps(both, from ? high : low);
}

WINDOW eights clamp(eights x, float top)
{
    return _mm256_min_ps(_mm256_max_ps(x, _mm256_setzero_ps()), _mm256_set1_ps(top));
}

#else

WINDOW void load(const float *sample, eights_places index, eights *a, eights *b)
{
    for (int l = 0; l < 8; l++) {
        (*a)[l] = sample[index[l]];
        (*b)[l] = sample[index[l] + 1];
    }
}

WINDOW eights spread_pair(const float *quad, int from)
{
    const float a = quad[from], b = quad[from + 1];
    return (eights){a, a, a, a, b, b, b, b};
}

WINDOW eights clamp(eights x, float top)
{
    for (int l = 0; l < 8; l++)
        x[l] = x[l] > 0 ? (x[l] < top ? x[l] : top) : 0;
    return x;
}

#endif
