/* okada_mogi/descent.h – from a trial to a better one, axis by axis, as long as that helps. */
#pragma once

#include "okada_mogi/job.h"

/* Sees trials by their places; *misfit: INFINITY where one is out of the question. */
struct descent_eye {
    enum ek_status (*look)(void *arg, const long *place, double *misfit);
    void *arg;
};

/* From a trial of known misfit: along each axis it goes to the best of 1, 2, 4, … values up and
 * down, until none is better. Stops where look() fails. */
enum ek_status descent_run(const struct job *job, const struct descent_eye *eye, trial_number from,
                           double misfit);
