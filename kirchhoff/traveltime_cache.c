/* kirchhoff/traveltime_cache.c – loads travel-time tables on demand and evicts the least recently
 * used. Tables of velocities without closed forms were computed before (tables_made.c). */
#include "kirchhoff/traveltime_cache.h"
#include "cu/bench/memory.h"
#include "cu/team/thread_pool.h"
#include "src/kernel.h"
#include "kirchhoff/kernels/migrate.h"

#include <stdatomic.h>

/* ---- one table --------------------------------------------------------------------------------*/

void traveltime_cache_place(const struct traveltime_cache *t, int node, double at[3])
{
    const int ij[2] = {node / t->surface.n[1], node % t->surface.n[1]};
    for (int a = 0; a < 2; a++)
        at[a] = t->surface.origin[a] + ij[a] * t->surface.step[a];
    at[2] = t->surface.depth;
}

/* First derivative along an axis of the surface at a node, times the step: offsets and weights of
 * the nodes used. Second order, also at the edges, if there are at least three nodes. */
struct stencil {
    int n, to[3]; /* offsets in nodes along the axis */
    double weight[3];
};

static struct stencil stencil_at(int i, int n)
{
    const struct stencil middle = {2, {-1, 1}, {-0.5, 0.5}}, two = {2, {0, 1}, {-1, 1}};
    const struct stencil low = {3, {0, 1, 2}, {-1.5, 2, -0.5}};
    struct stencil s = n < 2 ? (struct stencil){0} : n < 3 ? two : low;
    if (i > 0 && i < n - 1)
        return middle;
    for (int m = 0; i > 0 && m < s.n; m++) { /* the upper edge mirrors the lower one */
        s.to[m] = -s.to[m];
        s.weight[m] = -s.weight[m];
    }
    return s;
}

/* At a grid node: mean slowness S = T / r, its gradient, distance r from the source, L / T. */
struct mean {
    double s, g[3], r, l;
};

/* Vector from the source to a node; returns its length. */
static double way_to(const struct traveltime_cache *t, const double source[3], const int at[3],
                     double way[3])
{
    grid_place(&t->grid, at[0], at[1], at[2], way);
    for (int a = 0; a < 3; a++)
        way[a] -= source[a];
    return sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
}

static bool is_source(const struct traveltime_cache *t, double r)
{
    return r < 1e-3 * grid_step(&t->grid);
}

/* At the source itself, extrapolated from a neighbouring node: the one below if there is one. */
static struct mean mean_of(const struct traveltime_cache *t, const double source[3],
                           const struct ttable *table, const int at[3])
{
    const struct grid *g = &t->grid;
    double way[3];
    struct mean m = {.r = way_to(t, source, at, way)};
    for (int a = 2; is_source(t, m.r) && a >= 0; a--)
        if (g->n[a] > 1) {
            int beside[3] = {at[0], at[1], at[2]};
            const int by = at[a] + 1 < g->n[a] ? 1 : -1;
            beside[a] += by;
            m = mean_of(t, source, table, beside);
            m.s -= m.g[a] * by * g->step[a];
            m.r = 0;
            return m;
        }
    const size_t node = grid_index(g, at[0], at[1], at[2]);
    const double time = (double)table->time[node];
    m.s = m.r > 0 ? time / m.r : 0;
    m.l = time != 0 ? (double)table->spread[node] / time : 0;
    for (int a = 0; a < 3 && m.r > 0; a++)
        m.g[a] = ((double)table->p[a][node] - m.s * way[a] / m.r) / m.r;
    return m;
}

/* Address of field TABLE_… of node `at`. */
static float *field_of(const struct traveltime_cache *t, float *data, const int at[3], int field)
{
    const struct grid *g = &t->grid;
    return data +
           ((size_t)(at[0] * g->n[1] + at[1]) * TABLE_FIELDS + (size_t)field) * (size_t)g->n[2] +
           at[2];
}

/* Moves `at` to the next node in memory; after the last one, to the first, and returns false. */
static bool next_node(const struct grid *g, int at[3])
{
    for (int a = 2; a >= 0; a--) {
        if (++at[a] < g->n[a])
            return true;
        at[a] = 0;
    }
    return false;
}

/* S at a node, without the rest of struct mean. */
static double slowness_of(const struct traveltime_cache *t, const double source[3],
                          const struct ttable *table, const int at[3])
{
    double way[3];
    const double r = way_to(t, source, at, way);
    return is_source(t, r) ? mean_of(t, source, table, at).s
                           : (double)table->time[grid_index(&t->grid, at[0], at[1], at[2])] / r;
}

