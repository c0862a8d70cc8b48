/* mcsem/fields.h – fields of dipoles and wires in a layered earth, and their derivatives,
 * for programs outside of this tree: <evenkeel/mcsem/fields.h>, linked with -levenkeel.
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

/* Layers, the uppermost one first (air, say); everything lies below depth[0]. What lies on an
 * interface is in the layer above it (on depth[0]: below), which matters to vertical E. */
struct mcsem_layers {
    int n;               /* 2 to 528 */
    const double *depth; /* [n - 1] of the interfaces, m, ascending */
    const double *res;   /* [n] horizontal resistivity, 1e-30 to 1e30 ohm m */
    const double *aniso; /* [n] sqrt(vertical / horizontal resistivity); NULL: isotropic */
};

/* Electric dipoles and wires, normalised to a moment of 1 A m, or magnetic dipoles of 1 A m^2
 * (small loops), and receivers of E (V/m) or H (A/m). */
struct mcsem_survey {
    int nsrc, nrec, nfreq;
    const double (*src)[6]; /* [nsrc] centre x, y, z; azimuth, dip; length, m (0: a dipole) */
    const double (*rec)[5]; /* [nrec] x, y, z; azimuth, dip */
    const double *freq;     /* [nfreq] Hz */
    bool mrec;              /* the receivers measure H */
    double tolerance;       /* relative error of the fields, up to 1; 0: 1e-8 */
    bool msrc;              /* the sources are magnetic: dipoles, of length 0 */
};

/* Fields as re, im: field [nfreq][nrec][nsrc][2], the order of empymod's bipole(); and, unless
 * NULL, their derivatives with respect to the logarithm of each layer's resistivity, res and
 * vertical one together: jac [nfreq][nrec][nsrc][layers->n][2]. Both belong to the caller. All
 * threads of OpenMP work on them. EK_USAGE: a number that makes no sense, a receiver on a source;
 * EK_UNVERIFIED: all is computed, but some field may not keep the tolerance; EK_UNAVAILABLE: out of
 * memory. */
enum ek_status mcsem_forward(const struct mcsem_layers *layers, const struct mcsem_survey *survey,
                             double *field, double *jac);

#ifdef __cplusplus
}
#endif

#endif
