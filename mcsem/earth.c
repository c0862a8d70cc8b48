/* mcsem/earth.c – columns of layers. */
#include "mcsem/earth.h"

static enum ek_status allocate(int nx, int ny, int nz, struct earth **earth)
{
    const size_t columns = (size_t)nx * (size_t)ny, layers = (size_t)nz;
    NEW(struct earth, e, 1, "out of memory for an earth");
    e->nx = nx;
    e->ny = ny;
    e->nz = nz;
    e->top = ARENA_NEW(&e->arena, layers, double);
    e->anisotropy = ARENA_NEW(&e->arena, layers, double);
    e->seabed = ARENA_NEW(&e->arena, columns, double);
    e->m = ARENA_NEW(&e->arena, 2 * columns * layers, double);
    const enum ek_status st =
        arena_check(&e->arena, "an earth of %d x %d columns of %d layers", nx, ny, nz);
    return HAND_OUT(st, e, earth, earth_close);
}

enum ek_status earth_open(int nx, int ny, int nz, double dz, double seabed, double rho,
                          struct earth **earth)
{
    struct earth *e;
    if (nx < 1 || ny < 1 || (double)nx * ny > 1e7)
        FAIL(EK_USAGE, "an earth of %d x %d columns: both must be positive, at most 1e7 in all", nx,
             ny);
    if (nz < 1 || nz > EARTH_LAYERS)
        FAIL(EK_USAGE, "an earth of %d layers: not 1 to %d", nz, EARTH_LAYERS);
    if (!(dz > 0) || !(seabed > 0) || !(rho > 0) || !isfinite(dz + seabed + rho))
        FAIL(EK_USAGE,
             "an earth of layers of %g m, %g ohm m, %g m below the sea surface: all three must be "
             "positive",
             dz, rho, seabed);
    TRY(allocate(nx, ny, nz, &e));
    e->dx = e->dy = 1;
    e->air = 1e12;
    e->nwater = 1;
    e->water[0] = 0.3125;
    for (int k = 0; k < nz; k++) {
        e->top[k] = k * dz;
        e->anisotropy[k] = 1;
    }
    for (int c = 0; c < nx * ny; c++)
        e->seabed[c] = seabed;
    for (size_t i = 0; i < (size_t)nx * (size_t)ny * (size_t)nz; i++)
        e->m[i] = log(rho);
    *earth = e;
    return EK_OK;
}

enum ek_status earth_copy(const struct earth *from, struct earth **earth)
{
    struct earth *e;
    const size_t columns = (size_t)earth_columns(from), layers = (size_t)from->nz;
    TRY(allocate(from->nx, from->ny, from->nz, &e));
    struct earth arrays = *e;
    *e = *from;
    e->arena = arrays.arena;
    e->top = memcpy(arrays.top, from->top, layers * sizeof *e->top);
    e->anisotropy = memcpy(arrays.anisotropy, from->anisotropy, layers * sizeof *e->anisotropy);
    e->seabed = memcpy(arrays.seabed, from->seabed, columns * sizeof *e->seabed);
    e->m = memcpy(arrays.m, from->m, earth_size(from) * sizeof *e->m);
    *earth = e;
    return EK_OK;
}

void earth_add_vertical(struct earth *e)
{
    const size_t nz = (size_t)e->nz;
    for (size_t c = e->vertical ? 0 : (size_t)earth_columns(e); c-- > 0;) {
        memmove(e->m + 2 * c * nz, e->m + c * nz, nz * sizeof *e->m);
        for (size_t k = 0; k < nz; k++)
            e->m[(2 * c + 1) * nz + k] = e->m[2 * c * nz + k] + log(e->anisotropy[k]);
    }
    e->vertical = true;
}

ARENA_CLOSE(earth_close, struct earth)

static enum ek_status check_water(const struct earth *e, const char *where)
{
    for (int k = 0; k < e->nwater; k++) {
        if (!(e->water[k] > 0) || !isfinite(e->water[k]))
            FAIL(EK_USAGE, "%s: resistivity of the sea's layer %d is %g ohm m, not positive", where,
                 k + 1, e->water[k]);
        if (!(k ? e->water_top[k] > e->water_top[k - 1] : e->water_top[0] == 0))
            FAIL(EK_USAGE, "%s: the sea's layers must begin at 0 and go down", where);
    }
    double deepest = 0;
    for (int c = 0; c < earth_columns(e); c++) {
        if (!(e->seabed[c] > 0) || !isfinite(e->seabed[c]))
            FAIL(EK_USAGE, "%s: the seabed of column %d lies at %g m, not below the sea", where, c,
                 e->seabed[c]);
        deepest = fmax(deepest, e->seabed[c]);
    }
    if (deepest <= e->water_top[e->nwater - 1])
        FAIL(EK_USAGE, "%s: the seabed lies at %g m, not below the sea's last layer", where,
             deepest);
    return EK_OK;
}

