/* kirchhoff/geometry.c – neighbours and cells of sources and receivers. */
#include "kirchhoff/geometry.h"
#include "src/arena.h"
#include "src/sort.h"
#include "src/owned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Places whose neighbours are wanted, sorted into square buckets of about one each. */
struct places {
    size_t n;
    double (*at)[2];           /* [n] m */
    double low[2], side, same; /* m: buckets' corner and side; closer ones are one place */
    long cells[2];
    size_t *first; /* [cells + 1] where a bucket begins in `member` */
    size_t *member;
};

/* ---- buckets ----------------------------------------------------------------------------------*/

static long bucket(const struct places *p, int axis, double x)
{
    const long i = (long)((x - p->low[axis]) / p->side);
    return i < 0 ? 0 : i >= p->cells[axis] ? p->cells[axis] - 1 : i;
}

static size_t bucket_of(const struct places *p, size_t i)
{
    return (size_t)(bucket(p, 0, p->at[i][0]) * p->cells[1] + bucket(p, 1, p->at[i][1]));
}

static void places_close(struct places *p)
{
    free(p->first);
    free(p->member);
    p->first = p->member = NULL;
}

static void size_cells(struct places *p)
{
    double high[2] = {-INFINITY, -INFINITY};
    p->low[0] = p->low[1] = INFINITY;
    for (size_t i = 0; i < p->n; i++)
        for (int a = 0; a < 2; a++) {
            p->low[a] = fmin(p->low[a], p->at[i][a]);
            high[a] = fmax(high[a], p->at[i][a]);
        }
    const double x = high[0] - p->low[0], y = high[1] - p->low[1], n = (double)p->n;
    p->side = fmax(fmax(sqrt(x * y / n), fmax(x, y) / n), 0.01);
    p->same = fmax(0.05 * p->side, 0.01);
    p->cells[0] = (long)(x / p->side) + 1;
    p->cells[1] = (long)(y / p->side) + 1;
}

static enum ek_status places_open(struct places *p, size_t n, double (*at)[2])
{
    *p = (struct places){.n = n, .at = at};
    size_cells(p);
    const size_t cells = (size_t)(p->cells[0] * p->cells[1]);
    p->first = calloc(cells + 2, sizeof *p->first);
    p->member = calloc(n, sizeof *p->member);
    if (!p->first || !p->member) {
        places_close(p);
        FAIL(EK_UNAVAILABLE, "out of memory for the places of %zu traces", n);
    }
    for (size_t i = 0; i < n; i++)
        p->first[bucket_of(p, i) + 2]++;
    for (size_t c = 2; c < cells + 2; c++)
        p->first[c] += p->first[c - 1];
    for (size_t i = 0; i < n; i++)
        p->member[p->first[bucket_of(p, i) + 1]++] = i;
    return EK_OK;
}

/* Walks over the neighbours of a place, by rings of buckets from the inside out. */
struct walk {
    const struct places *p;
    size_t i, next, end;
    long ring, x, y;
};

static struct walk walk_from(const struct places *p, size_t i)
{
    return (struct walk){.p = p, .i = i, .ring = -1};
}

/* Goes to the next bucket of this ring or of the next one; what is not visited yet lies at least
 * `seen` m away. */
static bool next_bucket(struct walk *w, double *seen)
{
    const struct places *p = w->p;
    const long cx = bucket(p, 0, p->at[w->i][0]), cy = bucket(p, 1, p->at[w->i][1]);
    for (;;) {
        const long r = w->ring;
        w->y += w->x == -r || w->x == r || w->y == r ? 1 : 2 * r; /* only the ring's outline */
        if (r < 0 || w->y > r) {
            w->x++;
            w->y = -r;
        }
        if (r < 0 || w->x > r) {
            w->ring++;
            w->x = w->y = -w->ring;
            *seen = fmax(0, (double)(w->ring - 1)) * p->side;
            if (w->ring > p->cells[0] && w->ring > p->cells[1])
                return false;
        }
        const long x = cx + w->x, y = cy + w->y;
        if (x >= 0 && x < p->cells[0] && y >= 0 && y < p->cells[1]) {
            const size_t b = (size_t)(x * p->cells[1] + y);
            w->next = p->first[b];
            w->end = p->first[b + 1];
            return true;
        }
    }
}

