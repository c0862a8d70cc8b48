/* kirchhoff/eikonal.c – solves for one source: its surroundings, the sweeps, and the table made
 * from them. */
#include "kirchhoff/eikonal_internal.h"
#include "cu/rank/stop.h"
#include "cu/team/thread_pool.h"
#include "kirchhoff/analytic.h"

#include <sched.h>
#include <stdatomic.h>

enum { SWEEPS = 8 };
static const float never = 1e12F; /* s */

/* ---- the source -------------------------------------------------------------------------------*/

/* Radii around the source, in largest steps: most of the closed form; of a FINER grid. */
enum { BALL = 8, NEAR = 4, FINER = 4 };
/* v may differ from linear by this share / r^2 at r steps from the source. Less would cost more
 * than it gains, as differences are less accurate the nearer to the source they begin. */
static const double agrees = 0.15;

/* One source's solution. */
struct solver {
    const struct eikonal *e;
    struct ttable *table;
    const double *source;
    double speed, gradient[3], v0; /* at the source; v there is v0 + gradient.x */
    double begin;                  /* steps within which T is not from differences on this grid */
    double radius, analytic;       /* steps within which v is linear; the latest time there */
    float *time[COPIES], *mean[COPIES];
    int *changed[COPIES]; /* [n[0] + 2][diagonals + 2 EDGE] the sweep that last changed a line */
    int *seen[SWEEPS];    /* likewise: the last sweep of this kind that looked at it */
    int sweep, calm;      /* sweeps so far; sweeps since anything changed */
    atomic_int *done;     /* [n[0]] diagonals finished in this sweep */
    atomic_int active;
    int copy, up, along, width;
    struct arena arena;
};

static double steps_from(const struct solver *s, const int at[3], double shift)
{
    const struct grid *g = &s->e->grid;
    double square = 0;
    for (int a = 0; a < 3; a++) {
        const double d = g->origin[a] + (at[a] + shift) * g->step[a] - s->source[a];
        square += d * d;
    }
    return sqrt(square) / grid_step(g);
}

/* Calls what(s, node or cell) for all within `radius` steps of the source and slightly beyond. */
static void around(struct solver *s, double radius, void (*what)(struct solver *s, const int at[3]))
{
    const struct grid *g = &s->e->grid;
    int from[3], to[3], at[3];
    for (int a = 0; a < 3; a++) {
        const double u = (s->source[a] - g->origin[a]) / g->step[a];
        const double reach = radius * grid_step(g) / g->step[a] + 1;
        from[a] = (int)fmax(floor(u - reach), 0);
        to[a] = (int)fmin(ceil(u + reach), g->n[a] - 1);
    }
    for (at[0] = from[0]; at[0] <= to[0]; at[0]++)
        for (at[1] = from[1]; at[1] <= to[1]; at[1]++)
            for (at[2] = from[2]; at[2] <= to[2]; at[2]++)
                what(s, at);
}

static bool is_cell(const struct eikonal *e, const int at[3])
{
    return at[0] < e->grid.n[0] - 1 && at[1] < e->grid.n[1] - 1 && at[2] < e->grid.n[2] - 1;
}

/* Keeps the closed form's ball clear of a cell whose slowness is not the closed form's. */
static void bound_ball(struct solver *s, const int at[3])
{
    const struct eikonal *e = s->e;
    double speed = s->v0;
    if (!is_cell(e, at))
        return;
    for (int a = 0; a < 3; a++)
        speed += s->gradient[a] * grid_coordinate(&e->grid, a, at[a]) +
                 s->gradient[a] * 0.5 * e->grid.step[a];
    const double slowness = (double)e->cell[0][eikonal_place_of(e, at, 0, e->n[2] - 2)];
    const double r = steps_from(s, at, 0.5);
    if (!(fabs(slowness * speed - 1) * r * r < agrees))
        s->radius = fmin(s->radius, fmax(r - 1, 0));
}

static void put(struct solver *s, const int at[3], double time, double mean)
{
    const size_t node = eikonal_node(s->e, at, 0);
    s->time[0][node] = (float)time;
    s->mean[0][node] = (float)mean;
}

