/* npb_mz/rhs.c – the right-hand side on the host: the operator of kernels/rhs.h with points along i
 * in the lanes, on a window of records. */
#include "npb_mz/rhs.h"

#include "npb_mz/kernels/rhs.h"

#include <string.h>

/* Doubles between planes of the window beyond their rows: keeps the rows of a point's neighbours in
 * different sets of the cache. */
enum { GAP = 104 };

struct sizes {
    long state, prim; /* of a plane */
    long row;         /* of zeros */
    long weights, terms;
};

/* Of a window for rows of up to `records` records, `rows` of them. */
static struct sizes sizes_of(long records, long rows)
{
    return (struct sizes){.state = (records * rows + 1) * RHS_STATE + GAP,
                          .prim = (records * rows + 1) * RHS_PRIM + GAP,
                          .row = (records + 1) * RHS_STATE,
                          .weights = records * RHS_STATE,
                          .terms = sizeof(struct rhs_terms) / sizeof(double)};
}

static long sum_of(struct sizes s)
{
    return 5 * s.state + 3 * s.prim + s.row + s.weights + s.terms + 2 * LANES;
}

size_t rhs_scratch(const struct mz *mz)
{
    /* most_plane / most_pitch rows would do for equal zones; the longest row and the most rows may
     * belong to different ones */
    return sum_of(sizes_of(rhs_records(mz->most_nx), mz->most_ny));
}

/* ---- the window ------------------------------------------------------------------------------ */

static double *state_row(const struct rhs_sweep *s, int k, int j)
{
    return s->state[k % 5] + j * s->state_row;
}

static double *prim_row(const struct rhs_sweep *s, int k, int j)
{
    return s->prim[k % 3] + j * s->prim_row;
}

/* Row j of plane k of u becomes records; the first one holds the point i = 0 in all lanes. */
static void pack_row(const struct rhs_sweep *s, int k, int j)
{
    const struct mz_zone *z = s->zone;
    const long field = z->volume, ahead = 2L * z->pitch;
    const double *u = s->u + k * z->plane + (long)j * z->pitch;
    double *row = state_row(s, k, j), *to = row + RHS_STATE;
    for (int m = 0; m < MZ_VARS; m++)
        STORE(row, m * LANES, REAL(u[m * field]));
    u++;
    for (int v = rhs_records(z->nx); v > 1; v--, u += LANES, to += RHS_STATE)
        for (int m = 0; m < MZ_VARS; m++) {
            STORE(to, m * LANES, LOAD(u, m * field));
            __builtin_prefetch(u + m * field + ahead);
        }
    if (s->lend)
        s->lend(s, k, j, row);
}

static inline void store_prim(double *to, struct rhs_prim r)
{
    STORE(to, 0, r.ri);
    STORE(to, LANES, r.vx);
    STORE(to, 2 * LANES, r.vy);
    STORE(to, 3 * LANES, r.vz);
    STORE(to, 4 * LANES, r.e);
    STORE(to, 5 * LANES, r.p);
    STORE(to, 6 * LANES, r.phi);
}

/* Row j of plane k of the window gets its derived variables. */
static void derive_row(const struct rhs_sweep *s, int k, int j)
{
    const double *u = state_row(s, k, j);
    double *to = prim_row(s, k, j);
    for (int v = 0; v < rhs_records(s->zone->nx); v++, u += RHS_STATE, to += RHS_PRIM)
        store_prim(to, rhs_prim_of(LOAD(u, 0), LOAD(u, LANES), LOAD(u, 2 * LANES),
                                   LOAD(u, 3 * LANES), LOAD(u, 4 * LANES)));
}

void rhs_derive_row(const double *u, long field, double *prim, int records)
{
    for (int v = 0; v < records; v++, u += LANES, prim += RHS_PRIM)
        store_prim(prim, rhs_prim_of(LOAD(u, 0), LOAD(u, field), LOAD(u, 2 * field),
                                     LOAD(u, 3 * field), LOAD(u, 4 * field)));
}

