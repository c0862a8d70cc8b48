/* npb_mz/rhs.c – the right-hand side on the host: the operator of kernels/rhs.h with points along i
 * in the lanes, on a window of records. */
#include "npb_mz/rhs.h"

#include "npb_mz/kernels/rhs.h"

#include <string.h>

/* Doubles between planes of the window beyond their rows: keeps the rows of a point's neighbours in
 * different sets of the cache. */
enum { GAP = 104 };

/* Doubles of the parts of a sweep's scratch. */
struct sizes {
    long state, flow, node; /* a plane */
    long row;               /* of zeros */
    long weights, terms;
};

/* Of a window of `rows` rows of `records` records. */
static struct sizes sizes_of(long records, long rows)
{
    const long points = records * rows + 1; /* a record is read behind the last one */
    return (struct sizes){.state = points * RHS_STATE + GAP,
                          .flow = points * RHS_FLOW + GAP,
                          .node = points * RHS_NODE,
                          .row = (records + 1) * RHS_STATE,
                          .weights = records * RHS_STATE,
                          .terms = sizeof(struct rhs_terms) / sizeof(double)};
}

size_t rhs_scratch(const struct mz *mz)
{
    const struct sizes s = sizes_of(rhs_records(mz->most_nx), mz->most_ny);
    return 4 * s.state + 3 * (s.flow + s.node) + s.row + s.weights + s.terms;
}

/* ---- the window ------------------------------------------------------------------------------ */

static double *state_row(const struct rhs_sweep *s, int k, int j)
{
    return s->state[k % 4] + (long)j * s->records * RHS_STATE;
}

static double *flow_row(const struct rhs_sweep *s, int k, int j)
{
    return s->flow[k % 3] + (long)j * s->records * RHS_FLOW;
}

static double *node_row(const struct rhs_sweep *s, int k, int j)
{
    return s->node[k % 3] + (long)j * s->records * RHS_NODE;
}

static const double *source_row(const struct rhs_sweep *s, const double *field, int k, int j)
{
    return field + k * s->zone->plane + (long)j * s->zone->pitch;
}

/* Row j of plane k of u becomes records; the first one holds the point i = 0 in all lanes. */
static void pack_row(const struct rhs_sweep *s, int k, int j)
{
    const long field = s->zone->volume;
    const double *u = source_row(s, s->u, k, j);
    double *to = state_row(s, k, j);
    for (int m = 0; m < MZ_VARS; m++)
        STORE(to, m * LANES, REAL(u[m * field]));
    for (int v = 1; v < s->records; v++)
        for (int m = 0; m < MZ_VARS; m++)
            STORE(to, v * RHS_STATE + m * LANES, LOAD(u, m * field + 1 + (v - 1) * LANES));
    if (s->lend)
        s->lend(s, k, j, to);
}

/* Row j of plane k of the window gets its derived variables. */
static void derive_row(const struct rhs_sweep *s, int k, int j)
{
    const double *u = state_row(s, k, j);
    double *flow = flow_row(s, k, j), *node = node_row(s, k, j);
    for (int v = 0; v < s->records; v++, u += RHS_STATE, flow += RHS_FLOW, node += RHS_NODE) {
        const struct rhs_prim r = rhs_prim_of(LOAD(u, 0), LOAD(u, LANES), LOAD(u, 2 * LANES),
                                              LOAD(u, 3 * LANES), LOAD(u, 4 * LANES));
        STORE(flow, 0, r.vx);
        STORE(flow, LANES, r.vy);
        STORE(flow, 2 * LANES, r.vz);
        STORE(flow, 3 * LANES, r.p);
        STORE(flow, 4 * LANES, r.phi);
        STORE(node, 0, r.ri);
        STORE(node, LANES, r.e);
    }
}

/* Rows first .. last-1 of plane k that are in the zone enter the window. */
static void take_rows(const struct rhs_sweep *s, int k, int first, int last)
{
    if (k < 0 || k >= s->zone->nz)
        return;
    for (int j = first < 0 ? 0 : first; j < last && j < s->zone->ny; j++) {
        pack_row(s, k, j);
        derive_row(s, k, j);
    }
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
    double curve = 0.0;
    for (int d = 0; d < 3; d++) {
        const double visc = s->mz->consts.axis[d].visc;
        s->terms->axis[d].carry = REAL(s->mz->consts.axis[d].tau2);
        s->terms->axis[d].curve = REAL(visc);
        s->terms->axis[d].third = REAL(visc / 3.0);
        s->terms->axis[d].work = REAL(visc / 6.0);
        curve -= 2.0 * visc;
    }
    s->terms->curve = REAL(curve);
}

