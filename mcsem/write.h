/* mcsem/write.h – output files of a run. Each is replaced atomically; if the path is "" or NULL
 * nothing is written. EK_UNAVAILABLE: not writable. */
#pragma once

#include "mcsem/uncertainty.h"

/* Writes a model: VTK if the name ends in .vtk, else a table column,layer,x,y,top_m,rho_ohmm, which
 * read_model() reads. `uncertainty`, if not NULL, adds its columns. */
enum ek_status write_model(const char *path, const struct earth *earth,
                           const struct uncertainty *uncertainty);

/* write_history: one line per trial. write_responses: one line per datum with data, response and
 * residual / sigma; MARE2DEM's format if the name ends in .resp (write_emresp()). */
enum ek_status write_history(const char *path, const struct invert *inv);
enum ek_status write_responses(const char *path, const struct survey *survey,
                               const struct earth *earth, const double complex *response);

/* One line per cell: its pairs, misfit, CPU seconds of its last computation; if the name ends in
 * .json only the seconds, as tasks for cu-plan --run. */
enum ek_status write_cells(const char *path, const struct survey *survey, const struct earth *earth,
                           const struct cell_report *report, const double complex *response);

/* Writes the sediments as cells with rho_ohmm and log10_rho: a rectilinear grid if the sea floor is
 * flat, else one whose layers follow it. z is positive up, from the sea surface. The last layer is
 * drawn as thick as the one above it. */
enum ek_status write_vtk(const char *path, const struct earth *earth,
                         const struct uncertainty *uncertainty);
