/* mcsem/fields.h – fields of dipoles and wires in a layered earth, and their derivatives, for
 * programs outside this tree: <evenkeel/mcsem/fields.h>, linked with -levenkeel.
 *
 * Frame: right-handed, x and y horizontal, z down, metres; azimuth from x towards y, dip positive
 * down, degrees; ohm m, hertz. Quasi-static, time factor exp(+i w t), mu = 4 pi 1e-7. */
#ifndef MCSEM_FIELDS_H
#define MCSEM_FIELDS_H

#ifdef __cplusplus
extern "C" {
#endif

#include "src/status.h"
#include <stdbool.h>

/* Layers from the top (usually air) down; all instruments lie below depth[0]. A point on an
 * interface is in the layer above it (on depth[0]: below it), which matters for vertical E. */
struct mcsem_layers {
    int n;               /* 2 to 528 */
    const double *depth; /* [n - 1] depths of the interfaces, m, ascending */
    const double *res;   /* [n] horizontal resistivity, 1e-30 to 1e30 ohm m */
    const double *aniso; /* [n] sqrt(vertical / horizontal resistivity); NULL: isotropic */
};

/* Sources: electric dipoles and wires, normalised to a moment of 1 A m, or magnetic dipoles of 1 A
 * m^2 (small loops). Receivers: points that measure E (V/m) or H (A/m). */
struct mcsem_survey {
    int nsrc, nrec, nfreq;
    const double (*src)[6]; /* [nsrc] centre x, y, z; azimuth, dip; length, m (0: a dipole) */
    const double (*rec)[5]; /* [nrec] x, y, z; azimuth, dip */
    const double *freq;     /* [nfreq] Hz */
    bool mrec;              /* the receivers measure H */
    double tolerance;       /* relative error of the fields, up to 1; 0: 1e-8 */
    bool msrc;              /* the sources are magnetic: dipoles, of length 0 */
};

/* Computes field [nfreq][nrec][nsrc][2] as re, im, in the order of empymod's bipole(), and unless
 * jac is NULL its derivatives with respect to ln(resistivity) of each layer, horizontal and
 * vertical together: jac [nfreq][nrec][nsrc][layers->n][2]. Both belong to the caller. Uses all
 * threads of OpenMP. EK_USAGE: an invalid number, a receiver on a source; EK_UNVERIFIED: everything
 * is computed, but some field may miss the tolerance; EK_UNAVAILABLE: out of memory. */
enum ek_status mcsem_forward(const struct mcsem_layers *layers, const struct mcsem_survey *survey,
                             double *field, double *jac);

#ifdef __cplusplus
}
#endif

#endif
