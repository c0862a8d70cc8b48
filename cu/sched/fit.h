/* cu/sched/fit.h – lines and planes through measurements of which some are far off. */
#pragma once

#include <stddef.h>

enum { FIT_MOST = 6 };

/* Rows of a fit: y is near sum of x[j] * beta[j]. */
struct fit_row {
    double x[FIT_MOST], y, weight;
};

/* beta [p], none of them negative, with the least weighted sum of absolute deviations (by weights
 * that are turned around until they stay: a few far off rows do not matter). What the rows do not
 * tell apart stays at 0. p at most FIT_MOST. */
void fit_rows(const struct fit_row *row, size_t n, int p, double *beta);

/* The value below which half of the weight lies; reorders the rows by y. NAN without rows. */
double fit_median(struct fit_row *row, size_t n);
