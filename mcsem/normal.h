/* mcsem/normal.h – the normal equations of all columns: dense blocks of the columns' own data, and
 * smoothness that couples layers within a column and columns side by side. Solved by CHOLMOD's
 * supernodal Cholesky factorisation, ordered and analysed once.
 *
 *   (J'W^2 J + mu_v Rv'Rv + mu_h Rh'Rh + lambda I) dm = J'W^2 r - mu_v Rv'Rv m - mu_h Rh'Rh m
 *
 * Rv: differences of layers, one below the other; Rh: differences of columns, side by side, in the
 * same layer. BLAS runs on one thread, so that its bits do not depend on how many cores there are.
 */
#ifndef MCSEM_NORMAL_H
#define MCSEM_NORMAL_H

#include "mcsem/earth.h"

struct normal;

struct normal_smoothness {
    double vertical, lateral; /* mu_v, mu_h */
};

/* For an earth's grid (borrowed). EK_UNAVAILABLE: memory. close accepts NULL. One thread, like all
 * here.
 */
enum ek_status normal_open(const struct earth *earth, struct normal **normal);
void normal_close(struct normal *normal);

/* dm [columns][nz] for the cells' sums [columns][cell_sums()] at m; damping: lambda as above.
 * EK_UNVERIFIED, silently: the matrix is not positive definite (no data at all, or too little
 * damping); EK_UNAVAILABLE: memory. */
enum ek_status normal_solve(struct normal *normal, const double *sums, const double *m,
                            struct normal_smoothness mu, double damping, double *dm);

/* Of the inverse of that matrix, the model's covariance C: the variance [columns][nz] of each
 * unknown, and how much of it, 0 to 1, the data determine, the diagonal `share` [columns][nz] of
 * C J'W^2 J. Entries of C where the factor has some follow from the last column to the first
 * (selected inversion; Takahashi, Fagan & Chen 1973), in about two factorisations' time and once
 * more its memory. As normal_solve(). */
enum ek_status normal_certainty(struct normal *normal, const double *sums,
                                struct normal_smoothness mu, double damping, double *variance,
                                double *share);

/* Mean of the diagonal of J'W^2 J over the unknowns that have data: the scale of mu and lambda. */
double normal_scale(const struct earth *earth, const double *sums);

/* |Rv m|^2, |Rh m|^2. */
double normal_roughness_v(const struct earth *earth, const double *m);
double normal_roughness_h(const struct earth *earth, const double *m);

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

#endif