/* Straight rays to the corners of the cells in which the source lies. */
static void reach_corners(struct solver *s, const int at[3])
{
    const struct eikonal *e = s->e;
    const double slowness =
        is_cell(e, at) ? (double)e->cell[0][eikonal_place_of(e, at, 0, e->n[2] - 2)] : 0;
    for (int a = 0; a < 3; a++) {
        const double u = (s->source[a] - e->grid.origin[a]) / e->grid.step[a] - at[a];
        if (!(u >= -1e-6 && u <= 1 + 1e-6) || slowness == 0)
            return;
    }
    for (int c = 0; c < 8; c++) {
        const int corner[3] = {at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2)};
        double square = 0;
        for (int a = 0; a < 3; a++) {
            const double d = grid_coordinate(&e->grid, a, corner[a]) - s->source[a];
            square += d * d;
        }
        const double time = sqrt(square) * slowness;
        if (time < (double)s->time[0][eikonal_node(e, corner, 0)])
            put(s, corner, time, 1 / (slowness * slowness));
    }
}

static void find_analytic(const struct solver *s, const int at[3], struct analytic *c)
{
    double x[3];
    grid_place(&s->e->grid, at[0], at[1], at[2], x);
    analytic_linear(s->v0, s->gradient, s->source, x, c);
}

static void reach_ball(struct solver *s, const int at[3])
{
    struct analytic c;
    double speed = s->v0;
    if (steps_from(s, at, 0) > s->radius)
        return;
    find_analytic(s, at, &c);
    for (int a = 0; a < 3; a++)
        speed += s->gradient[a] * grid_coordinate(&s->e->grid, a, at[a]);
    s->analytic = fmax(s->analytic, c.time);
    put(s, at, c.time, c.time > 0 ? c.spread * sqrt(s->speed * speed) / c.time : speed * speed);
}

static enum ek_status solve_in(const struct eikonal *e, const struct cu *cu, bool finer,
                               struct ttable *t);

/* Takes nodes around the source from a table with finer steps. */
static void take_near(struct solver *s, const struct ttable *near, const int first[3])
{
    const struct grid *g = &near->grid;
    for (int i = 0; i < g->n[0]; i += FINER)
        for (int j = 0; j < g->n[1]; j += FINER)
            for (int k = 0; k < g->n[2]; k += FINER) {
                const int at[3] = {first[0] + i / FINER, first[1] + j / FINER,
                                   first[2] + k / FINER};
                const size_t node = grid_index(g, i, j, k);
                const double time = (double)near->time[node],
                             x[3] = {grid_coordinate(g, 0, i), grid_coordinate(g, 1, j),
                                     grid_coordinate(g, 2, k)};
                const double speed = velocity_at(s->e->velocity, x, NULL);
                if (steps_from(s, at, 0) <= NEAR)
                    put(s, at, time,
                        time > 0 ? (double)near->spread[node] * sqrt(s->speed * speed) / time
                                 : speed * speed);
            }
}

/* Where v is not linear around the source, solves the same there on a finer grid. */
static enum ek_status begin_finer(struct solver *s)
{
    const struct grid *g = &s->e->grid;
    struct grid near = *g;
    OWNED(owned_eikonal_close) struct eikonal *e = NULL;
    OWNED(owned_ttable_close) struct ttable *t = NULL;
    double high[3];
    int first[3];
    for (int a = 0; a < 3; a++) {
        const double u = (s->source[a] - g->origin[a]) / g->step[a];
        const double reach = ceil(NEAR * grid_step(g) / g->step[a]);
        first[a] = (int)fmax(floor(u) - reach, 0);
        near.n[a] = FINER * ((int)fmin(ceil(u) + reach, g->n[a] - 1) - first[a]) + 1;
        near.step[a] = g->step[a] / FINER;
        near.origin[a] = grid_coordinate(g, a, first[a]);
        high[a] = grid_end(&near, a);
    }
    TRY(ttable_make(&near, s->source, "", &t));
    TRY(eikonal_open(s->e->velocity, &near, near.origin, high, &e));
    TRY(solve_in(e, NULL, false, t));
    take_near(s, t, first);
    s->begin = NEAR;
    return EK_OK;
}

static enum ek_status start(struct solver *s, bool finer)
{
    s->speed = s->v0 = velocity_at(s->e->velocity, s->source, s->gradient);
    for (int a = 0; a < 3; a++)
        s->v0 -= s->gradient[a] * s->source[a];
    s->radius = BALL;
    around(s, BALL, bound_ball);
    s->begin = fmax(s->radius, 2);
    if (finer && s->radius < NEAR)
        return begin_finer(s);
    around(s, 1, reach_corners);
    if (s->radius >= 1)
        around(s, s->radius, reach_ball);
    return EK_OK;
}