/* Finds the vector d to another member, which may be at the same place; false: none is left within
 * `reach`. */
static bool walk_on(struct walk *w, double reach, double d[2])
{
    double seen = 0;
    for (;;) {
        while (w->next == w->end)
            if (!next_bucket(w, &seen) || seen > reach)
                return false;
        const size_t other = w->p->member[w->next++];
        if (other == w->i)
            continue;
        for (int a = 0; a < 2; a++)
            d[a] = w->p->at[other][a] - w->p->at[w->i][a];
        return true;
    }
}

static double nearest(const struct places *p, size_t i)
{
    double least = INFINITY, d[2];
    struct walk w = walk_from(p, i);
    while (walk_on(&w, least, d)) {
        const double length = hypot(d[0], d[1]);
        least = length > p->same && length < least ? length : least;
    }
    return least;
}

/* ---- cells ------------------------------------------------------------------------------------*/

enum { CORNERS = 64 };

/* Around the origin; `outer`: the edge that begins at a corner is one of the first, not clipped. */
struct polygon {
    int n;
    double at[CORNERS][2];
    bool outer[CORNERS];
};

/* Keeps what lies nearer to the origin than to sign * d. */
static void clip(struct polygon *p, const double d[2], double sign)
{
    const struct polygon was = *p;
    const double limit = 0.5 * (d[0] * d[0] + d[1] * d[1]);
    p->n = 0;
    for (int i = 0; i < was.n && p->n + 2 < CORNERS; i++) {
        const double *a = was.at[i], *b = was.at[(i + 1) % was.n];
        const double sa = sign * (a[0] * d[0] + a[1] * d[1]) - limit;
        const double sb = sign * (b[0] * d[0] + b[1] * d[1]) - limit;
        if (sa <= 0) {
            memcpy(p->at[p->n], a, sizeof p->at[0]);
            p->outer[p->n++] = was.outer[i];
        }
        if ((sa < 0 && sb > 0) || (sa > 0 && sb < 0)) {
            const double f = sa / (sa - sb);
            for (int x = 0; x < 2; x++)
                p->at[p->n][x] = a[x] + f * (b[x] - a[x]);
            p->outer[p->n++] = sa > 0 && was.outer[i];
        }
    }
}

static double radius(const struct polygon *p)
{
    double most = 0;
    for (int i = 0; i < p->n; i++)
        most = fmax(most, hypot(p->at[i][0], p->at[i][1]));
    return most;
}

static double area_of(const struct polygon *p)
{
    double sum = 0;
    for (int i = 0; i < p->n; i++) {
        const double *a = p->at[i], *b = p->at[(i + 1) % p->n];
        sum += a[0] * b[1] - b[0] * a[1];
    }
    return 0.5 * sum;
}

static bool is_open(const struct polygon *p)
{
    for (int i = 0; i < p->n; i++)
        if (p->outer[i])
            return true;
    return false;
}

/* Clips by all neighbours, and by their mirror images for a symmetric cell; returns how many share
 * the place. */
static int clip_all(const struct places *p, size_t i, bool symmetric, struct polygon *cell)
{
    double d[2];
    int sharing = 1;
    struct walk w = walk_from(p, i);
    while (walk_on(&w, 2 * radius(cell), d)) {
        const double length = hypot(d[0], d[1]);
        sharing += length <= p->same;
        if (length <= p->same || length >= 2 * radius(cell))
            continue;
        clip(cell, d, 1);
        if (symmetric)
            clip(cell, d, -1);
    }
    return sharing;
}

