/* mcsem/drift.h – what receivers made of the field: a factor exp(g) for each one's E and H and for
 * each frequency, its amplifier's gain and what its clock and its compass of phases are off by.
 *
 * g is what the model leaves of the logarithms of the sensor's data, their mean with the weights of
 * the misfit, drawn towards 0 as far as `spread`, its standard deviation, asks for; neither gain
 * nor phase goes beyond DRIFT_MOST of these. After an accepted model the data are corrected, and
 * the next one is judged by them. Data whose residual is none of logarithms are corrected only. */
#pragma once

#include "mcsem/misfit.h"
#include "src/json.h"

#define DRIFT_MOST 3.0
#define DRIFT_RMS  5.0 /* a model that is worse tells nothing of receivers */

struct drift;

/* Of a binned survey, borrowed, whose data it changes. EK_UNAVAILABLE. close accepts NULL. */
enum ek_status drift_open(struct survey *survey, double spread, struct drift **drift);
void drift_close(struct drift *drift);

/* The data as they were measured. */
void drift_reset(struct drift *drift);

/* Corrects the data by what all responses [npairs][nfreq] leave of them. */
void drift_update(struct drift *drift, const struct misfit_options *options,
                  const double complex *response);

/* {x y z field freq_hz gain phase_deg} of each sensor and frequency: a new reference. */
json_t *drift_list(const struct drift *drift);
