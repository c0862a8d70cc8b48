/* kirchhoff/ray_lanes.h – interpolates the medium for a vector of rays. Each ray is in a cell of
 * its own; v and grad v of a node lie together, so that a lane's four numbers are one vector. */
#pragma once

#include "src/lanes_math.h"

struct ray_medium;
struct ray_speed;
FN struct ray_speed ray_cube(struct ray_medium m, const float *node, lanes x, lanes y, lanes z);

#define RAY_TOGETHER 2
#include "kirchhoff/kernels/ray.h"

typedef int ray_places __attribute__((vector_size(4 * LANES)));
typedef float ray_shares __attribute__((vector_size(4 * LANES)));
typedef float ray_four __attribute__((vector_size(16)));
typedef int ray_numbers __attribute__((vector_size(16)));
/* The four numbers of a node and of the node below it. */
typedef float ray_two __attribute__((vector_size(32), aligned(4), may_alias));

/* Position along an axis in steps, clamped to the grid. */
FN lanes ray_along(lanes x, double origin, double inverse, double last)
{
    lanes u = (x - origin) * inverse;
    u = SELECT(u > 0.0, u, REAL(0.0)); /* NAN goes to the first node */
    return SELECT(u < last, u, REAL(last));
}

FN ray_places ray_cells(lanes u, double last)
{
    const double most = last > 1.0 ? last - 1.0 : 0.0;
    return __builtin_convertvector(SELECT(u < most, u, REAL(most)), ray_places);
}

/* The grid's first node, shifted to each of a cell's four vertical edges. */
struct ray_rows {
    const float *row[4];
};

FN struct ray_rows ray_rows_of(const struct ray_medium *m, const float *node)
{
    const ptrdiff_t x = 4 * (ptrdiff_t)m->stride[0], y = 4 * (ptrdiff_t)m->stride[1];
    const struct ray_rows r = {{node, node + y, node + x, node + x + y}};
    return r;
}

FN ray_two ray_load(const float *row, uint32_t at)
{
    return *(const ray_two *)&row[at];
}

/* Interpolates the four numbers of one lane, in float: the nodes have no more digits. */
FN ray_four ray_lane(struct ray_rows r, uint32_t at, float tx, float ty, float tz)
{
    const ray_two a = ray_load(r.row[0], at), b = ray_load(r.row[1], at);
    const ray_two c = ray_load(r.row[2], at), d = ray_load(r.row[3], at);
    const ray_two ab = a + ty * (b - a), cd = c + ty * (d - c);
    const ray_two both = ab + tx * (cd - ab);
    ray_four level[2]; /* above, below */
    memcpy(level, &both, sizeof level);
    return level[0] + tz * (level[1] - level[0]);
}

/* Transposes four lanes of four numbers. */
FN void ray_turn_four(const ray_four n[4], ray_four row[4])
{
    const ray_four a = SHUFFLE(ray_numbers, n[0], n[1], 0, 4, 1, 5);
    const ray_four b = SHUFFLE(ray_numbers, n[2], n[3], 0, 4, 1, 5);
    const ray_four c = SHUFFLE(ray_numbers, n[0], n[1], 2, 6, 3, 7);
    const ray_four d = SHUFFLE(ray_numbers, n[2], n[3], 2, 6, 3, 7);
    row[0] = SHUFFLE(ray_numbers, a, b, 0, 1, 4, 5);
    row[1] = SHUFFLE(ray_numbers, a, b, 2, 3, 6, 7);
    row[2] = SHUFFLE(ray_numbers, c, d, 0, 1, 4, 5);
    row[3] = SHUFFLE(ray_numbers, c, d, 2, 3, 6, 7);
}

/* Transposes all lanes. */
FN struct ray_speed ray_turn(const ray_four n[LANES])
{
    enum { FOURS = (LANES + 3) / 4 };
    ray_four part[FOURS][4];
    ray_shares row[4];
    for (int h = 0; h < FOURS; h++) {
        const ray_four *four = n + 4 * h;
        ray_turn_four(LANES < 4 ? (ray_four[4]){four[0]} : four, part[h]);
    }
    for (int c = 0; c < 4; c++) {
        ray_four of[FOURS];
        for (int h = 0; h < FOURS; h++)
            of[h] = part[h][c];
        memcpy(&row[c], of, sizeof row[c]);
    }
    const struct ray_speed w = {
        __builtin_convertvector(row[0], lanes), __builtin_convertvector(row[1], lanes),
        __builtin_convertvector(row[2], lanes), __builtin_convertvector(row[3], lanes)};
    return w;
}

FN struct ray_speed ray_each(struct ray_rows r, ray_places at, ray_shares tx, ray_shares ty,
                             ray_shares tz)
{
    ray_four number[LANES];
    for (int l = 0; l < LANES; l++)
        number[l] = ray_lane(r, (uint32_t)at[l], tx[l], ty[l], tz[l]);
    return ray_turn(number);
}

