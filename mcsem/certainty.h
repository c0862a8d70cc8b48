/* mcsem/certainty.h – how sure a model is: of the posterior covariance of an inversion's unknowns,
 * with the data's errors, and with the smoothness that is likeliest by the data as what was known
 * before. The last step's is another: as much as the target allows. */
#pragma once

#include "mcsem/invert.h"

struct certainty {
    double *sigma;  /* [columns][unknowns] of ln rho, how far the earth may be from the model */
    double *length; /* [columns][unknowns] m: of how much of the column a layer is the mean */
    double *depth;  /* [columns] m below the seabed: what lies deeper has less than half a number */
    double smoother; /* ln of the smoothness that is assumed over that of the last step */
    struct arena arena;
};

/* For the accepted model, by a process that solves. EK_UNAVAILABLE: memory; EK_USAGE: neither data
 * nor smoothness determine it. close accepts NULL. */
enum ek_status certainty_open(struct invert *inv, struct certainty **certainty);
void certainty_close(struct certainty *certainty);
