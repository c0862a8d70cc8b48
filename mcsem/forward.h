/* mcsem/forward.h – fields of an electric dipole or wire in a layered earth, and their derivatives
 * with respect to the logarithm of every layer's resistivity: each pair by itself ("exact mode").
 *
 * Quasi-static, time factor exp(+i w t), mu = 4 pi 1e-7 everywhere, vertical anisotropy allowed. A
 * wire carries a uniform current and is normalised to unit moment. Fields are Hankel integrals over
 * transmission-line functions (kernels/field.h), evaluated by the filters of hankel.h; derivatives
 * come from the same pass. */
#ifndef MCSEM_FORWARD_H
#define MCSEM_FORWARD_H

#include "mcsem/hankel.h"
#include "mcsem/survey.h"
#include <complex.h>

enum forward_derivatives {
    FORWARD_FIELD,     /* none */
    FORWARD_BELOW,     /* of layers wholly below source and receiver; the others' are 0 */
    FORWARD_ALL,       /* of all layers, rho_h and rho_v of a layer together */
    FORWARD_HORIZONTAL /* of all layers, rho_h alone */
};

/* Working memory of one thread. */
struct forward;

/* For earths of up to `layers` layers and up to nfreq frequencies. EK_LACK: memory. */
enum ek_status forward_open(int layers, int nfreq, struct forward **forward);
void forward_close(struct forward *forward);

/* Filter `which` (hankel.h) for a pair at nfreq frequencies: field [nfreq], derivative
 * [nfreq][layers->n] (may be NULL without derivatives). Every sum is taken in the same order
 * wherever it is taken. EK_USAGE: as pair_make(). */
enum ek_status forward_pair(struct forward *forward, const struct earth_layers *layers,
                            const struct survey_pair *pair, int nfreq, const double *freq,
                            int which, enum forward_derivatives derivatives, double complex *field,
                            double complex *derivative);

/* Error control: the coarsest filter whose fields differ from the next finer one's by no more than
 * tolerance * max(|field|, floor) at every frequency, or the finest one. *error (may be NULL): that
 * difference relative to max(|field|, floor), which bounds the finer filter's error generously;
 * `which` is the finer one. */
struct forward_control {
    double tolerance, floor;
};
enum ek_status forward_choose(struct forward *forward, const struct earth_layers *layers,
                              const struct survey_pair *pair, int nfreq, const double *freq,
                              const struct forward_control *control, int *which, double *error);

#endif