/* ---- sweeps -----------------------------------------------------------------------------------*/

static size_t line_of(const struct eikonal *e, int i, int d)
{
    return (size_t)(i + 1) * (size_t)(eikonal_diagonals(e) + 2 * EDGE) + (size_t)(d + EDGE);
}

/* Whether an upwind node has changed since a sweep of this kind looked at the line. */
static bool must_visit(const struct solver *s, int kind, int i, int d)
{
    const int *changed = s->changed[s->copy], seen = s->seen[kind][line_of(s->e, i, d)];
    bool visit = false;
    for (int back = 0; back < 3; back++) {
        visit = visit || changed[line_of(s->e, i - s->up, d - back * s->along)] > seen;
        visit = visit || (back && changed[line_of(s->e, i, d - back * s->along)] > seen);
    }
    return visit;
}

static bool sweep_line(const struct solver *s, int i, int d)
{
    const struct eikonal *e = s->e;
    struct eikonal_line l = {.least = (float)(1e-3 * e->least * e->grid.step[e->axis[0]])};
    int n;
    const int first = eikonal_diagonal(e, d, &n);
    const size_t at = eikonal_place(e, i, first, d - first);
    l.time = s->time[s->copy] + at;
    l.mean = s->mean[s->copy] + at;
    l.n = (size_t)n;
    l.along = 1;
    l.ball = (float)(s->begin * grid_step(&e->grid));
    for (int a = 0; a < 3; a++) {
        const int axis = e->axis[a];
        const double step = e->grid.step[axis];
        const bool turned = a == 2 && s->copy;
        const int node = a == 0   ? i
                         : a == 1 ? first
                         : turned ? e->n[2] - 1 - (d - first)
                                  : d - first;
        const int way = (a == 0 ? s->up : s->along) * (turned ? -1 : 1);
        l.step[a] = (float)step;
        l.sign[a] = (float)way;
        l.away[a] = (float)((e->grid.origin[axis] - s->source[axis] + (node - 0.5 * way) * step) *
                            (turned ? -1 : 1));
    }
    for (int c = 0; c < EIKONAL_CORNERS; c++) {
        const int di = c & 1, dj = c >> 1 & 1, dk = c >> 2;
        const ptrdiff_t here = e->diagonal[d];
        l.node[c] = -(ptrdiff_t)e->plane * s->up * di +
                    (e->diagonal[d - s->along * (dj + dk)] - here) - s->along * dj;
        /* Where the sweep goes up, the upwind cell begins one node earlier. */
        const int ci = s->up > 0 ? di - 1 : -di, cj = s->along > 0 ? dj - 1 : -dj,
                  ck = s->along > 0 ? dk - 1 : -dk;
        const ptrdiff_t cell =
            (ptrdiff_t)at + (ptrdiff_t)e->plane * ci + (e->diagonal[d + cj + ck] - here) + cj;
        l.cell[c] = e->cell[s->copy] + cell;
        for (int a = 0; c == 0 && a < 3; a++)
            l.layer[a] = e->layer[s->copy][a] ? e->layer[s->copy][a] + cell : NULL;
    }
    return eikonal_line(&l);
}

/* A thread's planes; each line waits for the same line of the previous plane. A run that is to stop
 * changes nothing more, as if all were done. */
static void sweep_part(void *arg, int thread)
{
    struct solver *s = arg;
    const struct eikonal *e = s->e;
    const int all = eikonal_diagonals(e), kind = 4 * s->copy + 2 * (s->up > 0) + (s->along > 0);
    for (int plane = thread; plane < e->n[0]; plane += s->width) {
        const int i = s->up > 0 ? plane : e->n[0] - 1 - plane;
        const bool stops = stop_heard();
        for (int line = 0; line < all; line++) {
            const int d = s->along > 0 ? line : all - 1 - line;
            while (plane && atomic_load_explicit(&s->done[plane - 1], memory_order_acquire) <= line)
                sched_yield();
            if (!stops && must_visit(s, kind, i, d)) {
                if (sweep_line(s, i, d)) {
                    s->changed[s->copy][line_of(e, i, d)] = s->sweep;
                    atomic_store_explicit(&s->active, 1, memory_order_relaxed);
                }
                s->seen[kind][line_of(e, i, d)] = s->sweep;
            }
            atomic_store_explicit(&s->done[plane], line + 1, memory_order_release);
        }
    }
}

