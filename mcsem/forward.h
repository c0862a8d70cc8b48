/* mcsem/forward.h – fields of an electric dipole or wire in a layered earth, and their derivatives
 * with respect to the logarithm of every layer's resistivity.
 *
 * Quasi-static, time factor exp(+i w t), mu = 4 pi 1e-7 everywhere, vertical anisotropy allowed. A
 * wire of finite length carries a uniform current and is normalised to unit moment. Fields are
 * Hankel integrals over transmission-line kernels (Michalski & Mosig 1997), evaluated by the
 * filters of hankel.h; the derivatives come from the same pass. */
#ifndef MCSEM_FORWARD_H
#define MCSEM_FORWARD_H

#include "mcsem/survey.h"
#include <complex.h>

struct forward_options {
    double tolerance; /* relative error wanted of a field; its control picks the filter, 1e-9 */
    double floor_e, floor_h; /* fields below this need no relative accuracy, 1e-17, 1e-14 */
};

/* Working memory of one thread. Reusable for any earth and any pair. */
struct forward;

enum ek_status forward_open(const struct forward_options *options, struct forward **forward);
void forward_close(struct forward *forward);

/* Exact mode: the fields of one pair at nfreq frequencies, field [nfreq], and unless NULL
 * derivative [nfreq][layers->n] with respect to ln(rho) of each layer, rho_h and rho_v together.
 * EK_USAGE: source or receiver above the sea surface (line of the pair in the message). */
enum ek_status forward_pair(struct forward *forward, const struct earth_layers *layers,
                            const struct survey_pair *pair, int nfreq, const double *freq,
                            double complex *field, double complex *derivative);

#endif
