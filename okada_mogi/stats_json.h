/* okada_mogi/stats_json.h – the statistics in JSON and in words. */
#ifndef OKADA_MOGI_STATS_JSON_H
#define OKADA_MOGI_STATS_JSON_H

#include "okada_mogi/stats.h"
#include "src/json.h"
#include <stdio.h>

/* New reference; NULL: out of memory.
 *   trials, effective_trials (as many alike would have this spread of weights), columns [names]
 *   parameters {name: {min max mean sd percentiles {5 25 50 75 95} weighted {mean sd percentiles}}}
 *   covariance, weighted_covariance, correlation [columns][columns]
 *   levels [{k_sigma trials mean sd}], mean and sd null where a k accepts nothing
 *   clusters {count, grid_values_in_a_cell, largest: [{trials share best mean min max}]}
 *   warnings [texts] */
json_t *stats_json(const struct stats *s);

/* What stats_json() says, for people. */
void stats_print(FILE *out, const json_t *stats);

#endif
