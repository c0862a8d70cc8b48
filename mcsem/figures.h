/* mcsem/figures.h – the data behind the report's figures (mcsem/report.html). */
#pragma once

#include "mcsem/inversion.h"

/* New reference. EK_UNAVAILABLE: out of memory.
 *   grid {nx ny x0 y0 dx dy seabed tops}: seabed depth of each column; tops of the layers, m below
 * it model, truth: log10 of resistivities, column by column; truth is null if unknown uncertainty
 * {sigma_ln_rho resolution_m investigated_m}: as struct uncertainty, of horizontal resistivities;
 * null if not asked for pairs, rms, seconds: per cell; rms is null without data offsets {step freq
 * rms count}: RMS misfit [freq][bins] by offset, null without data, and the number of pairs in each
 * bin instruments: figures_instruments() */
enum ek_status figures_open(const struct inversion *inversion, json_t **view);

/* A number of a figure, rounded to a multiple of `unit`. */
json_t *figures_number(double x, double unit);

/* {sources receivers every}: positions [x, y] of sources, and {x y rms data} of each receiver; data
 * of every `every`-th pair: channel, frequency index, offset, log10 of the amplitude, phase in
 * degrees, relative error, the model's amplitude and phase (null: not measured). NULL: out of
 * memory. */
json_t *figures_instruments(const struct inversion *inversion);

/* The `uncertainty` member alone; with `all` also of vertical resistivities. */
json_t *figures_uncertainty(const struct inversion *inversion, bool all);
