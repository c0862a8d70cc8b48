/* mcsem/normal.h – the normal equations of all columns: dense blocks of the columns' own data, and
 * smoothness that couples layers within a column and columns side by side. Solved by CHOLMOD's
 * supernodal Cholesky factorisation, ordered and analysed once.
 *
 *   (J'W^2 J + mu R'R + lambda D) dm = J'W^2 r - mu R'R (m - reference)
 *
 * with the rows R of prior.h, and D the diagonal of J'W^2 J (Marquardt 1963) and 1e-6 of its mean;
 * what is fixed does not change. BLAS runs on one thread, so that its bits do not depend on how
 * many cores there are. */
#pragma once

#include "mcsem/prior.h"

struct normal;

/* For an earth's grid (borrowed, like what is wanted of it). EK_UNAVAILABLE: memory. close accepts
 * NULL. One thread, like all here. */
enum ek_status normal_open(const struct earth *earth, const struct prior *prior,
                           struct normal **normal);
void normal_close(struct normal *normal);

/* dm [columns][nz] for the cells' sums [columns][cell_sums()] at m; damping: lambda as above.
 * EK_UNVERIFIED, silently: the matrix is not positive definite (no data at all, or too little
 * damping); EK_UNAVAILABLE: memory. */
enum ek_status normal_solve(struct normal *normal, const double *sums, const double *m,
                            struct prior_weights mu, double damping, double *dm);

/* Of the inverse of that matrix, the model's covariance C: the variance [columns][nz] of each
 * unknown, and how much of it, 0 to 1, the data determine, the diagonal `share` [columns][nz] of
 * C J'W^2 J. Entries of C where the factor has some follow from the last column to the first
 * (selected inversion; Takahashi, Fagan & Chen 1973), in about two factorisations' time and once
 * more its memory. As normal_solve(). */
enum ek_status normal_certainty(struct normal *normal, const double *sums, struct prior_weights mu,
                                double *variance, double *share);

/* Mean of the diagonal of J'W^2 J over the unknowns that have data: the scale of mu. */
double normal_scale(const struct earth *earth, const double *sums);

/* By how much |W r|^2 falls for a step dm, were F linear. */
double normal_predict(const struct earth *earth, const double *sums, const double *dm);

/* Non-zeros of the factor, floating-point operations of a factorisation. */
struct normal_size {
    double nonzeros, flops;
};
struct normal_size normal_size(const struct normal *normal);

/* The library that gives CHOLMOD its BLAS; NULL: unknown. With the reference implementation a
 * factorisation takes about eight times as long as with OpenBLAS. */
const char *normal_blas(void);
