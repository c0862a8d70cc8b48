/* mcsem/figures.h – what the report's figures are drawn from (mcsem/report.html). */
#pragma once

#include "mcsem/inversion.h"

/* New reference. EK_UNAVAILABLE: out of memory.
 *   grid {nx ny x0 y0 dx dy seabed tops}: depth of each column's floor; tops of the layers, m below
 * it model, truth: log10 of resistivities, column after column; truth null where it is not known
 *   certainty {sigma_ln_rho resolution_m investigated_m}: as struct certainty, of horizontal
 * resistivities; null where it was not asked for
 *   pairs, rms, seconds: of each cell; rms null where there are no data
 *   offsets {step freq rms count}: misfit [freq][bins] of data by offset, null where there are
 * none, and how many pairs each bin has */
enum ek_status figures_open(const struct inversion *inversion, json_t **view);

/* The same, with `all` of vertical resistivities too. */
json_t *figures_certainty(const struct inversion *inversion, bool all);
