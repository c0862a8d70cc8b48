/* okada_mogi/facts.h – trials in JSON. New references; NULL: out of memory. */
#ifndef OKADA_MOGI_FACTS_H
#define OKADA_MOGI_FACTS_H

#include "okada_mogi/accepted.h"
#include "src/json.h"
#include <stdio.h>

/* Up to 2^63 a number; beyond, a text. */
json_t *facts_number(trial_number x);
void facts_print_number(FILE *out, const json_t *number);

/* index, parameters by name, misfit, chi2, rms_m; moment_Nm and Mw where the model has them. */
json_t *facts_trial(const struct job *job, const struct accepted_record *record);

/* The number called `name` in an object, 0 if it is none. */
double facts_real(const json_t *object, const char *name);

#endif
