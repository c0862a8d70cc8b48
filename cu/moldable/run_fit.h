/* cu/moldable/run_fit.h – fits the law a/p^b + c to measured run times. */
#pragma once

#include "cu/moldable/moldable.h"

/* Least squares of the relative errors over n measurements: seconds[i] on cores[i] cores. With only
 * one number of cores the law is constant, with two b is 1; a, b and c are never negative. *rms: of
 * the relative errors. EK_UNAVAILABLE: out of memory. */
enum ek_status run_fit(const int *cores, const double *seconds, int n, struct moldable_law *law,
                       double *rms);
