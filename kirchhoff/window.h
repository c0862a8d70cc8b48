/* kirchhoff/window.h – AVX2 alternatives to gathers for the hot loops: loads pairs of neighbouring
 * numbers at eight indices that are mostly close to one another. */
#pragma once

#ifdef __AVX2__
#include <immintrin.h>

/* a, b: numbers index[l] and index[l] + 1 of each lane. Loading pairs and shuffling them is faster
 * than two gather instructions. */
static inline void load_pairs(const float *sample, __m256i index, __m256 *a, __m256 *b)
{
    int at[8] __attribute__((aligned(32)));
    _mm256_store_si256((__m256i *)at, index);
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
static inline __m256 pick(const float *window, __m256i from_first)
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
static inline void load(const float *sample, __m256i index, __m256 *a, __m256 *b)
{
    const int first = _mm_cvtsi128_si32(_mm256_castsi256_si128(index));
    const __m256i from_first = _mm256_sub_epi32(index, _mm256_set1_epi32(first));
    if (_mm256_testz_si256(from_first, _mm256_set1_epi32(~15))) {
        *a = pick(sample + first, from_first);
        *b = pick(sample + first + 1, from_first);
    } else
        load_pairs(sample, index, a, b);
}

#endif
