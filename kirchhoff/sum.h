/* kirchhoff/sum.h – the innermost loops on the host: a trace's contributions to one image column.
 *
 * Four nodes make sixteen depths: times, weights and limits are computed at nodes and interpolated
 * in between (vectors of eight depths, AVX2 where there is; the same bits without). */
#ifndef KIRCHHOFF_SUM_H
#define KIRCHHOFF_SUM_H

#include <stddef.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

/* Of one trace, at the nodes of one column; arrays [nodes] of the worker. */
struct sum_nodes {
    float *u, *c, *w; /* time in samples, half-slowness correction, weight */
    int *level;
};

struct sum_trace {
    const float *source, *receiver; /* rows of its ends */
    const float *sample;            /* [levels][stride] */
    size_t stride;
    float start;    /* added to times */
    float distance; /* of the column from the midpoint, m */
};

struct sum_plan {
    int depths, nodes;  /* of a column of the image */
    const float *par;   /* [PAR_COUNT] */
    const float *reach; /* [nodes] aperture at this depth, m */
    const float *taper; /* [nodes] 1 / width of the aperture's taper, 1/m */
    int levels;
};

/* Adds to sum [depths] and fold [nodes]. */
void sum_column(const struct sum_plan *p, const struct sum_trace *t, const struct sum_nodes *n,
                double *sum, float *fold);

#ifdef __AVX2__

/* Samples index[l] and index[l] + 1 of eight lanes: pairs are loaded and sorted out, which beats
 * two gather instructions (tests/bench/kirchhoff.c measures both). */
static inline void sum_load_pairs(const float *sample, __m256i index, __m256 *a, __m256 *b)
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

/* The same where all indices lie within 15 samples of the first: two windows of eight samples, from
 * which lanes pick theirs. */
static inline void sum_load_window(const float *sample, __m256i from_first, __m256 *a, __m256 *b)
{
    const __m256 far = _mm256_castsi256_ps(_mm256_slli_epi32(from_first, 28)); /* bit 3: the sign */
    *a = _mm256_blendv_ps(_mm256_permutevar8x32_ps(_mm256_loadu_ps(sample), from_first),
                          _mm256_permutevar8x32_ps(_mm256_loadu_ps(sample + 8), from_first), far);
    *b = _mm256_blendv_ps(_mm256_permutevar8x32_ps(_mm256_loadu_ps(sample + 1), from_first),
                          _mm256_permutevar8x32_ps(_mm256_loadu_ps(sample + 9), from_first), far);
}

/* Whichever is possible: the window where depths are close, as they are along a column. */
static inline void sum_load(const float *sample, __m256i index, __m256 *a, __m256 *b)
{
    const int first = _mm_cvtsi128_si32(_mm256_castsi256_si128(index));
    const __m256i from_first = _mm256_sub_epi32(index, _mm256_set1_epi32(first));
    if (_mm256_testz_si256(from_first, _mm256_set1_epi32(~15)))
        sum_load_window(sample + first, from_first, a, b);
    else
        sum_load_pairs(sample, index, a, b);
}

#endif

#endif