/* The axis' stencil at position `at`; its weight at the point itself is returned. */
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
    for (int i = 0; i < 4; i++, scratch += size.state)
        s->state[i] = scratch;
    for (int i = 0; i < 3; i++, scratch += size.flow)
        s->flow[i] = scratch;
    for (int i = 0; i < 3; i++, scratch += size.node)
        s->node[i] = scratch;
    s->nothing = scratch;
    s->weights = s->nothing + size.row;
    memset(s->nothing, 0, size.row * sizeof *s->nothing);
}

void rhs_begin(struct rhs_sweep *s, double *scratch, int k0)
{
    s->records = rhs_records(s->zone->nx);
    share_out(s, scratch);
    set_weights(s);
    set_terms(s);
    for (int k = k0 - 2; k <= k0 + 1; k++)
        take_rows(s, k, s->j0 - 2, s->j1 + 2);
}

void rhs_plane(struct rhs_sweep *s, int k)
{
    s->k = k;
    take_rows(s, k + 2, s->j0 - 2, s->j0);
    take_rows(s, k + 2, s->j1, s->j1 + 2);
}

/* ---- a row ----------------------------------------------------------------------------------- */

/* Rows around a row; those at distance 2 are zeros where the stencil does not reach. `above2` is
 * not yet in the window: it and the forcing are rows of a field, from i = 1 - LANES on. */
struct places {
    const double *u, *south, *north, *south2, *north2, *below, *above, *below2, *above2;
    const double *flow, *f_south, *f_north, *f_below, *f_above, *weights, *g;
    long field; /* from component to component of a field */
};

static struct places places_of(const struct rhs_sweep *s, int j)
{
    const struct mz_zone *z = s->zone;
    const int k = s->k;
    return (struct places){
        .u = state_row(s, k, j),
        .south = state_row(s, k, j - 1),
        .north = state_row(s, k, j + 1),
        .south2 = j > 2 ? state_row(s, k, j - 2) : s->nothing,
        .north2 = j < z->ny - 3 ? state_row(s, k, j + 2) : s->nothing,
        .below = state_row(s, k - 1, j),
        .above = state_row(s, k + 1, j),
        .below2 = k > 2 ? state_row(s, k - 2, j) : s->nothing,
        .above2 = source_row(s, s->u, k < z->nz - 3 ? k + 2 : k, j) + 1 - LANES,
        .flow = flow_row(s, k, j),
        .f_south = flow_row(s, k, j - 1),
        .f_north = flow_row(s, k, j + 1),
        .f_below = flow_row(s, k - 1, j),
        .f_above = flow_row(s, k + 1, j),
        .weights = s->weights,
        .g = source_row(s, s->forcing, k, j) + 1 - LANES,
        .field = z->volume,
    };
}

/* Velocity, pressure and phi of a neighbour. */
struct flow {
    lanes v[3], p, phi;
};

FN struct flow flow_at(const double *f)
{
    return (struct flow){
        {LOAD(f, 0), LOAD(f, LANES), LOAD(f, 2 * LANES)}, LOAD(f, 3 * LANES), LOAD(f, 4 * LANES)};
}

/* The points before and after those of a record. */
FN struct flow flow_before(struct flow before, struct flow here)
{
    return (struct flow){{lanes_back1(before.v[0], here.v[0]), lanes_back1(before.v[1], here.v[1]),
                          lanes_back1(before.v[2], here.v[2])},
                         lanes_back1(before.p, here.p),
                         lanes_back1(before.phi, here.phi)};
}

FN struct flow flow_after(struct flow here, struct flow after)
{
    return (struct flow){{lanes_ahead1(here.v[0], after.v[0]), lanes_ahead1(here.v[1], after.v[1]),
                          lanes_ahead1(here.v[2], after.v[2])},
                         lanes_ahead1(here.p, after.p),
                         lanes_ahead1(here.phi, after.phi)};
}

/* The five results of a record, as far as they have come. */
struct sum {
    lanes m[MZ_VARS];
};

/* What pressure and friction do along one axis: second differences of velocities and phi (without
 * the point's own part), pressure, its work, and the friction's that the second difference of v_d^2
 * stands for. */
FN struct sum add_forces(struct sum s, const struct rhs_axis *a, int d, struct flow before,
                         struct flow after, lanes v)
{
    const lanes vm = before.v[d], vp = after.v[d];
    for (int m = 0; m < 3; m++)
        s.m[1 + m] += a->curve * (before.v[m] + after.v[m]);
    s.m[4] += a->curve * (before.phi + after.phi);
    s.m[1 + d] += a->third * (vm + vp - 2.0 * v) + a->carry * (before.p - after.p);
    s.m[4] +=
        a->carry * (before.p * vm - after.p * vp) + a->work * (vp * vp + vm * vm - 2.0 * v * v);
    return s;
}

/* What comes along y or z from the neighbours: all five variables are carried by the same
 * velocities and spread by the same stencil. `after2` has its components `field` doubles apart. */
