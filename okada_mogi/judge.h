/* okada_mogi/judge.h – the one place where trials are accepted.
 *
 * Every method, on whatever device, may only leave out trials that are out by more than rounding
 * can do (JUDGE_SLACK of the tolerance and judge_slack() beside it); what is left is decided here,
 * by the same instructions in the same order, so that all of them accept the same trials and report
 * the same bits. */
#pragma once

#include "okada_mogi/accepted.h"
#include "okada_mogi/job.h"

/* Relative widening of every tolerance in what comes before the judge: far above the rounding of
 * any order of operations, far below what would let many more trials through. */
#define JUDGE_SLACK 1e-7

/* The same in metres, for what is tolerated may be next to nothing: a part of the largest
 * observation or deviation, as rounding is of predictions that come near them. */
double judge_slack(const struct job *job);

/* One source of a trial: amplitude * sum_b weight[b] * basis[b]. */
struct judge_source {
    const double *basis;  /* [stations][nbasis][3] */
    const double *weight; /* [nbasis] */
    double amplitude;
};

/* Doubles of the basis responses of a source at all stations. */
int judge_basis_size(const struct job *job);
/* The responses, [stations][nbasis][3], of a source with value [model_values()]. */
void judge_basis(const struct job *job, const double *value, double *basis);

/* The job wants a trial that compares so. `bound`: the largest misfit that may still be among the
 * best; INFINITY where that is unknown. */
bool judge_accepts(const struct job *job, const struct accepted_record *record, double bound);

/* No |predicted - observed| / sigma of a trial that judge_accepts() is larger than this. */
double judge_reach(const struct job *job, double bound);

/* Nor is its chi2 larger than this, where the misfit is a mean of squares; else INFINITY. */
double judge_chi2(const struct job *job, double bound);

/* The judge of whole trials, by their numbers; one thread's. */
struct judge;
enum ek_status judge_open(const struct job *job, struct judge **j);
void judge_close(struct judge *j);
/* False: the constraints do not hold. Else *record is complete and *u (or NULL) [stations][3] the
 * judge's own, until the next call. Quick where a source is that of the call before. */
bool judge_trial(struct judge *j, trial_number trial, struct accepted_record *record,
                 const double **u);

/* How the sources [job's] compare with the observations: without the constraints and the trial's
 * number. */
void judge_sources(struct judge *j, const struct judge_source *source,
                   struct accepted_record *record);
