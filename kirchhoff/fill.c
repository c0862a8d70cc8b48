/* kirchhoff/fill.c – fills the nodes of a table from a front. */
#include "kirchhoff/fill.h"
#include "kirchhoff/analytic.h"

static const double slack = 1e-7; /* of weights: nodes on a face belong to both sides */

/* Functions that are linear in a tetrahedron, as f(0) and df/d(i,j,k) in grid steps from its base
 * node: the four weights, then T's linear part, p (s per step) and L. */
enum { TIME = 4, SLOWNESS = 5, SPREAD = 8, LINEARS = 9 };

struct linear {
    double at0, slope[3];
};

/* One number per corner. */
typedef double corners __attribute__((vector_size(32)));
typedef int64_t corners_mask __attribute__((vector_size(32)));

struct tetrahedron {
    int base[3], n[3]; /* box of nodes that may lie inside */
    struct linear of[LINEARS];
    corners weight, by_i, by_j; /* the four weights again, plus slack: at the base, per step */
    corners foot;               /* steps along k to where a weight is 0, per weight */
    corners_mask rising; /* -1: the weight grows with k and bounds k from below; 0: from above */
    int kmah[4];
    const struct fill_way *way;
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* ---- one tetrahedron --------------------------------------------------------------------------*/

/* Corners in grid steps from the base, and the box around them, cut to our rows. */
static bool box_of(const struct fill *f, const struct fill_corner *const c[4], double u[4][3],
                   struct tetrahedron *t)
{
    const struct grid *g = &f->table->grid;
    for (int a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < 4; i++) {
            u[i][a] = (c[i]->x[a] - g->origin[a]) / g->step[a];
            low = smaller(low, u[i][a]);
            high = larger(high, u[i][a]);
        }
        const double first = a == 1 ? f->begin : 0, last = a == 1 ? f->end - 1 : g->n[a] - 1;
        low = larger(ceil(low - slack), first);
        high = smaller(floor(high + slack), last);
        if (!(low <= high))
            return false;
        t->base[a] = (int)low;
        t->n[a] = (int)(high - low) + 1;
        for (int i = 0; i < 4; i++)
            u[i][a] -= low;
    }
    return true;
}

/* The weights of corners 1 to 3 are the rows of the inverse of the edges' matrix; false if the
 * tetrahedron is flat. */
static bool weights_of(const double u[4][3], struct linear w[4])
{
    double e[3][3], normal[3][3];
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < 3; a++)
            e[i][a] = u[i + 1][a] - u[0][a];
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < 3; a++) {
            const double *p = e[(i + 1) % 3], *q = e[(i + 2) % 3];
            normal[i][a] = p[(a + 1) % 3] * q[(a + 2) % 3] - p[(a + 2) % 3] * q[(a + 1) % 3];
        }
    const double volume = e[0][0] * normal[0][0] + e[0][1] * normal[0][1] + e[0][2] * normal[0][2];
    if (!(fabs(volume) > 1e-12))
        return false;
    w[0] = (struct linear){1, {0, 0, 0}};
    for (int i = 1; i < 4; i++) {
        w[i].at0 = 0;
        for (int a = 0; a < 3; a++) {
            w[i].slope[a] = normal[i - 1][a] / volume;
            w[i].at0 -= w[i].slope[a] * u[0][a];
            w[0].slope[a] -= w[i].slope[a];
        }
        w[0].at0 -= w[i].at0;
    }
    return true;
}

/* sum w_i value[i]. */
static struct linear blend(const struct linear w[4], const double value[4])
{
    struct linear f = {value[0], {0, 0, 0}};
    for (int i = 1; i < 4; i++) {
        f.at0 += (value[i] - value[0]) * w[i].at0;
        for (int a = 0; a < 3; a++)
            f.slope[a] += (value[i] - value[0]) * w[i].slope[a];
    }
    return f;
}

/* A weight that does not change along k is treated as changing by next to nothing. */
static const double level = 1e-300;