/* Adds weight * S of a node's table to a field of another's data. */
static void add_change(const struct traveltime_cache *t, int node, const struct ttable *table,
                       double weight, int field, float *data)
{
    double source[3];
    int at[3] = {0};
    traveltime_cache_place(t, node, source);
    do
        *field_of(t, data, at, field) += (float)(weight * slowness_of(t, source, table, at));
    while (next_node(&t->grid, at));
}

/* A node's table, computed by this run or from the folder; the caller closes it. */
static enum ek_status get_table(const struct traveltime_cache *t, int node, struct ttable **table)
{
    return t->made ? ttable_unpack(t->made[node], table)
                   : tfolder_table(t->folder, (size_t)node, table);
}

/* Derivative of S with respect to the source's position, from the tables of neighbouring nodes. */
static enum ek_status fill_change(const struct traveltime_cache *t, int node,
                                  const struct ttable *self, int axis, float *data)
{
    const int at[2] = {node / t->surface.n[1], node % t->surface.n[1]};
    const int stride = axis ? 1 : t->surface.n[1];
    const struct stencil s = stencil_at(at[axis], t->surface.n[axis]);
    for (int m = 0; m < s.n; m++) {
        struct ttable *beside = NULL;
        if (s.to[m])
            TRY(get_table(t, node + s.to[m] * stride, &beside));
        add_change(t, node + s.to[m] * stride, beside ? beside : self,
                   s.weight[m] / t->surface.step[axis], TABLE_HX + axis, data);
        ttable_close(beside);
    }
    return EK_OK;
}

static void put_mean(const struct traveltime_cache *t, const struct mean *m, const int at[3],
                     float *data)
{
    *field_of(t, data, at, TABLE_S) = (float)m->s;
    *field_of(t, data, at, TABLE_L) = (float)m->l;
    for (int a = 0; a < 3; a++)
        *field_of(t, data, at, TABLE_GX + a) = (float)m->g[a];
}

static void fill_own(const struct traveltime_cache *t, int node, const struct ttable *self,
                     float *data)
{
    double source[3];
    int at[3] = {0};
    traveltime_cache_place(t, node, source);
    do {
        const struct mean m = mean_of(t, source, self, at);
        put_mean(t, &m, at, data);
    } while (next_node(&t->grid, at));
}

static enum ek_status fill_from_files(const struct traveltime_cache *t, int node, float *data)
{
    OWNED(owned_ttable_close) struct ttable *self = NULL;
    TRY(get_table(t, node, &self));
    fill_own(t, node, self, data);
    for (int axis = 0; axis < 2; axis++)
        TRY(fill_change(t, node, self, axis, data));
    return EK_OK;
}

static enum ek_status load(const struct traveltime_cache *t, int node, float **out)
{
    double source[3];
    float *data = calloc(1, t->bytes);
    enum ek_status st = EK_OK;
    if (!data)
        FAIL(EK_UNAVAILABLE, "out of memory for a travel-time table");
    memory_large_pages(data, t->bytes);
    traveltime_cache_place(t, node, source);
    if (t->folder)
        st = fill_from_files(t, node, data);
    else if (t->velocity->kind != VELOCITY_LINEAR)
        st = status_fail(EK_USAGE, "--velocity %s: its tables have not been made", t->name);
    else
        tables_linear(t->velocity, &t->grid, source, data);
    return HAND_OUT(st, data, out, free);
}

/* ---- loading and evicting ---------------------------------------------------------------------*/

static int missing(const struct traveltime_cache *t, const int *node, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += !t->table[node[i]].data;
    return count;
}

static size_t held(const struct traveltime_cache *t)
{
    size_t count = 0;
    for (int i = 0; i < t->nodes; i++)
        count += t->table[i].holders > 0;
    return count;
}

/* Evicts the least recently used table and returns its node; -1: all are held. */
static int evict(struct traveltime_cache *t)
{
    int oldest = -1;
    for (int i = 0; i < t->nodes; i++)
        if (t->table[i].data && !t->table[i].holders &&
            (oldest < 0 || t->table[i].used < t->table[oldest].used))
            oldest = i;
    if (oldest < 0)
        return -1;
    free(t->table[oldest].data);
    t->table[oldest].data = NULL;
    t->resident--;
    return oldest;
}

static void take(struct traveltime_cache *t, const int *node, int n)
{
    for (int i = 0; i < n; i++) {
        t->table[node[i]].holders++;
        t->table[node[i]].used = ++t->clock;
    }
}

static void drop(struct traveltime_cache *t, const int *node, int n)
{
    for (int i = 0; i < n; i++)
        t->table[node[i]].holders--;
    pthread_cond_broadcast(&t->changed);
}

/* Tables that a unit's threads load. */
struct arrivals {
    struct traveltime_cache *t;
    const int *node; /* [n] what the unit holds */
    int n;
    atomic_int status;
};

