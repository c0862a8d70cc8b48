/* kirchhoff/times.h – single travel times and rays to be computed: a table of cases in, a table of
 * answers out.
 *
 * Columns, found by name, others are ignored: id, model (const, gradz, grad3, layer2, lens), v0,
 * kx, ky, kz, h, v2, lens_dv, lens_x, lens_y, lens_z, lens_sigma, sx, sy, sz; a column that a row's
 * model does not have may be empty there. Answers have the rows' order and 17 digits. */
#pragma once

#include "src/status.h"

/* Time of the most energetic and of the first arrival at px, py, pz: id,t_strong,t_first; both
 * empty where the model has no closed form. "-" is standard input, output. EK_USAGE with file and
 * line: a column or number is missing, v is not positive at an end; EK_UNAVAILABLE as
 * file_replace_text(). */
enum ek_status times_run(const char *path, const char *out);

/* Rays from the source in direction takeoff_polar_deg (from down), takeoff_azim_deg (from x towards
 * y) for t_strong s: id,x,y,z,qx,qy,qz,spread_L,zmax,kmah; rows of model layer2, whose velocity
 * jumps, have empty answers. Errors as above. */
enum ek_status times_rays(const char *path, const char *out);
