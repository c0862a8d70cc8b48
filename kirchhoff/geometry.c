/* kirchhoff/geometry.c – neighbours and cells of sources and receivers. */
#include "kirchhoff/geometry.h"
#include "src/sort.h"

struct place {
    double x, y; /* m */
    uint64_t key;
    size_t trace;
};

struct box {
    double low[2], high[2]; /* m; empty: low > high */
    size_t n;               /* places within */
};

enum { LEAF = 8 };

/* Places whose neighbours are wanted, along a Morton curve, and a tree: box[k] spans box[2 k] and
 * box[2 k + 1]; the last `leaves` boxes span LEAF places each. */
struct places {
    size_t n, leaves;
    struct place *at;  /* [n] */
    struct box *box;   /* [2 * leaves] */
    double side, same; /* m: usual distance; closer ones are one place */
};

/* ---- a tree of places -------------------------------------------------------------------------*/

static struct box around(const struct box *a, const struct box *b)
{
    return (struct box){{fmin(a->low[0], b->low[0]), fmin(a->low[1], b->low[1])},
                        {fmax(a->high[0], b->high[0]), fmax(a->high[1], b->high[1])},
                        a->n + b->n};
}

/* Of places begin .. end-1, if there are so many. */
static struct box box_of(const struct place *at, size_t n, size_t begin, size_t end)
{
    struct box all = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}, 0};
    for (size_t i = begin; i < end && i < n; i++)
        all = around(&all, &(struct box){{at[i].x, at[i].y}, {at[i].x, at[i].y}, 1});
    return all;
}

static size_t leaves_of(size_t n)
{
    size_t leaves = 1;
    while (leaves * LEAF < n)
        leaves *= 2;
    return leaves;
}

uint64_t geometry_spread(uint32_t x, int by)
{
    uint64_t out = 0;
    for (int i = 0; i < 64 / by; i++)
        out |= (uint64_t)(x >> i & 1) << by * i;
    return out;
}

SORT_BY(by_key, struct place, SORT_UP(key))

static struct places sort_places(struct place *at, struct box *box, size_t n)
{
    const struct box all = box_of(at, n, 0, n);
    const double x = all.high[0] - all.low[0], y = all.high[1] - all.low[1];
    const double side = fmax(fmax(sqrt(x * y / (double)n), fmax(x, y) / (double)n), 0.01);
    const double scale = 0xffffffff / fmax(fmax(x, y), 0.01);
    const size_t leaves = leaves_of(n);
    for (size_t i = 0; i < n; i++)
        at[i].key = geometry_spread((uint32_t)(scale * (at[i].x - all.low[0])), 2) << 1 |
                    geometry_spread((uint32_t)(scale * (at[i].y - all.low[1])), 2);
    qsort(at, n, sizeof *at, by_key);
    for (size_t i = 0; i < leaves; i++)
        box[leaves + i] = box_of(at, n, i * LEAF, (i + 1) * LEAF);
    for (size_t k = leaves; --k > 0;)
        box[k] = around(&box[2 * k], &box[2 * k + 1]);
    return (struct places){n, leaves, at, box, side, fmax(0.05 * side, 0.01)};
}

/* ---- neighbours -------------------------------------------------------------------------------*/

enum { CORNERS = 64 };

/* A cell around the origin. Only places nearer to a corner than the origin is can clip it. */
struct polygon {
    int n;
    double at[CORNERS][3]; /* x, y, square of the distance */
    bool outer[CORNERS];   /* the edge that begins here is one of the first, not clipped */
};

/* A search for what is near a place. */
struct search {
    const struct places *p;
    double x, y;
    enum { NEAREST, CELL, EVEN } what; /* EVEN: a cell symmetric about the place */
    int sharing;                       /* how many share the place, itself included */
    double least;                      /* NEAREST: m */
    struct polygon cell;               /* NEAREST: one corner, as far as the nearest so far */
};

/* Keeps what lies nearer to the origin than to sign * d. A polygon that is full of corners loses
 * none alone: that changes its area little. */