FN struct sum add_carried(struct sum s, const struct rhs_axis *a, lanes vm, lanes vp,
                          const double *before2, const double *before, const double *after,
                          const double *after2, long field)
{
    const lanes wm = a->before + a->carry * vm, wp = a->after - a->carry * vp;
    for (int m = 0; m < MZ_VARS; m++) {
        s.m[m] += wm * LOAD(before, m * LANES);
        s.m[m] += wp * LOAD(after, m * LANES);
        s.m[m] += a->before2 * LOAD(before2, m * LANES);
        s.m[m] += a->after2 * LOAD(after2, m * field);
    }
    return s;
}

/* The points two before and two after those of the record u. */
#if LANES == 1
#define back2(u, before, here) LOAD(u, -2 * RHS_STATE)
#define ahead2(u, here, after) LOAD(u, 2 * RHS_STATE)
#else
#define back2(u, before, here) lanes_back(before, here, 2)
#define ahead2(u, here, after) lanes_ahead(here, after, 2)
#endif

/* The same along x, with the point's own part. */
FN struct sum add_along(struct sum s, const struct rhs_terms *t, const double *x, lanes vm,
                        lanes vp, const double *u)
{
    const lanes m2 = LOAD(x, 0), m1 = LOAD(x, LANES) + t->axis[0].carry * vm,
                c = LOAD(x, 2 * LANES) + t->centre, p1 = LOAD(x, 3 * LANES) - t->axis[0].carry * vp,
                p2 = LOAD(x, 4 * LANES);
    for (int m = 0; m < MZ_VARS; m++, u += LANES) {
        const lanes here = LOAD(u, 0), before = LOAD(u, -RHS_STATE), after = LOAD(u, RHS_STATE);
        s.m[m] += c * here + m2 * back2(u, before, here) + m1 * lanes_back1(before, here);
        s.m[m] += p2 * ahead2(u, here, after);
        s.m[m] += p1 * lanes_ahead1(here, after);
    }
    return s;
}

/* dt (R(u) + g) of record v. */
FN void set_record(const struct places *q, const struct rhs_terms *t, long v, double *w)
{
    const long at = v * RHS_STATE, f = v * RHS_FLOW;
    const double *g = q->g + v * LANES;
    const struct flow here = flow_at(q->flow + f);
    struct sum s = {{LOAD(g, 0), LOAD(g, q->field) + t->curve * here.v[0],
                     LOAD(g, 2 * q->field) + t->curve * here.v[1],
                     LOAD(g, 3 * q->field) + t->curve * here.v[2],
                     LOAD(g, 4 * q->field) + t->curve * here.phi}};
    const struct flow west = flow_before(flow_at(q->flow + f - RHS_FLOW), here),
                      east = flow_after(here, flow_at(q->flow + f + RHS_FLOW));
    s = add_forces(s, &t->axis[0], 0, west, east, here.v[0]);
    s = add_along(s, t, q->weights + at, west.v[0], east.v[0], q->u + at);
    const struct flow south = flow_at(q->f_south + f), north = flow_at(q->f_north + f);
    s = add_forces(s, &t->axis[1], 1, south, north, LOAD(q->flow, f + LANES));
    s = add_carried(s, &t->axis[1], south.v[1], north.v[1], q->south2 + at, q->south + at,
                    q->north + at, q->north2 + at, LANES);
    const struct flow below = flow_at(q->f_below + f), above = flow_at(q->f_above + f);
    s = add_forces(s, &t->axis[2], 2, below, above, LOAD(q->flow, f + 2 * LANES));
    s = add_carried(s, &t->axis[2], below.v[2], above.v[2], q->below2 + at, q->below + at,
                    q->above + at, q->above2 + v * LANES, q->field);
    for (int m = 0; m < MZ_VARS; m++)
        STORE(w, m * LANES, s.m[m]);
}

void rhs_row(struct rhs_sweep *s, int j, double *w)
{
    const struct places q = places_of(s, j);
    s->terms->centre = REAL(set_stencil(s, 1, j) + set_stencil(s, 2, s->k));
    const double *ahead[2] = {source_row(s, s->forcing, s->k, j + 2),
                              source_row(s, s->u, s->k + 2, j + 2)};
    for (int v = 1; v <= rhs_inner(s->zone->nx); v++, w += RHS_STATE) {
        set_record(&q, s->terms, v, w);
        const double *p = ahead[v % 2] + (v / 2) * 2 * LANES;
        for (int m = 0; m < MZ_VARS; m++)
            __builtin_prefetch(p + m * q.field);
    }
    take_rows(s, s->k + 2, j, j + 1);
}

/* ---- the whole zone -------------------------------------------------------------------------- */

/* A row of records w becomes a row of a field. */
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
        int inner = mz->zone[zone].nz - 2;
        int k0 = 1 + t * inner / work->width, k1 = 1 + (t + 1) * inner / work->width;
        struct rhs_sweep sweep = {
            .mz = mz, .zone = z, .u = u, .forcing = forcing, .j0 = 1, .j1 = z->ny - 1};
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
