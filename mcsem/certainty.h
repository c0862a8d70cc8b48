/* mcsem/certainty.h – how sure a model is: of the posterior covariance of an inversion's unknowns,
 * with the data's errors and with the smoothness of the last step as what was known before. */
#pragma once

#include "mcsem/invert.h"

struct certainty {
    double *sigma;  /* [columns][unknowns] standard deviation of ln rho */
    double *length; /* [columns][unknowns] m: of how much of the column a layer is the mean */
    double *depth;  /* [columns] m below the seabed: what lies deeper has less than half a number */
    struct arena arena;
};

/* For the accepted model, by a process that solves. EK_UNAVAILABLE: memory; EK_USAGE: neither data
 * nor smoothness determine it. close accepts NULL. */
enum ek_status certainty_open(struct invert *inv, struct certainty **certainty);
void certainty_close(struct certainty *certainty);
