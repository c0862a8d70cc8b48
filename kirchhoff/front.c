/* kirchhoff/front.c – the mesh of triangles: made, refined, measured, thinned out. */
#include "kirchhoff/front.h"
#include "kirchhoff/ray.h"

/* ---- memory -----------------------------------------------------------------------------------*/

/* Copies each of `rows` rows of numbers to the beginning of a longer one. */
static bool grow_rows(double **at, size_t rows, size_t n, size_t from, size_t to)
{
    double *made = aligned_alloc(64, rows * to * sizeof *made);
    if (!made)
        return false;
    for (size_t r = 0; r < rows && *at; r++)
        memcpy(made + r * to, *at + r * from, n * sizeof *made);
    free(*at);
    *at = made;
    return true;
}

static bool grow_bytes(uint8_t **at, size_t room)
{
    uint8_t *made = realloc(*at, room);
    if (made)
        *at = made;
    return made;
}

static bool grow_triangles(struct front *f, size_t room)
{
    int(*made)[3] = realloc(f->triangle, room * sizeof *made);
    if (!made)
        return false;
    f->triangle = made;
    f->triangle_room = room;
    return true;
}

/* Makes room for this many rays and triangles. EK_UNAVAILABLE: memory. */
static enum ek_status front_room(struct front *f, size_t rays, size_t triangles)
{
    const size_t was = f->room, room = (rays + rays / 2 + RAY_LANES + 63) / 64 * 64;
    uint8_t **const bytes[] = {&f->kmah[0], &f->kmah[1], &f->side};
    bool good = true;
    if (rays + RAY_LANES > was) {
        const struct {
            double **at;
            size_t rows;
        } part[] = {{&f->state, RAY_ROWS}, {&f->was, RAY_ROWS}, {&f->takeoff, 3},
                    {&f->spread[0], 1},    {&f->spread[1], 1},  {&f->scratch[0], 1},
                    {&f->scratch[1], 1}};
        for (size_t i = 0; i < sizeof part / sizeof *part; i++)
            good = good && grow_rows(part[i].at, part[i].rows, f->n, was, room);
        for (int i = 0; i < 3; i++)
            good = good && grow_bytes(bytes[i], room);
        f->room = good ? room : was;
    }
    if (good && triangles > f->triangle_room)
        good = grow_triangles(f, triangles + triangles / 2);
    if (!good)
        FAIL(EK_UNAVAILABLE, "out of memory for a front of %zu rays", rays);
    return EK_OK;
}

void front_close(struct front *f)
{
    double *const rows[] = {f->state,     f->was,        f->takeoff,   f->spread[0],
                            f->spread[1], f->scratch[0], f->scratch[1]};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        free(rows[i]);
    free(f->kmah[0]);
    free(f->kmah[1]);
    free(f->side);
    free(f->triangle);
    memset(f, 0, sizeof *f);
}

/* ---- the sphere -------------------------------------------------------------------------------*/

/* Adds a ray at the source; the caller has made room. */
static void front_ray(struct front *f, const double source[3], const double direction[3])
{
    const double length = sqrt(direction[0] * direction[0] + direction[1] * direction[1] +
                               direction[2] * direction[2]);
    const size_t i = f->n++;
    for (size_t a = 0; a < 3; a++) {
        f->takeoff[a * f->room + i] = direction[a] / length;
        f->state[a * f->room + i] = source[a];
        f->state[(3 + a) * f->room + i] = direction[a] / length / f->source_speed;
    }
    f->spread[0][i] = f->spread[1][i] = 0;
    f->kmah[0][i] = f->kmah[1][i] = 0;
    f->side[i] = 0;
}

