/* npb_mz/rhs.c – the right-hand side on the host: the operator of kernels/rhs.h with points along i
 * in the lanes, reading a window of records (see rhs.h). */
#include "npb_mz/rhs.h"

#include "npb_mz/kernels/rhs.h"

/* Doubles of padding behind each plane of the window: keeps the rows that a point reads in
 * different sets of the cache. */
enum { GAP = 104 };

/* Doubles of the parts of a sweep's scratch. */
struct sizes {
    long flow, node; /* of a plane of the window */
    long weights, terms;
};

/* For a window of `rows` rows of `records` records. */
static struct sizes sizes_of(long records, long rows)
{
    const long points = records * rows + 1; /* one record beyond the last is read */
    return (struct sizes){.flow = points * RHS_FLOW + GAP,
                          .node = points * RHS_NODE,
                          .weights = records * RHS_STATE,
                          .terms = sizeof(struct rhs_terms) / sizeof(double)};
}

size_t rhs_scratch(const struct mz *mz)
{
    const struct sizes s = sizes_of(rhs_records(mz->max_nx), mz->max_ny);
    return 4 * s.flow + 3 * s.node + s.weights + s.terms;
}

/* ---- the window ------------------------------------------------------------------------------ */

static double *flow_row(const struct rhs_sweep *s, int k, int j)
{
    return s->flow[k % 4] + (long)j * s->records * RHS_FLOW;
}

static double *node_row(const struct rhs_sweep *s, int k, int j)
{
    return s->node[k % 3] + (long)j * s->records * RHS_NODE;
}

static const double *source_row(const struct rhs_sweep *s, const double *field, int k, int j)
{
    return field + k * s->zone->plane + (long)j * s->zone->pitch;
}

/* Converts a record's conserved variables to those of the window. */
FN void load_record(const lanes u[MZ_VARS], double *flow, double *node)
{
    const lanes ri = 1.0 / u[0], x = u[1] * ri, y = u[2] * ri, z = u[3] * ri, energy = u[4] * ri;
    STORE(flow, 0, x);
    STORE(flow, LANES, y);
    STORE(flow, 2 * LANES, z);
    STORE(flow, 3 * LANES, energy - 0.5 * (x * x + y * y + z * z));
    STORE(flow, 4 * LANES, energy);
    STORE(flow, 5 * LANES, u[0]);
    STORE(node, 0, ri);
}

/* Loads row j of plane k into the window; its first record holds the point i = 0 in all lanes. In
 * inner planes boundary values come from the walls, if the sweep has any. What is needed next of
 * the walls is prefetched: another zone wrote it, perhaps on another core. */
static void load_row(const struct rhs_sweep *s, int k, int j)
{
    const struct mz_zone *z = s->zone;
    const long across = z->nz - 2;
    const bool walled = s->wall[0] && k > 0 && k <= across;
    const bool inner = j > 0 && j < z->ny - 1;
    const double *u = source_row(s, s->u, k, j) + 1, *west = u - 1, *east = u + z->nx - 2;
    long field = z->volume, ends = field;
    if (walled && inner) {
        const long at = ((k - 1) * (z->ny - 2L) + j - 1) * MZ_VARS;
        west = s->wall[MZ_WEST] + at;
        east = s->wall[MZ_EAST] + at;
        ends = 1;
        __builtin_prefetch(west + 2 * MZ_VARS);
        __builtin_prefetch(east + 2 * MZ_VARS);
    } else if (walled) { /* a y boundary; its corners are never read */
        u = s->wall[j > 0 ? MZ_NORTH : MZ_SOUTH] + (k - 1) * (z->nx - 2L);
        west = east = u;
        field = ends = across * (z->nx - 2);
        for (int m = 0; m < MZ_VARS; m++)
            for (int i = 0; i < z->nx - 2; i += 8)
                __builtin_prefetch(u + m * field + z->nx - 2 + i);
    }
    double *flow = flow_row(s, k, j), *node = node_row(s, k, j);
    lanes all[MZ_VARS];
    for (int m = 0; m < MZ_VARS; m++)
        all[m] = REAL(west[m * ends]);
    load_record(all, flow, node);
    for (int v = 1; v < s->records - 1; v++, u += LANES) {
        const lanes inside[MZ_VARS] = {LOAD(u, 0), LOAD(u, field), LOAD(u, 2 * field),
                                       LOAD(u, 3 * field), LOAD(u, 4 * field)};
        load_record(inside, flow += RHS_FLOW, node += RHS_NODE);
    }
    for (int m = 0; m < MZ_VARS; m++)
        all[m] = lanes_select(s->last, REAL(east[m * ends]), LOAD(u, m * field));
    load_record(all, flow + RHS_FLOW, node + RHS_NODE);
}

