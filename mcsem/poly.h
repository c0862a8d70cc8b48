/* mcsem/poly.h – the sea floor from MARE2DEM's geometry: a .poly file in Triangle's format, nodes
 * and segments of a section y, z across strike, z down.
 *
 *   nodes dimensions attributes markers      (comments behind #)
 *   number y z [attributes] [marker]
 *   segments markers
 *   number node node [marker]                (then holes and regions, which are skipped)
 *
 * There is sea where a segment lies on the sea surface, z = 0; the floor is the first segment below
 * it on or above which receivers lie. An interface above receivers (up to the nodes where it meets
 * others) is a boundary within the sea. */
#pragma once

#include "src/base.h"

/* Whether the name ends in .poly. */
bool poly_is(const char *path);

/* The floor as a polyline: profile [*n][2] of y, depth, ascending, with two points of the same y at
 * a step; the caller frees it. receiver [receivers][2] are y, depth; without any, the floor is the
 * first interface. EK_USAGE with file and line: not a number, a missing node, no sea; or with the
 * nodes: an interface above a receiver that lies on no other one; EK_UNAVAILABLE: memory. */
enum ek_status poly_floor(const char *path, const double (*receiver)[2], size_t receivers,
                          double (**profile)[2], size_t *n);