static void prepare_columns(struct tetrahedron *t)
{
    for (int i = 0; i < 4; i++) {
        const double slope = t->of[i].slope[2];
        t->weight[i] = t->of[i].at0 + slack;
        t->by_i[i] = t->of[i].slope[0];
        t->by_j[i] = t->of[i].slope[1];
        t->foot[i] = -1 / (fabs(slope) < level ? level : slope);
        t->rising[i] = t->foot[i] < 0 ? -1 : 0;
    }
}

static bool prepare(const struct fill *f, const struct fill_corner *const c[4],
                    struct tetrahedron *t)
{
    const struct grid *g = &f->table->grid;
    double u[4][3], value[5][4];
    if (!box_of(f, c, u, t) || !weights_of(u, t->of))
        return false;
    for (int i = 0; i < 4; i++) {
        value[0][i] = c[i]->time;
        for (int a = 0; a < 3; a++) {
            value[1 + a][i] = c[i]->p[a] * g->step[a];
            value[0][i] -= 0.5 * value[1 + a][i] * u[i][a];
        }
        value[4][i] = c[i]->spread;
        t->kmah[i] = c[i]->kmah;
    }
    for (int v = 0; v < 5; v++)
        t->of[TIME + v] = blend(t->of, value[v]);
    prepare_columns(t);
    return true;
}

/* Finds the nodes of a column that lie inside, where no weight is negative; false: none. */
static bool inside(const struct tetrahedron *t, int i, int j, int *first, int *last)
{
    const corners zero = (t->weight + i * t->by_i + j * t->by_j) * t->foot;
    const corners least = (corners)(((corners_mask)zero & t->rising) |
                                    ((corners_mask)((corners){0} - 1) & ~t->rising));
    const corners most = (corners)(((corners_mask)zero & ~t->rising) |
                                   ((corners_mask)((corners){0} + t->n[2]) & t->rising));
    const double low = larger(larger(larger(least[0], least[1]), larger(least[2], least[3])), 0);
    const double high =
        smaller(smaller(smaller(most[0], most[1]), smaller(most[2], most[3])), t->n[2] - 1);
    if (!(low <= high)) /* both may be far beyond an int */
        return false;
    *first = (int)ceil(low);
    *last = (int)high;
    return true;
}

static int nearest(const struct tetrahedron *t, const double at0[LINEARS], int k)
{
    int best = 0;
    double most = -1;
    for (int i = 0; i < 4; i++) {
        const double w = at0[i] + k * t->of[i].slope[2];
        best = w > most ? i : best;
        most = larger(w, most);
    }
    return t->kmah[best];
}

/* Weights of the triangle's corners at a place x, in grid steps, when they have gone the share
 * `gone` of their way: at the foot of x on the triangle's plane. */
static void place_on(const struct fill_way *w, double gone, const double x[3], double weight[3])
{
    double corner[3][3], bb = 0, bc = 0, cc = 0, xb = 0, xc = 0;
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++)
            corner[c][a] = w->u[c][a] + gone * (w->u[3 + c][a] - w->u[c][a]);
        const double to_b = corner[1][a] - corner[0][a], to_c = corner[2][a] - corner[0][a];
        const double to_x = x[a] - corner[0][a];
        bb += to_b * to_b;
        bc += to_b * to_c;
        cc += to_c * to_c;
        xb += to_x * to_b;
        xc += to_x * to_c;
    }
    const double area = bb * cc - bc * bc;
    weight[1] = area > 0 ? (xb * cc - xc * bc) / area : 1.0 / 3;
    weight[2] = area > 0 ? (xc * bb - xb * bc) / area : 1.0 / 3;
    weight[0] = 1 - weight[1] - weight[2];
}

/* p and L, linear in the triangle and along its rays; false if the triangle is too thin for the
 * place to be found. */
