/* kirchhoff/sum.c – adds a trace's contributions to one column. */
#include "kirchhoff/sum.h"
#include "kirchhoff/window.h"
#include "src/kernel.h"
#include "kirchhoff/kernels/migrate.h"

/* ---- at the nodes -----------------------------------------------------------------------------*/

static void add_times(const struct sum_plan *p, const struct sum_trace *t, float *restrict u,
                      float *restrict c)
{
    const int n = p->nodes;
    const float *restrict s = t->source, *restrict g = t->receiver;
    for (int k = 0; k < n; k++)
        u[k] = (s[NODE_U * n + k] + g[NODE_U * n + k]) + t->start;
    for (int k = 0; k < n - 1; k++)
        c[k] = (s[NODE_V * n + k] + g[NODE_V * n + k]) -
               (s[NODE_V * n + k + 1] + g[NODE_V * n + k + 1]);
    c[n - 1] = 0;
}

/* Only pointers to arguments are known not to overlap, so they are arguments. */
static void find_limits(const struct sum_plan *p, const struct sum_trace *t, float *restrict open,
                        float *restrict upright, float *restrict taper)
{
    const int n = p->nodes;
    const float *restrict s = t->source, *restrict g = t->receiver, *par = p->par;
    const float *restrict reach = p->reach, *restrict fade = p->taper;
    const float a0 = par[PAR_ANGLE0], a1 = par[PAR_ANGLE1], d0 = par[PAR_DIP0], d1 = par[PAR_DIP1],
                distance = t->distance;
    for (int k = 0; k < n; k++) {
        const float x = s[NODE_X * n + k] + g[NODE_X * n + k];
        const float y = s[NODE_Y * n + k] + g[NODE_Y * n + k];
        const float z = s[NODE_Z * n + k] + g[NODE_Z * n + k];
        open[k] = (x * x + y * y) + z * z;
        upright[k] = z;
    }
    for (int k = 0; k < n; k++)
        upright[k] = migrate_upright(upright[k], open[k], d0, d1);
    for (int k = 0; k < n; k++) {
        open[k] = migrate_opening(open[k], a0, a1);
        taper[k] = migrate_taper(open[k], upright[k], (reach[k] - distance) * fade[k]);
    }
}

static void find_weights(const struct sum_plan *p, const struct sum_trace *t,
                         const struct sum_nodes *to)
{
    const int n = p->nodes;
    const float *restrict s = t->source, *restrict g = t->receiver, *restrict taper = to->taper;
    const float *restrict reach = p->reach, *restrict fade = p->taper, distance = t->distance;
    float *restrict w = to->w;
    if (p->limited) {
        find_limits(p, t, to->open, to->upright, to->taper);
        for (int k = 0; k < n; k++)
            w[k] = (s[NODE_A * n + k] * g[NODE_A * n + k]) * taper[k];
    } else {
        for (int k = 0; k < n; k++)
            w[k] = (s[NODE_A * n + k] * g[NODE_A * n + k]) *
                   migrate_clamp((reach[k] - distance) * fade[k]);
    }
    for (int k = 0; k < n && p->par[PAR_LINE] >= 2; k++)
        w[k] *= migrate_root(s[NODE_Q * n + k] + g[NODE_Q * n + k]);
}

/* Whether tapers differ between any two of the nodes below the first depths. */
static bool find_changes(const struct sum_plan *p, const float *taper)
{
    int any = 0;
    for (int k = p->fine; k < p->nodes - 1; k++)
        any |= taper[k] != taper[k + 1];
    return any;
}

static inline float pair_product(const struct sum_plan *p, const struct sum_trace *t, int k)
{
    const float *s = t->source + k, *g = t->receiver + k;
    const int n = p->nodes;
    const float a = s[NODE_A * n] * g[NODE_A * n];
    return p->par[PAR_LINE] < 2 ? a : a * migrate_root(s[NODE_Q * n] + g[NODE_Q * n]);
}

static const float part_of[MIGRATE_STEP] = {0, 0.25f, 0.5f, 0.75f};