/* ---- edges ------------------------------------------------------------------------------------*/
/* Hash set of the edges to halve, by their ends: open addressing, at most half full. */
struct edges {
    size_t n, size;
    struct edge {
        int a, b, middle; /* a < b; middle: its new ray, -1: none yet */
        double length;    /* m^2, the square; longer edges are halved first */
    } * edge;
    size_t *side, room; /* [room] 3 * triangle + its side, of those found */
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

/* Squared distance between two rays in the first three rows. */
static double apart(const double *rows, size_t room, int a, int b)
{
    double sum = 0;
    for (size_t r = 0; r < 3; r++) {
        const double d = rows[r * room + (size_t)a] - rows[r * room + (size_t)b];
        sum += d * d;
    }
    return sum;
}

/* Squared chord between the directions of two rays. */
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

/* A long edge is torn if its rays left the source so close together that no ray between them would
 * help: beside a jump of v that some rays pass and others do not. */
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

/* Collects the long edges of all triangles; without limits, all edges. */
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

/* The ray in the middle of an edge. It begins with the caustics of the end that has passed fewer;
 * measuring adds those it has passed beyond them. */
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

/* Replaces triangle t by its parts: halved across its longest marked edge, then each half again. At
 * most three edges are marked, so at most three parts are added. */
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

/* Halves all edges of a front at the source. EK_UNAVAILABLE: memory. */
static enum ek_status front_halve_all(struct front *f, const double source[3])
{
    struct edges e = {.n = 0};
    /* All corners are still at one place: lengths are those between directions. */
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

/* a.(b x c) of three rays' take-off directions. */
static double triple_product(const struct front *f, int a, int b, int c)
{
    const double *x = f->takeoff, *y = x + f->room, *z = y + f->room;
    return x[a] * (y[b] * z[c] - z[b] * y[c]) + y[a] * (z[b] * x[c] - x[b] * z[c]) +
           z[a] * (x[b] * y[c] - y[b] * x[c]);
}

static bool neighbours(const struct front *f, int a, int b)
{
    double cosine = 0;
    for (size_t i = 0; i < 3; i++)
        cosine += f->takeoff[i * f->room + (size_t)a] * f->takeoff[i * f->room + (size_t)b];
    return cosine > 0.4; /* 0.447 between adjacent corners, else -0.447 or -1 */
}

/* Twelve corners at (0, ±1, ±g) and its cyclic permutations, g the golden ratio; a face wherever
 * three are neighbours. */
static void icosahedron(struct front *f, const double source[3])
{
    const double g = (1 + sqrt(5)) / 2;
    for (int axis = 0; axis < 3; axis++)
        for (int corner = 0; corner < 4; corner++) {
            double d[3];
            d[axis] = 0;
            d[(axis + 1) % 3] = corner & 1 ? -1 : 1;
            d[(axis + 2) % 3] = corner & 2 ? -g : g;
            front_ray(f, source, d);
        }
    for (int a = 0; a < 12; a++)
        for (int b = a + 1; b < 12; b++)
            for (int c = b + 1; c < 12; c++) {
                if (!neighbours(f, a, b) || !neighbours(f, b, c) || !neighbours(f, a, c))
                    continue;
                const bool outward = triple_product(f, a, b, c) > 0;
                memcpy(f->triangle[f->ntriangles++], (int[3]){a, outward ? b : c, outward ? c : b},
                       sizeof *f->triangle);
            }
}

enum ek_status front_open(struct front *f, const double source[3], double speed, int level)
{
    memset(f, 0, sizeof *f);
    TRY(front_room(f, 12, 20));
    f->source_speed = speed;
    icosahedron(f, source);
    for (int i = 0; i < level; i++)
        TRY(front_halve_all(f, source));
    return EK_OK;
}

/* ---- areas ------------------------------------------------------------------------------------*/

static void corner_of(const double *rows, size_t room, size_t i, double x[3])
{
    for (size_t a = 0; a < 3; a++)
        x[a] = rows[a * room + i];
}

/* Twice the area vector of a triangle. */
static void area_of(const double *rows, size_t room, const int t[3], double area[3])
{
    double a[3], b[3], c[3];
    corner_of(rows, room, (size_t)t[0], a);
    corner_of(rows, room, (size_t)t[1], b);
    corner_of(rows, room, (size_t)t[2], c);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        area[i] = (b[j] - a[j]) * (c[k] - a[k]) - (b[k] - a[k]) * (c[j] - a[j]);
    }
}

/* Sums for each ray the areas of its triangles, on the front and on the unit sphere, as seen along
 * the ray. */
static void add_areas(struct front *f)
{
    const size_t room = f->room;
    double *front = f->scratch[0], *sphere = f->scratch[1];
    memset(front, 0, f->n * sizeof *front);
    memset(sphere, 0, f->n * sizeof *sphere);
    for (size_t t = 0; t < f->ntriangles; t++) {
        double area[3], solid[3];
        area_of(f->state, room, f->triangle[t], area);
        area_of(f->takeoff, room, f->triangle[t], solid);
        for (int c = 0; c < 3; c++) {
            const size_t i = (size_t)f->triangle[t][c];
            for (size_t a = 0; a < 3; a++) {
                front[i] += area[a] * f->state[(3 + a) * room + i];
                sphere[i] += solid[a] * f->takeoff[a * room + i];
            }
        }
    }
}

/* Areas below this share of a sphere's of the same radius are noise and may have either sign. */
static const double flat = 1e-4;

void front_measure(struct front *f, double time)
{
    const double *p = f->state + 3 * f->room;
    const double radius = time * f->source_speed;
    add_areas(f);
    for (size_t i = 0; i < f->n; i++) {
        const double slowness = sqrt(p[i] * p[i] + p[f->room + i] * p[f->room + i] +
                                     p[2 * f->room + i] * p[2 * f->room + i]);
        const double jacobian = f->scratch[0][i] / slowness / f->scratch[1][i];
        f->spread[1][i] = sqrt(f->source_speed * slowness * fabs(jacobian));
        if ((f->side[i] ? -jacobian : jacobian) < -flat * radius * radius) {
            f->side[i] = !f->side[i];
            f->kmah[1][i] = (uint8_t)(f->kmah[1][i] + (f->kmah[1][i] < 254));
        }
    }
}

void front_remember(struct front *f)
{
    for (size_t r = 0; r < RAY_ROWS; r++)
        memcpy(f->was + r * f->room, f->state + r * f->room, f->n * sizeof *f->was);
    memcpy(f->spread[0], f->spread[1], f->n * sizeof *f->spread[0]);
    memcpy(f->kmah[0], f->kmah[1], f->n);
}

/* ---- thinning out -----------------------------------------------------------------------------*/

static void move_ray(struct front *f, size_t to, size_t from)
{
    for (size_t r = 0; r < RAY_ROWS; r++)
        f->state[r * f->room + to] = f->state[r * f->room + from];
    for (size_t a = 0; a < 3; a++)
        f->takeoff[a * f->room + to] = f->takeoff[a * f->room + from];
    f->spread[1][to] = f->spread[1][from];
    f->kmah[1][to] = f->kmah[1][from];
    f->side[to] = f->side[from];
}

void front_drop(struct front *f, const bool *gone)
{
    int *number = (int *)f->scratch[0]; /* -1: not needed; else the new number */
    size_t kept = 0, n = 0;
    memset(number, -1, f->n * sizeof *number);
    for (size_t t = 0; t < f->ntriangles; t++) {
        if (gone[t])
            continue;
        for (int c = 0; c < 3; c++)
            number[f->triangle[t][c]] = 0;
        memmove(f->triangle[kept++], f->triangle[t], sizeof *f->triangle);
    }
    f->ntriangles = kept;
    for (size_t i = 0; i < f->n; i++) {
        if (number[i] < 0)
            continue;
        if (n < i)
            move_ray(f, n, i);
        number[i] = (int)n++;
    }
    f->n = n;
    for (size_t t = 0; t < kept; t++)
        for (int c = 0; c < 3; c++)
            f->triangle[t][c] = number[f->triangle[t][c]];
}