/* Rows first .. last-1 of plane k that are in the zone. */
static void pack_rows(const struct rhs_sweep *s, int k, int first, int last)
{
    if (k < 0 || k >= s->zone->nz)
        return;
    for (int j = first < 0 ? 0 : first; j < last && j < s->zone->ny; j++)
        pack_row(s, k, j);
}

static void derive_rows(const struct rhs_sweep *s, int k, int first, int last)
{
    for (int j = first; j < last; j++)
        derive_row(s, k, j);
}

const double *rhs_prims(const struct rhs_sweep *s, int j)
{
    return prim_row(s, s->k, j) + RHS_PRIM;
}

/* ---- begin and turn -------------------------------------------------------------------------- */

static struct rhs_weights weights_at(const struct mz *mz, int d, int s, int n)
{
    return rhs_weights(mz->consts.axis[d].spread, mz->consts.damping, s, n);
}

static void set_weights(const struct rhs_sweep *s)
{
    const int nx = s->zone->nx;
    for (int v = 1; v <= rhs_inner(nx); v++)
        for (int l = 0; l < LANES; l++) {
            const struct rhs_weights x = weights_at(s->mz, 0, 1 + (v - 1) * LANES + l, nx);
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
    s->terms->far = REAL(-s->mz->consts.damping);
}

static void share_out(struct rhs_sweep *s, double *scratch)
{
    const struct sizes size = sizes_of(rhs_records(s->zone->nx), s->zone->ny);
    for (int i = 0; i < 5; i++, scratch += size.state)
        s->state[i] = scratch;
    for (int i = 0; i < 3; i++, scratch += size.prim)
        s->prim[i] = scratch;
    s->nothing = scratch;
    s->weights = s->nothing + size.row;
    s->terms = (struct rhs_terms *)(s->weights + size.weights);
    memset(s->nothing, 0, size.row * sizeof *s->nothing);
}

void rhs_begin(struct rhs_sweep *s, double *scratch, int k0)
{
    s->state_row = rhs_records(s->zone->nx) * RHS_STATE;
    s->prim_row = rhs_records(s->zone->nx) * RHS_PRIM;
    share_out(s, scratch);
    set_weights(s);
    set_terms(s);
    for (int k = k0 - 2; k <= k0 + 1; k++)
        pack_rows(s, k, s->j0 - 2, s->j1 + 2);
    for (int k = k0 - 1; k <= k0; k++)
        derive_rows(s, k, s->j0 - 1, s->j1 + 1);
}

void rhs_plane(struct rhs_sweep *s, int k)
{
    const struct rhs_weights z = weights_at(s->mz, 2, k, s->zone->nz);
    s->k = k;
    s->terms->axis[2].before = REAL(z.m1);
    s->terms->axis[2].after = REAL(z.p1);
    pack_rows(s, k + 2, s->j0 - 2, s->j0);
    pack_rows(s, k + 2, s->j1, s->j1 + 2);
    derive_row(s, k + 1, s->j0 - 1);
    derive_row(s, k + 1, s->j1);
}

/* ---- a row ----------------------------------------------------------------------------------- */

/* Rows of records around a row; those at distance 2 are zeros where the stencil does not reach. */
struct places {
    const double *u, *south, *north, *below, *above, *south2, *north2, *below2, *above2;
    const double *p, *p_south, *p_north, *p_below, *p_above, *weights, *g;
    long pitch;
    long field; /* from component to component of g */
};

static struct places places_of(const struct rhs_sweep *s, int j)
{
    const struct mz_zone *z = s->zone;
    const int k = s->k;
    return (struct places){
        .u = state_row(s, k, j),
        .south = state_row(s, k, j - 1),
        .north = state_row(s, k, j + 1),
        .below = state_row(s, k - 1, j),
        .above = state_row(s, k + 1, j),
        .south2 = j > 2 ? state_row(s, k, j - 2) : s->nothing,
        .north2 = j < z->ny - 3 ? state_row(s, k, j + 2) : s->nothing,
        .below2 = k > 2 ? state_row(s, k - 2, j) : s->nothing,
        .above2 = k < z->nz - 3 ? state_row(s, k + 2, j) : s->nothing,
        .p = prim_row(s, k, j),
        .p_south = prim_row(s, k, j - 1),
        .p_north = prim_row(s, k, j + 1),
        .p_below = prim_row(s, k - 1, j),
        .p_above = prim_row(s, k + 1, j),
        .weights = s->weights,
        .g = s->forcing + k * z->plane + (long)j * z->pitch + 1 - LANES,
        .field = z->volume,
        .pitch = z->pitch,
    };
}

/* Weights of a point's neighbours, the same for all five variables: they are carried by the same
 * velocities and spread by the same stencils. */
struct flow {
    lanes c, xm2, xm, xp, xp2, ym, yp, zm, zp, far;
};

/* Velocity, pressure and phi of a neighbour. */
struct moving {
    lanes v[3], p, phi;
};

FN struct moving moving_at(const double *prim)
{
    return (struct moving){{LOAD(prim, LANES), LOAD(prim, 2 * LANES), LOAD(prim, 3 * LANES)},
                           LOAD(prim, 5 * LANES),
                           LOAD(prim, 6 * LANES)};
}

/* The points before and after those of a record. */
FN struct moving moving_before(struct moving before, struct moving here)
{
    return (struct moving){{lanes_back1(before.v[0], here.v[0]),
                            lanes_back1(before.v[1], here.v[1]),
                            lanes_back1(before.v[2], here.v[2])},
                           lanes_back1(before.p, here.p),
                           lanes_back1(before.phi, here.phi)};
}

FN struct moving moving_after(struct moving here, struct moving after)
{
    return (struct moving){{lanes_ahead1(here.v[0], after.v[0]),
                            lanes_ahead1(here.v[1], after.v[1]),
                            lanes_ahead1(here.v[2], after.v[2])},
                           lanes_ahead1(here.p, after.p),
                           lanes_ahead1(here.phi, after.phi)};
}

/* Momenta and energy: what pressure and friction do. */
struct forces {
    lanes m[3], e;
};

/* The part of one axis: second differences of velocities and phi, pressure, its work, and the
 * friction's that the second difference of v_d^2 stands for; without the curved terms' centre. */
FN struct forces add_axis(struct forces f, const struct rhs_terms *t, int d, struct moving before,
                          struct moving after, lanes v)
{
    const struct rhs_axis *a = &t->axis[d];
    const lanes vm = before.v[d], vp = after.v[d];
    for (int m = 0; m < 3; m++)
        f.m[m] += a->curve * (before.v[m] + after.v[m]);
    f.m[d] += a->third * (vm + vp - 2.0 * v) + a->carry * (before.p - after.p);
    f.e += a->curve * (before.phi + after.phi) + a->carry * (before.p * vm - after.p * vp) +
           a->work * (vp * vp + vm * vm - 2.0 * v * v);
    return f;
}

FN lanes carry(const struct places *q, int m, long v, struct flow f, lanes rest)
{
    const long at = v * RHS_STATE + m * LANES;
    const lanes here = LOAD(q->u, at), before = LOAD(q->u, at - RHS_STATE),
                after = LOAD(q->u, at + RHS_STATE);
    const lanes far =
        LOAD(q->south2, at) + LOAD(q->north2, at) + (LOAD(q->below2, at) + LOAD(q->above2, at));
    const lanes x =
        rest + f.c * here + f.xm2 * lanes_back2(before, here) + f.xm * lanes_back1(before, here);
    const lanes y = f.xp2 * lanes_ahead2(here, after) + f.xp * lanes_ahead1(here, after) +
                    f.ym * LOAD(q->south, at);
    const lanes z = f.far * far + f.yp * LOAD(q->north, at) + f.zm * LOAD(q->below, at) +
                    f.zp * LOAD(q->above, at);
    return x + (y + z);
}

/* dt (R(u) + g) of record v. */
FN void set_record(const struct places *q, const struct rhs_terms *t, long v, double *w)
{
    const long p = v * RHS_PRIM;
    const double *x = q->weights + v * RHS_STATE, *g = q->g + v * LANES;
    const struct moving here = moving_at(q->p + p);
    for (int m = 0; m < MZ_VARS; m++)
        __builtin_prefetch(g + m * q->field + 2 * q->pitch);
    const struct moving west = moving_before(moving_at(q->p + p - RHS_PRIM), here);
    const struct moving east = moving_after(here, moving_at(q->p + p + RHS_PRIM));
    struct forces f = {{t->curve * here.v[0], t->curve * here.v[1], t->curve * here.v[2]},
                       t->curve * here.phi};
    struct flow c = {.c = LOAD(x, 2 * LANES) + t->centre,
                     .xm2 = LOAD(x, 0),
                     .xm = LOAD(x, LANES) + t->axis[0].carry * west.v[0],
                     .xp = LOAD(x, 3 * LANES) - t->axis[0].carry * east.v[0],
                     .xp2 = LOAD(x, 4 * LANES),
                     .far = t->far};
    f = add_axis(f, t, 0, west, east, here.v[0]);
    const struct moving south = moving_at(q->p_south + p), north = moving_at(q->p_north + p);
    f = add_axis(f, t, 1, south, north, here.v[1]);
    c.ym = t->axis[1].before + t->axis[1].carry * south.v[1];
    c.yp = t->axis[1].after - t->axis[1].carry * north.v[1];
    const struct moving below = moving_at(q->p_below + p), above = moving_at(q->p_above + p);
    f = add_axis(f, t, 2, below, above, here.v[2]);
    c.zm = t->axis[2].before + t->axis[2].carry * below.v[2];
    c.zp = t->axis[2].after - t->axis[2].carry * above.v[2];
    STORE(w, LANES, carry(q, 1, v, c, LOAD(g, q->field) + f.m[0]));
    STORE(w, 2 * LANES, carry(q, 2, v, c, LOAD(g, 2 * q->field) + f.m[1]));
    STORE(w, 3 * LANES, carry(q, 3, v, c, LOAD(g, 3 * q->field) + f.m[2]));
    STORE(w, 4 * LANES, carry(q, 4, v, c, LOAD(g, 4 * q->field) + f.e));
    STORE(w, 0, carry(q, 0, v, c, LOAD(g, 0)));
}

void rhs_row(struct rhs_sweep *s, int j, double *w)
{
    const struct rhs_weights y = weights_at(s->mz, 1, j, s->zone->ny);
    const struct rhs_weights z = weights_at(s->mz, 2, s->k, s->zone->nz);
    s->terms->axis[1].before = REAL(y.m1);
    s->terms->axis[1].after = REAL(y.p1);
    s->terms->centre = REAL(y.c + z.c);
    if (s->k + 2 < s->zone->nz)
        pack_row(s, s->k + 2, j);
    derive_row(s, s->k + 1, j);
    const struct places q = places_of(s, j);
    for (int v = 1; v <= rhs_inner(s->zone->nx); v++)
        set_record(&q, s->terms, v, w + (v - 1) * RHS_STATE);
}

/* ---- the whole zone -------------------------------------------------------------------------- */

/* A row of records w becomes a row of a field. */
static void unpack_row(const struct mz_zone *z, const double *w, double *row)
{
    for (int v = 1; v <= rhs_inner(z->nx); v++)
        for (int m = 0; m < MZ_VARS; m++)
            STORE(row, m * z->volume + 1 + (v - 1) * LANES,
                  LOAD(w, (v - 1) * RHS_STATE + m * LANES));
}

void rhs_zone_all(const struct mz *mz, struct mz_work *work, int zone, const double *u,
                  const double *forcing)
{
    const struct mz_zone *z = &mz->zone[zone];
#pragma omp parallel for num_threads(work->width) schedule(static, 1)
    for (int t = 0; t < work->width; t++) {
        int inner = mz->zone[zone].nz - 2;
        int k0 = 1 + t * inner / work->width, k1 = 1 + (t + 1) * inner / work->width;
        struct rhs_sweep sweep;
        if (k0 == k1)
            continue;
        sweep = (struct rhs_sweep){
            .mz = mz, .zone = z, .u = u, .forcing = forcing, .j0 = 1, .j1 = z->ny - 1};
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
