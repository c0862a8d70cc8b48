/* okada_mogi/utm.h – conversion of longitude and latitude to metres, and back. */
#pragma once

#include "src/base.h"

/* The zone, 1 .. 60, in which a longitude lies, degrees east. */
int utm_zone(double longitude);

/* Universal transverse Mercator, WGS84, degrees to metres; also well outside of the zone. Accurate
 * to a micrometre: Krueger's series of fourth order, as given by Karney (2011), J. Geod. 85,
 * 475-485. */
void utm_project(int zone, bool south, double longitude, double latitude, double *east,
                 double *north);

/* Inverse, within 20 degrees of the zone, to a micrometre; longitudes from -180 to 180. */
void utm_invert(int zone, bool south, double east, double north, double *longitude,
                double *latitude);