/* A missing table that no thread is loading; -1: there is none. */
static int unclaimed(const struct arrivals *a)
{
    for (int i = 0; i < a->n; i++) {
        const struct traveltime_table *table = &a->t->table[a->node[i]];
        if (!table->data && !table->coming)
            return a->node[i];
    }
    return -1;
}

/* Makes room for a table that the caller will load. The unit already holds all it needs, so none of
 * those is evicted. */
static void claim(struct traveltime_cache *t, int node)
{
    while (t->resident >= t->most && evict(t) >= 0)
        continue;
    t->table[node].coming = true;
    t->resident++;
}

static void arrive(struct traveltime_cache *t, int node, float *data)
{
    t->table[node].coming = false;
    t->table[node].data = data;
    t->loads += data != NULL;
    t->resident -= data == NULL;
    pthread_cond_broadcast(&t->changed);
}

/* Loads one table after another, without the cache's lock, so that units that need the same ones
 * share the work. */
static void load_some(void *arg, int thread)
{
    struct arrivals *a = arg;
    (void)thread;
    LOCKED(&a->t->lock);
    for (int node; !a->status && (node = unclaimed(a)) >= 0;) {
        float *data = NULL;
        claim(a->t, node);
        pthread_mutex_unlock(&a->t->lock);
        const enum ek_status st = load(a->t, node, &data);
        pthread_mutex_lock(&a->t->lock);
        arrive(a->t, node, data);
        if (st)
            a->status = (int)st;
    }
}

/* Loads what is missing; waits for tables that other units are loading, and tries again
 * what failed there, to get the error message. Called with the lock, which is released while
 * loading. */
static enum ek_status load_missing(struct arrivals *a, const struct cu *cu)
{
    struct traveltime_cache *t = a->t;
    while (!a->status && missing(t, a->node, a->n)) {
        if (unclaimed(a) < 0) {
            pthread_cond_wait(&t->changed, &t->lock);
            continue;
        }
        pthread_mutex_unlock(&t->lock);
        thread_pool_run_on(cu, load_some, a);
        pthread_mutex_lock(&t->lock);
    }
    return (enum ek_status)a->status;
}

/* Waits until enough tables have been released to make room for these. */
static enum ek_status wait_for_room(struct traveltime_cache *t, const int *node, int n)
{
    char need[32], have[32];
    if ((size_t)n > t->most)
        FAIL(EK_UNAVAILABLE,
             "%d travel-time tables are needed at once, %s; --max-memory leaves %s for them: give "
             "more or make --chunk smaller",
             n, memory_text((size_t)n * t->bytes, need, sizeof need),
             memory_text(t->most * t->bytes, have, sizeof have));
    while (missing(t, node, n) && held(t) && held(t) + (size_t)n > t->most)
        pthread_cond_wait(&t->changed, &t->lock);
    return EK_OK;
}

enum ek_status traveltime_cache_hold(struct traveltime_cache *t, const int *node, int n,
                                     const struct cu *cu)
{
    struct arrivals a = {.t = t, .node = node, .n = n};
    LOCKED(&t->lock);
    TRY(wait_for_room(t, node, n));
    take(t, node, n);
    const enum ek_status st = load_missing(&a, cu);
    if (st)
        drop(t, node, n);
    return st;
}

void traveltime_cache_release(struct traveltime_cache *t, const int *node, int n)
{
    LOCKED(&t->lock);
    drop(t, node, n);
}

/* ---- interpolation ----------------------------------------------------------------------------*/

/* Cell and fraction along an axis of the surface. A place within a thousandth of a step of a node,
 * even outside the outermost, counts as on it. */
static bool find_cell(const struct tfolder_surface *s, int axis, double x, int *cell, double *f)
{
    const double at = s->n[axis] > 1 ? (x - s->origin[axis]) / s->step[axis] : 0;
    const int last = s->n[axis] > 1 ? s->n[axis] - 2 : 0;
    if (!(at >= -1e-3 && at <= s->n[axis] - 1 + 1e-3))
        return false;
    *cell = at < 0 ? 0 : (int)at > last ? last : (int)at;
    *f = at - *cell;
    if (fabs(*f - nearbyint(*f)) < 1e-3)
        *f = nearbyint(*f);
    return true;
}

