/* mcsem/misfit.h – how far a field is from a datum, and how much that counts.
 *
 * A residual is complex and in units of its standard error: (d - F) / sigma or, for data well above
 * the noise, ln(d / F) |d| / sigma, which is far closer to linear in ln rho. Where symmetry makes
 * the field zero for any earth (survey_pair.null) there is no logarithm. Robust losses grow more
 * slowly than the square beyond a few `spread`: Student's logarithmically; Huber's linearly, and
 * logarithmically for outliers (redescending, like Hampel's): a datum ten times too large that kept
 * its error has ten times the leverage on its logarithm, which a bounded force does not cure. */
#pragma once

#include "mcsem/survey.h"
#include <complex.h>

enum misfit_residual { MISFIT_COMPLEX, MISFIT_LOG };
enum misfit_robust { MISFIT_SQUARE, MISFIT_HUBER, MISFIT_STUDENT };
extern const char *const misfit_residuals[], *const misfit_losses[]; /* names, then NULL */

struct misfit_options {
    enum misfit_residual residual;
    enum misfit_robust robust;
    double spread; /* of residuals that are not outliers, at least 1 */
};

struct misfit {
    double complex residual, factor; /* factor times dF is the change of -residual */
    bool re, im;                     /* which parts were measured */
};

/* Residual and factor of a datum; both 0 if there is none. */
struct misfit misfit_of(const struct misfit_options *options, const struct survey_pair *pair,
                        const struct survey_datum *datum, double complex field);

/* Whether the datum's residual is logarithmic. */
bool misfit_is_log(const struct misfit_options *options, const struct survey_pair *pair,
                   const struct survey_datum *datum);

/* The squared residual, doubled if only one part was measured. */
static inline double misfit_square(const struct misfit *m)
{
    const double re = creal(m->residual), im = cimag(m->residual);
    return (m->re && m->im ? 1 : 2) * (re * re + im * im);
}

/* The loss of a squared residual, and the weight with which the square stands for it. */
double misfit_loss(const struct misfit_options *options, double square);
double misfit_weight(const struct misfit_options *options, double square);

/* A histogram of residuals by size, to separate outliers. */
enum { MISFIT_BINS = 20 };
struct misfit_bin {
    double data, square; /* number of data, sum of squares */
};
int misfit_bin(double square);

/* Statistics of the histogram of all data. One datum in ten may be an outlier: the spread follows
 * from the size that nine tenths stay below, in steps of sqrt(2); outliers exceed MISFIT_OUTLIER
 * times it. */
#define MISFIT_OUTLIER 5.0
struct misfit_summary {
    double data, outliers; /* number of data, number of outliers */
    double rms;            /* root mean square without outliers */
    double kept;           /* approximate sum of losses with options->spread, without outliers */
    double spread, limit;  /* residuals beyond `limit` are outliers */
};
struct misfit_summary misfit_summary(const struct misfit_options *options,
                                     const struct misfit_bin *bins /* [MISFIT_BINS] */);
