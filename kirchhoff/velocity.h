/* kirchhoff/velocity.h – velocity models: v and its derivatives anywhere in space.
 *
 *   const:v=1500
 *   gradient:v0=1500,k=0.6               v0 + k z
 *   gradient:v0=1500,kx=0.1,ky=0,kz=0.6  oblique: v0 + k.x
 *   lens:v0=2000,kz=0.5,dv=500,x=0,y=0,z=900,sigma=300
 *                                        v0 + kz z - dv exp(-|x - c|^2 / (2 sigma^2))
 *   layers:0:1500,800:2500,smooth=100    tops of layers, m, and their velocities; from one to the
 *                                        next within `smooth` m (100), 0 = sharp
 *   cube:FILE.json                       float32 nodes in a file beside, z fastest
 * (read_velocity_cube.c)
 * cube:FILE,nx=..,ny=..,nz=..,dx=..,dy=..,dz=..[,x0=..,y0=..,z0=..][,smooth=M]
 *   segy:FILE[,x=181,y=185][,dz=..][,scale=..][,smooth=M]
 *                                        SEG-Y or SU, a trace for each place (read_velocity_segy.c)
 *
 * m and m/s, z down. Rays need a smooth gradient: cubes have v and grad v at their nodes, both
 * interpolated linearly in between, and go on outside as at their faces. */
#pragma once

#include "kirchhoff/grid.h"

enum velocity_kind { VELOCITY_LINEAR, VELOCITY_LENS, VELOCITY_LAYERS, VELOCITY_CUBE };
enum { VELOCITY_LAYERS_MOST = 64, VELOCITY_TEXT = 256 };
#define VELOCITY_MOST 1e5 /* m/s; what is faster is no velocity, but a mark that there is none */

struct velocity {
    enum velocity_kind kind;
    char text[VELOCITY_TEXT];    /* as it was asked for */
    double v0, k[3];             /* linear, and the lens's background */
    double dv, centre[3], sigma; /* lens */
    int nlayers;                 /* layers */
    double top[VELOCITY_LAYERS_MOST], speed[VELOCITY_LAYERS_MOST], smooth;
    struct grid grid; /* cube */
    float *node;      /* [nodes][4] v, dv/dx, dv/dy, dv/dz */
};

/* Reads such a text. EK_USAGE: unknown or malformed, a file that cannot be read or has another size
 * than its header says (the line has both), velocities that are not positive; EK_UNAVAILABLE:
 * memory. The caller owns *v; close accepts NULL. Any thread. */
enum ek_status velocity_open(const char *text, struct velocity **v);
void velocity_close(struct velocity *v);

/* v at x, m/s; grad v into gradient [3], 1/s, if it is not NULL. Any thread. */
double velocity_at(const struct velocity *v, const double x[3], double gradient[3]);
/* Second derivatives, 1/(m s): xx yy zz xy xz yz. */
void velocity_curvature(const struct velocity *v, const double x[3], double hessian[6]);

/* Interfaces are sharper than steps along z. */
bool velocity_jumps(const struct velocity *v, double step);
/* Whether no interface lies between depths a and b, nor so close beside them. */
bool velocity_same_layer(const struct velocity *v, double a, double b, double beside);

/* v and grad v at the nodes of a grid, as struct velocity's node; the caller frees.
 * EK_UNAVAILABLE. */
enum ek_status velocity_sample(const struct velocity *v, const struct grid *grid, float **node);

/* Least and largest v at the nodes of a grid. EK_USAGE where one is not positive: rays cannot be
 * traced there. */
enum ek_status velocity_range(const struct velocity *v, const struct grid *grid, double *least,
                              double *most);

/* Warns, on the first rank, of what is hardly meant: a cube that ends where the grid goes on,
 * velocities as if in km/s. */
void velocity_warn(const struct velocity *v, const struct grid *grid);
