/* kirchhoff/front_internal.h – what front.c and front_split.c have of each other. */
#pragma once

#include "kirchhoff/front.h"

/* Room for so many rays and triangles. EK_UNAVAILABLE. */
enum ek_status front_room(struct front *f, size_t rays, size_t triangles);

/* Adds a ray at the source; there is room. */
void front_ray(struct front *f, const double source[3], const double direction[3]);

/* Halves all edges, at the source. EK_UNAVAILABLE. */
enum ek_status front_halve_all(struct front *f, const double source[3]);