#if LANES == 8 && defined __AVX512F__

/* ray_load() for two lanes. */
FN __m512 ray_load_two(const float *row, uint32_t one, uint32_t other)
{
    const __m512d low = _mm512_castpd256_pd512(_mm256_loadu_pd((const double *)(row + one)));
    const __m256d high = _mm256_loadu_pd((const double *)(row + other));
    return _mm512_castpd_ps(_mm512_insertf64x4(low, high, 1));
}

/* The fraction of lane l in the lower eight elements, that of lane l + 1 in the upper ones. */
FN __m512 ray_spread_two(ray_shares t, int l)
{
    const __m512i from = _mm512_add_epi32(
        _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1), _mm512_set1_epi32(l));
    return _mm512_permutexvar_ps(from, _mm512_castps256_ps512((__m256)t));
}

/* The horizontal part of ray_lane() for two lanes side by side, with the same rounding. */
FN __m512 ray_two_lanes(struct ray_rows r, uint32_t one, uint32_t other, __m512 tx, __m512 ty)
{
    const __m512 a = ray_load_two(r.row[0], one, other), b = ray_load_two(r.row[1], one, other);
    const __m512 c = ray_load_two(r.row[2], one, other), d = ray_load_two(r.row[3], one, other);
    const __m512 ab = a + ty * (b - a), cd = c + ty * (d - c);
    return ab + tx * (cd - ab);
}

/* Number c of all lanes, interpolated in z. first, second: four lanes each, above, then below. */
FN lanes ray_between(__m512 first, __m512 second, int c, ray_shares tz)
{
    const __m512i from =
        _mm512_add_epi32(_mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23),
                         _mm512_set1_epi32(8 * (c % 2)));
    const __m512d both = _mm512_castps_pd(_mm512_permutex2var_ps(first, from, second));
    const ray_shares above = (ray_shares)_mm512_castpd512_pd256(both);
    const ray_shares below = (ray_shares)_mm512_extractf64x4_pd(both, 1);
    return __builtin_convertvector(above + tz * (below - above), lanes);
}

FN struct ray_speed ray_all(struct ray_rows r, ray_places at, ray_shares tx, ray_shares ty,
                            ray_shares tz)
{
    /* from two vectors of two lanes: numbers 0 and 1 (low), 2 and 3 (high), above and below */
    const __m512i low = _mm512_setr_epi32(0, 8, 16, 24, 4, 12, 20, 28, 1, 9, 17, 25, 5, 13, 21, 29);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(2));
    uint32_t place[LANES];
    __m512 two[LANES / 2];
    memcpy(place, &at, sizeof place);
    for (int i = 0; i < LANES / 2; i++)
        two[i] = ray_two_lanes(r, place[2 * i], place[2 * i + 1], ray_spread_two(tx, 2 * i),
                               ray_spread_two(ty, 2 * i));
    const __m512 n01 = _mm512_permutex2var_ps(two[0], low, two[1]);
    const __m512 m01 = _mm512_permutex2var_ps(two[2], low, two[3]);
    const __m512 n23 = _mm512_permutex2var_ps(two[0], high, two[1]);
    const __m512 m23 = _mm512_permutex2var_ps(two[2], high, two[3]);
    const struct ray_speed w = {ray_between(n01, m01, 0, tz), ray_between(n01, m01, 1, tz),
                                ray_between(n23, m23, 2, tz), ray_between(n23, m23, 3, tz)};
    return w;
}

#else
#define ray_all(rows, at, tx, ty, tz) ray_each(rows, at, tx, ty, tz)
#endif

FN ray_shares ray_share(lanes u, ray_places cell)
{
    return __builtin_convertvector(u - __builtin_convertvector(cell, lanes), ray_shares);
}

FN struct ray_speed ray_cube(struct ray_medium m, const float *node, lanes x, lanes y, lanes z)
{
    const lanes ux = ray_along(x, m.origin[0], m.inverse[0], m.last[0]);
    const lanes uy = ray_along(y, m.origin[1], m.inverse[1], m.last[1]);
    const lanes uz = ray_along(z, m.origin[2], m.inverse[2], m.last[2]);
    const ray_places i = ray_cells(ux, m.last[0]), j = ray_cells(uy, m.last[1]);
    const ray_places k = ray_cells(uz, m.last[2]);
    const ray_places at = i * (4 * m.stride[0]) + j * (4 * m.stride[1]) + k * 4;
    const struct ray_rows rows = ray_rows_of(&m, node);
    const ray_shares tx = ray_share(ux, i), ty = ray_share(uy, j), tz = ray_share(uz, k);
    return ray_all(rows, at, tx, ty, tz);
}