/* Loads rows first .. last-1 of plane k, as far as they are in the zone. */
static void load_rows(const struct rhs_sweep *s, int k, int first, int last)
{
    if (k < 0 || k >= s->zone->nz)
        return;
    for (int j = first < 0 ? 0 : first; j < last && j < s->zone->ny; j++)
        load_row(s, k, j);
}

const double *rhs_flows(const struct rhs_sweep *s, int j)
{
    return flow_row(s, s->k, j) + RHS_FLOW;
}

const double *rhs_nodes(const struct rhs_sweep *s, int j)
{
    return node_row(s, s->k, j) + RHS_NODE;
}

/* ---- begin and turn -------------------------------------------------------------------------- */

static struct rhs_weights weights_at(const struct rhs_sweep *s, int d, int at)
{
    const int n[3] = {s->zone->nx, s->zone->ny, s->zone->nz};
    return rhs_weights(s->mz->consts.axis[d].spread, s->mz->consts.damping, at, n[d]);
}

static void set_weights(const struct rhs_sweep *s)
{
    for (int v = 1; v <= rhs_inner(s->zone->nx); v++)
        for (int l = 0; l < LANES; l++) {
            const struct rhs_weights x = weights_at(s, 0, 1 + (v - 1) * LANES + l);
            double *w = s->weights + v * RHS_STATE + l;
            w[0] = x.m2;
            w[LANES] = x.m1;
            w[2 * LANES] = x.c;
            w[3 * LANES] = x.p1;
            w[4 * LANES] = x.p2;
        }
}

static void set_terms(const struct rhs_sweep *s)
{
    struct rhs_terms *t = s->terms;
    double centre = 0.0;
    for (int d = 0; d < 3; d++)
        centre -= 2.0 * s->mz->consts.axis[d].visc;
    for (int d = 0; d < 3; d++) {
        const double visc = s->mz->consts.axis[d].visc;
        t->axis[d].advect = REAL(s->mz->consts.axis[d].tau2);
        t->axis[d].pressure = REAL(0.4 * s->mz->consts.axis[d].tau2);
        t->axis[d].visc = REAL(visc);
        t->axis[d].heat = REAL(0.96 * visc);
        t->axis[d].work = REAL(visc / 6.0);
        t->own[d] = REAL(-2.0 * visc / 3.0);
    }
    t->visc = REAL(centre);
    t->heat = REAL(0.96 * centre);
}

/* Sets the stencil of axis d for position `at`; returns its weight at the point itself. */
static double set_stencil(const struct rhs_sweep *s, int d, int at)
{
    const struct rhs_weights w = weights_at(s, d, at);
    struct rhs_axis *a = &s->terms->axis[d];
    a->before2 = REAL(w.m2);
    a->before = REAL(w.m1);
    a->after = REAL(w.p1);
    a->after2 = REAL(w.p2);
    return w.c;
}

static void share_out(struct rhs_sweep *s, double *scratch)
{
    const struct sizes size = sizes_of(s->records, s->zone->ny);
    s->terms = (struct rhs_terms *)scratch;
    scratch += size.terms;
    for (int i = 0; i < 4; i++, scratch += size.flow)
        s->flow[i] = scratch;
    for (int i = 0; i < 3; i++, scratch += size.node)
        s->node[i] = scratch;
    s->weights = scratch;
}

