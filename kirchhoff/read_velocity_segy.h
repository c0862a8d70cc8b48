/* kirchhoff/read_velocity_segy.h – velocities in seismic files: a trace for each place of a regular
 * grid, its samples down in depth. */
#ifndef KIRCHHOFF_READ_VELOCITY_SEGY_H
#define KIRCHHOFF_READ_VELOCITY_SEGY_H

#include "kirchhoff/velocity.h"

/* Opens "FILE[,x=BYTE,y=BYTE][,dz=M][,scale=X][,smooth=M]" into *v, whose text is set. Places stand
 * in the header words at bytes x and y: 181 and 185 (cdp), or 73 and 77 (source) where those are
 * the same in all traces. The sample interval counts as metres / 1000, as migration programs write
 * it, unless dz is given. EK_USAGE: what segy_open() refuses, places that do not fill a regular
 * grid (a trace is named), velocities that are not positive; EK_UNAVAILABLE: memory. */
enum ek_status read_velocity_segy(const char *words, struct velocity *v);

#endif
