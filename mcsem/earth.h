/* mcsem/earth.h – the model: columns of layers below the sea, on a grid of common midpoints.
 *
 * Frame: right-handed, x and y horizontal, z positive down from the sea surface; metres, ohm m.
 * Column c = iy nx + ix stands at (x0 + ix dx, y0 + iy dy). From the top it has air, up to `nwater`
 * layers of sea down to its seabed, and nz layers of sediment with tops top[k] below the seabed;
 * the last one extends to infinity. The unknowns are the natural logarithms of the horizontal
 * resistivities of the sediments and, after earth_add_vertical(), of the vertical ones. Air, sea
 * and otherwise the ratio rho_v / rho_h are given. */
#pragma once

#include "src/base.h"

enum { EARTH_WATER = 16, EARTH_LAYERS = 512 }; /* largest numbers of layers of sea, of sediment */

struct earth {
    int nx, ny, nz, nwater;
    double x0, y0, dx, dy;
    double air;                    /* resistivity of the air, 1e12 */
    double water_top[EARTH_WATER]; /* depth, water_top[0] = 0 */
    double water[EARTH_WATER];     /* resistivity */
    double *top;                   /* [nz] m below the seabed, ascending from 0 */
    double *anisotropy;            /* [nz] rho_v / rho_h, 1 where isotropic */
    double *seabed; /* [nx ny] depth of the seabed; layers of sea below it do not exist there */
    bool vertical;  /* vertical resistivities are unknown too */
    double *m;      /* [nx ny][unknowns] ln(horizontal resistivity / ohm m), then vertical ones */
    struct arena arena; /* of the arrays */
};

/* The layers that the pairs of one column see. */
struct earth_layers {
    int n;         /* number of layers including both half-spaces; layer 0 is the air */
    int sediments; /* index of the first layer of sediment; n - sediments = nz */
    double z[EARTH_WATER + EARTH_LAYERS];         /* [n-1] depth of the interfaces, m */
    double rho_h[EARTH_WATER + EARTH_LAYERS + 1]; /* [n] */
    double rho_v[EARTH_WATER + EARTH_LAYERS + 1]; /* [n] */
};

/* nz layers of thickness dz and resistivity rho below a flat seabed and one layer of sea. EK_USAGE:
 * a number that is not positive, too many layers; EK_UNAVAILABLE: memory. earth_close() accepts
 * NULL. */
enum ek_status earth_open(int nx, int ny, int nz, double dz, double seabed, double rho,
                          struct earth **earth);
/* Makes vertical resistivities unknown; they start from the given ratios. */
void earth_add_vertical(struct earth *earth);
enum ek_status earth_copy(const struct earth *from, struct earth **earth);
void earth_close(struct earth *earth);
OWNED_POINTER(struct earth, earth_close)

/* EK_USAGE: resistivities not positive, tops that do not ascend, a seabed above the last layer of
 * sea, NaN. `where` names the file in the message. */
enum ek_status earth_check(const struct earth *earth, const char *where);

static inline int earth_columns(const struct earth *earth)
{
    return earth->nx * earth->ny;
}

/* Number of unknowns of a column, and of the earth. */
static inline int earth_unknowns(const struct earth *earth)
{
    return earth->vertical ? 2 * earth->nz : earth->nz;
}
static inline size_t earth_size(const struct earth *earth)
{
    return (size_t)earth_columns(earth) * (size_t)earth_unknowns(earth);
}

/* The next column after c in x (0) or y (1); -1: none. */
static inline int earth_next(const struct earth *earth, int c, int axis)
{
    if (axis == 0)
        return c % earth->nx + 1 < earth->nx ? c + 1 : -1;
    return c + earth->nx < earth_columns(earth) ? c + earth->nx : -1;
}

/* rho_v where lambda = sqrt(rho_v / rho_h); 0, which is refused, where lambda is negative. */
double earth_rho_v(double rho_h, double lambda);

/* EK_USAGE: resistivities that are not from 1e-30 to 1e30 ohm m (squares of impedances stay
 * finite), interfaces that do not ascend. `where` begins the message. */
enum ek_status earth_check_layers(const struct earth_layers *layers, const char *where);

/* The layers of column c for its unknowns m (NULL: the earth's own). */
void earth_column(const struct earth *earth, int c, const double *m, struct earth_layers *layers);

/* The column nearest to (x, y), ties to the larger index; -1: more than half a cell outside the
 * grid. With `clip` the outermost columns extend to infinity. */
int earth_find(const struct earth *earth, double x, double y, bool clip);