void rhs_begin(struct rhs_sweep *s, double *scratch, int k0)
{
    s->records = rhs_records(s->zone->nx);
    for (int l = 0; l < LANES; l++)
        s->last[l] = -(l == (s->zone->nx - 2) % LANES);
    share_out(s, scratch);
    set_weights(s);
    set_terms(s);
    for (int k = k0 - 2; k <= k0 + 1; k++)
        load_rows(s, k, s->j0 - 2, s->j1 + 2);
}

void rhs_plane(struct rhs_sweep *s, int k)
{
    s->k = k;
    load_rows(s, k + 2, s->j0 - 2, s->j0);
    load_rows(s, k + 2, s->j1, s->j1 + 2);
}

/* ---- a row ----------------------------------------------------------------------------------- */

/* The rows that a row's stencil reads. Where a neighbour at distance 2 would lie outside, its
 * weight is 0 and the row itself stands in. `above2` is not in the window yet: it and the forcing
 * `g` are rows of fields, starting at i = 1 - LANES. */
struct stencil_rows {
    const double *here, *south, *north, *below, *above, *south2, *north2, *below2;
    const double *above2, *g, *weights;
    long field; /* from component to component of a field */
};

static struct stencil_rows stencil_rows_of(const struct rhs_sweep *s, int j)
{
    const struct mz_zone *z = s->zone;
    const int k = s->k;
    return (struct stencil_rows){
        .here = flow_row(s, k, j),
        .south = flow_row(s, k, j - 1),
        .north = flow_row(s, k, j + 1),
        .below = flow_row(s, k - 1, j),
        .above = flow_row(s, k + 1, j),
        .south2 = flow_row(s, k, j > 2 ? j - 2 : j),
        .north2 = flow_row(s, k, j < z->ny - 3 ? j + 2 : j),
        .below2 = flow_row(s, k > 2 ? k - 2 : k, j),
        .above2 = source_row(s, s->u, k < z->nz - 3 ? k + 2 : k, j) + 1 - LANES,
        .g = source_row(s, s->forcing, k, j) + 1 - LANES,
        .weights = s->weights,
        .field = z->volume,
    };
}

/* A point's record in the window: velocity, internal and total energy per mass, density. */
struct flow {
    lanes v[3], e, energy, rho;
};

FN struct flow flow_at(const double *f)
{
    return (struct flow){{LOAD(f, 0), LOAD(f, LANES), LOAD(f, 2 * LANES)},
                         LOAD(f, 3 * LANES),
                         LOAD(f, 4 * LANES),
                         LOAD(f, 5 * LANES)};
}

/* The points one or two before or after those of a record, from two neighbouring records. */
#define SHIFTED(by, a, b)                                                                          \
    ((struct flow){{by(a.v[0], b.v[0]), by(a.v[1], b.v[1]), by(a.v[2], b.v[2])},                   \
                   by(a.e, b.e),                                                                   \
                   by(a.energy, b.energy),                                                         \
                   by(a.rho, b.rho)})
#if LANES == 1
#define two_before(f, before, here) flow_at((f)-2 * RHS_FLOW)
#define two_after(f, here, after)   flow_at((f) + 2 * RHS_FLOW)
#else
#define back2(a, b)                 lanes_back(a, b, 2)
#define ahead2(a, b)                lanes_ahead(a, b, 2)
#define two_before(f, before, here) SHIFTED(back2, before, here)
#define two_after(f, here, after)   SHIFTED(ahead2, here, after)
#endif

/* The sums for the five equations; the energy's in two parts, for shorter dependency chains. */
struct sum {
    lanes rho, m[3], energy, work;
};

/* Adds weight times velocity and total energy per mass. */
FN struct sum add_mass(struct sum s, struct flow f, lanes weight)
{
    for (int i = 0; i < 3; i++)
        s.m[i] += weight * f.v[i];
    s.energy += weight * f.energy;
    return s;
}