/* What limits depend on at the depths from node k to the next. */
static void find_between(const struct sum_plan *p, const struct sum_nodes *n, const float *at,
                         int k, float to[MIGRATE_STEP])
{
    const int from = migrate_around(k, p->fine, p->end);
    float x[4];
    bool reached = true;
    for (int q = 0; q < 4; q++) {
        const int node = migrate_step_node(from + q, p->fine);
        x[q] = at[node];
        reached = reached && n->u[node] > 0.5f * MIGRATE_NEVER;
    }
    for (int l = 0; l < MIGRATE_STEP; l++)
        to[l] = migrate_limit(x[0], x[1], x[2], x[3], reached, k - p->fine - from, part_of[l]);
}

/* Weights at the depths behind node k up to the next, between which tapers change: linear
 * interpolation would blur where limits begin and end. */
static void find_tapered(const struct sum_plan *p, const struct sum_trace *t,
                         const struct sum_nodes *n, int k, float w[MIGRATE_STEP])
{
    const int depth = migrate_depth(k, p->fine);
    const float above = pair_product(p, t, k), below = pair_product(p, t, k + 1), whole = w[0];
    const float *reach = p->reach_at + depth, *fade = p->taper_at + depth;
    float open[MIGRATE_STEP], upright[MIGRATE_STEP];
    find_between(p, n, n->open, k, open);
    find_between(p, n, n->upright, k, upright);
    for (int l = 0; l < MIGRATE_STEP; l++)
        w[l] = migrate_between(above, below, part_of[l]) *
               migrate_taper(open[l], upright[l], (reach[l] - t->distance) * fade[l]);
    w[0] = whole;
}

/* Times and weights at the depths from node k to the next. */
static void find_depths(const struct sum_plan *p, const struct sum_trace *t,
                        const struct sum_nodes *n, int k, float *restrict u, float *restrict w)
{
    for (int l = 0; l < MIGRATE_STEP; l++)
        u[l] = migrate_time(n->u[k], n->u[k + 1], n->c[k], part_of[l]);
    for (int l = 0; l < MIGRATE_STEP; l++)
        w[l] = migrate_between(n->w[k], n->w[k + 1], part_of[l]);
    if (p->limited && n->taper[k] != n->taper[k + 1])
        find_tapered(p, t, n, k, w);
}

static void find_levels(const struct sum_plan *p, const struct sum_trace *t, int *restrict level)
{
    const int n = p->nodes;
    const float *restrict s = t->source + NODE_S * n, *restrict g = t->receiver + NODE_S * n;
    for (int k = 0; k < n; k++)
        level[k] = 0;
    for (int b = 1; b < p->levels; b++) {
        const float from = p->par[PAR_LEVEL + b - 1];
        for (int k = 0; k < n; k++)
            level[k] += (s[k] > from) | (g[k] > from);
    }
}

/* How many of the depths from a node to the next count for the fold. */
enum coverage { NONE, SOME, ALL };

static inline int cover(const float *u, const float *c, const float *w, float first, float last)
{
    const float bend = 0.25f * fabsf(c[0]);
    const float low = (u[0] < u[1] ? u[0] : u[1]) - bend;
    const float high = (u[0] < u[1] ? u[1] : u[0]) + bend;
    const int any = ((w[0] > 0) | (w[1] > 0)) & (high >= first) & (low <= last);
    return any + ((w[0] > 0) & (w[1] > 0) & (low >= first) & (high <= last));
}

/* Counts the trace at those of `n` nodes from which all depths to the next one count. Returns
 * whether there are nodes between which only some do. */
static inline int count_whole(int n, float first, float last, const float *restrict u,
                              const float *restrict c, const float *restrict w,
                              float *restrict counts)
{
    int some = 0;
    for (int k = 0; k < n; k++) {
        const int covered = cover(u + k, c + k, w + k, first, last);
        counts[k] += (float)(covered / ALL);
        some |= covered & SOME;
    }
    return some;
}

/* Counts each depth from node k to the next. */
static void count_depths(const struct sum_plan *p, const struct sum_trace *t,
                         const struct sum_nodes *n, int k, float *fold)
{
    float u[MIGRATE_STEP], w[MIGRATE_STEP];
    const int depth = migrate_depth(k, p->fine);
    find_depths(p, t, n, k, u, w);
    for (int l = 0; l < MIGRATE_STEP && depth + l < p->depths; l++)
        fold[depth + l] += (float)migrate_counts(u[l], w[l], t->first, t->last);
}

