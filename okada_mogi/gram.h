/* okada_mogi/gram.h – chi2 of one source as a function of its slip components: a quadratic form,
 * known from the inner products of whitened data and basis responses. It rules out in a few
 * operations what the judge would sum over all data. */
#pragma once

#include "okada_mogi/job.h"

struct gram {
    double product[1 + MODEL_BASES][1 + MODEL_BASES]; /* 0: the data */
};

/* Doubles that gram_find() needs. */
size_t gram_room(const struct job *job);
/* Of a geometry with basis responses [stations][nbasis][3]. */
void gram_find(const struct job *job, const double *basis, struct gram *g, double *work);
/* Narrows least .. most to the amplitudes with these weights [nbasis] that may bring chi2 down to
 * `chi2`, by rounding or so. */
void gram_narrow(const struct gram *g, int nbasis, const double *weight, double chi2, double *least,
                 double *most);