/* Adds a neighbour at distance 1 along axis d: advection by its velocity, the stencil's weight,
 * viscous second differences of velocity and phi, pressure, and the extra third of the second
 * difference of v_d with its work. advect and pressure are negative for the neighbour after. */
FN struct sum add_near(struct sum s, const struct rhs_axis *a, int d, struct flow f, lanes weight,
                       lanes advect, lanes pressure)
{
    const lanes mass = (weight + advect * f.v[d]) * f.rho;
    s.rho += mass;
    s = add_mass(s, f, mass + a->visc);
    const lanes friction = a->work * f.v[d], push = pressure * (f.rho * f.e) + friction;
    s.m[d] += push + friction;
    s.work += push * f.v[d];
    s.work += a->heat * f.e;
    return s;
}

/* Add the neighbour before and the one after. */
FN struct sum add_before(struct sum s, const struct rhs_axis *a, int d, struct flow f, lanes weight)
{
    return add_near(s, a, d, f, weight, a->advect, a->pressure);
}

FN struct sum add_after(struct sum s, const struct rhs_axis *a, int d, struct flow f, lanes weight)
{
    return add_near(s, a, d, f, weight, -a->advect, -a->pressure);
}

/* Adds a point at distance 2, which only the fourth differences reach. */
FN struct sum add_far(struct sum s, struct flow f, lanes weight)
{
    s.rho += weight * f.rho;
    return add_mass(s, f, weight * f.rho);
}

/* Starts the sums with dt g and the point two planes above. */
FN struct sum begin_sum(const double *g, const double *above2, long field, lanes weight)
{
    struct sum s;
    s.rho = LOAD(g, 0) + weight * LOAD(above2, 0);
    for (int i = 0; i < 3; i++)
        s.m[i] = LOAD(g, (1 + i) * field) + weight * LOAD(above2, (1 + i) * field);
    s.energy = LOAD(g, 4 * field) + weight * LOAD(above2, 4 * field);
    return s;
}

/* Adds the point itself and its neighbours along x. */
FN struct sum add_along(struct sum s, const struct rhs_terms *t, const double *x, const double *f)
{
    const struct rhs_axis *a = &t->axis[0];
    const struct flow before = flow_at(f - RHS_FLOW), here = flow_at(f),
                      after = flow_at(f + RHS_FLOW);
    const lanes mass = (LOAD(x, 2 * LANES) + t->centre) * here.rho;
    s.rho += mass;
    s = add_mass(s, here, mass + t->visc);
    s.work = t->heat * here.e;
    for (int d = 0; d < 3; d++) {
        s.m[d] += t->own[d] * here.v[d];
        s.work -= 2.0 * t->axis[d].work * here.v[d] * here.v[d];
    }
    s = add_before(s, a, 0, SHIFTED(lanes_back1, before, here), LOAD(x, LANES));
    s = add_after(s, a, 0, SHIFTED(lanes_ahead1, here, after), LOAD(x, 3 * LANES));
    s = add_far(s, two_before(f, before, here), LOAD(x, 0));
    return add_far(s, two_after(f, here, after), LOAD(x, 4 * LANES));
}

/* Computes dt (R(u) + g) of record v. */
FN void set_record(const struct stencil_rows *q, const struct rhs_terms *t, long v, double *w)
{
    const struct rhs_axis *y = &t->axis[1], *z = &t->axis[2];
    const long f = v * RHS_FLOW;
    struct sum s = begin_sum(q->g + v * LANES, q->above2 + v * LANES, q->field, z->after2);
    s = add_along(s, t, q->weights + v * RHS_STATE, q->here + f);
    s = add_before(s, y, 1, flow_at(q->south + f), y->before);
    s = add_after(s, y, 1, flow_at(q->north + f), y->after);
    s = add_far(s, flow_at(q->south2 + f), y->before2);
    s = add_far(s, flow_at(q->north2 + f), y->after2);
    s = add_before(s, z, 2, flow_at(q->below + f), z->before);
    s = add_after(s, z, 2, flow_at(q->above + f), z->after);
    s = add_far(s, flow_at(q->below2 + f), z->before2);
    STORE(w, 0, s.rho);
    for (int i = 0; i < 3; i++)
        STORE(w, (1 + i) * LANES, s.m[i]);
    STORE(w, 4 * LANES, s.energy + s.work);
}

