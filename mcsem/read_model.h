/* mcsem/read_model.h – models as write_model() leaves them (write.h). */
#pragma once

#include "mcsem/earth_list.h"

/* Resistivities of a table column,layer,rho_ohmm, or of VTK where the name ends in .vtk, into an
 * earth of the same grid. EK_USAGE with file and line; EK_UNAVAILABLE: memory. */
enum ek_status read_model(const char *path, struct earth *earth);
/* The table's grid, from its x, y and top_m; VTK: nothing, the grid must be that of *list. */
enum ek_status read_model_grid(const char *path, struct earth_list *list);