/* m^2; 0: it has no neighbours. */
static double cell_area(const struct places *p, size_t i)
{
    const double far = 8 * p->side;
    struct polygon even = {
        4, {{-far, -far}, {far, -far}, {far, far}, {-far, far}}, {true, true, true, true}};
    const int sharing = clip_all(p, i, true, &even);
    if (is_open(&even)) { /* alone or on a line */
        const double d = nearest(p, i);
        return isfinite(d) ? d * d / sharing : 0;
    }
    struct polygon cell = even;
    for (int c = 0; c < cell.n; c++) {
        cell.at[c][0] *= 2.5;
        cell.at[c][1] *= 2.5;
        cell.outer[c] = true;
    }
    clip_all(p, i, false, &cell);
    return area_of(is_open(&cell) ? &even : &cell) / sharing;
}

/* ---- shots ------------------------------------------------------------------------------------*/

/* Of the finite positive numbers; INFINITY if those are fewer than half. */
static double median(double *x, size_t n)
{
    size_t finite = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i]) && x[i] > 0)
            x[finite++] = x[i];
    sort_numbers(x, finite);
    return 2 * finite >= n && n ? x[finite / 2] : INFINITY;
}

static int by_place(const void *a, const void *b, void *arg)
{
    const struct segy_trace *all = arg, *x = &all[*(const uint32_t *)a],
                            *y = &all[*(const uint32_t *)b];
    const double d[] = {x->shot - y->shot, x->shot ? 0 : x->sx - y->sx, x->shot ? 0 : x->sy - y->sy,
                        x->gx - y->gx, x->gy - y->gy};
    for (int i = 0; i < 5; i++)
        if (d[i] != 0)
            return d[i] > 0 ? 1 : -1;
    return 0;
}

struct work {
    const struct segy_trace *trace;
    uint32_t *by;     /* [n] traces by source, then by receiver */
    double (*at)[2];  /* [n] places of a shot's receivers, or of sources */
    double *distance; /* [n] to the nearest, m */
    double *area;     /* [n] */
    bool lengths;     /* instead of areas */
};

static bool same_shot(const struct work *w, size_t a, size_t b)
{
    const struct segy_trace *x = &w->trace[w->by[a]], *y = &w->trace[w->by[b]];
    return x->shot == y->shot && (x->shot || (x->sx == y->sx && x->sy == y->sy));
}

/* For a shot's receivers, which are sorted by x. */
static void measure_lengths(struct work *w, size_t begin, size_t end)
{
    for (size_t i = begin, next; i < end; i = next) {
        const double x = w->trace[w->by[i]].gx;
        for (next = i + 1; next < end && w->trace[w->by[next]].gx - x < 0.01; next++)
            continue;
        const double left = i > begin ? x - w->trace[w->by[i - 1]].gx : 0;
        const double right = next < end ? w->trace[w->by[next]].gx - x : 0;
        const double length = left > 0 && right > 0 ? 0.5 * (left + right) : fmax(left, right);
        for (size_t k = i; k < next; k++)
            w->area[k] = length / (double)(next - i);
    }
}

/* Traces begin .. end-1 have one source. */
static enum ek_status measure_shot(struct work *w, size_t begin, size_t end)
{
    struct places p;
    for (size_t i = begin; i < end; i++) {
        w->at[i - begin][0] = w->trace[w->by[i]].gx;
        w->at[i - begin][1] = w->trace[w->by[i]].gy;
    }
    TRY(places_open(&p, end - begin, w->at));
    for (size_t i = begin; i < end; i++) {
        w->distance[i] = nearest(&p, i - begin);
        if (w->area && !w->lengths)
            w->area[i] = cell_area(&p, i - begin);
    }
    if (w->lengths)
        measure_lengths(w, begin, end);
    places_close(&p);
    return EK_OK;
}

/* Areas relative to the median; those that differ by rounding only become 1. */
static enum ek_status share_out(const struct work *w, const struct segy *segy, size_t n,
                                struct geometry *g)
{
    g->share = malloc(segy->n * sizeof *g->share);
    if (!g->share)
        FAIL(EK_UNAVAILABLE, "out of memory for the areas of %zu traces", segy->n);
    for (size_t i = 0; i < n; i++)
        g->share[w->by[i]] = (float)w->area[i];
    g->area = median(w->area, n);
    g->area = isfinite(g->area) ? g->area : 0;
    for (size_t i = 0; i < n; i++) {
        float *share = &g->share[w->by[i]];
        *share = *share > 0 ? *share / (float)g->area : 1;
        *share = fabsf(*share - 1) < 1e-3F ? 1 : *share;
    }
    return EK_OK;
}

