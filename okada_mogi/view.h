/* okada_mogi/view.h – what the report's figures are drawn from (okada_mogi/report.html). */
#ifndef OKADA_MOGI_VIEW_H
#define OKADA_MOGI_VIEW_H

#include "okada_mogi/stats.h"
#include "src/json.h"

enum { VIEW_BINS = 60 }; /* of a histogram, at most; of Mw half as many */

/* New reference; `s`: NULL where nothing is accepted. EK_LACK: out of memory.
 *   stations [{name east north observed sigma predicted}], three components each or null; predicted
 *     by the best trial
 *   best, sample: outlines of the sources of the best trial, and of trials from among all accepted,
 *     [[[east north] …] …]
 *   columns [{name first step trials weight least}]: bins of `step` values from `first` on, each
 *     with its trials, their weight, their least misfit
 *   pairs [{x y nx ny x_first x_step y_first y_step cells}], cells [[ix iy trials] …] */
enum ek_status view_open(const struct job *job, const struct stats *s, json_t **view);

#endif