static bool follow(const struct fill_way *w, double time, const double x[3], double p[3],
                   double *spread)
{
    const struct fill_corner *c = w->corner;
    const double gone = (time - c[0].time) / (c[3].time - c[0].time);
    double weight[3], sum[4] = {0, 0, 0, 0};
    place_on(w, gone, x, weight);
    for (int i = 0; i < 3; i++) {
        if (!(fabs(weight[i] - 0.5) < 1))
            return false;
        const double before = weight[i] * (1 - gone), now = weight[i] * gone;
        for (int a = 0; a < 3; a++)
            sum[a] += before * c[i].p[a] + now * c[3 + i].p[a];
        sum[3] += before * c[i].spread + now * c[3 + i].spread;
    }
    memcpy(p, sum, 3 * sizeof *p);
    *spread = sum[3];
    return true;
}

/* Fills node k of a column, unless it has an arrival of less L. at0: the functions at k = 0. */
static void fill_node(const struct fill *f, const struct tetrahedron *t, const double at0[LINEARS],
                      int i, int j, int k, size_t node)
{
    struct ttable *table = f->table;
    const double *step = table->grid.step;
    const double x[3] = {t->base[0] + i, t->base[1] + j, t->base[2] + k};
    double v[LINEARS], p[3], spread;
    for (int q = TIME; q < LINEARS; q++)
        v[q] = at0[q] + k * t->of[q].slope[2];
    const double time =
        v[TIME] + 0.5 * (v[SLOWNESS] * i + v[SLOWNESS + 1] * j + v[SLOWNESS + 2] * k);
    if (!t->way || !follow(t->way, time, x, p, &spread)) {
        for (int a = 0; a < 3; a++)
            p[a] = v[SLOWNESS + a] / step[a];
        spread = v[SPREAD];
    }
    if (spread >= (double)table->spread[node])
        return; /* false where nothing has arrived yet: NaN */
    ttable_put(table, node, time, p, spread, nearest(t, at0, k));
}

/* Fills the nodes of one column, i and j steps from the base. */
static void fill_column(const struct fill *f, const struct tetrahedron *t, int i, int j)
{
    double at0[LINEARS];
    int first, last;
    if (!inside(t, i, j, &first, &last))
        return;
    for (int v = 0; v < LINEARS; v++)
        at0[v] = t->of[v].at0 + i * t->of[v].slope[0] + j * t->of[v].slope[1];
    const size_t column = grid_index(&f->table->grid, t->base[0] + i, t->base[1] + j, t->base[2]);
    for (int k = first; k <= last; k++)
        fill_node(f, t, at0, i, j, k, column + (size_t)k);
}

void fill_tetrahedron(const struct fill *f, const struct fill_corner *const corner[4],
                      const struct fill_way *way)
{
    struct tetrahedron t = {.way = way};
    if (!prepare(f, corner, &t))
        return;
    for (int i = 0; i < t.n[0]; i++)
        for (int j = 0; j < t.n[1]; j++)
            fill_column(f, &t, i, j);
}

/* ---- fronts -----------------------------------------------------------------------------------*/

static void take_corner(const struct front *front, int ray, bool now, double time,
                        struct fill_corner *c)
{
    const double *rows = now ? front->state : front->was;
    for (size_t a = 0; a < 3; a++) {
        c->x[a] = rows[a * front->room + (size_t)ray];
        c->p[a] = rows[(3 + a) * front->room + (size_t)ray];
    }
    c->time = time;
    c->spread = front->spread[now][ray];
    c->kmah = front->kmah[now][ray];
}

/* Whether a node of our rows may lie between the corners. */
static bool near_table(const struct fill *f, const struct fill_corner *c, int n)
{
    const struct grid *g = &f->table->grid;
    for (int a = 0; a < 3; a++) {
        const double low = a == 1 ? grid_coordinate(g, 1, f->begin) : g->origin[a];
        const double high = a == 1 ? grid_coordinate(g, 1, f->end - 1) : grid_end(g, a);
        const double slop = slack * g->step[a];
        double least = INFINITY, most = -INFINITY;
        for (int i = 0; i < n; i++) {
            least = smaller(least, c[i].x[a]);
            most = larger(most, c[i].x[a]);
        }
        if (least > high + slop || most < low - slop)
            return false;
    }
    return true;
}

