/* npb_mz/rhs.c – the right-hand side on the host: kernels/rhs.h with points along i in the lanes.
 */
#include "npb_mz/rhs.h"

#include "src/lanes.h"

/* Where the next component lies, hidden from the compiler: it would otherwise compute and spill the
 * addresses of all 65 neighbours, where a handful of strides serves every component. */
static inline __attribute__((always_inline)) const double *next_field(const double *p, long size)
{
    p += size;
    __asm__("" : "+r"(p));
    return p;
}
#define NEXT_FIELD(p, size) next_field(p, size)
#include "npb_mz/kernels/rhs.h"

static long weights_row(const struct mz *mz)
{
    return mz->most_pitch + LANES;
}

size_t rhs_scratch(const struct mz *mz)
{
    return 3 * MZ_PRIMS * mz->most_plane + 5 * weights_row(mz);
}

void rhs_derive_row(const double *u, long field, double *prim, long size, int n)
{
    for (int i = 0; i < n; i += LANES)
        rhs_derive(u, field, i, prim, size, i);
}

static double *prim_plane(const struct rhs_sweep *s, int k)
{
    return s->prim + k % 3 * MZ_PRIMS * s->zone->plane;
}

static void derive_plane(const struct rhs_sweep *s, int k)
{
    const long plane = s->zone->plane, pitch = s->zone->pitch, row = (s->j0 - 1) * pitch;
    rhs_derive_row(s->u + k * plane + row, s->zone->volume, prim_plane(s, k) + row, plane,
                   (s->j1 - s->j0 + 2) * (int)pitch);
}

static struct rhs_weights weights_at(const struct mz *mz, int d, int s, int n)
{
    return rhs_weights(mz->consts.axis[d].spread, mz->consts.damping, s, n);
}

static void set_weights(struct rhs_sweep *s)
{
    const long row = weights_row(s->mz);
    for (int i = 0; i < s->zone->pitch + LANES; i++) {
        struct rhs_weights x = weights_at(s->mz, 0, i, s->zone->nx);
        s->weights[i] = x.m2;
        s->weights[row + i] = x.m1;
        s->weights[2 * row + i] = x.c;
        s->weights[3 * row + i] = x.p1;
        s->weights[4 * row + i] = x.p2;
    }
}

/* A sweep's first planes, once it knows its rows and where its result goes. */
static void begin(struct rhs_sweep *s, double *scratch, int k0)
{
    s->weights = scratch;
    s->prim = scratch + 5 * weights_row(s->mz);
    set_weights(s);
    derive_plane(s, k0 - 1);
    derive_plane(s, k0);
}

void rhs_begin(struct rhs_sweep *s, const struct mz *mz, int zone, const double *u,
               const double *forcing, double *w, double *scratch, int k0)
{
    const struct mz_zone *z = &mz->zone[zone];
    *s = (struct rhs_sweep){.mz = mz,
                            .zone = z,
                            .u = u,
                            .forcing = forcing,
                            .w = w,
                            .size = z->volume,
                            .step = z->plane,
                            .j0 = 1,
                            .j1 = z->ny - 1};
    begin(s, scratch, k0);
}

void rhs_begin_rows(struct rhs_sweep *s, const struct mz *mz, int zone, const double *u,
                    const double *forcing, double *w, long size, double *scratch, int j0, int j1)
{
    *s = (struct rhs_sweep){.mz = mz,
                            .zone = &mz->zone[zone],
                            .u = u,
                            .forcing = forcing,
                            .w = w,
                            .size = size,
                            .step = 0,
                            .j0 = j0,
                            .j1 = j1};
    begin(s, scratch, 1);
}

static struct rhs_stencil stencil(struct rhs_weights w)
{
    return (struct rhs_stencil){
        .m2 = REAL(w.m2), .m1 = REAL(w.m1), .c = REAL(w.c), .p1 = REAL(w.p1), .p2 = REAL(w.p2)};
}

static struct rhs_stencil stencil_x(const double *weights, long row, int i)
{
    return (struct rhs_stencil){.m2 = LOAD(weights, i),
                                .m1 = LOAD(weights, row + i),
                                .c = LOAD(weights, 2 * row + i),
                                .p1 = LOAD(weights, 3 * row + i),
                                .p2 = LOAD(weights, 4 * row + i)};
}

static struct rhs_scales scales(const struct mz *mz)
{
    const struct mz_consts *c = &mz->consts;
    return (struct rhs_scales){.tx = c->axis[0].tau2,
                               .ty = c->axis[1].tau2,
                               .tz = c->axis[2].tau2,
                               .vx = c->axis[0].visc,
                               .vy = c->axis[1].visc,
                               .vz = c->axis[2].visc};
}

static void sweep_row(const struct rhs_sweep *s, int j, int k)
{
    const struct mz_zone *z = s->zone;
    const long plane = z->plane, row = weights_row(s->mz), at = (long)j * z->pitch;
    const struct rhs_stencil wy = stencil(weights_at(s->mz, 1, j, z->ny));
    const struct rhs_stencil wz = stencil(weights_at(s->mz, 2, k, z->nz));
    const struct rhs_scales t = scales(s->mz);
    const struct rhs_place first = {.u = s->u + k * plane + at,
                                    .p0 = prim_plane(s, k) + at,
                                    .above = prim_plane(s, k + 1) + at,
                                    .below = prim_plane(s, k - 1) + at,
                                    .field = z->volume,
                                    .size = plane,
                                    .row = z->pitch,
                                    .plane = plane,
                                    .low2 = k > 1 ? -2 * plane : 0,
                                    .high2 = k < z->nz - 2 ? 2 * plane : 0};
    for (int i = 1; i < z->nx - 1; i += LANES) {
        struct rhs_place q = first;
        q.u += i, q.p0 += i, q.above += i, q.below += i;
        const struct rhs_flow f = rhs_flow(q, t, stencil_x(s->weights, row, i), wy, wz);
        rhs_store(rhs_at(q, t, f), s->forcing, z->volume, k * plane + at + i, s->w, s->size,
                  k * s->step + at + i);
    }
}

const double *rhs_plane(struct rhs_sweep *s, int k)
{
    derive_plane(s, k + 1);
    for (int j = s->j0; j < s->j1; j++)
        sweep_row(s, j, k);
    return prim_plane(s, k);
}

void rhs_zone_all(const struct mz *mz, struct mz_work *work, int zone, const double *u,
                  const double *forcing)
{
#pragma omp parallel for num_threads(work->width) schedule(static, 1)
    for (int t = 0; t < work->width; t++) {
        int inner = mz->zone[zone].nz - 2;
        int k0 = 1 + t * inner / work->width, k1 = 1 + (t + 1) * inner / work->width;
        struct rhs_sweep sweep;
        if (k0 == k1)
            continue;
        rhs_begin(&sweep, mz, zone, u, forcing, work->w, work->scratch[t], k0);
        for (int k = k0; k < k1; k++)
            rhs_plane(&sweep, k);
    }
}
