/* mcsem/normal.h – the normal equations of all columns: dense blocks for each column's own data,
 * and smoothness that couples layers within a column and adjacent columns. Solved by CHOLMOD's
 * supernodal Cholesky factorisation, ordered and analysed once.
 *
 *   (J'W^2 J + mu R'R + lambda D) dm = J'W^2 r - mu R'R (m - reference)
 *
 * R has the rows of prior.h; D is the diagonal of J'W^2 J (Marquardt 1963) plus 1e-6 of its mean.
 * Fixed unknowns do not change, nor, if `bounded`, those at a bound that steepest descent would
 * cross (Bertsekas 1982). BLAS runs on one thread, so that its bits do not depend on the
 * number of cores. */
#pragma once

#include "mcsem/prior.h"

struct normal;

/* For an earth's grid (borrowed, like the prior). EK_UNAVAILABLE: memory. close accepts NULL. Call
 * everything here on one thread. */
enum ek_status normal_open(const struct earth *earth, const struct prior *prior,
                           struct normal **normal);
void normal_close(struct normal *normal);

/* Solves for dm [columns][unknowns], given the cells' sums [columns][cell_sums()] at m; damping is
 * lambda above. EK_UNVERIFIED, without a message: the matrix is not positive definite (no data at
 * all, or too little damping); EK_UNAVAILABLE: memory. */
enum ek_status normal_solve(struct normal *normal, const double *sums, const double *m,
                            struct prior_weights mu, double damping, bool bounded, double *dm);

/* The model's covariance C is the inverse of that matrix: its diagonal `variance`
 * [columns][unknowns], and the share of each unknown that the data determine, 0 to 1, the diagonal
 * of C J'W^2 J. The entries of C inside the factor's pattern are computed from the last column to
 * the first (selected inversion; Takahashi, Fagan & Chen 1973), which takes about the time of two
 * factorisations and doubles the memory of the factor. Status as normal_solve(). */
enum ek_status normal_covariance(struct normal *normal, const double *sums, struct prior_weights mu,
                                 double *variance, double *share);

/* Mean of the diagonal of J'W^2 J over the unknowns that have data: the unit of mu. */
double normal_scale(const struct earth *earth, const double *sums);

/* The decrease of |W r|^2 by a step dm if F were linear. */
double normal_predict(const struct earth *earth, const double *sums, const double *dm);

/* Non-zeros of the factor, floating-point operations of a factorisation. */
struct normal_size {
    double nonzeros, flops;
};
struct normal_size normal_size(const struct normal *normal);

/* The library that provides CHOLMOD's BLAS; NULL: unknown. With the reference implementation a
 * factorisation takes about eight times as long as with OpenBLAS. */
const char *normal_blas(void);
