/* okada_mogi/residuals.h – what a trial predicts at the stations, beside what was observed. */
#ifndef OKADA_MOGI_RESIDUALS_H
#define OKADA_MOGI_RESIDUALS_H

#include "okada_mogi/judge.h"

/* Writes a CSV table ("-": standard output) of the job's stations:
 *   site,E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m,pE_m,pN_m,pU_m,rE,rN,rU
 * observed u, its deviation s with the noise floor, predicted p, residual r = (p - u) / s; empty
 * where nothing was observed. EK_LACK: out of memory, or it cannot be written. */
enum ek_status residuals_write(const struct job *job, trial_number trial, const char *path);

#endif
