/* okada_mogi/stats.h – statistics of the accepted trials: centre of gravity, covariance,
 * percentiles, clusters, warnings.
 *
 * Columns are the parameters that vary, in the job's order, then the moment magnitude if the model
 * has one. Each number comes twice: with equal weights, and with weights exp(-chi2 / 2), the
 * likelihood of a trial if errors are normal. A percentile is the least value with at least that
 * share of the trials, or of the weight, at or below it; a covariance is divided by the number (the
 * weight) of the trials. */
#pragma once

#include "okada_mogi/clusters.h"
#include "okada_mogi/spool.h"

enum {
    STATS_COLUMNS = JOB_AXES + 1,
    STATS_BINS = 4096,    /* most bins of a column, for percentiles */
    STATS_PERCENTS = 5,   /* 5, 25, 50, 75, 95 */
    STATS_CLUSTERS = 12,  /* most clusters described, the largest first */
    STATS_PAIRED = 18,    /* most columns counted in pairs, the first ones */
    STATS_PAIR_BINS = 40, /* most bins of each column of a pair */
    STATS_SAMPLE = 240    /* most accepted trials in the sample, evenly spaced */
};
enum stats_weight { STATS_ALIKE, STATS_LIKELIHOOD, STATS_WEIGHTS };

extern const double stats_percent[STATS_PERCENTS];

struct stats_column {
    const char *name;         /* borrowed from the job, or "Mw" */
    int axis;                 /* of the job; -1: Mw */
    long low, high;           /* range of accepted places; Mw: 0 and STATS_BINS - 1 */
    double min, max;          /* values there */
    size_t at_first, at_last; /* trials at the first and last value of the axis */
    double mean[STATS_WEIGHTS], sd[STATS_WEIGHTS], percentile[STATS_WEIGHTS][STATS_PERCENTS];
    long stride;                        /* places in a bin */
    int nbins;                          /* bin b begins at place low + b * stride */
    double *sum[STATS_WEIGHTS], *least; /* [nbins] trials, their weight, the least misfit */
    long pair_stride;                   /* the same for pairs */
    int npair;
};

/* A cluster of accepted trials. */
struct stats_cluster {
    size_t trials;
    struct accepted_record best;
    double mean[STATS_COLUMNS], min[STATS_COLUMNS], max[STATS_COLUMNS]; /* [columns] */
};

/* The trials that one of the job's k accepts. */
struct stats_level {
    size_t trials;
    double mean[STATS_COLUMNS], sd[STATS_COLUMNS]; /* [columns] */
};

struct stats {
    struct arena arena; /* of what follows */
    const struct job *job;
    size_t trials;
    double weight, squares; /* sum of the weights, of their squares */
    double least_chi2;
    struct accepted_record best; /* least misfit; the first of equals */
    int ncolumns, npaired;
    struct stats_column column[STATS_COLUMNS];
    double *covariance[STATS_WEIGHTS]; /* [ncolumns][ncolumns] */
    struct stats_level *level;         /* [job's nk] */
    size_t nsample;
    trial_number sample[STATS_SAMPLE];
    /* [npaired (npaired - 1) / 2][STATS_PAIR_BINS][STATS_PAIR_BINS] trials, their weight */
    struct stats_pair {
        double trials, weight;
    } * pair;
    size_t nclusters;
    long coarseness; /* clusters_coarseness() */
    struct stats_cluster cluster[STATS_CLUSTERS];
};

/* Of all records of the spool, at least one; reads it four times. The job is borrowed.
 * EK_UNAVAILABLE: out of memory. One thread. */
enum ek_status stats_open(const struct job *job, struct spool *spool, struct stats **s);
void stats_close(struct stats *s);

/* Counts [STATS_PAIR_BINS][STATS_PAIR_BINS] of columns a < b < npaired: [bin of a][bin of b]. */
struct stats_pair *stats_pair(const struct stats *s, int a, int b);
/* Value at a (fractional) place of a column. */
double stats_value(const struct stats *s, int column, double place);
