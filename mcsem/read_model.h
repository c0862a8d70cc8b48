/* mcsem/read_model.h – reads models that write_model() wrote (write.h). */
#pragma once

#include "mcsem/earth_list.h"

/* Reads the resistivities of a table column,layer,rho_ohmm, or of VTK if the name ends in .vtk,
 * into an earth with the same grid. EK_USAGE with file and line; EK_UNAVAILABLE: memory. */
enum ek_status read_model(const char *path, struct earth *earth);
/* Takes the grid from a table's x, y and top_m. VTK files leave *list unchanged: it must have their
 * grid. */
enum ek_status read_model_grid(const char *path, struct earth_list *list);
