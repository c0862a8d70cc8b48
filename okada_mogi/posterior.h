/* okada_mogi/posterior.h – the posterior over all trials of a grid: normal errors, and the same
 * prior for every trial (those that constraints forbid have likelihood 0). Sums run over accepted
 * trials; the contribution of all others is bounded by their least possible chi2. */
#pragma once

#include "okada_mogi/stats.h"
#include "src/json.h"

enum { POSTERIOR_REGIONS = 3 };

/* Credible region: the most likely trials, which together have this share of the posterior. */
struct posterior_region {
    double share, chi2; /* chi2: bound of the region */
    size_t trials;
    long low[STATS_COLUMNS], high[STATS_COLUMNS]; /* its extent, in places of the columns' axes */
};

struct posterior {
    /* ln of the mean likelihood (density of the data, 1/m each) over all trials, by accepted ones
     * only; and upper bound with all others. Offsets and ramps of scenes are set to their most
     * likely values: the same factor in every job on the same data. */
    double log_evidence, most;
    double share; /* lower bound on the accepted trials' share of the posterior */
    double below; /* trials with rms misfit below this have at least 99 % of the posterior */
    struct posterior_region region[POSTERIOR_REGIONS];
};

/* For the trials of `range`, given all accepted ones in the spool; reads it twice. EK_UNAVAILABLE:
 * out of memory. */
enum ek_status posterior_find(const struct stats *s, struct spool *spool, struct trial_range range,
                              struct posterior *p);

/* log_evidence, log_evidence_at_most, share_at_least, rms_misfit_for_99, data (checksum of the
 * observations), regions [{share chi2_at_most trials min max}], min and max by parameter; new
 * reference. */
json_t *posterior_json(const struct stats *s, const struct posterior *p);
void posterior_print(FILE *out, const json_t *posterior);

/* Reads results of other jobs on the same data, as written by --json; `list`: "file,file".
 * EK_USAGE: one has no evidence, or is about other data. New reference. */
enum ek_status posterior_read(const struct job *job, const char *list, json_t **others);
/* [{against, log_bayes_factor, at_least, at_most}]: ln of the ratio of this evidence to theirs;
 * NULL: out of memory. */
json_t *posterior_factors(const json_t *posterior, const json_t *others);