static void run(struct solver *s, const struct cu *cu, void (*part)(void *s, int thread))
{
    thread_pool_run_on(cu, part, s);
}

static void sweep(struct solver *s, const struct cu *cu, int up, int along)
{
    s->up = up;
    s->along = along;
    s->sweep++;
    atomic_store(&s->active, 0);
    for (int i = 0; i < s->e->n[0]; i++)
        atomic_store_explicit(&s->done[i], 0, memory_order_relaxed);
    run(s, cu, sweep_part);
    s->calm = atomic_load(&s->active) ? 0 : s->calm + 1;
}

/* Copies what has decreased in one copy to the other. */
static void copy_part(void *arg, int thread)
{
    struct solver *s = arg;
    const struct eikonal *e = s->e;
    const int from = s->copy, to = 1 - from, all = eikonal_diagonals(e);
    for (int i = thread; i < e->n[0]; i += s->width)
        for (int d = 0; d < all; d++) {
            int n;
            const int first = eikonal_diagonal(e, d, &n);
            if (s->changed[from][line_of(e, i, d)] < s->sweep - 5)
                continue;
            const size_t here = eikonal_place(e, i, first, d - first);
            for (int j = 0; j < n; j++) {
                const int other = e->n[2] - 1 - (d - first - j) + first + j;
                const size_t there = eikonal_place(e, i, first + j, other - first - j);
                const float now = s->time[from][here + (size_t)j];
                if (now < s->time[to][there]) {
                    s->time[to][there] = now;
                    s->mean[to][there] = s->mean[from][here + (size_t)j];
                    s->changed[to][line_of(e, i, other)] = s->sweep;
                }
            }
        }
}

static void sweep_all(struct solver *s, const struct cu *cu)
{
    for (s->copy = 0; s->calm < SWEEPS; s->copy = 1 - s->copy) {
        for (int way = 0; way < 4; way++)
            sweep(s, cu, way & 1 ? -1 : 1, way & 2 ? -1 : 1);
        s->sweep++; /* what is copied counts as newer than what was looked at */
        run(s, cu, copy_part);
    }
}

/* ---- the table --------------------------------------------------------------------------------*/

/* Puts T into the other copy's memory in the order of grid.h: slowness needs neighbours along all
 * axes. */
static void unfold_part(void *arg, int thread)
{
    struct solver *s = arg;
    const struct grid *g = &s->e->grid;
    int at[3];
    for (at[0] = thread; at[0] < g->n[0]; at[0] += s->width)
        for (at[1] = 0; at[1] < g->n[1]; at[1]++)
            for (at[2] = 0; at[2] < g->n[2]; at[2]++)
                s->time[1][grid_index(g, at[0], at[1], at[2])] =
                    s->time[0][eikonal_node(s->e, at, 0)];
}

/* Slowness along an axis from one side of a node: second order where T is smooth. left: nodes on
 * that side; by: how far the next one is in `time`. */
static double one_sided(const float *time, int left, ptrdiff_t by, double step, double smooth)
{
    const double near = ((double)time[by] - (double)time[0]) / step;
    if (left < 2)
        return near;
    const double far = ((double)time[2 * by] - (double)time[by]) / step;
    return fabs(near - far) < smooth ? 1.5 * near - 0.5 * far : near;
}

/* Candidates for the slowness along an axis: the centred difference where T is smooth, else one
 * from either side. Returns how many. */
static int differences(const float *time, int before, int after, ptrdiff_t by, double step,
                       double smooth, double p[2])
{
    int n = 0;
    if (before && after) {
        const double low = (double)time[0] - (double)time[-by],
                     high = (double)time[by] - (double)time[0];
        p[0] = 0.5 * (low + high) / step;
        if (fabs(high - low) <= smooth * step)
            return 1;
    }
    if (before)
        p[n++] = one_sided(time, before, -by, -step, smooth);
    if (after)
        p[n++] = one_sided(time, after, by, step, smooth);
    return n;
}

/* The combination of candidates along the three axes that fits the eikonal equation best. */
static void fit(const double of[3][2], const int ways[3], double slowness, double p[3])
{
    double least = INFINITY;
    for (int i = 0; i < ways[0]; i++)
        for (int j = 0; j < ways[1]; j++)
            for (int k = 0; k < ways[2]; k++) {
                const double x = of[0][i], y = of[1][j], z = of[2][k];
                const double off = fabs(sqrt(x * x + y * y + z * z) - slowness);
                if (off < least) {
                    least = off;
                    p[0] = x;
                    p[1] = y;
                    p[2] = z;
                }
            }
}