/* The fields that the row after row j will read, at i = 1. After the last row of a plane comes the
 * first one of the next. */
struct next_row {
    const double *u, *g;
    long field;
};

static struct next_row next_row_of(const struct rhs_sweep *s, int j)
{
    const int next = j < s->zone->ny - 2 ? j + 1 : j + 3;
    return (struct next_row){source_row(s, s->u, s->k + 2, next) + 1,
                             source_row(s, s->forcing, s->k, next) + 1, s->zone->volume};
}

/* Prefetches a cache line of each component at record v; a line holds two records of half its
 * width. */
FN void prefetch(struct next_row q, long v)
{
    enum { LINE = 8 };
    const long at = (v - 1) * LANES;
    if (at % LINE)
        return;
    for (int m = 0; m < MZ_VARS; m++) {
        __builtin_prefetch(q.g + at + m * q.field);
        __builtin_prefetch(q.u + at + m * q.field);
    }
}

void rhs_row(struct rhs_sweep *s, int j, double *w)
{
    const struct stencil_rows q = stencil_rows_of(s, j);
    s->terms->centre = REAL(set_stencil(s, 1, j) + set_stencil(s, 2, s->k));
    const struct next_row next = next_row_of(s, j);
    const int inner = rhs_inner(s->zone->nx);
    for (int v = 1; v <= inner; v++, w += RHS_STATE) {
        set_record(&q, s->terms, v, w);
        prefetch(next, v);
    }
    load_rows(s, s->k + 2, j, j + 1);
}

void rhs_scatter(const double *from, long node, double *w, long row, int rows, int inner)
{
    for (int v = 0; v < inner; v++)
        for (int m = 0; m < MZ_VARS; m++) {
            const double *at = from + (1 + v * LANES) * node + m * LANES;
            lanes t[LANES];
            for (int r = 0; r < LANES; r++)
                t[r] = LOAD(at, r * node);
            lanes_transpose(t);
            for (int r = 0; r < rows && r < LANES; r++)
                STORE(w, r * row + v * RHS_STATE + m * LANES, t[r]);
        }
}

/* ---- the whole zone -------------------------------------------------------------------------- */

/* Copies a row of records w to a row of a field. */
static void unpack_row(const struct mz_zone *z, const double *w, double *row)
{
    for (int v = 0; v < rhs_inner(z->nx); v++)
        for (int m = 0; m < MZ_VARS; m++)
            STORE(row, m * z->volume + 1 + v * LANES, LOAD(w, v * RHS_STATE + m * LANES));
}

void rhs_zone_all(const struct mz *mz, struct mz_work *work, int zone, const double *u,
                  const double *forcing)
{
    const struct mz_zone *z = &mz->zone[zone];
#pragma omp parallel for num_threads(work->width) schedule(static, 1)
    for (int t = 0; t < work->width; t++) {
        int k0, k1;
        mz_share(1, z->nz - 2, t, work->width, &k0, &k1);
        struct rhs_sweep sweep = rhs_sweep_of(mz, zone);
        sweep.u = u;
        memset(sweep.wall, 0, sizeof sweep.wall);
        sweep.forcing = forcing;
        if (k0 == k1)
            continue;
        rhs_begin(&sweep, work->scratch[t], k0);
        double *w = work->scratch[t] + rhs_scratch(mz);
        for (int k = k0; k < k1; k++) {
            rhs_plane(&sweep, k);
            for (int j = 1; j < z->ny - 1; j++) {
                rhs_row(&sweep, j, w);
                unpack_row(z, w, work->w + k * z->plane + (long)j * z->pitch);
            }
        }
    }
}