enum ek_status earth_check(const struct earth *e, const char *where)
{
    if (e->nwater < 1 || e->nwater > EARTH_WATER || e->nz < 1 || e->nz > EARTH_LAYERS)
        FAIL(EK_USAGE, "%s: %d layers of sea and %d of sediment; there may be 1 to %d and 1 to %d",
             where, e->nwater, e->nz, EARTH_WATER, EARTH_LAYERS);
    if (!(e->air > 0) || !(e->dx > 0) || !(e->dy > 0) || !isfinite(e->air + e->dx + e->dy))
        FAIL(EK_USAGE, "%s: resistivity of the air and distances of columns must be positive",
             where);
    TRY(check_water(e, where));
    for (int k = 0; k < e->nz; k++)
        if (!(e->anisotropy[k] > 0) || !(k ? e->top[k] > e->top[k - 1] : e->top[0] == 0))
            FAIL(EK_USAGE,
                 "%s: layer %d of the sediments does not lie below the one before it, or its "
                 "anisotropy is not positive",
                 where, k + 1);
    for (size_t i = 0; i < earth_size(e); i++)
        if (!isfinite(e->m[i]))
            FAIL(EK_USAGE, "%s: resistivity of column %zu, layer %zu is not a positive number",
                 where, i / (size_t)earth_unknowns(e), 1 + i % (size_t)e->nz);
    return EK_OK;
}

double earth_rho_v(double rho_h, double lambda)
{
    return fmax(0, lambda) * lambda * rho_h;
}

static bool is_resistivity(double rho)
{
    return rho >= 1e-30 && rho <= 1e30;
}

enum ek_status earth_check_layers(const struct earth_layers *l, const char *where)
{
    for (int k = 0; k < l->n; k++)
        if (!is_resistivity(l->rho_h[k]) || !is_resistivity(l->rho_v[k]))
            FAIL(EK_USAGE,
                 "%s: resistivity of layer %d is %g ohm m, vertically %g, not from 1e-30 to 1e30",
                 where, k + 1, l->rho_h[k], l->rho_v[k]);
    for (int k = 0; k < l->n - 1; k++)
        if (!isfinite(l->z[k]) || (k && !(l->z[k] > l->z[k - 1])))
            FAIL(EK_USAGE, "%s: interface %d at %g m does not lie below the one before it", where,
                 k + 1, l->z[k]);
    return EK_OK;
}

void earth_column(const struct earth *e, int c, const double *m, struct earth_layers *layers)
{
    if (!m)
        m = e->m + (size_t)c * (size_t)earth_unknowns(e);
    int water = 1;
    while (water < e->nwater && e->water_top[water] < e->seabed[c])
        water++;
    layers->n = 1 + water + e->nz;
    layers->sediments = 1 + water;
    layers->rho_h[0] = layers->rho_v[0] = e->air;
    for (int k = 0; k < water; k++) {
        layers->z[k] = e->water_top[k];
        layers->rho_h[1 + k] = layers->rho_v[1 + k] = e->water[k];
    }
    for (int k = 0; k < e->nz; k++) {
        const int at = layers->sediments + k;
        layers->z[at - 1] = e->seabed[c] + e->top[k];
        layers->rho_h[at] = exp(m[k]);
        layers->rho_v[at] = e->vertical ? exp(m[e->nz + k]) : layers->rho_h[at] * e->anisotropy[k];
    }
}

/* Index of the nearest of n points at x0 + i dx; -1: outside. */
static int nearest(double x, double x0, double dx, int n, bool clip)
{
    const double i = floor((x - x0) / dx + 0.5);
    if (i < 0)
        return clip ? 0 : -1;
    if (i > n - 1)
        return clip ? n - 1 : -1;
    return (int)i;
}

int earth_find(const struct earth *e, double x, double y, bool clip)
{
    const int ix = nearest(x, e->x0, e->dx, e->nx, clip);
    const int iy = nearest(y, e->y0, e->dy, e->ny, clip);
    return ix < 0 || iy < 0 ? -1 : iy * e->nx + ix;
}
