/* kirchhoff/velocity.h – velocity models: v and its derivatives anywhere in space.
 *
 *   const:v=1500
 *   gradient:v0=1500,k=0.6               v0 + k z
 *   gradient:v0=1500,kx=0.1,ky=0,kz=0.6  oblique: v0 + k.x
 *   lens:v0=2000,kz=0.5,dv=500,x=0,y=0,z=900,sigma=300
 *                                        v0 + kz z - dv exp(-|x - c|^2 / (2 sigma^2))
 *   layers:0:1500,800:2500,smooth=100    TOP:VELOCITY of each layer; transitions are `smooth` m
 *                                        thick (100), 0 = sharp
 *   cube:FILE.json                       JSON header of a file of float32 nodes, z fastest
 *   cube:FILE,nx=..,ny=..,nz=..,dx=..,dy=..,dz=..[,x0=..,y0=..,z0=..][,smooth=M]
 *                                        such a file itself (both: read_velocity_cube.c)
 *   segy:FILE[,x=181,y=185][,dz=..][,scale=..][,smooth=M]
 *                                        SEG-Y or SU, a trace per column (read_velocity_segy.c)
 *
 * Units are m and m/s, z points down. Rays need a continuous gradient: cubes store v and grad v at
 * their nodes, both interpolated linearly; outside, the values at the nearest face continue. */
#pragma once

#include "kirchhoff/grid.h"

enum velocity_kind { VELOCITY_LINEAR, VELOCITY_LENS, VELOCITY_LAYERS, VELOCITY_CUBE };
enum { VELOCITY_LAYERS_MOST = 64, VELOCITY_TEXT = 256 };
#define VELOCITY_MOST 1e5 /* m/s; larger numbers mark missing values */

struct velocity {
    enum velocity_kind kind;
    char text[VELOCITY_TEXT];    /* as given to velocity_open() */
    double v0, k[3];             /* linear models and the lens's background: v0 + k.x */
    double dv, centre[3], sigma; /* lens */
    int nlayers;                 /* layers */
    double top[VELOCITY_LAYERS_MOST], speed[VELOCITY_LAYERS_MOST], smooth;
    struct grid grid; /* cube */
    float *node;      /* [nodes][4] v, dv/dx, dv/dy, dv/dz */
};

/* Opens a model from its text. EK_USAGE: unknown or malformed, a file that cannot be read or whose
 * size differs from its header (the message has both), velocities that are not positive;
 * EK_UNAVAILABLE: memory. The caller owns *v; close accepts NULL. Any thread. */
enum ek_status velocity_open(const char *text, struct velocity **v);
void velocity_close(struct velocity *v);

/* Returns v at x, m/s, and grad v, 1/s, in gradient unless that is NULL. Any thread. */
double velocity_at(const struct velocity *v, const double x[3], double gradient[3]);
/* Second derivatives, 1/(m s): xx yy zz xy xz yz. */
void velocity_curvature(const struct velocity *v, const double x[3], double hessian[6]);

/* Whether layers change within less than two steps (m) along z. */
bool velocity_jumps(const struct velocity *v, double step);
/* Whether no interface lies between depths a and b, or less than `beside` m above or below. */
bool velocity_same_layer(const struct velocity *v, double a, double b, double beside);

/* Computes v and grad v at the nodes of a grid, laid out as struct velocity's node; the caller
 * frees. EK_UNAVAILABLE: memory; EK_STOPPED, without a message: stop_heard(). */
enum ek_status velocity_sample(const struct velocity *v, const struct grid *grid, float **node);

/* Least and largest v at the nodes of a grid. EK_USAGE: one is not positive, so rays cannot be
 * traced; EK_STOPPED as above. */
enum ek_status velocity_range(const struct velocity *v, const struct grid *grid, double *least,
                              double *most);

/* Warns, on the first rank, of likely mistakes: a cube smaller than the grid, velocities that look
 * like km/s. */
void velocity_warn(const struct velocity *v, const struct grid *grid);