/* Fills a triangle's way as three tetrahedra; the rays' numbers decide how its sides are cut, so
 * that neighbours agree. */
static void fill_prism(const struct fill *f, const struct front *front, const int triangle[3],
                       double before, double now)
{
    static const int part[3][4] = {{0, 1, 2, 5}, {0, 1, 4, 5}, {0, 3, 4, 5}};
    const struct grid *g = &f->table->grid;
    int ray[3] = {triangle[0], triangle[1], triangle[2]};
    struct fill_way way;
    struct fill_corner *c = way.corner;
    for (int i = 0; i < 3; i++) /* three comparisons sort three */
        if (ray[i % 2] > ray[i % 2 + 1]) {
            const int other = ray[i % 2];
            ray[i % 2] = ray[i % 2 + 1];
            ray[i % 2 + 1] = other;
        }
    for (int i = 0; i < 3; i++) {
        take_corner(front, ray[i], false, before, &c[i]);
        take_corner(front, ray[i], true, now, &c[3 + i]);
    }
    if (!near_table(f, c, 6))
        return;
    for (int i = 0; i < 6; i++)
        for (int a = 0; a < 3; a++)
            way.u[i][a] = (c[i].x[a] - g->origin[a]) / g->step[a];
    for (int t = 0; t < 3; t++) {
        const struct fill_corner *corner[4];
        for (int i = 0; i < 4; i++)
            corner[i] = &c[part[t][i]];
        fill_tetrahedron(f, corner, &way);
    }
}

void fill_step(const struct fill *f, const struct front *front, double before, double now)
{
    for (size_t t = 0; t < front->ntriangles; t++)
        fill_prism(f, front, front->triangle[t], before, now);
}

void fill_slivers(const struct fill *f, const struct front *front,
                  const struct front_slivers *slivers, double now)
{
    for (size_t s = 0; s < slivers->n; s++) {
        struct fill_corner c[4];
        const struct fill_corner *const corner[4] = {&c[0], &c[1], &c[2], &c[3]};
        for (int i = 0; i < 4; i++)
            take_corner(front, slivers->corner[s][i], true, now, &c[i]);
        if (near_table(f, c, 4))
            fill_tetrahedron(f, corner, NULL);
    }
}

/* ---- the source -------------------------------------------------------------------------------*/

/* Nodes within `radius` m along an axis, among begin .. end-1. */
static void around(const struct grid *g, int axis, double centre, double radius, int *begin,
                   int *end)
{
    const double u = (centre - g->origin[axis]) / g->step[axis], r = radius / g->step[axis];
    *begin = (int)fmax(ceil(u - r), *begin);
    *end = (int)fmin(floor(u + r) + 1, *end);
}

void fill_source(const struct fill *f, double speed, const double gradient[3], double time)
{
    struct ttable *t = f->table;
    const struct grid *g = &t->grid;
    const double *s = t->source;
    const double radius = 1.5 * speed * time; /* ample, as a gradient shifts the front */
    const double v0 = speed - gradient[0] * s[0] - gradient[1] * s[1] - gradient[2] * s[2];
    int begin[3] = {0, f->begin, 0}, end[3] = {g->n[0], f->end, g->n[2]};
    for (int a = 0; a < 3; a++)
        around(g, a, s[a], radius, &begin[a], &end[a]);
    for (int i = begin[0]; i < end[0]; i++)
        for (int j = begin[1]; j < end[1]; j++)
            for (int k = begin[2]; k < end[2]; k++) {
                const double x[3] = {grid_coordinate(g, 0, i), grid_coordinate(g, 1, j),
                                     grid_coordinate(g, 2, k)};
                struct analytic c;
                analytic_linear(v0, gradient, s, x, &c);
                if (c.time <= time)
                    ttable_put(t, grid_index(g, i, j, k), c.time, c.p, c.spread, 0);
            }
}
