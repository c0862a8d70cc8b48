/* mcsem/drift.h – calibration errors of receivers: a factor exp(g) for each receiver's E and H at
 * each frequency, its gain error and its phase error (clock, orientation).
 *
 * g is the weighted mean of the logarithmic residuals of the sensor's data, pulled towards 0
 * according to `spread`, its prior standard deviation; gain and phase stay within DRIFT_MOST of
 * these. After each accepted model the data are corrected, and the next model is judged by the
 * corrected data. Data with residuals that are not logarithmic are corrected but do not
 * contribute. */
#pragma once

#include "mcsem/misfit.h"
#include "src/json.h"

#define DRIFT_MOST 3.0
#define DRIFT_RMS  5.0 /* a model that fits worse says nothing about receivers */

struct drift;

/* For a binned survey (borrowed), whose data it changes. EK_UNAVAILABLE. close accepts NULL. */
enum ek_status drift_open(struct survey *survey, double spread, struct drift **drift);
void drift_close(struct drift *drift);

/* Restores the data as measured. */
void drift_reset(struct drift *drift);

/* Estimates the factors from the residuals of all responses [npairs][nfreq] and corrects the
 * data. */
void drift_update(struct drift *drift, const struct misfit_options *options,
                  const double complex *response);

/* A new reference to a list of {x y z field freq_hz gain phase_deg}, one per sensor and
 * frequency. */
json_t *drift_list(const struct drift *drift);
