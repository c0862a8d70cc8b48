/* kirchhoff/geometry.c – neighbours and cells of sources and receivers. */
#include "kirchhoff/geometry.h"
#include "src/arena.h"
#include "src/sort.h"
#include "src/owned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct place {
    double x, y, along; /* m */
    size_t trace;
};

/* Places whose neighbours are wanted. */
struct places {
    size_t n;
    struct place *at;  /* [n] sorted */
    double side, same; /* m: usual distance; closer ones are one place */
};

/* ---- neighbours -------------------------------------------------------------------------------*/

/* A direction (0.5 rad) that survey lines do not cross at right angles: few places of a line or of
 * a grid lie at one distance along it. */
static const double ALONG[2] = {0.8775825618903728, 0.479425538604203};

SORT_BY(by_along, struct place, SORT_UP(along))

static struct places sort_places(struct place *at, size_t n)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < n; i++) {
        low[0] = fmin(low[0], at[i].x);
        low[1] = fmin(low[1], at[i].y);
        high[0] = fmax(high[0], at[i].x);
        high[1] = fmax(high[1], at[i].y);
        at[i].along = ALONG[0] * at[i].x + ALONG[1] * at[i].y;
    }
    const double x = high[0] - low[0], y = high[1] - low[1], all = (double)n;
    const double side = fmax(fmax(sqrt(x * y / all), fmax(x, y) / all), 0.01);
    qsort(at, n, sizeof *at, by_along);
    return (struct places){n, at, side, fmax(0.05 * side, 0.01)};
}

/* Walks over the neighbours of a place, by their distance along that direction. */
struct walk {
    const struct places *p;
    size_t i, before, after; /* what lies before and after has not been visited */
};

static struct walk walk_from(const struct places *p, size_t i)
{
    return (struct walk){p, i, i, i + 1};
}

/* Finds the vector d to another place, which may be the same; false: none is left within `reach`.
 */
static bool walk_on(struct walk *w, double reach, double d[2])
{
    const struct place *at = w->p->at, *here = &at[w->i];
    const double back = w->before ? here->along - at[w->before - 1].along : INFINITY;
    const double ahead = w->after < w->p->n ? at[w->after].along - here->along : INFINITY;
    const double next = fmin(back, ahead);
    if (!(next <= reach) || isinf(next))
        return false;
    const struct place *other = back < ahead ? &at[--w->before] : &at[w->after++];
    d[0] = other->x - here->x;
    d[1] = other->y - here->y;
    return true;
}

static double nearest(const struct places *p, size_t i)
{
    double least = INFINITY, d[2];
    struct walk w = walk_from(p, i);
    while (walk_on(&w, least, d)) {
        const double length = fabs(d[1]) < least ? hypot(d[0], d[1]) : least;
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
    struct place *at; /* [n] a shot's receivers, or sources */
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
static void measure_shot(struct work *w, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        w->at[i - begin] =
            (struct place){.x = w->trace[w->by[i]].gx, .y = w->trace[w->by[i]].gy, .trace = i};
    const struct places p = sort_places(w->at, end - begin);
    for (size_t i = 0; i < p.n; i++) {
        w->distance[p.at[i].trace] = nearest(&p, i);
        if (w->area && !w->lengths)
            w->area[p.at[i].trace] = cell_area(&p, i);
    }
    if (w->lengths)
        measure_lengths(w, begin, end);
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

static void measure_shots(struct work *w, size_t n, struct geometry *g)
{
    for (size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && same_shot(w, begin, end); end++)
            g->repeated += by_place(&w->by[end - 1], &w->by[end], (void *)w->trace) == 0;
        measure_shot(w, begin, end);
        g->shots++;
    }
    g->spacing[1] = median(w->distance, n);
}

static void measure_sources(struct work *w, size_t n, struct geometry *g)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !same_shot(w, i - 1, i))
            w->at[m++] =
                (struct place){.x = w->trace[w->by[i]].sx, .y = w->trace[w->by[i]].sy, .trace = i};
    const struct places p = sort_places(w->at, m);
    for (size_t i = 0; i < m; i++)
        w->distance[i] = nearest(&p, i);
    g->spacing[0] = median(w->distance, m);
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
    measure_shots(w, n, g);
    if (w->area)
        TRY(share_out(w, segy, n, g));
    measure_sources(w, n, g);
    count(w, n, g);
    return EK_OK;
}

enum ek_status geometry_find(const struct segy *segy, const uint32_t *order, size_t n,
                             enum geometry_share share, struct geometry *g)
{
    OWNED(arena_free) struct arena arena = {0};
    struct work w = {.trace = segy->trace,
                     .by = ARENA_NEW(&arena, n, uint32_t),
                     .at = ARENA_NEW(&arena, n, struct place),
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