static void clip(struct polygon *p, const double d[2], double sign)
{
    const double limit = 0.5 * (d[0] * d[0] + d[1] * d[1]);
    double beyond[CORNERS];
    int lost = 0;
    for (int i = 0; i < p->n; i++) {
        beyond[i] = sign * (p->at[i][0] * d[0] + p->at[i][1] * d[1]) - limit;
        lost += beyond[i] > 0;
    }
    if (!lost || (lost == 1 && p->n + 4 > CORNERS))
        return;
    const struct polygon was = *p;
    p->n = 0;
    for (int i = 0; i < was.n && p->n + 2 < CORNERS; i++) {
        const int next = (i + 1) % was.n;
        const double *a = was.at[i], *b = was.at[next], sa = beyond[i], sb = beyond[next];
        if (sa <= 0) {
            memcpy(p->at[p->n], a, sizeof p->at[0]);
            p->outer[p->n++] = was.outer[i];
        }
        if ((sa < 0 && sb > 0) || (sa > 0 && sb < 0)) {
            const double f = sa / (sa - sb);
            const double x = a[0] + f * (b[0] - a[0]), y = a[1] + f * (b[1] - a[1]);
            memcpy(p->at[p->n], (double[]){x, y, x * x + y * y}, sizeof p->at[0]);
            p->outer[p->n++] = sa > 0 && was.outer[i];
        }
    }
}

static void see(struct search *s, const struct place *other)
{
    const double d[2] = {other->x - s->x, other->y - s->y}, length = hypot(d[0], d[1]);
    if (length <= s->p->same) {
        s->sharing++;
    } else if (s->what != NEAREST) {
        clip(&s->cell, d, 1);
        if (s->what == EVEN)
            clip(&s->cell, d, -1);
    } else if (length < s->least) {
        s->least = length;
        s->cell.at[0][2] = length * length;
    }
}

/* Square of the distance between a place and the nearest or the farthest point of a box. */
static double to_box(const struct box *b, double x, double y, bool farthest)
{
    const double low[2] = {b->low[0] - x, b->low[1] - y},
                 high[2] = {x - b->high[0], y - b->high[1]};
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        const double d = farthest ? fmin(low[i], high[i]) : fmax(fmax(low[i], high[i]), 0);
        sum += d * d;
    }
    return sum;
}

/* Whether places of a box may matter. Those that clip by rounding only, such as many at one place,
 * do not. */
static bool matters(const struct search *s, const struct box *b)
{
    bool yes = to_box(b, s->x, s->y, false) <= s->p->same * s->p->same;
    for (int i = 0; i < s->cell.n && !yes; i++) {
        const double *c = s->cell.at[i];
        yes = to_box(b, s->x + c[0], s->y + c[1], false) < (1 - 1e-12) * c[2];
    }
    return yes;
}

static void look_into(struct search *s, size_t k)
{
    const struct places *p = s->p;
    const struct box *b = &p->box[k];
    if (!matters(s, b))
        return;
    if (to_box(b, s->x, s->y, true) <= p->same * p->same) {
        s->sharing += (int)b->n;
    } else if (k < p->leaves) {
        look_into(s, 2 * k);
        look_into(s, 2 * k + 1);
    } else {
        for (size_t i = 0; i < b->n; i++)
            see(s, &p->at[(k - p->leaves) * LEAF + i]);
    }
}

/* Begins with the tree's leaf of place i, so that little else matters then. */
static void look_around(struct search *s, size_t i)
{
    size_t k = s->p->leaves + i / LEAF;
    s->x = s->p->at[i].x;
    s->y = s->p->at[i].y;
    s->sharing = 0;
    look_into(s, k);
    for (; k > 1; k /= 2)
        look_into(s, k ^ 1);
}

static double nearest(const struct places *p, size_t i)
{
    struct search s = {.p = p, .least = INFINITY, .cell = {1, {{0, 0, INFINITY}}, {false}}};
    look_around(&s, i);
    return s.least;
}

/* ---- cells ------------------------------------------------------------------------------------*/

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

/* m^2; 0: it has no neighbours. */
static double cell_area(const struct places *p, size_t i)
{
    const double far = 8 * p->side, square = 2 * far * far;
    struct search s = {
        .p = p,
        .what = EVEN,
        .cell = {
            4,
            {{-far, -far, square}, {far, -far, square}, {far, far, square}, {-far, far, square}},
            {true, true, true, true}}};
    look_around(&s, i);
    if (is_open(&s.cell)) { /* alone or on a line */
        const double d = nearest(p, i);
        return isfinite(d) ? d * d / s.sharing : 0;
    }
    const double even = area_of(&s.cell);
    for (int c = 0; c < s.cell.n; c++) {
        s.cell.at[c][0] *= 2.5;
        s.cell.at[c][1] *= 2.5;
        s.cell.at[c][2] *= 2.5 * 2.5;
        s.cell.outer[c] = true;
    }
    s.what = CELL;
    look_around(&s, i);
    return (is_open(&s.cell) ? even : area_of(&s.cell)) / s.sharing;
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
    struct box *box;  /* [2 * leaves_of(n)] of their tree */
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
    const struct places p = sort_places(w->at, w->box, end - begin);
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
    const struct places p = sort_places(w->at, w->box, m);
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
                     .box = ARENA_NEW(&arena, 2 * leaves_of(n), struct box),
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
