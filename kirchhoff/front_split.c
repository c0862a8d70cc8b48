/* kirchhoff/front_split.c – halving edges: which, where their new rays go, and the triangles that
 * have them. */
#include "kirchhoff/front_internal.h"
#include "src/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The edges to halve, found by their ends: open addressing, at most half full. */
struct edges {
    size_t n, size;
    struct edge {
        int a, b, middle; /* a < b; middle: its new ray, -1 none yet */
        double length;    /* metres; longer edges are halved first */
    } * edge;
    size_t *side, room; /* those found, 3 times the triangle and which of its sides */
};

/* ---- the set ----------------------------------------------------------------------------------*/

static struct edge *find(const struct edges *e, int a, int b)
{
    const int low = a < b ? a : b, high = a < b ? b : a;
    size_t at = ((size_t)low * 0x9e3779b97f4a7c15u + (size_t)high * 0xc2b2ae3d27d4eb4fu) >> 20;
    for (at &= e->size - 1; e->edge[at].b; at = (at + 1) & (e->size - 1))
        if (e->edge[at].a == low && e->edge[at].b == high)
            break;
    return &e->edge[at]; /* b = 0: not in the set; 0 is never the higher end */
}

static void close_edges(struct edges *e)
{
    free(e->edge);
    free(e->side);
}

static bool make_set(struct edges *e, size_t edges)
{
    e->n = 0;
    e->size = 64;
    while (e->size < 2 * edges)
        e->size *= 2;
    e->edge = calloc(e->size, sizeof *e->edge);
    return e->edge;
}

static void insert(struct edges *e, int a, int b, double length)
{
    struct edge *at = find(e, a, b);
    if (at->b)
        return;
    *at = (struct edge){a < b ? a : b, a < b ? b : a, -1, length};
    e->n++;
}

/* ---- which edges ------------------------------------------------------------------------------*/

/* Square of the distance of two rays in three of the rows, m^2. */
static double apart(const double *rows, size_t room, int a, int b)
{
    double sum = 0;
    for (size_t r = 0; r < 3; r++) {
        const double d = rows[r * room + (size_t)a] - rows[r * room + (size_t)b];
        sum += d * d;
    }
    return sum;
}

