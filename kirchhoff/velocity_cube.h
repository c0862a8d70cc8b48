/* kirchhoff/velocity_cube.h – velocities on a grid: files, smoothing, interpolation. */
#pragma once

#include "kirchhoff/velocity.h"

/* read_velocity_cube.c: opens "FILE.json" or "FILE,nx=…" into *v, whose text is set. A header is a
 * JSON object: n [nx,ny,nz], step [3], data (file beside the header), optional origin [3], smooth,
 * scale (what a number is multiplied by to get m/s), order "zyx" (z fastest, default) or "xyz" (x
 * fastest). */
enum ek_status velocity_cube_open(const char *words, struct velocity *v);

/* read_velocity_segy.c: a trace for each place, its samples down in depth: opens
 * "FILE[,x=BYTE,y=BYTE][,dz=M][,scale=X][,smooth=M]" into *v, whose text is set. Places stand in
 * the header words at bytes x and y: 181 and 185 (cdp), or 73 and 77 (source) where those are the
 * same in all traces. The sample interval counts as metres / 1000, as migration programs write it,
 * unless dz is given. EK_USAGE: what segy_open() refuses, places that do not fill a regular grid (a
 * trace is named), velocities that are not positive; EK_UNAVAILABLE: memory. */
enum ek_status read_velocity_segy(const char *words, struct velocity *v);

/* v->node from speed [v->grid's nodes] m/s, smoothed in place by a Gaussian of standard deviation
 * `smooth` m, 0: not at all. EK_USAGE: a velocity is not positive (the line names the node);
 * EK_UNAVAILABLE: memory. */
enum ek_status velocity_cube_fill(struct velocity *v, float *speed, double smooth);

/* v, dv/dx, dv/dy, dv/dz at x; with h the derivatives of the gradient (xx yy zz xy xz yz). */
void velocity_cube_at(const struct grid *g, const float *node, const double x[3], double value[4],
                      double h[6]);
