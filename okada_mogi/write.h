/* okada_mogi/write.h – output other than the accepted trials: trials and statistics as JSON and as
 * text, data of the report's figures, maps, tables of stations and displacements. JSON values are
 * new references; NULL: out of memory. */
#pragma once

#include "okada_mogi/stats.h"
#include "src/json.h"

/* ---- tables: write_table.c --------------------------------------------------------------------*/

/* Writes a comma, and x with this many digits unless it is NaN. */
void write_cell(FILE *out, int digits, double x);

/* ---- trials: write_json.c ---------------------------------------------------------------------*/

/* A number below 2^63, else a string. */
json_t *write_number(trial_number x);
void write_print_number(FILE *out, const json_t *number);
/* index, parameters by name, misfit, chi2, rms_m; moment_Nm and Mw if the model has them;
 * translation_m [east, north, up], by least squares, if it is unknown. */
json_t *write_trial(const struct job *job, const struct accepted_record *record);

/* ---- statistics: write_json.c ----------------------------------------------------------------*/

/* trials, effective_trials (Kish's effective sample size of the weights), columns [names]
 *   parameters {name: {min max mean sd percentiles {5 25 50 75 95} weighted {mean sd percentiles}}}
 *   covariance, weighted_covariance, correlation [columns][columns]
 *   levels [{k_sigma trials mean sd}], mean and sd null where a k accepts nothing
 *   clusters {count, grid_values_in_a_cell, largest: [{trials share best mean min max}]}
 *   warnings [texts] */
json_t *write_stats(const struct stats *s);

/* Prints the contents of write_stats(). */
void write_print_stats(FILE *out, const json_t *stats);

/* ---- the report: write_page.c ----------------------------------------------------------------*/

enum { WRITE_BINS = 60 }; /* most bins of a histogram; of Mw half as many */

/* `s`: NULL if nothing is accepted. EK_UNAVAILABLE: out of memory.
 *   stations [{name east north observed sigma predicted}], three components each or null; predicted
 *     by the best trial
 *   best, sample: outlines of the sources, [[[east north] …] …], of the best trial and of each
 *     trial in the sample
 *   columns [{name first step trials weight least}]: bins of width `step` from `first` on: number
 * of trials, their weight, their least misfit pairs [{x y nx ny x_first x_step y_first y_step
 * cells}], cells [[ix iy trials weight] …]; weights are shares of the posterior */
enum ek_status write_page(const struct job *job, const struct stats *s, json_t **view);

/* ---- maps: write_map.c ------------------------------------------------------------------------*/

/* A trial as GeoJSON (RFC 7946), a FeatureCollection in longitude and latitude. `kind` of a
 * feature:
 *   source      outline, or a point: source (from 1), parameters; moment_Nm, Mw where it has them
 *   station     site, scene; observed_m, sigma_m, predicted_m: three components or null; for data
 *               along a vector one number, and residual, as rL in tables
 *   observed, predicted   lines from the stations: horizontal displacements times `scale`
 * EK_USAGE: the stations' zone is unknown (write_map_check() tests that before a search);
 * EK_UNAVAILABLE: out of memory, or it cannot be written. */
enum ek_status write_map_check(const struct job *job);
enum ek_status write_geojson(const struct job *job, trial_number trial, const char *path);

/* For GMT: <stem>.observed, .predicted and .residual (predicted - observed) with the columns of
 * psvelo -Se, lon lat uE uN sE sN correlation site, m; <stem>.faults with the outlines of the
 * sources, one segment each, the upper edge first. E and N replace lon and lat if the zone is
 * unknown. */
enum ek_status write_psvelo(const struct job *job, trial_number trial, const char *stem);

/* ---- data: write_synthetic.c ------------------------------------------------------------------*/

/* Writes a table of the job's stations, which jobs can read: the trial's prediction plus normal
 * noise of each datum's sigma; unknown offsets, ramps and translations are drawn, too, with ten
 * sigma. Reproducible by seed. EK_USAGE: the constraints do not allow this trial. */
enum ek_status write_synthetic(const struct job *job, trial_number trial, uint64_t seed,
                               const char *path);

/* ---- tables: write_table.c -------------------------------------------------------------------*/

/* A trial's prediction: *u [stations][3], including the fitted translation if that is unknown; then
 * [stations] the residual of the first component, predicted - observed, without the unknowns of its
 * scene; then [3] the fitted translation. free() it. EK_USAGE: the constraints do not allow this
 * trial; EK_UNAVAILABLE: out of memory. */
enum ek_status write_predict(const struct job *job, trial_number trial, double **u);

/* Writes a CSV table ("-": standard output) of the job's stations:
 *   site,E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m,pE_m,pN_m,pU_m,rE,rN,rU
 * observed u, its deviation s with the noise floor, predicted p, residual r = (p - u) / s; empty
 * where nothing was observed. If there are data along vectors, these columns follow:
 *   lE,lN,lU,value_m,sigma_m,pL_m,rL,scene
 * then E2_m,N2_m if some are differences of two points, and lon,lat if the zone is known. rL is
 * without the scene's unknown offset and ramp. EK_UNAVAILABLE: out of memory, or it cannot be
 * written. */
enum ek_status write_residuals(const struct job *job, trial_number trial, const char *path);

/* Reads a table with the columns E_m, N_m and the parameters of one of the model's forms (optional
 * ones may be missing; lE, lN, lU: a unit vector along which the displacement is uL_m; `id` is
 * kept), and writes id,uE_m,uN_m,uU_m with 17 digits to `out` ("-": standard output), as a whole or
 * not at all. Warns of other columns. EK_USAGE with file and line: missing or invalid values; a
 * point that is not on the surface, by a column z_m, height_m, elevation_m or depth_m. One thread.
 */
enum ek_status write_forward(const struct model *model, const char *path, const char *out);
