/* mcsem/uncertainty.h – uncertainty of a model: the posterior covariance of the unknowns, given the
 * errors of the data and, as prior, the smoothness that the data make likeliest. (The smoothness of
 * the last step is another one: the largest that the target misfit allows.) */
#pragma once

#include "mcsem/invert.h"

struct uncertainty {
    double *sigma;  /* [columns][unknowns] standard deviation of ln rho */
    double *length; /* [columns][unknowns] m, thickness over which the data resolve a mean */
    double
        *depth; /* [columns] m below the seabed; the data determine less than half a number below */
    double smoother; /* ln(assumed smoothness / that of the last step) */
    struct arena arena;
};

/* For the accepted model, in a process that solves. EK_UNAVAILABLE: memory; EK_USAGE: neither data
 * nor smoothness determine the model. close accepts NULL. */
enum ek_status uncertainty_open(struct invert *inv, struct uncertainty **uncertainty);
void uncertainty_close(struct uncertainty *certainty);
