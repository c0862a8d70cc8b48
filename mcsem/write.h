/* mcsem/write.h – files that a run leaves. All are written beside and renamed; "" or NULL as
 * path: nothing is written. EK_UNAVAILABLE: not writable. */
#pragma once

#include "mcsem/certainty.h"

/* A model: VTK for names that end in .vtk, else a table column,layer,x,y,top_m,rho_ohmm, which
 * read_model() reads; `sure`, if known (else NULL), adds what is known of each unknown. */
enum ek_status write_model(const char *path, const struct earth *earth,
                           const struct certainty *sure);

/* One line for each trial; one line for each datum: data, response, residual / sigma; for
 * names that end in .resp as MARE2DEM has it (write_emresp()). */
enum ek_status write_history(const char *path, const struct invert *inv);
enum ek_status write_responses(const char *path, const struct survey *survey,
                               const struct earth *earth, const double complex *response);

/* One line for each cell: its pairs, its misfit, the cpu's seconds for its last computation; for
 * names that end in .json the seconds alone, as tasks for cu-plan --run. */
enum ek_status write_cells(const char *path, const struct survey *survey, const struct earth *earth,
                           const struct cell_report *report, const double complex *response);

/* The sediments as cells, one for each column and layer: rho_ohmm and log10_rho; a rectilinear grid
 * where the sea floor is flat, else one whose layers follow it. z is positive up, from the sea
 * surface. The last layer is drawn as thick as the one above it. */
enum ek_status write_vtk(const char *path, const struct earth *earth, const struct certainty *sure);
