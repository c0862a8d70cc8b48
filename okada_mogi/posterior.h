/* okada_mogi/posterior.h – the posterior over all trials of a grid: likelihoods of normal and
 * independent errors, under a prior that is the same for every trial (one that constraints forbid
 * has no likelihood). Sums over what is accepted; what is not is bounded by how far it must be
 * away. */
#pragma once

#include "okada_mogi/stats.h"
#include "src/json.h"
#include <stdio.h>

enum { POSTERIOR_REGIONS = 3 };

/* The most likely trials that have this share of the posterior together, or a little more. */
struct posterior_region {
    double share, chi2; /* of the least likely */
    size_t trials;
    long low[STATS_COLUMNS], high[STATS_COLUMNS]; /* places of the columns' axes */
};

struct posterior {
    /* ln of the likelihood's mean over the trials, density of the data in 1/m each; of accepted
     * ones, and with the most that all others can add. Offsets and ramps of scenes have the density
     * of their most likely values: the same factor in every job on the same data. */
    double log_evidence, most;
    double share; /* of the posterior that accepted trials have at least */
    double below; /* rms misfits below this have 99 % of it, or more */
    struct posterior_region region[POSTERIOR_REGIONS];
};

/* Of the trials of `range`, all records of which are in the spool; reads it twice. EK_UNAVAILABLE:
 * out of memory. */
enum ek_status posterior_find(const struct stats *s, struct spool *spool, struct trial_range range,
                              struct posterior *p);

/* log_evidence, log_evidence_at_most, share_at_least, rms_misfit_for_99, data (stands for the
 * observations), regions [{share chi2_at_most trials min max}], min and max by parameter; new
 * reference. */
json_t *posterior_json(const struct stats *s, const struct posterior *p);
void posterior_print(FILE *out, const json_t *posterior);

/* Results of other jobs on the same data, as --json wrote them: `list` is file,file. EK_USAGE:
 * there is no evidence in one, or it is of other data. New reference. */
enum ek_status posterior_read(const struct job *job, const char *list, json_t **others);
/* [{against, log_bayes_factor, at_least, at_most}]: ln of the evidence over theirs; NULL: out of
 * memory. */
json_t *posterior_factors(const json_t *posterior, const json_t *others);