static void count(const struct sum_plan *p, const struct sum_trace *t, const struct sum_nodes *n,
                  float *restrict counts, float *fold)
{
    enum { STRIP = 16 };
    const int end = migrate_node(p->depths, p->fine);
    const float *u = n->u, *c = n->c, *w = n->w, first = t->first, last = t->last;
    for (int k = 0; k < p->fine; k++)
        counts[k] += (float)migrate_counts(u[k], w[k], first, last);
    for (int k = p->fine; k < end; k += STRIP) {
        const int left = end - k < STRIP ? end - k : STRIP;
        const int some = left == STRIP
                             ? count_whole(STRIP, first, last, u + k, c + k, w + k, counts + k)
                             : count_whole(left, first, last, u + k, c + k, w + k, counts + k);
        for (int j = k; some && j < k + left; j++)
            if (cover(u + j, c + j, w + j, first, last) == SOME)
                count_depths(p, t, n, j, fold);
    }
}

/* ---- between nodes, in blocks of eight depths -------------------------------------------------*/

/* The first node of block b, which lies below the depths with their own nodes. */
static inline int first_node(const struct sum_plan *p, int b)
{
    return 2 * b + (p->fine - p->fine / MIGRATE_STEP);
}

/* Sample index, fraction to the next sample, and weight of eight depths. */
struct block {
    eights_places index;
    eights part, w;
};

/* k: the block's first node. fine: each depth has its own node. */
static inline struct block find_block(const struct sum_plan *p, const struct sum_nodes *n, int k,
                                      int fine)
{
    const eights f = {0, 0.25f, 0.5f, 0.75f, 0, 0.25f, 0.5f, 0.75f};
    const eights bend = {0, 0.1875f, 0.25f, 0.1875f, 0, 0.1875f, 0.25f, 0.1875f};
    eights u, w;
    if (fine) {
        u = *(const eights_in *)&n->u[k];
        w = *(const eights_in *)&n->w[k];
    } else {
        const eights a = spread_pair(n->u + k, 0), wa = spread_pair(n->w + k, 0);
        u = a + f * (spread_pair(n->u + k, 1) - a);
        u = u + bend * spread_pair(n->c + k, 0);
        w = wa + f * (spread_pair(n->w + k, 1) - wa);
    }
    u = clamp(u, p->par[PAR_TOP]);
    const eights_places index = __builtin_convertvector(u, eights_places);
    return (struct block){index, u - __builtin_convertvector(index, eights), w};
}

static inline void add_block(const struct sum_plan *p, const struct sum_nodes *n, int k, int fine,
                             const float *sample, double *sum)
{
    const struct block b = find_block(p, n, k, fine);
    const float round = p->par[PAR_ROUND];
    eights low, high;
    load(sample, b.index, &low, &high);
    const eights x = (b.w * (low + b.part * (high - low)) + round) - round;
    *(eights_sums *)sum += __builtin_convertvector(x, eights_wide);
}

#ifdef __AVX512F__

/* Elements 0 .. 3 of a quadruple, each in four lanes. */
static inline __m512 spread_four(const float *quad)
{
    const __m512i four = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    return _mm512_permutexvar_ps(four, _mm512_castps128_ps512(_mm_loadu_ps(quad)));
}

/* Joins two vectors of eight, with AVX-512 F alone. */
static inline __m512 both_halves(__m256 low, __m256 high)
{
    return _mm512_castpd_ps(_mm512_insertf64x4(_mm512_castps_pd(_mm512_castps256_ps512(low)),
                                               _mm256_castps_pd(high), 1));
}

/* Picks sixteen samples from a window of 32. */
static inline __m512 pick_sixteen(__m512 low, __m512i from_first, __m512 high)
{
    return _mm512_permutex2var_ps(low, from_first, high);
}

/* Loads samples index[l] and index[l] + 1 of sixteen lanes from a window of 32 or 64 samples, else
 * pair by pair; gather instructions are slower than any of these. */
