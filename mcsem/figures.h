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
 * none, and how many pairs each bin has
 *   instruments: figures_instruments() */
enum ek_status figures_open(const struct inversion *inversion, json_t **view);

/* A number of a figure: in whole units. */
json_t *figures_number(double x, double unit);

/* {sources receivers every}: places [x, y] of sources, and {x y rms data} of each receiver; data of
 * every so many-th pair: channel, number of the frequency, offset, log10 of the amplitude, phase in
 * degrees, relative error, the model's amplitude and phase (null: not measured). NULL: out of
 * memory. */
json_t *figures_instruments(const struct inversion *inversion);

/* Of the certainty alone, with `all` of vertical resistivities too. */
json_t *figures_certainty(const struct inversion *inversion, bool all);
