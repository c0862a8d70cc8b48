/* okada_mogi/descent.h – local minimization of the misfit on the grid, axis by axis. */
#pragma once

#include "okada_mogi/job.h"

/* Evaluates trials, given by their places; *misfit: INFINITY if the trial is not allowed. */
struct descent_objective {
    enum ek_status (*evaluate)(void *arg, const long *place, double *misfit);
    void *arg;
};

/* Starts at a trial of known misfit and moves along each axis to the best of the places 1, 2, 4, …
 * steps up and down, until none is better. Stops if evaluate() fails. */
enum ek_status descent_run(const struct job *job, const struct descent_objective *objective,
                           trial_number from, double misfit);
