/* mcsem/forward.h – fields of a dipole or an electric wire in a layered earth, and their
 * derivatives with respect to the logarithm of every layer's resistivity, one pair at a time
 * ("exact mode").
 *
 * Quasi-static, time factor exp(+i w t), mu = 4 pi 1e-7 everywhere, vertical anisotropy allowed. A
 * wire carries a uniform current and is normalised to unit moment. Fields are Hankel integrals over
 * transmission-line functions (kernels/field.h), evaluated by the filters of hankel.h; derivatives
 * come from the same pass. */
#pragma once

#include "mcsem/pair.h"
#include <complex.h>

enum forward_derivatives {
    FORWARD_FIELD,     /* none */
    FORWARD_BELOW,     /* of the sediments; those of other layers may be 0 */
    FORWARD_ALL,       /* of all layers, rho_h and rho_v of a layer together */
    FORWARD_HORIZONTAL /* of all layers, rho_h alone */
};

/* Working memory of one thread. */
struct forward;

/* For earths of up to `layers` layers and up to nfreq frequencies. EK_UNAVAILABLE: memory. */
enum ek_status forward_open(int layers, int nfreq, struct forward **forward);
void forward_close(struct forward *forward);
OWNED_POINTER(struct forward, forward_close)

/* Computes a pair at nfreq frequencies with filter `which` (hankel.h), or with the finest one where
 * the receiver is almost below the wire: field [nfreq], derivative [nfreq][layers->n] (may be NULL
 * without derivatives). The order of every sum is fixed. EK_USAGE: as pair_make(). */
enum ek_status forward_pair(struct forward *forward, const struct earth_layers *layers,
                            const struct survey_pair *pair, int nfreq, const double *freq,
                            int which, enum forward_derivatives derivatives, double complex *field,
                            double complex *derivative);

/* Error control: finds the coarsest filter whose fields differ from the next finer one's by at most
 * tolerance * max(|field|, floor) at every frequency, or the finest one. If *error is asked for
 * (else NULL), the filters must agree four times better; field [nfreq] becomes that of
 * forward_pair(), or where rounding might matter a mean that has less of it, and *error its
 * estimated error relative to max(|field|, floor), from the differences of filters and from
 * rounding. */
struct forward_control {
    double tolerance, floor;
};
struct forward_error {
    double likely, most; /* with rounding as observed here; with the largest ever observed */
};
enum ek_status forward_choose(struct forward *forward, const struct earth_layers *layers,
                              const struct survey_pair *pair, int nfreq, const double *freq,
                              const struct forward_control *control, int *which,
                              double complex *field, struct forward_error *error);

/* Largest difference of n fields from those of a finer filter, relative to max(|field|, floor). */
double forward_difference(const double complex *field, const double complex *finer, size_t n,
                          double floor);

/* Calls compute(arg, forward, i) for i = 0 .. n-1 on all threads, each with working memory of its
 * own as forward_open() makes it; after a failure the rest is skipped. */
enum ek_status forward_each(size_t n, int layers, int nfreq,
                            enum ek_status (*compute)(void *arg, struct forward *forward, size_t i),
                            void *arg);

/* EK_USAGE with `path` and the pair's line: as survey_check_pair() where the first interface is the
 * sea surface, and pair_check() for exact mode. */
enum ek_status forward_check(const struct earth_layers *layers, const struct survey_pair *pair,
                             const char *path);

/* ---- used by every mode ---- */

#define FORWARD_TOLERANCE 1e-12 /* relative error of the sum over a wire */
/* The same for a wire whose field decays over its range of depths. */
double forward_wire(const struct earth_layers *layers, const struct survey_pair *pair, int nfreq,
                    const double *freq);

/* w mu0 */
double forward_line(double freq);
/* The layers as kernels/line.h reads them: table [n][4]. */
void forward_layers(const struct earth_layers *layers, double *table);
/* The filter to use for a pair where filter `which` is asked for. */
int forward_filter(const struct survey_pair *pair, int which);
/* Writes a view, row [EXACT_VIEW], or a level of a plan, row [EXACT_LEVEL], as kernels/exact.h
 * reads it; `parts` and `weights` are the offsets of its parts and weights. forward_derive: the
 * code for the derivatives wanted. */
void forward_view(const struct pair_view *view, int parts, int *row);
void forward_level(const struct pair_level *level, int parts, int weights, int *row);
int forward_derive(const struct earth_layers *layers, const struct pair_plan *plan,
                   enum forward_derivatives derivatives);
/* The last layer that matters to each group of PAIR_GROUP of the nwaves wavenumbers, which ascend;
 * as exact_deepest() of kernels/exact.h. */
void forward_deepest(int layers, int base, const double *table, int nwaves, const double *wave,
                     double w, int *deepest);