/* Square of the chord between the directions of two rays. */
static double turned(const struct front *f, int a, int b)
{
    const double *p = f->state + 3 * f->room;
    double aa = 0, bb = 0, ab = 0;
    for (size_t r = 0; r < 3; r++) {
        const double x = p[r * f->room + (size_t)a], y = p[r * f->room + (size_t)b];
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    return 2 - 2 * ab / sqrt(aa * bb);
}

enum edge_state { SHORT, LONG, TORN };

/* A long edge is torn where its rays, as near as they left the source, have no ray between them
 * that would help: beside a jump of v that some rays pass and others do not. */
static enum edge_state edge_state(const struct front *f, const struct front_limits *l, int a, int b)
{
    const double chord = 2 * sin(fmin(l->angle, M_PI) / 2);
    const double length = apart(f->state, f->room, a, b);
    if (length < l->least * l->least)
        return SHORT;
    if (length <= l->edge * l->edge && turned(f, a, b) <= chord * chord)
        return SHORT;
    return length > l->tear * l->tear * apart(f->takeoff, f->room, a, b) ? TORN : LONG;
}

bool front_torn(const struct front *f, const struct front_limits *l, const int t[3])
{
    return edge_state(f, l, t[0], t[1]) == TORN || edge_state(f, l, t[1], t[2]) == TORN ||
           edge_state(f, l, t[2], t[0]) == TORN;
}

/* The long edges of all triangles, or all where there are no limits. */
static enum ek_status mark(const struct front *f, const struct front_limits *l, struct edges *e)
{
    size_t sides = 0;
    for (size_t s = 0; s < 3 * f->ntriangles; s++) {
        const int *t = f->triangle[s / 3];
        if (l && edge_state(f, l, t[s % 3], t[(s + 1) % 3]) != LONG)
            continue;
        TRY(arena_grow(&e->side, &e->room, sides, sizeof *e->side, "a front's edges"));
        e->side[sides++] = s;
    }
    free(e->edge);
    if (!make_set(e, sides))
        FAIL(EK_UNAVAILABLE, "out of memory for a front's edges");
    for (size_t i = 0; i < sides; i++) {
        const int *t = f->triangle[e->side[i] / 3], side = (int)(e->side[i] % 3);
        const int a = t[side], b = t[(side + 1) % 3];
        insert(e, a, b, apart(f->state, f->room, a, b));
    }
    return EK_OK;
}

/* ---- halving ----------------------------------------------------------------------------------*/

static enum ek_status add_sliver(struct front_slivers *s, const int corner[4])
{
    TRY(arena_grow(&s->corner, &s->room, s->n, sizeof *s->corner, "a front's new triangles"));
    memcpy(s->corner[s->n++], corner, sizeof *s->corner);
    return EK_OK;
}

/* The ray in the middle. It begins with the caustics of the end that has passed fewer: measuring it
 * adds what it has passed beyond those. */
static int middle_of(struct front *f, const double source[3], struct edge *e)
{
    double d[3];
    if (e->middle >= 0)
        return e->middle;
    for (size_t a = 0; a < 3; a++)
        d[a] = f->takeoff[a * f->room + (size_t)e->a] + f->takeoff[a * f->room + (size_t)e->b];
    e->middle = (int)f->n;
    front_ray(f, source, d);
    const int end = f->kmah[1][e->b] < f->kmah[1][e->a] ? e->b : e->a;
    f->kmah[1][e->middle] = f->kmah[1][end];
    f->side[e->middle] = f->side[end];
    return e->middle;
}

/* Triangle number t is replaced by its parts: halved across its longest marked edge, then again
 * each half. At most three edges are marked, so that at most three parts are added. */
static enum ek_status halve(struct front *f, const double source[3], const struct edges *e,
                            size_t t, struct front_slivers *slivers)
{
    struct edge *longest = NULL;
    int side = 0;
    for (int c = 0; c < 3; c++) {
        struct edge *at = find(e, f->triangle[t][c], f->triangle[t][(c + 1) % 3]);
        if (at->b && (!longest || at->length > longest->length)) {
            longest = at;
            side = c;
        }
    }
    if (!longest)
        return EK_OK;
    const int a = f->triangle[t][side], b = f->triangle[t][(side + 1) % 3];
    const int c = f->triangle[t][(side + 2) % 3], m = middle_of(f, source, longest);
    const size_t other = f->ntriangles++;
    memcpy(f->triangle[t], (int[3]){a, m, c}, sizeof *f->triangle);
    memcpy(f->triangle[other], (int[3]){m, b, c}, sizeof *f->triangle);
    if (slivers)
        TRY(add_sliver(slivers, (int[4]){a, b, c, m}));
    TRY(halve(f, source, e, t, slivers));
    return halve(f, source, e, other, slivers);
}

static enum ek_status halve_marked(struct front *f, const double source[3], const struct edges *e,
                                   struct front_slivers *slivers)
{
    const size_t triangles = f->ntriangles;
    TRY(front_room(f, f->n + e->n, triangles + 3 * triangles));
    for (size_t t = 0; t < triangles; t++)
        TRY(halve(f, source, e, t, slivers));
    return EK_OK;
}

enum ek_status front_halve_all(struct front *f, const double source[3])
{
    struct edges e = {.n = 0};
    /* All corners are at the source: their directions are their places. */
    double *const state = f->state;
    f->state = f->takeoff;
    enum ek_status st = mark(f, NULL, &e);
    f->state = state;
    THEN(st, halve_marked(f, source, &e, NULL));
    close_edges(&e);
    return st;
}

enum ek_status front_split(struct front *f, const double source[3], struct front_limits *limits,
                           struct front_slivers *slivers, size_t *added, int *raised)
{
    const size_t before = f->n;
    struct edges e = {.n = 0};
    enum ek_status st = mark(f, limits, &e);
    while (!st && f->n + e.n > limits->most && e.n) {
        limits->edge *= 1.25;
        limits->angle *= 1.25;
        ++*raised;
        st = mark(f, limits, &e);
    }
    if (!st && e.n)
        st = halve_marked(f, source, &e, slivers);
    close_edges(&e);
    *added = f->n - before;
    return st;
}
