/* mcsem/misfit.h – how far a field is from a datum, and how much that counts.
 *
 * A residual is complex and in units of its standard error: (d - F) / sigma, or, for data well
 * above the noise, ln(d / F) |d| / sigma, which is far more linear in ln rho. Where symmetry makes
 * the field zero whatever the earth (survey_pair.null) there is no logarithm. Robust losses grow
 * more slowly than the square beyond a few `spread`: Student's logarithmically; Huber's linearly,
 * and that of outliers logarithmically too (as Hampel's redescend): a datum ten times too large
 * that kept its error pulls its logarithm with ten times the leverage, which a bounded force does
 * not mend. */
#pragma once

#include "mcsem/survey.h"
#include <complex.h>

enum misfit_residual { MISFIT_COMPLEX, MISFIT_LOG };
enum misfit_robust { MISFIT_SQUARE, MISFIT_HUBER, MISFIT_STUDENT };
extern const char *const misfit_residuals[], *const misfit_losses[]; /* names, then NULL */

struct misfit_options {
    enum misfit_residual residual;
    enum misfit_robust robust;
    double spread; /* of residuals that are no outliers, at least 1 */
};

struct misfit {
    double complex residual, factor; /* factor: of dF, for the residual's negative derivative */
    bool re, im;                     /* which of its parts there are */
};

/* Both 0 where there is no datum. */
struct misfit misfit_of(const struct misfit_options *options, const struct survey_pair *pair,
                        const struct survey_datum *datum, double complex field);

/* Whether the datum's residual is its logarithm's. */
bool misfit_is_log(const struct misfit_options *options, const struct survey_pair *pair,
                   const struct survey_datum *datum);

/* The residual's square, as if both parts were there. */
static inline double misfit_square(const struct misfit *m)
{
    const double re = creal(m->residual), im = cimag(m->residual);
    return (m->re && m->im ? 1 : 2) * (re * re + im * im);
}

/* What a residual of this square counts, and the weight with which squares stand for that. */
double misfit_loss(const struct misfit_options *options, double square);
double misfit_weight(const struct misfit_options *options, double square);

/* Residuals by size, so that outliers can be told from the rest. */
enum { MISFIT_BINS = 20 };
struct misfit_bin {
    double data, square; /* how many, and their sum */
};
int misfit_bin(double square);

/* What bins of all data say. One datum in ten may be an outlier: the spread follows from the size
 * that the other nine keep to, in steps of sqrt(2); outliers are larger than MISFIT_OUTLIER times
 * as much. */
#define MISFIT_OUTLIER 5.0
struct misfit_summary {
    double data, outliers; /* how many, how many of them */
    double rms;            /* root mean square of the others' numbers */
    double loss, kept;     /* sums of losses with options->spread, about: of all, of the others */
    double spread, limit;  /* beyond `limit` a residual is an outlier's */
};
struct misfit_summary misfit_summary(const struct misfit_options *options,
                                     const struct misfit_bin *bins /* [MISFIT_BINS] */);
