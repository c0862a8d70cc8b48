/* mcsem/outputs.h – files that a run leaves. All are written beside and renamed; "" or NULL as
 * path: nothing is written. EK_UNAVAILABLE: not writable. */
#ifndef MCSEM_OUTPUTS_H
#define MCSEM_OUTPUTS_H

#include "mcsem/study.h"

/* A model: VTK for names that end in .vtk, else a table column,layer,x,y,top_m,rho_ohmm, which
 * outputs_read_model() reads. */
enum ek_status outputs_model(const char *path, const struct earth *earth);
/* Resistivities of such a table into an earth of the same grid. EK_USAGE with file and line. */
enum ek_status outputs_read_model(const char *path, struct earth *earth);

/* One line for each trial; one line for each datum: data, response, residual / sigma. */
enum ek_status outputs_history(const char *path, const struct invert *inv);
enum ek_status outputs_responses(const char *path, const struct survey *survey,
                                 const double complex *response);

/* One line for each cell: its pairs, its misfit, the cpu's seconds for its last computation; for
 * names that end in .json the seconds alone, as tasks for cu-plan --run. */
enum ek_status outputs_cells(const char *path, const struct survey *survey,
                             const struct earth *earth, const struct cell_report *report,
                             const double complex *response);

/* RMS misfit of real and imaginary parts: of one frequency (-1: all) and one cell (-1: all). */
double outputs_rms(const struct survey *survey, const double complex *response, int freq, int cell);

#endif
