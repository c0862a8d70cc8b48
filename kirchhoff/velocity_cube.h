/* kirchhoff/velocity_cube.h – velocities on a grid: reading, smoothing, interpolation. */
#pragma once

#include "kirchhoff/velocity.h"

/* read_velocity_cube.c: opens "FILE.json" or "FILE,nx=…" into *v, whose text is already set. The
 * header is a JSON object: n [nx,ny,nz], step [3], data (name of a file beside the header), and
 * optionally origin [3], smooth, scale (factor that turns the numbers into m/s), order "zyx" (z
 * fastest, default) or "xyz" (x fastest). */
enum ek_status velocity_cube_open(const char *words, struct velocity *v);

/* read_velocity_segy.c: opens "FILE[,x=BYTE,y=BYTE][,dz=M][,scale=X][,smooth=M]" into *v, whose
 * text is already set. Each trace is a column, its samples are depths. Its position is in the
 * header words at bytes x and y: 181 and 185 (cdp), or 73 and 77 (source) if those are the same in
 * all traces. The sample interval is taken as metres / 1000, as migration programs write it, unless
 * dz is given. EK_USAGE: segy_open() fails, positions do not fill a regular grid (the message names
 * a trace), or velocities are not positive; EK_UNAVAILABLE: memory. */
enum ek_status read_velocity_segy(const char *words, struct velocity *v);

/* Allocates and fills v->node from speed [v->grid's nodes] m/s, which is smoothed in place by a
 * Gaussian of standard deviation `smooth` m (0: not at all). EK_USAGE: a velocity is not positive
 * (the message names the node); EK_UNAVAILABLE: memory. */
enum ek_status velocity_cube_fill(struct velocity *v, float *speed, double smooth);

/* value: v, dv/dx, dv/dy, dv/dz at x; h, unless NULL: second derivatives xx yy zz xy xz yz. */
void velocity_cube_at(const struct grid *g, const float *node, const double x[3], double value[4],
                      double h[6]);