static enum ek_status measure_shots(struct work *w, size_t n, struct geometry *g)
{
    for (size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && same_shot(w, begin, end); end++)
            g->repeated += by_place(&w->by[end - 1], &w->by[end], (void *)w->trace) == 0;
        TRY(measure_shot(w, begin, end));
        g->shots++;
    }
    g->spacing[1] = median(w->distance, n);
    return EK_OK;
}

static enum ek_status measure_sources(struct work *w, size_t n, struct geometry *g)
{
    struct places p;
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !same_shot(w, i - 1, i)) {
            w->at[m][0] = w->trace[w->by[i]].sx;
            w->at[m++][1] = w->trace[w->by[i]].sy;
        }
    TRY(places_open(&p, m, w->at));
    for (size_t i = 0; i < m; i++)
        w->distance[i] = nearest(&p, i);
    g->spacing[0] = median(w->distance, m);
    places_close(&p);
    return EK_OK;
}

static void count(const struct work *w, size_t n, struct geometry *g)
{
    g->one_receiver = true;
    for (size_t i = 0; i < n; i++) {
        const struct segy_trace *t = &w->trace[w->by[i]], *first = &w->trace[w->by[0]];
        g->one_receiver = g->one_receiver && t->gx == first->gx && t->gy == first->gy;
        w->distance[i] = t->record;
    }
    sort_numbers(w->distance, n);
    for (size_t i = 0; i < n; i++)
        g->records += i == 0 || w->distance[i] != w->distance[i - 1];
}

static enum ek_status find(struct work *w, const struct segy *segy, size_t n, struct geometry *g)
{
    qsort_r(w->by, n, sizeof *w->by, by_place, segy->trace);
    TRY(measure_shots(w, n, g));
    if (w->area)
        TRY(share_out(w, segy, n, g));
    TRY(measure_sources(w, n, g));
    count(w, n, g);
    return EK_OK;
}

enum ek_status geometry_find(const struct segy *segy, const uint32_t *order, size_t n,
                             enum geometry_share share, struct geometry *g)
{
    OWNED(arena_free) struct arena arena = {0};
    struct work w = {.trace = segy->trace,
                     .by = ARENA_NEW(&arena, n, uint32_t),
                     .at = arena_take(&arena, n, sizeof *w.at),
                     .distance = ARENA_NEW(&arena, n, double),
                     .area = share ? ARENA_NEW(&arena, n, double) : NULL,
                     .lengths = share == GEOMETRY_LENGTH};
    *g = (struct geometry){.share = NULL};
    TRY(arena_check(&arena, "the places of %zu traces", n));
    memcpy(w.by, order, n * sizeof *w.by);
    return find(&w, segy, n, g);
}

void geometry_close(struct geometry *g)
{
    free(g->share);
    g->share = NULL;
}

/* ---- plausibility -----------------------------------------------------------------------------*/

enum ek_status geometry_check(const struct segy *segy, size_t n, const struct geometry *g)
{
    static const char advice[] = "say where they stand (--words sx=…,sy=…,gx=…,gy=…), or accept "
                                 "them as they are with --trust-geometry";
    if (n > 1 && g->shots == 1 && g->one_receiver)
        FAIL(EK_UNVERIFIED, "%s: %zu traces have one source and one receiver; %s", segy->path, n,
             advice);
    if (g->shots == 1 && (g->records > 1 || 2 * g->repeated >= n))
        FAIL(EK_UNVERIFIED,
             "%s: all sources stand at one place, but there are %ld field records and %zu repeated "
             "receivers; %s",
             segy->path, g->records, g->repeated, advice);
    if (10 * segy->odd_offset > segy->offsets)
        FAIL(EK_UNVERIFIED,
             "%s: %ld of %ld offsets (bytes 37-40) disagree with the coordinates; %s", segy->path,
             segy->odd_offset, segy->offsets, advice);
    return EK_OK;
}