enum ek_status traveltime_cache_corners(const struct traveltime_cache *t, double x, double y,
                                        const char *what, struct traveltime_corners *c)
{
    const struct tfolder_surface *s = &t->surface;
    int i, j;
    double fx, fy;
    const double first[3] = {t->grid.origin[0], t->grid.origin[1], t->grid.origin[2] - s->depth};
    struct traveltime_corners found = {.n = 0};
    if (!find_cell(s, 0, x, &i, &fx) || !find_cell(s, 1, y, &j, &fy))
        FAIL(EK_USAGE, "%s at %g,%g lies outside the tables' surface nodes, %g,%g to %g,%g", what,
             x, y, s->origin[0], s->origin[1], s->origin[0] + (s->n[0] - 1) * s->step[0],
             s->origin[1] + (s->n[1] - 1) * s->step[1]);
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            const double weight = (a ? fx : 1 - fx) * (b ? fy : 1 - fy);
            if (weight == 0)
                continue;
            double at[3];
            const int node = (i + a) * s->n[1] + j + b, m = found.n++;
            traveltime_cache_place(t, node, at);
            found.node[m] = node;
            found.weight[m] = (float)weight;
            found.dx[m] = s->n[0] > 1 ? (float)(x - at[0]) : 0;
            found.dy[m] = s->n[1] > 1 ? (float)(y - at[1]) : 0;
        }
    found.from[0] = (float)(first[0] - (s->n[0] > 1 ? x : s->origin[0]));
    found.from[1] = (float)(first[1] - (s->n[1] > 1 ? y : s->origin[1]));
    found.from[2] = (float)first[2];
    *c = found;
    return EK_OK;
}

enum ek_status traveltime_cache_velocity(struct traveltime_cache *t)
{
    LOCKED(&t->lock);
    return t->velocity ? EK_OK : velocity_open(t->name, &t->velocity);
}

enum ek_status traveltime_cache_emergence(struct traveltime_cache *t, double x, double y, double z,
                                          float *square)
{
    const double at[3] = {x, y, z};
    TRY(traveltime_cache_velocity(t));
    const double v = velocity_at(t->velocity, at, NULL);
    if (!(v > 0))
        FAIL(EK_USAGE, "velocity %s is %g m/s at (%g, %g, %g) m, where a trace ends", t->name, v, x,
             y, z);
    *square = (float)(1 / (v * v));
    return EK_OK;
}

/* ---- opening ----------------------------------------------------------------------------------*/

/* Allocates the list of tables after opening with status st; closes `made` on failure. */
static enum ek_status prepare(struct traveltime_cache *made, enum ek_status st, size_t budget,
                              struct traveltime_cache **t)
{
    made->bytes = grid_nodes(&made->grid) * TABLE_FIELDS * sizeof(float);
    made->most = st ? 0 : budget / made->bytes;
    made->table = st ? NULL : calloc((size_t)made->nodes + 1, sizeof *made->table);
    if (!st && !made->table)
        st = status_fail(EK_UNAVAILABLE, "out of memory for %d surface nodes", made->nodes);
    return HAND_OUT(st, made, t, traveltime_cache_close);
}

static enum ek_status open_folder(struct traveltime_cache *t, const char *path)
{
    TRY(tfolder_open(path, &t->folder));
    t->grid = t->folder->grid;
    t->surface = t->folder->surface;
    t->nodes = t->surface.n[0] * t->surface.n[1];
    snprintf(t->name, sizeof t->name, "%s", t->folder->velocity);
    if (t->surface.n[0] < 1 || t->surface.n[1] < 1)
        FAIL(EK_USAGE, "%s: its sources lie on no grid; make tables for a grid of surface nodes",
             path);
    return EK_OK;
}

static struct traveltime_cache *new_travel(void)
{
    struct traveltime_cache *t = calloc(1, sizeof *t);
    if (t) {
        pthread_mutex_init(&t->lock, NULL);
        pthread_cond_init(&t->changed, NULL);
    }
    return t;
}

enum ek_status traveltime_cache_open(const char *path, size_t budget, struct traveltime_cache **t)
{
    struct traveltime_cache *made = new_travel();
    if (!made)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", path);
    return prepare(made, open_folder(made, path), budget, t);
}

static enum ek_status open_velocity(struct traveltime_cache *t, const char *text)
{
    double least, most;
    TRY(velocity_open(text, &t->velocity));
    return velocity_range(t->velocity, &t->grid, &least, &most);
}

enum ek_status traveltime_cache_compute(const char *velocity, const struct grid *grid,
                                        const struct tfolder_surface *surface, size_t budget,
                                        struct traveltime_cache **t)
{
    struct traveltime_cache *made = new_travel();
    if (!made)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", velocity);
    made->grid = *grid;
    made->surface = *surface;
    made->nodes = surface->n[0] * surface->n[1];
    snprintf(made->name, sizeof made->name, "%s", velocity);
    return prepare(made, open_velocity(made, velocity), budget, t);
}

void traveltime_cache_close(struct traveltime_cache *t)
{
    if (!t)
        return;
    for (int i = 0; t->table && i < t->nodes; i++)
        free(t->table[i].data);
    for (int i = 0; t->made && i < t->nodes; i++)
        ttable_unmap(t->made[i]);
    free(t->table);
    free(t->made);
    tfolder_close(t->folder);
    velocity_close(t->velocity);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    free(t);
}