static inline void load_sixteen(const float *sample, __m512i index, __m512 *a, __m512 *b)
{
    const int first = _mm_cvtsi128_si32(_mm512_castsi512_si128(index));
    const __m512i from = _mm512_sub_epi32(index, _mm512_set1_epi32(first));
    const __m512i next = _mm512_add_epi32(from, _mm512_set1_epi32(1));
    const float *at = sample + first;
    const __m512 x0 = _mm512_loadu_ps(at), x1 = _mm512_loadu_ps(at + 16);
    if (!_mm512_cmpgt_epu32_mask(from, _mm512_set1_epi32(30))) {
        *a = pick_sixteen(x0, from, x1);
        *b = pick_sixteen(x0, next, x1);
    } else if (!_mm512_cmpgt_epu32_mask(from, _mm512_set1_epi32(62))) {
        const __m512 x2 = _mm512_loadu_ps(at + 32), x3 = _mm512_loadu_ps(at + 48);
        const __m512i far = _mm512_set1_epi32(32);
        *a = _mm512_mask_mov_ps(pick_sixteen(x0, from, x1), _mm512_test_epi32_mask(from, far),
                                pick_sixteen(x2, from, x3));
        *b = _mm512_mask_mov_ps(pick_sixteen(x0, next, x1), _mm512_test_epi32_mask(next, far),
                                pick_sixteen(x2, next, x3));
    } else {
        eights a0, b0, a1, b1;
        load_pairs(sample, (eights_places)_mm512_castsi512_si256(index), &a0, &b0);
        load_pairs(sample, (eights_places)_mm512_extracti64x4_epi64(index, 1), &a1, &b1);
        *a = both_halves(a0, a1);
        *b = both_halves(b0, b1);
    }
}

/* Adds the sixteen depths from node k on. */
static inline void add_two_blocks(const struct sum_plan *p, const struct sum_nodes *n, int k,
                                  const float *sample, double *sum)
{
    const __m512 f = _mm512_broadcast_f32x4(_mm_setr_ps(0, 0.25f, 0.5f, 0.75f));
    const __m512 bend = _mm512_broadcast_f32x4(_mm_setr_ps(0, 0.1875f, 0.25f, 0.1875f));
    const __m512 round = _mm512_set1_ps(p->par[PAR_ROUND]);
    const __m512 a = spread_four(n->u + k), wa = spread_four(n->w + k);
    __m512 u = a + f * (spread_four(n->u + k + 1) - a);
    u = u + bend * spread_four(n->c + k);
    u = _mm512_min_ps(_mm512_max_ps(u, _mm512_setzero_ps()), _mm512_set1_ps(p->par[PAR_TOP]));
    const __m512 w = wa + f * (spread_four(n->w + k + 1) - wa);
    const __m512i index = _mm512_cvttps_epi32(u);
    __m512 low, high;
    load_sixteen(sample, index, &low, &high);
    const __m512 part = u - _mm512_cvtepi32_ps(index);
    const __m512 x = (w * (low + part * (high - low)) + round) - round;
    const __m256 behind = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1));
    _mm512_storeu_pd(sum, _mm512_loadu_pd(sum) + _mm512_cvtps_pd(_mm512_castps512_ps256(x)));
    _mm512_storeu_pd(sum + 8, _mm512_loadu_pd(sum + 8) + _mm512_cvtps_pd(behind));
}

#else

static inline void add_two_blocks(const struct sum_plan *p, const struct sum_nodes *n, int k,
                                  const float *sample, double *sum)
{
    add_block(p, n, k, 0, sample, sum);
    add_block(p, n, k + MIGRATE_BLOCK / MIGRATE_STEP, 0, sample, sum + MIGRATE_BLOCK);
}

#endif

/* Whether the block lies beyond the trace or has no weight. */
static inline int is_empty(const struct sum_nodes *n, int k, float last)
{
    const float *u = n->u + k, *w = n->w + k, *c = n->c + k;
    return (w[0] == 0 && w[1] == 0 && w[2] == 0) ||
           migrate_behind(u[0], u[1], u[2], c[0], c[1], last);
}

/* Computes times, weights and levels at the nodes. Only the column's blocks *first to *last - 1
 * contribute; blocks whose depths have their own nodes are always among them. Returns whether
 * tapers change between any nodes. */
static bool find_nodes(const struct sum_plan *p, const struct sum_trace *t,
                       const struct sum_nodes *n, int *first, int *last)
{
    const int fine = p->fine / MIGRATE_BLOCK;
    add_times(p, t, n->u, n->c);
    find_weights(p, t, n);
    if (p->levels > 1)
        find_levels(p, t, n->level);
    *first = 0;
    *last = p->depths / MIGRATE_BLOCK;
    while (*last > fine && is_empty(n, first_node(p, *last - 1), t->last))
        --*last;
    while (!fine && *first < *last && is_empty(n, first_node(p, *first), t->last))
        ++*first;
    return p->limited && find_changes(p, n->taper);
}