static void find_slowness(const struct solver *s, const int at[3], double slowness, double p[3])
{
    const struct grid *g = &s->e->grid;
    const ptrdiff_t by[3] = {(ptrdiff_t)g->n[1] * g->n[2], g->n[2], 1};
    const float *time = s->time[1] + grid_index(g, at[0], at[1], at[2]);
    double of[3][2];
    int ways[3];
    for (int a = 0; a < 3; a++)
        ways[a] =
            differences(time, at[a], g->n[a] - 1 - at[a], by[a], g->step[a], 0.1 * slowness, of[a]);
    fit((const double(*)[2])of, ways, slowness, p);
}

static void fill_node(const struct solver *s, struct ttable *t, const int at[3], size_t node)
{
    const struct eikonal *e = s->e;
    const size_t from = eikonal_node(e, at, 0);
    const double speed = (double)e->speed[node], time = (double)s->time[0][from];
    double p[3] = {0, 0, 0};
    if (s->analytic > 0 && time <= s->analytic && steps_from(s, at, 0) <= s->radius) {
        struct analytic c;
        find_analytic(s, at, &c);
        memcpy(p, c.p, sizeof p);
    } else {
        find_slowness(s, at, 1 / speed, p);
    }
    ttable_put(t, node, time, p, (double)s->mean[0][from] * time / sqrt(s->speed * speed), 0);
    t->kmah[node] = TTABLE_EIKONAL;
}

static void table_part(void *arg, int thread)
{
    const struct solver *s = arg;
    struct ttable *t = s->table;
    const int *first = s->e->first;
    for (int i = thread; i < t->grid.n[0]; i += s->width)
        for (int j = 0; j < t->grid.n[1]; j++)
            for (int k = 0; k < t->grid.n[2]; k++)
                fill_node(s, t, (const int[]){first[0] + i, first[1] + j, first[2] + k},
                          grid_index(&t->grid, i, j, k));
}

/* ---- a source ---------------------------------------------------------------------------------*/

static enum ek_status open_solver(struct solver *s)
{
    const struct eikonal *e = s->e;
    const size_t lines = (size_t)(e->n[0] + 2) * (size_t)(eikonal_diagonals(e) + 2 * EDGE);
    s->done = ARENA_NEW(&s->arena, e->n[0], atomic_int);
    for (int c = 0; c < COPIES; c++) {
        s->time[c] = eikonal_array(e, &s->arena, never);
        s->mean[c] = eikonal_array(e, &s->arena, 0);
        s->changed[c] = ARENA_NEW(&s->arena, lines, int);
    }
    for (int k = 0; k < SWEEPS; k++)
        s->seen[k] = ARENA_NEW(&s->arena, lines, int);
    TRY(arena_check(&s->arena, "times at %zu nodes", grid_nodes(&e->grid)));
    for (size_t i = 0; i < lines; i++) /* as if changed by a first sweep */
        s->changed[0][i] = s->changed[1][i] = 1;
    s->sweep = 1;
    return EK_OK;
}

static enum ek_status solve_in(const struct eikonal *e, const struct cu *cu, bool finer,
                               struct ttable *t)
{
    struct solver s = {.e = e, .table = t, .source = t->source, .width = thread_pool_width(cu)};
    enum ek_status st = open_solver(&s);
    THEN(st, start(&s, finer));
    if (!st)
        sweep_all(&s, cu);
    if (!st && stop_heard())
        st = EK_STOPPED;
    if (!st) {
        run(&s, cu, unfold_part);
        run(&s, cu, table_part);
    }
    arena_free(&s.arena);
    return st;
}

enum ek_status eikonal_solve(const struct eikonal *e, const struct cu *cu, struct ttable *t)
{
    for (int a = 0; a < 3; a++)
        if (!(t->source[a] >= e->grid.origin[a] - 1e-6 * e->grid.step[a] &&
              t->source[a] <= grid_end(&e->grid, a) + 1e-6 * e->grid.step[a]))
            FAIL(EK_USAGE, "source (%g, %g, %g) m lies outside the eikonal solver's box",
                 t->source[0], t->source[1], t->source[2]);
    return solve_in(e, cu, true, t);
}
