/* mcsem/normal_internal.h – internals shared by the normal*.c files. */
#pragma once

#include "mcsem/normal.h"

#include <suitesparse/cholmod.h>

struct normal {
    const struct earth *earth;
    const struct prior *prior;
    cholmod_common common;
    bool started;
    cholmod_sparse *matrix;
    cholmod_factor *factor;
    cholmod_dense *right;
    bool *held; /* unknowns that do not change */
};

/* Assembles and factorises. EK_UNVERIFIED, without a message, as normal_solve(). */
enum ek_status normal_factorize(struct normal *normal, const double *sums, struct prior_weights mu,
                                double damping);