/* Whether tapers change within the block from node k on. */
static inline bool changes(const struct sum_nodes *n, int k)
{
    const float *taper = n->taper + k;
    return taper[0] != taper[1] || taper[1] != taper[2];
}

/* Such a block's times and weights at each depth, as if all had nodes of their own. */
struct own_nodes {
    float u[MIGRATE_BLOCK], w[MIGRATE_BLOCK];
};

static struct sum_nodes find_own(const struct sum_plan *p, const struct sum_trace *t,
                                 const struct sum_nodes *n, int k, struct own_nodes *at)
{
    for (int h = 0; h < MIGRATE_BLOCK / MIGRATE_STEP; h++)
        find_depths(p, t, n, k + h, at->u + h * MIGRATE_STEP, at->w + h * MIGRATE_STEP);
    return (struct sum_nodes){.u = at->u, .w = at->w};
}

/* Offset of the level that block b of the first depths uses, that of its middle. */
static inline size_t fine_level(const struct sum_plan *p, const struct sum_trace *t,
                                const struct sum_nodes *n, int b)
{
    return p->levels > 1 ? (size_t)n->level[b * MIGRATE_BLOCK + MIGRATE_STEP] * t->stride : 0;
}

void sum_column(const struct sum_plan *p, const struct sum_trace *t, const struct sum_nodes *n,
                double *sum, float *counts, float *fold)
{
    int first, last, b;
    const bool tapered = find_nodes(p, t, n, &first, &last);
    count(p, t, n, counts, fold);
    for (b = first; b * MIGRATE_BLOCK < p->fine; b++)
        add_block(p, n, b * MIGRATE_BLOCK, 1, t->sample + fine_level(p, t, n, b),
                  sum + b * MIGRATE_BLOCK);
    const int from = first_node(p, 0); /* block b begins at node from + 2 b */
    const int *level = p->levels > 1 ? n->level + from + 1 : NULL; /* block b's is level[2 b] */
    for (; b < last; b++) {
        const int k = from + 2 * b;
        const float *sample = t->sample + (level ? (size_t)level[2 * b] * t->stride : 0);
        double *to = sum + b * MIGRATE_BLOCK;
        if (tapered && changes(n, k)) {
            struct own_nodes own;
            const struct sum_nodes at = find_own(p, t, n, k, &own);
            add_block(p, &at, 0, 1, sample, to);
        } else if (b + 1 < last && (!level || level[2 * b] == level[2 * b + 2]) &&
                   !(tapered && changes(n, k + 2))) {
            add_two_blocks(p, n, k, sample, to);
            b++;
        } else
            add_block(p, n, k, 0, sample, to);
    }
}

/* The adjoint of add_block(). Depth by depth at the end, as several may go to the same sample. */
static void spread_block(const struct sum_plan *p, const struct sum_nodes *n, int k, int fine,
                         const double *image, double *trace)
{
    const struct block b = find_block(p, n, k, fine);
    const eights_wide x = __builtin_convertvector(b.w, eights_wide) * *(const eights_sums *)image;
    const eights_wide part = __builtin_convertvector(b.part, eights_wide);
    const eights_wide low = (1 - part) * x, high = part * x;
    for (int l = 0; l < MIGRATE_BLOCK; l++) {
        trace[b.index[l]] += low[l];
        trace[b.index[l] + 1] += high[l];
    }
}

void sum_spread(const struct sum_plan *p, const struct sum_trace *t, const struct sum_nodes *n,
                const double *image, double *trace)
{
    int first, last, b;
    const bool tapered = find_nodes(p, t, n, &first, &last);
    for (b = first; b * MIGRATE_BLOCK < p->fine; b++)
        spread_block(p, n, b * MIGRATE_BLOCK, 1, image + b * MIGRATE_BLOCK,
                     trace + fine_level(p, t, n, b));
    for (; b < last; b++) {
        const int k = first_node(p, b), fine = tapered && changes(n, k);
        struct own_nodes own;
        const struct sum_nodes at = fine ? find_own(p, t, n, k, &own) : *n;
        double *to = trace + (p->levels > 1 ? (size_t)n->level[k + 1] * t->stride : 0);
        spread_block(p, &at, fine ? 0 : k, fine, image + b * MIGRATE_BLOCK, to);
    }
}
