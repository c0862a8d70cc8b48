/* okada_mogi/judge.h – the one place where trials are accepted.
 *
 * Every method, on any device, may only reject trials that are out by more than rounding explains
 * (JUDGE_SLACK of the tolerance plus judge_slack()); the rest is decided here, by the same
 * instructions in the same order, so that all methods accept the same trials and report the same
 * bits. */
#pragma once

#include "okada_mogi/accepted.h"
#include "okada_mogi/job.h"

/* Relative widening of every tolerance before the judge: far above the rounding of any order of
 * operations, too small to let many more trials through. */
#define JUDGE_SLACK 1e-7

/* Absolute widening, m, as tolerances may be tiny: proportional to the largest observation or
 * deviation, like the rounding of predictions that come near them. */
double judge_slack(const struct job *job);

/* One source of a trial: amplitude * sum_b weight[b] * basis[b]. */
struct judge_source {
    const double *basis;  /* [stations][nbasis][3] */
    const double *weight; /* [nbasis] */
    double amplitude;
};

/* Number of doubles of a source's basis responses at all stations. */
int judge_basis_size(const struct job *job);
/* Computes the responses, [stations][nbasis][3], of a source with value [model_values()]; NAN, so
 * that no trial is accepted, at stations where they are undefined. */
void judge_basis(const struct job *job, const double *value, double *basis);

/* Whether the job accepts a trial with this record. `bound`: the largest misfit that may still be
 * among the best; INFINITY if unknown. */
bool judge_accepts(const struct job *job, const struct accepted_record *record, double bound);

/* Upper bound on |predicted - observed| / sigma of trials that judge_accepts(). */
double judge_reach(const struct job *job, double bound);

/* Likewise on their chi2, if the misfit is rms; else INFINITY. */
double judge_chi2(const struct job *job, double bound);

/* Judges whole trials, given their numbers; one thread's. */
struct judge;
enum ek_status judge_open(const struct job *job, struct judge **j);
void judge_close(struct judge *j);
/* False: the constraints forbid the trial. Else *record is complete, and *u (u may be NULL) is the
 * prediction [stations][3], owned by the judge and valid until the next call. Fast for sources with
 * the same geometry as in the call before. */
bool judge_trial(struct judge *j, trial_number trial, struct accepted_record *record,
                 const double **u);

/* The sources [nsources] of a trial, allowed or not; valid until the judge sees another trial. */
void judge_place(struct judge *j, trial_number trial, struct judge_source *source);

/* Compares the prediction of sources [nsources] with the observations; sets all of *record but the
 * trial's number, and ignores constraints. */
void judge_sources(struct judge *j, const struct judge_source *source,
                   struct accepted_record *record);
