/* cu/sched/fit.h – lines and planes through measurements with outliers. */
#pragma once

#include <stddef.h>

enum { FIT_MOST = 6 };

/* One row of a fit: y is about the sum of x[j] * beta[j]. */
struct fit_row {
    double x[FIT_MOST], y, weight;
};

/* For `settled` below: to about six digits. */
#define FIT_CLOSELY 1e-9

/* Finds beta [p], none negative, with the least weighted sum of absolute deviations (iteratively
 * reweighted least squares; a few outliers do not matter), in rounds of which the last lessens that
 * sum by the share `settled` or less. Parameters that the rows do not determine stay 0. p at most
 * FIT_MOST. */
void fit_rows(const struct fit_row *row, size_t n, int p, double settled, double *beta);

/* The weighted median of y; reorders the rows. NAN without rows. */
double fit_median(struct fit_row *row, size_t n);
