/* mcsem/poly.h – the sea floor out of MARE2DEM's geometry: a .poly file of Triangle's format, nodes
 * and the segments between them in a section y, z across strike, z down.
 *
 *   nodes dimensions attributes markers      (comments behind #)
 *   number y z [attributes] [marker]
 *   segments markers
 *   number node node [marker]                (then holes and regions, which are passed over)
 *
 * Sea is where a segment lies in the sea surface, z = 0; the floor is the first one below it on
 * or above which receivers lie. An interface above receivers (up to the nodes where it meets
 * others) lies within the sea. */
#pragma once

#include "src/status.h"
#include <stdbool.h>
#include <stddef.h>

/* Does the name end in .poly? */
bool poly_is(const char *path);

/* The floor from y to y: profile [*n][2] of y, depth, ascending; where it leaps, two of one y. The
 * caller frees it. receiver [receivers][2]: y, depth; without any, the floor is the first
 * interface. EK_USAGE with file and line: a number that is none, a node that there is not, no sea;
 * with nodes: an interface above a receiver that lies on no other; EK_UNAVAILABLE: memory. */
enum ek_status poly_floor(const char *path, const double (*receiver)[2], size_t receivers,
                          double (**profile)[2], size_t *n);
