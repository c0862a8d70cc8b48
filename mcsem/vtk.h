/* mcsem/vtk.h – earths for ParaView and its like: legacy VTK files, text. */
#ifndef MCSEM_VTK_H
#define MCSEM_VTK_H

#include "mcsem/earth.h"

/* The sediments as a rectilinear grid of cells, one for each column and layer: rho_ohmm and
 * log10_rho. z is positive up (minus depth below the sea surface; below the seabed where that is
 * not flat). The last layer is drawn as thick as the one above it. EK_UNAVAILABLE: not writable. */
enum ek_status vtk_write_earth(const char *path, const struct earth *earth);

#endif
