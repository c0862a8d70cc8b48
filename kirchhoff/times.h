/* kirchhoff/times.h – single travel times and rays: reads a CSV table of cases, writes a table of
 * answers.
 *
 * Columns are found by name, others ignored: id, model (const, gradz, grad3, layer2, lens), v0, kx,
 * ky, kz, h, v2, lens_dv, lens_x, lens_y, lens_z, lens_sigma, sx, sy, sz. Columns that the row's
 * model does not use may be empty. Answers are in the order of the rows, with 17 digits. */
#pragma once

#include "src/base.h"

/* Times of the most energetic and the first arrival at px, py, pz: id,t_strong,t_first; both empty
 * if the model has no closed form. "-" is standard input or output. EK_USAGE with file and line: a
 * column or number is missing, or v is not positive at source or point; EK_UNAVAILABLE as
 * file_replace_text(). */
enum ek_status times_run(const char *path, const char *out);

/* Traces rays from the source in direction takeoff_polar_deg (from down), takeoff_azim_deg (from x
 * towards y) for t_strong s: id,x,y,z,qx,qy,qz,spread_L,zmax,kmah. Answers are empty for layer2,
 * whose velocity jumps. Errors as above. */
enum ek_status times_rays(const char *path, const char *out);
